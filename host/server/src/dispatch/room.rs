//! Room for live requests: who submits waits until there is some, so memory stays bounded and a
//! fast trainer is slowed down instead of refused.

use std::sync::Arc;

use assay_model::limits;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

const UNIT: usize = 1 << 10;

/// A request's share of the room; given back when it is dropped.
#[derive(Debug, Default)]
pub struct Place {
    _permit: Option<OwnedSemaphorePermit>,
}

#[derive(Clone)]
pub struct Room {
    units: Arc<Semaphore>,
}

impl Default for Room {
    fn default() -> Self {
        Self { units: Arc::new(Semaphore::new(limits::LIVE_BYTES_MAX / UNIT)) }
    }
}

fn units(body_bytes: usize) -> u32 {
    let bytes = body_bytes.max(limits::REQUEST_COST_BYTES_MIN);
    u32::try_from(bytes.div_ceil(UNIT)).expect("a body is within its limit")
}

impl Room {
    /// A place if there is one at once.
    #[must_use]
    pub fn try_enter(&self, body_bytes: usize) -> Option<Place> {
        let permit = self.units.clone().try_acquire_many_owned(units(body_bytes)).ok()?;
        Some(Place { _permit: Some(permit) })
    }

    /// Waits until a body of this size has room.
    pub async fn enter(&self, body_bytes: usize) -> Place {
        let permit = self.units.clone().acquire_many_owned(units(body_bytes)).await;
        Place { _permit: permit.ok() }
    }

    /// For what has been acknowledged in an earlier life: takes room if there is some.
    #[must_use]
    pub fn enter_restored(&self, body_bytes: usize) -> Place {
        self.try_enter(body_bytes).unwrap_or_default()
    }

    #[must_use]
    pub fn free_bytes(&self) -> usize {
        self.units.available_permits() * UNIT
    }
}
