//! Quotas of a tenant: its weight and worker limits, which the scheduler enforces, and the limits of
//! admission, which are a number of open batches and a token bucket of requests.
//!
//! A batch is admitted while the bucket is not empty and then takes its whole expected size: the
//! bucket may be in debt once, and no batch is refused half-way. Requests beyond the expected size are
//! charged when they arrive; requests that were charged for and never came are refunded at the end.

use std::collections::{BTreeMap, HashMap};

use assay_core::id::TenantId;
use assay_core::limits;
use assay_core::time::Micros;
use assay_sched::Event;

use crate::clock::now;
use crate::handle::DispatchError;
use crate::shell::Shell;

/// The tokens of one request: a bucket of one request a minute gains one token a microsecond.
const REQUEST: i64 = 60_000_000;
/// The wait in seconds that is reported for a bucket that never fills.
const NEVER_SECONDS: u64 = 60;

/// A tenant's use of its quotas at this moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TenantUse {
    pub open_batches: u64,
    /// The number of requests by which its bucket is not full.
    pub requests: u64,
    /// The number of workers that hold a lease for the tenant, by pool.
    pub workers: BTreeMap<String, u64>,
}

/// A tenant's limit of requests a minute, at the time of a check.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rate {
    pub tenant: TenantId,
    pub per_minute: u32,
    pub now: Micros,
}

/// The buckets of all tenants with a limit; a bucket that was never used is full.
#[derive(Debug, Default)]
pub(super) struct Buckets {
    by_tenant: HashMap<TenantId, Bucket>,
}

#[derive(Debug)]
struct Bucket {
    /// Tokens; below zero the bucket is in debt.
    level: i64,
    filled_at: Micros,
}

impl Rate {
    fn full(self) -> i64 {
        i64::from(self.per_minute) * REQUEST
    }
}

impl Buckets {
    fn filled(&mut self, rate: Rate) -> &mut Bucket {
        let new = || Bucket { level: rate.full(), filled_at: rate.now };
        let bucket = self.by_tenant.entry(rate.tenant).or_insert_with(new);
        let elapsed = i64::try_from(rate.now.since(bucket.filled_at).0).unwrap_or(i64::MAX);
        let gained = elapsed.saturating_mul(rate.per_minute.into());
        bucket.level = bucket.level.saturating_add(gained).min(rate.full());
        bucket.filled_at = rate.now;
        bucket
    }

    /// Whether a batch may be admitted now; takes no tokens yet.
    pub(super) fn check(&mut self, rate: Rate) -> Result<(), DispatchError> {
        let level = self.filled(rate).level;
        if level > 0 {
            return Ok(());
        }
        let micros = level.unsigned_abs().checked_div(rate.per_minute.into());
        let seconds = micros.map_or(NEVER_SECONDS, |micros| micros / 1_000_000 + 1);
        Err(DispatchError::RequestsPerMinute {
            max: rate.per_minute,
            used: self.used(rate),
            seconds,
        })
    }

    /// Takes tokens; it is never refused.
    pub(super) fn take(&mut self, rate: Rate, requests: u32) {
        let bucket = self.filled(rate);
        bucket.level = bucket.level.saturating_sub(i64::from(requests) * REQUEST);
    }

    pub(super) fn give_back(&mut self, rate: Rate, requests: u32) {
        let bucket = self.filled(rate);
        let level = bucket.level.saturating_add(i64::from(requests) * REQUEST);
        bucket.level = level.min(rate.full());
    }

    /// The number of requests by which the bucket is not full.
    pub(super) fn used(&mut self, rate: Rate) -> u64 {
        let lacks = rate.full() - self.filled(rate).level;
        lacks.unsigned_abs().div_ceil(REQUEST.unsigned_abs())
    }
}

impl Shell {
    /// Reports the tenant's weight and worker limits to the scheduler.
    pub(super) fn tell_entitlement(&mut self, tenant: TenantId) {
        let entitlement = self.tenants.entitlement(tenant);
        self.step(Event::EntitlementChanged { tenant, entitlement });
    }

