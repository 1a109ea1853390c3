//! Admission control: whether a tenant may announce one batch more now, and under which idempotency key.
//!
//! It owns the counts of open batches, the token buckets and the idempotency keys of live batches. It
//! takes the time as an argument and writes nothing.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use assay_core::id::TenantId;
use assay_core::limits;
use assay_core::time::Micros;
use assay_store::admissions::BatchRow;

use crate::handle::DispatchError;
use crate::quota::{Buckets, Rate, TenantUse};
use crate::tenants::Tenants;

/// The time from a caller's last look-up of its idempotency key in the database to its turn here.
const KEY_LOOK_MAX: Micros = Micros::from_secs(limits::ADMISSION_SECONDS_MAX);
/// The time for which the key of an ended batch is kept; longer than [`KEY_LOOK_MAX`].
const KEY_KEPT: Micros = Micros::from_secs(2 * limits::ADMISSION_SECONDS_MAX);

pub(super) struct AdmissionControl {
    tenants: Arc<Tenants>,
    open_batches: HashMap<TenantId, u64>,
    buckets: Buckets,
    keys: IdempotencyKeys,
}

/// Keys of live batches, committed or not, and of batches that ended recently. A caller that looked for
/// the row before it was committed must find its key here.
#[derive(Default)]
struct IdempotencyKeys {
    taken: HashSet<(TenantId, String)>,
    /// The keys of ended batches, with the time at which each is dropped.
    ended: VecDeque<(Micros, (TenantId, String))>,
}

impl AdmissionControl {
    pub(super) fn new(tenants: Arc<Tenants>) -> Self {
        Self {
            tenants,
            open_batches: HashMap::new(),
            buckets: Buckets::default(),
            keys: IdempotencyKeys::default(),
        }
    }

    /// Counts a new batch against the quotas of its tenant, or says why it is refused.
    pub(super) fn admit(&mut self, row: &BatchRow, now: Micros) -> Result<(), DispatchError> {
        self.check_open_batches(row.tenant)?;
        let rate = self.rate(row.tenant, now);
        rate.map_or(Ok(()), |rate| self.buckets.check(rate))?;
        self.keys.take(row, now)?;
        self.readmit(row.tenant);
        if let Some(rate) = rate {
            self.buckets.take(rate, row.expected_size.unwrap_or(0));
        }
        Ok(())
    }

    /// Counts a batch that was admitted before a restart.
    pub(super) fn readmit(&mut self, tenant: TenantId) {
        *self.open_batches.entry(tenant).or_default() += 1;
    }

    /// Charges the tenant for requests beyond a batch's expected size.
    pub(super) fn charge(&mut self, tenant: TenantId, requests: u32, now: Micros) {
        if let Some(rate) = self.rate(tenant, now).filter(|_| requests > 0) {
            self.buckets.take(rate, requests);
        }
    }

    /// Returns what an ended batch held of its tenant's quotas; `unused` requests were charged for and
    /// never came.
    pub(super) fn release(&mut self, row: &BatchRow, unused: u32, now: Micros) {
        self.give_back(row, unused, now);
        if let Some(idempotency) = &row.idempotency {
            let key = (row.tenant, idempotency.key.clone());
            self.keys.ended.push_back((now + KEY_KEPT, key));
        }
    }

    /// Returns what a batch held that the database refused: its announcement may be repeated at once.
    pub(super) fn refused(&mut self, row: &BatchRow, now: Micros) {
        self.give_back(row, row.expected_size.unwrap_or(0), now);
        if let Some(idempotency) = &row.idempotency {
            self.keys.taken.remove(&(row.tenant, idempotency.key.clone()));
        }
    }

    fn give_back(&mut self, row: &BatchRow, unused: u32, now: Micros) {
        if let Some(open) = self.open_batches.get_mut(&row.tenant) {
            *open -= 1;
            if *open == 0 {
                self.open_batches.remove(&row.tenant);
            }
        }
        if let Some(rate) = self.rate(row.tenant, now) {
            self.buckets.give_back(rate, unused);
        }
    }

    /// Drops the idempotency keys that nobody can repeat unseen any more.
    pub(super) fn drop_old_keys(&mut self, now: Micros) {
        while let Some((_, key)) = self.keys.ended.pop_front_if(|(at, _)| *at <= now) {
            self.keys.taken.remove(&key);
        }
    }

    /// The tenant's use of its quotas, without its workers.
    pub(super) fn used(&mut self, tenant: TenantId, now: Micros) -> TenantUse {
        let requests = self.rate(tenant, now).map_or(0, |rate| self.buckets.used(rate));
        TenantUse { open_batches: self.open(tenant), requests, ..TenantUse::default() }
    }

    fn open(&self, tenant: TenantId) -> u64 {
        self.open_batches.get(&tenant).copied().unwrap_or(0)
    }

    fn check_open_batches(&self, tenant: TenantId) -> Result<(), DispatchError> {
        let most = limits::OPEN_BATCHES_PER_TENANT_MAX as u64;
        let own = self.tenants.get(tenant).quotas.open_batches_max;
        let max = own.map_or(most, |own| most.min(own.into()));
        let used = self.open(tenant);
        if used < max { Ok(()) } else { Err(DispatchError::OpenBatches { max, used }) }
    }

