use assay_api::batch::Consumes;
use assay_core::id::{Digest, TenantId};
use assay_core::plugin::Description;
use assay_store::admissions::BatchRow;
use bytes::Bytes;
use uuid::Uuid;

use super::*;
use crate::budget::{AdmissionBudget, BudgetPermit};
use crate::committed::CommittedView;
use crate::plugin::tests::description;
use crate::plugin::{CompiledForms, ReadyPlugin};

pub(crate) fn row() -> BatchRow {
    BatchRow {
        tenant: TenantId(Uuid::from_u128(1)),
        id: BatchId::generate(),
        run: "run".into(),
        iteration: 0,
        plugin: "math".into(),
        version: "1.0.0".into(),
        digest: Digest([1; 32]),
        settings: "{}".into(),
        expected_size: Some(1),
        group_size: None,
        max_extra_delay_ms: None,
        consumes: Consumes::Batch,
        share_equal: true,
        idle_ms: None,
        idempotency: None,
        announced_at: Micros::from_secs(1_000),
        sealed_at: None,
    }
}

fn item(key: &str) -> HashedItem {
    let permit = BudgetPermit::default();
    let (key, body) = (key.to_owned(), Bytes::new());
    HashedItem {
        item: NewItem { key, group: None, body, permit, due: None, expected_ms: None, trace: None },
        content: None,
    }
}

/// A batch with this many requests, of a plugin without stages.
pub(crate) fn batch(requests: u32) -> LiveBatch {
    batch_of(requests, description())
}

/// A batch with this many requests of a plugin.
pub(crate) fn batch_of(requests: u32, description: Description) -> LiveBatch {
    let digest = Digest([1; 32]);
    let plugin = Arc::new(ReadyPlugin::new(digest, CompiledForms::new(), description, Vec::new()));
    // Without a size that it expects, it takes requests until it is sealed.
    let row = BatchRow { expected_size: None, ..row() };
    let mut batch = LiveBatch::new(CommittedView::default().put(row, plugin, false));
    let items = (0..requests).map(|seq| item(&seq.to_string())).collect();
    assert!(batch.take(items).is_ok());
    batch
}

#[test]
fn a_repeated_key_is_the_same_request_even_after_the_seal() {
    let mut batch = batch(1);
    batch.state = BatchState::Sealed;
    let first = RequestId { batch: batch.id(), seq: 0 };
    let taken = batch.take(vec![item("0")]).expect("a repeat is harmless");
    assert_eq!(taken.fates, [ItemFate::Repeated(first)]);
    assert!(taken.rows.is_empty() && batch.size() == 1);
    assert_eq!(batch.take(vec![item("1")]).err(), Some(DispatchError::Sealed));
}

#[test]
fn a_refused_request_leaves_its_number_unused_and_its_key_free() {
    let mut batch = batch(1);
    batch.state = BatchState::Announced;
    let taken = batch.take(vec![item("bad")]).expect("it is open");
    batch.state = BatchState::Sealed;
    let at = Some(Micros::from_secs(9));
    batch.take_back(&taken.rows, BatchMark { first_request_at: at, sealed_at: at });
    assert_eq!((batch.size(), batch.state), (1, BatchState::Announced));
    let again = batch.take(vec![item("bad"), item("0")]).expect("it is open");
    let fates = [2, 0].map(|seq| RequestId { batch: batch.id(), seq });
    assert_eq!(again.fates, [ItemFate::Accepted(fates[0]), ItemFate::Repeated(fates[1])]);
    assert_eq!((batch.size(), batch.entry(1).is_none()), (2, true));

    let mut restored = super::tests::batch(0);
    restored.skip_to(2);
    restored.restore_finished("a".into());
    assert_eq!(restored.size(), 1);
    assert_eq!(
        restored.take(vec![item("a")]).expect("a repeat").fates,
        [ItemFate::Repeated(RequestId { batch: restored.id(), seq: 2 })]
    );
}

#[test]
fn a_request_holds_its_bytes_of_the_budget_until_its_end() {
    let (budget, mut batch) = (AdmissionBudget::default(), batch(0));
    let tenant = batch.committed.row.tenant;
    let items = [9_000, 20_000, 5_000].map(|bytes| {
        let mut item = item(&bytes.to_string());
        item.item.body = vec![0; bytes].into();
        item.item.permit = budget.try_acquire(tenant, bytes).expect("there is room");
        item
    });
    let rows = batch.take(items.into()).expect("it is open").rows;
    let kib = |kib: usize| kib * 1_024;
    assert_eq!(budget.held_bytes(tenant), kib(9 + 20 + 5));
    let ended = batch.end(1).expect("it has not ended");
    assert_eq!(budget.held_bytes(tenant), kib(9 + 20 + 5));
    drop(ended);
    assert_eq!(budget.held_bytes(tenant), kib(9 + 5));
    batch.take_back(&rows[2..], BatchMark::default());
    assert_eq!(budget.held_bytes(tenant), kib(9));
    drop(batch);
    assert_eq!(budget.held_bytes(tenant), 0);
}

#[test]
fn an_open_batch_waits_for_its_trainer_when_all_its_requests_have_ended() {
    let mut batch = batch(2);
    batch.state = BatchState::Open;
    let last = Micros::from_secs(9);
    batch.committed.change(|progress| progress.last_request_at = Some(last));
    assert!(batch.waiting().is_none());
    batch.counts.scored = batch.size();
    assert_eq!(batch.waiting().map(|waiting| waiting.last_request_at), Some(last));
    batch.state = BatchState::Sealed;
    assert!(batch.waiting().is_none());
}
