//! The payloads of a live batch, which the scheduler does not know.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use assay_api::batch::BatchState;
use assay_api::result::{Counts, ResultItem, StageTime};
use assay_core::id::{BatchId, RequestId};
use assay_core::limits;
use assay_core::outcome::{Artifact, ErrorCode, Outcome};
use assay_core::time::Micros;
use bytes::Bytes;

use crate::batch_stats::BatchStats;
use crate::budget::BudgetPermit;
use crate::command::HashedItem;
use crate::committed::CommittedBatch;
use crate::dedup::{ContentHash, SharedOutcome};
use crate::handle::{DispatchError, ItemFate, NewItem};
use crate::silence::WaitingBatch;
use crate::tenants::SettingsEpoch;
use assay_store::admissions::{BatchMark, RequestRow};
use assay_store::restore::Left;
use assay_store::summaries::BatchSummaryRow;
use assay_store::usage::UsageRow;

pub(super) struct LiveBatch {
    pub committed: Arc<CommittedBatch>,
    pub state: BatchState,
    keys: HashMap<Arc<str>, u32>,
    groups: HashMap<Arc<str>, u32>,
    group_names: Vec<Arc<str>>,
    /// Entries by sequence number; `None` once the request has ended, or if the database refused it.
    entries: Vec<Option<Entry>>,
    /// The number of entries that the database refused.
    refused: u32,
    /// The position of the last finished request in the order of completion.
    pub position: u32,
    pub counts: Counts,
    pub reward_sum: f64,
    /// Requests that ended as an error, by code.
    pub errors: BTreeMap<ErrorCode, u32>,
    /// The request that this batch's single request replays.
    pub replays: Option<RequestId>,
    /// The number of requests that the tenant's bucket was charged for.
    paid: u32,
    /// The use of workers by finished requests, by stage.
    used: Vec<StageUse>,
    /// Unused for a single request.
    stats: BatchStats,
}

#[derive(Debug, Clone, Copy, Default)]
struct StageUse {
    requests: u32,
    ran: Micros,
}

/// A request that has not ended.
pub(super) struct Entry {
    pub key: Arc<str>,
    pub group: Option<u32>,
    pub body: Bytes,
    /// The artifact of the previous stage.
    pub input: Option<Artifact>,
    /// Times of the stages that ended in `next`, including those before a restart.
    pub times: Vec<StageTime>,
    /// The number of those stages that the scheduler knows of.
    pub advanced: usize,
    /// The number of the last line of its log; lines of a later try come after it.
    pub log_lines: u32,
    pub permit: BudgetPermit,
    /// The deadline of the client that waits for it, if it named one.
    pub due: Option<Micros>,
    /// The hash by which equal requests find it, if it may be deduplicated.
    pub content: Option<ContentHash>,
    /// The outcome that it takes from a primary.
    pub shared: Option<Arc<SharedOutcome>>,
}

/// The reason why a batch accepts no more requests, if there is one.
pub(crate) fn refusal(state: BatchState) -> Option<DispatchError> {
    match state {
        BatchState::Announced | BatchState::Open => None,
        BatchState::Sealed => Some(DispatchError::Sealed),
        BatchState::Done | BatchState::Cancelled | BatchState::Expired => {
            Some(DispatchError::Ended)
        }
    }
}

/// The changes of one submission: rows to commit, and fates to report after that.
#[derive(Default)]
pub(super) struct TakenItems {
    pub rows: Vec<RequestRow>,
    pub fates: Vec<ItemFate>,
    /// New deadlines of unfinished requests that were repeated.
    pub dues: Vec<(RequestId, Micros)>,
}

impl LiveBatch {
    pub(super) fn new(committed: Arc<CommittedBatch>) -> Self {
        Self {
            paid: committed.row.expected_size.unwrap_or(0),
            used: vec![StageUse::default(); committed.plugin.shapes.len()],
            committed,
            state: BatchState::Announced,
            keys: HashMap::new(),
            groups: HashMap::new(),
            group_names: Vec::new(),
            entries: Vec::new(),
            refused: 0,
            position: 0,
            counts: Counts::default(),
            reward_sum: 0.0,
            errors: BTreeMap::new(),
            replays: None,
            stats: BatchStats::default(),
        }
    }

    pub(super) fn id(&self) -> BatchId {
        self.committed.row.id
    }

    /// The number of requests that are committed or about to be.
    pub(super) fn size(&self) -> u32 {
        self.next_seq() - self.refused
    }

    /// The next request's sequence number. Those of refused requests are not used again.
    fn next_seq(&self) -> u32 {
        u32::try_from(self.entries.len()).expect("a batch is within its limit")
    }

