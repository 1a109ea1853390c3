//! The admission budget of live requests: a submission waits until enough is free, so memory stays bounded and a
//! fast trainer is slowed down instead of refused.

use std::sync::Arc;

use assay_core::limits;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

const UNIT: usize = 1 << 10;

/// The bytes of the budget that one request holds; dropping the permit returns them.
#[derive(Debug, Default)]
pub struct BudgetPermit {
    _permit: Option<OwnedSemaphorePermit>,
}

#[derive(Clone)]
pub struct AdmissionBudget {
    units: Arc<Semaphore>,
}

impl Default for AdmissionBudget {
    fn default() -> Self {
        Self { units: Arc::new(Semaphore::new(limits::LIVE_BYTES_MAX / UNIT)) }
    }
}

fn units(body_bytes: usize) -> u32 {
    let bytes = body_bytes.max(limits::REQUEST_COST_BYTES_MIN);
    u32::try_from(bytes.div_ceil(UNIT)).expect("a body is within its limit")
}

impl AdmissionBudget {
    /// A permit, if the budget has room for a body of this size now.
    #[must_use]
    pub fn try_acquire(&self, body_bytes: usize) -> Option<BudgetPermit> {
        let permit = self.units.clone().try_acquire_many_owned(units(body_bytes)).ok()?;
        Some(BudgetPermit { _permit: Some(permit) })
    }

    /// Waits until the budget has room for a body of this size.
    pub async fn acquire(&self, body_bytes: usize) -> BudgetPermit {
        let permit = self.units.clone().acquire_many_owned(units(body_bytes)).await;
        BudgetPermit { _permit: permit.ok() }
    }

    /// A permit for a request that was acknowledged before a restart: it never waits, and holds
    /// nothing if the budget is used up.
    #[must_use]
    pub fn acquire_restored(&self, body_bytes: usize) -> BudgetPermit {
        self.try_acquire(body_bytes).unwrap_or_default()
    }

    #[must_use]
    pub fn free_bytes(&self) -> usize {
        self.units.available_permits() * UNIT
    }
}
