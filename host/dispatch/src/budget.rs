//! The admission budget of live requests: a submission waits until enough is free, so memory stays bounded and a
//! fast trainer is slowed down instead of refused. Tenants share it.

use std::collections::BTreeMap;

use assay_core::id::TenantId;
use assay_core::limits;

use crate::fair_semaphore::{FairPermit, FairSemaphore};

const UNIT: usize = 1 << 10;

/// The bytes of the budget that requests of one tenant hold; dropping the permit returns them.
#[derive(Debug, Default)]
pub struct BudgetPermit {
    permit: Option<FairPermit>,
}

impl BudgetPermit {
    /// Adds the bytes of another request of the tenant.
    pub(crate) fn add(&mut self, other: Self) {
        match (&mut self.permit, other.permit) {
            (Some(all), Some(more)) => all.add(more),
            (all, more) => *all = all.take().or(more),
        }
    }

    /// Takes out the bytes of a request with a body of this size, as far as they are here: restored requests may hold less
    /// than others.
    pub(crate) fn take(&mut self, body_bytes: usize) -> Self {
        Self { permit: self.permit.as_mut().map(|all| all.take(units(body_bytes))) }
    }
}

#[derive(Clone)]
pub struct AdmissionBudget {
    units: FairSemaphore,
}

impl Default for AdmissionBudget {
    fn default() -> Self {
        Self { units: FairSemaphore::new(limits::LIVE_BYTES_MAX / UNIT) }
    }
}

fn units(body_bytes: usize) -> usize {
    body_bytes.max(limits::REQUEST_COST_BYTES_MIN).div_ceil(UNIT)
}

impl AdmissionBudget {
    /// A permit, if the budget has room for a body of this size of the tenant now.
    #[must_use]
    pub fn try_acquire(&self, tenant: TenantId, body_bytes: usize) -> Option<BudgetPermit> {
        let permit = self.units.try_acquire(tenant, units(body_bytes))?;
        Some(BudgetPermit { permit: Some(permit) })
    }

    /// Waits until the budget has room for a body of this size of the tenant.
    pub async fn acquire(&self, tenant: TenantId, body_bytes: usize) -> BudgetPermit {
        let permit = self.units.acquire(tenant, units(body_bytes)).await;
        BudgetPermit { permit: Some(permit) }
    }

    /// A permit for a request that was acknowledged before a restart: it never waits, and holds
    /// nothing if the budget is used up.
    #[must_use]
    pub fn acquire_restored(&self, tenant: TenantId, body_bytes: usize) -> BudgetPermit {
        BudgetPermit { permit: self.units.take_free(tenant, units(body_bytes)) }
    }

    #[must_use]
    pub fn free_bytes(&self) -> usize {
        self.units.free() * UNIT
    }

    /// The bytes of the tenant's requests.
    #[must_use]
    pub fn held_bytes(&self, tenant: TenantId) -> usize {
        self.units.held(tenant) * UNIT
    }

    /// The number of submissions that wait, by tenant.
    #[must_use]
    pub fn waiting(&self) -> BTreeMap<TenantId, usize> {
        self.units.waiting()
    }
}