    /// Reports those of all tenants; call it before anything is admitted or restored.
    pub(super) fn tell_entitlements(&mut self) {
        for tenant in self.tenants.ids() {
            self.tell_entitlement(tenant);
        }
    }

    pub(super) fn tenant_use(&mut self, tenant: TenantId) -> TenantUse {
        let mut workers = BTreeMap::new();
        for worker in self.workers.values() {
            let pool = worker.leases.values().find_map(|(request, stage)| {
                let committed = &self.batches.get(&request.batch)?.committed;
                let shape = committed.plugin.shapes.get(*stage)?;
                (committed.row.tenant == tenant).then_some(&shape.pool)
            });
            if let Some(pool) = pool {
                *workers.entry(pool.to_string()).or_default() += 1;
            }
        }
        let requests = self.rate(tenant).map_or(0, |rate| self.buckets.used(rate));
        let open_batches = self.open_batches.get(&tenant).copied().unwrap_or(0) as u64;
        TenantUse { open_batches, requests, workers }
    }

    /// The tenant's limit of requests a minute, if it has one.
    pub(super) fn rate(&self, tenant: TenantId) -> Option<Rate> {
        let per_minute = self.tenants.get(tenant).quotas.requests_per_minute_max?;
        Some(Rate { tenant, per_minute, now: now() })
    }

    /// Checks the quotas before a batch is admitted; tokens are taken later.
    pub(super) fn check_quotas(&mut self, tenant: TenantId) -> Result<(), DispatchError> {
        let used = self.open_batches.get(&tenant).copied().unwrap_or(0) as u64;
        let most = limits::OPEN_BATCHES_PER_TENANT_MAX as u64;
        let own = self.tenants.get(tenant).quotas.open_batches_max;
        let max = own.map_or(most, |own| most.min(own.into()));
        if used >= max {
            return Err(DispatchError::OpenBatches { max, used });
        }
        self.rate(tenant).map_or(Ok(()), |rate| self.buckets.check(rate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(per_minute: u32, seconds: u64) -> Rate {
        let tenant = TenantId(uuid::Uuid::nil());
        Rate { tenant, per_minute, now: Micros::from_secs(1_000 + seconds) }
    }

    #[test]
    fn a_batch_may_be_larger_than_what_is_left_but_the_next_one_waits() {
        let mut buckets = Buckets::default();
        assert_eq!(buckets.check(rate(600, 0)), Ok(()));
        buckets.take(rate(600, 0), 599);
        assert_eq!(buckets.check(rate(600, 0)), Ok(()));
        buckets.take(rate(600, 0), 500);
        let refused = DispatchError::RequestsPerMinute { max: 600, used: 1_099, seconds: 50 };
        assert_eq!(buckets.check(rate(600, 0)), Err(refused));
        assert_eq!(buckets.used(rate(600, 40)), 699);
        assert!(buckets.check(rate(600, 49)).is_err());
        assert_eq!(buckets.check(rate(600, 50)), Ok(()));
        assert_eq!(buckets.used(rate(600, 3_600)), 0);
    }

    #[test]
    fn what_never_came_is_given_back_and_no_more_than_that() {
        let mut buckets = Buckets::default();
        buckets.take(rate(60, 0), 90);
        assert!(buckets.check(rate(60, 0)).is_err());
        buckets.give_back(rate(60, 0), 80);
        assert_eq!(buckets.used(rate(60, 0)), 10);
        buckets.give_back(rate(60, 0), 1_000);
        assert_eq!(buckets.used(rate(60, 0)), 0);
    }

    #[test]
    fn a_new_bound_holds_at_once_and_none_lets_nothing_in() {
        let mut buckets = Buckets::default();
        buckets.take(rate(600, 0), 100);
        buckets.take(rate(10, 1), 1);
        assert_eq!(buckets.used(rate(10, 1)), 1);
        let refused = DispatchError::RequestsPerMinute { max: 0, used: 0, seconds: 60 };
        assert_eq!(buckets.check(rate(0, 2)), Err(refused));
    }
}
