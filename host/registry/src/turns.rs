//! Turns to run golden cases: a bounded number at the same time, one for each tenant, so that the cases of
//! one tenant do not keep all others from publishing.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use assay_core::id::TenantId;
use assay_core::limits;
use tokio::sync::Notify;

#[derive(Default)]
pub(crate) struct CaseTurns {
    /// The tenants that have a turn.
    running: Mutex<BTreeSet<TenantId>>,
    ended: Notify,
}

/// A tenant's turn; it ends with the value.
pub(crate) struct CaseTurn<'a> {
    turns: &'a CaseTurns,
    tenant: TenantId,
}

impl CaseTurns {
    /// Waits until the tenant may run golden cases.
    pub(crate) async fn take(&self, tenant: TenantId) -> CaseTurn<'_> {
        loop {
            let ended = self.ended.notified();
            tokio::pin!(ended);
            // A turn that ends between the next two lines is noticed.
            ended.as_mut().enable();
            if let Some(turn) = self.try_take(tenant) {
                return turn;
            }
            ended.await;
        }
    }

    fn try_take(&self, tenant: TenantId) -> Option<CaseTurn<'_>> {
        let mut running = self.running();
        let free = running.len() < limits::GOLDEN_RUNS_MAX;
        let taken = free && running.insert(tenant);
        taken.then(|| CaseTurn { turns: self, tenant })
    }

    fn running(&self) -> MutexGuard<'_, BTreeSet<TenantId>> {
        // No code that holds the lock panics in the middle of a change.
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for CaseTurn<'_> {
    fn drop(&mut self) {
        self.turns.running().remove(&self.tenant);
        self.turns.ended.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tenant(last: u8) -> TenantId {
        format!("00000000-0000-0000-0000-0000000000{last:02}").parse().expect("an id")
    }

    #[tokio::test]
    async fn a_tenant_has_one_turn_and_all_have_a_bounded_number() {
        let turns = CaseTurns::default();
        let first = turns.try_take(tenant(1)).expect("all are free");
        assert!(turns.try_take(tenant(1)).is_none(), "it has one already");
        let second = turns.try_take(tenant(2)).expect("one is free");
        assert!(turns.try_take(tenant(3)).is_none(), "all are taken");
        let third = turns.take(tenant(3));
        let ends = async { drop(first) };
        let (third, ()) = tokio::join!(third, ends);
        assert!(turns.try_take(tenant(1)).is_none());
        drop((second, third));
        assert!(turns.try_take(tenant(1)).is_some());
    }
}