    /// The batch if it is open and all its requests have ended, so that it waits for its trainer.
    pub(super) fn waiting(&self) -> Option<WaitingBatch<'_>> {
        let ended = self.counts.scored + self.counts.timed_out + self.counts.error;
        let waits = self.state == BatchState::Open && ended == self.size();
        if !waits || self.committed.is_single {
            return None;
        }
        let row = &self.committed.row;
        Some(WaitingBatch {
            id: row.id,
            tenant: row.tenant,
            run: &row.run,
            iteration: row.iteration,
            last_request_at: self.committed.look(|progress| progress.last_request_at)?,
        })
    }

    /// The number of requests that were not charged for yet; they count as charged from now on.
    pub(super) fn pay(&mut self) -> u32 {
        let unpaid = self.size().saturating_sub(self.paid);
        self.paid += unpaid;
        unpaid
    }

    /// The number of requests that were charged for and never came.
    pub(super) fn overpaid(&self) -> u32 {
        self.paid.saturating_sub(self.size())
    }

    pub(super) fn count_error(&mut self, outcome: &Outcome) {
        if let Outcome::Error { code, .. } = outcome {
            *self.errors.entry(*code).or_default() += 1;
        }
    }

    /// Adds the stages of a request that has ended to the batch's use of workers.
    pub(super) fn charge(&mut self, times: &[StageTime]) {
        let stages = &self.committed.plugin.description.stages;
        for time in times {
            let place = stages.iter().position(|stage| stage.name == time.stage);
            if let Some(used) = place.and_then(|place| self.used.get_mut(place)) {
                used.requests += 1;
                used.ran = used.ran + Micros::from_ms_f64(time.ran_ms);
            }
        }
    }

    /// Adds the result of a request that has ended to the batch stats.
    pub(super) fn count(&mut self, item: &ResultItem, group: Option<u32>, earliest_end: Micros) {
        if !self.committed.is_single {
            let stages = &self.committed.plugin.description.stages;
            self.stats.add(stages, item, group, earliest_end);
        }
    }

    /// The summary that the batch leaves with its end; `None` for a single request, whose batch is in no
    /// list.
    pub(super) fn summary(&mut self, usage: &[UsageRow]) -> Option<BatchSummaryRow> {
        if self.committed.is_single {
            return None;
        }
        let row = &self.committed.row;
        let stages = &self.committed.plugin.description.stages;
        Some(BatchSummaryRow {
            run: row.run.clone(),
            plugin: row.plugin.clone(),
            version: row.version.clone(),
            summary: std::mem::take(&mut self.stats).summary(stages, row.group_size, usage),
        })
    }

    /// The use of each pool; `cost` is the price of a worker's second there.
    pub(super) fn usage(&self, cost: impl Fn(&str) -> f64) -> Vec<UsageRow> {
        let mut rows: Vec<UsageRow> = Vec::new();
        for (shape, used) in self.committed.plugin.shapes.iter().zip(&self.used) {
            let seconds = used.ran.as_secs_f64();
            // A request that reached a later stage on this pool was counted at the first one.
            if let Some(row) = rows.iter_mut().find(|row| *row.pool == *shape.pool) {
                row.worker_seconds += seconds;
            } else if used.requests > 0 {
                let pool = shape.pool.to_string();
                let requests = used.requests;
                rows.push(UsageRow { pool, requests, worker_seconds: seconds, cost: 0.0 });
            }
        }
        for row in &mut rows {
            row.cost = row.worker_seconds * cost(&row.pool);
        }
        rows
    }

    pub(super) fn entry(&self, seq: u32) -> Option<&Entry> {
        self.entries.get(seq as usize)?.as_ref()
    }

    pub(super) fn entry_mut(&mut self, seq: u32) -> Option<&mut Entry> {
        self.entries.get_mut(seq as usize)?.as_mut()
    }

    pub(super) fn end(&mut self, seq: u32) -> Option<Entry> {
        self.entries.get_mut(seq as usize)?.take()
    }

    pub(super) fn group_name(&self, group: u32) -> Option<&Arc<str>> {
        self.group_names.get(group as usize)
    }

    /// Adds the items that are new; a repeated key gets the request that it already has.
    pub(super) fn take(&mut self, items: Vec<HashedItem>) -> Result<TakenItems, DispatchError> {
        let refused = refusal(self.state);
        let mut taken = TakenItems::default();
        for HashedItem { item, content } in items {
            if let Some(&seq) = self.keys.get(item.key.as_str()) {
                let id = RequestId { batch: self.id(), seq };
                taken.fates.push(ItemFate::Repeated(id));
                if let (Some(due), Some(entry)) = (item.due, self.entry_mut(seq)) {
                    entry.due = Some(due);
                    taken.dues.push((id, due));
                }
                continue;
            }
            // A call with repeated keys only is harmless even after the seal; a new key is not.
            if let Some(refused) = refused {
                return Err(refused);
            }
            if self.next_seq() >= limits::BATCH_REQUESTS_MAX {
                taken.fates.push(ItemFate::Refused);
                continue;
            }
            let seq = self.next_seq();
            taken.rows.push(RequestRow {
                seq,
                key: item.key.clone(),
                group: item.group.clone(),
                body: item.body.clone(),
            });
            taken.fates.push(ItemFate::Accepted(RequestId { batch: self.id(), seq }));
            self.add(item, content);
        }
        Ok(taken)
    }

    /// Takes back an admission that the database refused. Its keys may come again.
    pub(super) fn take_back(&mut self, rows: &[RequestRow], mark: BatchMark) {
        for row in rows {
            self.keys.remove(row.key.as_str());
            self.refused += u32::from(self.end(row.seq).is_some());
        }
        if mark.sealed_at.is_some() && self.state == BatchState::Sealed {
            self.state = BatchState::Open;
        }
        // The next submission marks the first request again.
        if mark.first_request_at.is_some() && self.state == BatchState::Open {
            self.state = BatchState::Announced;
        }
    }

    /// Passes over the numbers of requests that the database refused before a restart.
    pub(super) fn skip_to(&mut self, seq: u32) {
        while self.next_seq() < seq {
            self.entries.push(None);
            self.refused += 1;
        }
    }

    fn add(&mut self, item: NewItem, content: Option<ContentHash>) {
        let key: Arc<str> = item.key.into();
        let group = item.group.map(|name| self.group(&name));
        self.keys.insert(key.clone(), self.next_seq());
        self.entries.push(Some(Entry {
            key,
            group,
            body: item.body,
            input: None,
            times: Vec::new(),
            advanced: 0,
            log_lines: 0,
            permit: item.permit,
            due: item.due,
            content,
            shared: None,
        }));
    }

    pub(super) fn group(&mut self, name: &str) -> u32 {
        if let Some(&group) = self.groups.get(name) {
            return group;
        }
        let group = u32::try_from(self.group_names.len()).expect("fewer than requests");
        let name: Arc<str> = name.into();
        self.groups.insert(name.clone(), group);
        self.group_names.push(name);
        group
    }

    /// Restores a request that waits, with the artifact of its last stage and the number of its last log line; returns
    /// how long each completed stage ran.
    pub(super) fn restore_waiting(
        &mut self,
        item: NewItem,
        left: Option<Left>,
        log_lines: u32,
    ) -> Vec<Micros> {
        let seq = self.next_seq();
        let CommittedBatch { row, plugin, .. } = &*self.committed;
        // No tenant's settings have changed since the start.
        let content = ContentHash::of(row, plugin, SettingsEpoch::default(), &item.body);
        self.add(item, content);
        let entry = self.entry_mut(seq).expect("just added");
        entry.log_lines = log_lines;
        if let Some(left) = left {
            entry.times = serde_json::from_str(&left.times).unwrap_or_default();
            entry.input = Some(left.artifact);
        }
        entry.times.iter().map(|time| Micros::from_ms_f64(time.ran_ms)).collect()
    }

    /// Restores a request that has ended.
    pub(super) fn restore_finished(&mut self, key: String) {
        self.keys.insert(key.into(), self.next_seq());
        self.entries.push(None);
    }

    pub(super) fn artifact_bytes(&self) -> usize {
        let inputs = self.entries.iter().flatten().filter_map(|entry| entry.input.as_ref());
        inputs.map(|input| input.bytes.len()).sum()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use assay_api::batch::Consumes;
    use assay_core::id::{Digest, TenantId};
    use assay_core::plugin::Description;
    use assay_store::admissions::BatchRow;
    use uuid::Uuid;

    use super::*;
    use crate::committed::CommittedView;
    use crate::plugin::ReadyPlugin;

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
            idempotency: None,
            announced_at: Micros::from_secs(1_000),
            sealed_at: None,
        }
    }

    fn item(key: &str) -> HashedItem {
        let permit = BudgetPermit::default();
        let (key, body) = (key.to_owned(), Bytes::new());
        HashedItem { item: NewItem { key, group: None, body, permit, due: None }, content: None }
    }

    /// A batch with this many requests.
    pub(crate) fn batch(requests: u32) -> LiveBatch {
        let description = Description {
            name: "math".into(),
            version: "1.0.0".into(),
            summary: String::new(),
            stages: Vec::new(),
            settings_schema: String::new(),
            label_schema: String::new(),
            timeout_reward: 0.0,
            deterministic: true,
        };
        let digest = Digest([1; 32]);
        let plugin = Arc::new(ReadyPlugin::new(digest, digest, description, Vec::new()));
        let mut batch = LiveBatch::new(CommittedView::default().put(row(), plugin, false));
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
}