    /// The tenant's limit of requests a minute, if it has one.
    fn rate(&self, tenant: TenantId, now: Micros) -> Option<Rate> {
        let per_minute = self.tenants.get(tenant).quotas.requests_per_minute_max?;
        Some(Rate { tenant, per_minute, now })
    }
}

impl IdempotencyKeys {
    fn take(&mut self, row: &BatchRow, now: Micros) -> Result<(), DispatchError> {
        let Some(idempotency) = &row.idempotency else { return Ok(()) };
        let looked_long_ago = now.since(row.announced_at) > KEY_LOOK_MAX;
        let key = (row.tenant, idempotency.key.clone());
        let is_new = !looked_long_ago && self.taken.insert(key);
        if is_new { Ok(()) } else { Err(DispatchError::KeyInUse) }
    }
}

#[cfg(test)]
mod tests {
    use assay_api::batch::Consumes;
    use assay_api::tenant::{Quotas, Tenant, TenantSettings};
    use assay_core::id::{BatchId, Digest};
    use assay_store::admissions::Idempotency;
    use uuid::Uuid;

    use super::*;

    const TENANT: TenantId = TenantId(Uuid::nil());
    const START: Micros = Micros::from_secs(1_000);

    fn control(quotas: Quotas) -> AdmissionControl {
        let tenant = Tenant {
            id: TENANT,
            name: "one".into(),
            created_at: START,
            suspended_at: None,
            settings: TenantSettings { quotas, ..TenantSettings::default() },
            storage_roots: Vec::new(),
        };
        AdmissionControl::new(Arc::new(Tenants::new(vec![tenant], Arc::default())))
    }

    fn row(key: Option<&str>, expected_size: u32) -> BatchRow {
        BatchRow {
            tenant: TENANT,
            id: BatchId::generate(),
            run: "run".into(),
            iteration: 0,
            plugin: "math".into(),
            version: "1.0.0".into(),
            digest: Digest([1; 32]),
            settings: "{}".into(),
            expected_size: Some(expected_size),
            group_size: None,
            max_extra_delay_ms: None,
            consumes: Consumes::Batch,
            share_equal: true,
            idle_ms: None,
            idempotency: key.map(|key| Idempotency { key: key.into(), call_hash: Digest([2; 32]) }),
            announced_at: START,
            sealed_at: None,
        }
    }

    #[test]
    fn open_batches_are_bounded_and_an_ended_one_makes_room() {
        let mut control = control(Quotas { open_batches_max: Some(2), ..Quotas::default() });
        control.readmit(TENANT);
        assert_eq!(control.admit(&row(None, 1), START), Ok(()));
        let refused = Err(DispatchError::OpenBatches { max: 2, used: 2 });
        assert_eq!(control.admit(&row(None, 1), START), refused);
        control.release(&row(None, 1), 0, START);
        assert_eq!(control.admit(&row(None, 1), START), Ok(()));
        assert_eq!(control.used(TENANT, START).open_batches, 2);
        // Another tenant has the platform's bound alone.
        let other = BatchRow { tenant: TenantId(Uuid::from_u128(1)), ..row(None, 1) };
        assert_eq!(control.admit(&other, START), Ok(()));
    }

    #[test]
    fn a_key_stays_taken_for_a_while_after_its_batch() {
        let mut control = control(Quotas::default());
        let first = row(Some("key"), 1);
        assert_eq!(control.admit(&first, START), Ok(()));
        assert_eq!(control.admit(&first, START), Err(DispatchError::KeyInUse));
        control.release(&first, 0, START);
        control.drop_old_keys(START + KEY_KEPT - Micros(1));
        assert_eq!(control.admit(&first, START), Err(DispatchError::KeyInUse));
        control.drop_old_keys(START + KEY_KEPT);
        assert_eq!(control.admit(&first, START), Ok(()));
        // Nothing of a refused batch counts.
        assert_eq!(control.used(TENANT, START).open_batches, 1);
    }

    #[test]
    fn a_batch_that_was_not_kept_may_be_announced_again() {
        let quotas = Quotas { requests_per_minute_max: Some(60), ..Quotas::default() };
        let mut control = control(quotas);
        let first = row(Some("key"), 50);
        for _ in 0..3 {
            assert_eq!(control.admit(&first, START), Ok(()));
            control.refused(&first, START);
        }
        let used = control.used(TENANT, START);
        assert_eq!((used.open_batches, used.requests), (0, 0));
    }

    #[test]
    fn a_key_that_was_looked_up_long_ago_is_refused() {
        let mut control = control(Quotas::default());
        let row = row(Some("key"), 1);
        let late = START + KEY_LOOK_MAX + Micros(1);
        assert_eq!(control.admit(&row, late), Err(DispatchError::KeyInUse));
        assert_eq!(control.admit(&row, START + KEY_LOOK_MAX), Ok(()));
    }

    #[test]
    fn a_batch_is_charged_for_its_size_and_refunded_for_what_never_came() {
        let quotas = Quotas { requests_per_minute_max: Some(60), ..Quotas::default() };
        let mut control = control(quotas);
        let batch = row(None, 50);
        assert_eq!(control.admit(&batch, START), Ok(()));
        control.charge(TENANT, 10, START);
        assert_eq!(control.used(TENANT, START).requests, 60);
        assert!(control.admit(&batch, START).is_err());
        control.release(&batch, 20, START);
        assert_eq!(control.used(TENANT, START).requests, 40);
        assert_eq!(control.admit(&batch, START), Ok(()));
    }
}
