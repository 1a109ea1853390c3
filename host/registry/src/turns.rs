//! Turns to run golden cases: a bounded number at the same time, one for each tenant, so that the cases of
//! one tenant do not keep all others from publishing. Few uploads wait for a turn, as each keeps its component
//! and its compiled form on the disk.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use assay_core::id::TenantId;
use assay_core::limits;
use tokio::sync::Notify;

#[derive(Default)]
pub(crate) struct CaseTurns {
    queue: Mutex<CaseQueue>,
    ended: Notify,
}

#[derive(Default)]
struct CaseQueue {
    /// The tenants that have a turn.
    running: BTreeSet<TenantId>,
    /// The tenant of each upload that waits for one.
    waiting: Vec<TenantId>,
}

/// A tenant's turn; it ends with the value.
pub(crate) struct CaseTurn<'a> {
    turns: &'a CaseTurns,
    tenant: TenantId,
}

/// An upload that waits; it no longer does when the value is dropped.
struct WaitingUpload<'a> {
    turns: &'a CaseTurns,
    tenant: TenantId,
}

/// Too many uploads wait, of this tenant or of all.
#[derive(Debug)]
pub(crate) struct TooManyWait;

impl CaseTurns {
    /// Waits until the tenant may run golden cases.
    pub(crate) async fn take(&self, tenant: TenantId) -> Result<CaseTurn<'_>, TooManyWait> {
        if let Some(turn) = self.try_take(tenant) {
            return Ok(turn);
        }
        let _waiting = self.wait(tenant)?;
        loop {
            let ended = self.ended.notified();
            tokio::pin!(ended);
            // A turn that ends between the next two lines is noticed.
            ended.as_mut().enable();
            if let Some(turn) = self.try_take(tenant) {
                return Ok(turn);
            }
            ended.await;
        }
    }

    fn try_take(&self, tenant: TenantId) -> Option<CaseTurn<'_>> {
        let running = &mut self.queue().running;
        let free = running.len() < limits::GOLDEN_RUNS_MAX;
        let taken = free && running.insert(tenant);
        taken.then(|| CaseTurn { turns: self, tenant })
    }

    fn wait(&self, tenant: TenantId) -> Result<WaitingUpload<'_>, TooManyWait> {
        let waiting = &mut self.queue().waiting;
        let theirs = waiting.iter().filter(|waits| **waits == tenant).count();
        if waiting.len() >= limits::GOLDEN_WAITING_MAX
            || theirs >= limits::GOLDEN_WAITING_TENANT_MAX
        {
            return Err(TooManyWait);
        }
        waiting.push(tenant);
        Ok(WaitingUpload { turns: self, tenant })
    }

    fn queue(&self) -> MutexGuard<'_, CaseQueue> {
        // No code that holds the lock panics in the middle of a change.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for CaseTurn<'_> {
    fn drop(&mut self) {
        self.turns.queue().running.remove(&self.tenant);
        self.turns.ended.notify_waiters();
    }
}

impl Drop for WaitingUpload<'_> {
    fn drop(&mut self) {
        let waiting = &mut self.turns.queue().waiting;
        if let Some(at) = waiting.iter().position(|waits| *waits == self.tenant) {
            waiting.swap_remove(at);
        }
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
        let third = third.expect("few wait");
        assert!(turns.try_take(tenant(1)).is_none());
        drop((second, third));
        assert!(turns.try_take(tenant(1)).is_some());
    }

    #[tokio::test]
    async fn few_uploads_wait_and_fewer_of_one_tenant() {
        let turns = CaseTurns::default();
        let first = turns.take(tenant(1)).await.expect("it need not wait");
        let second = turns.take(tenant(2)).await.expect("it need not wait");
        let mut waiting = Vec::new();
        for _ in 0..limits::GOLDEN_WAITING_TENANT_MAX {
            waiting.push(turns.wait(tenant(1)).expect("few wait"));
        }
        assert!(turns.take(tenant(1)).await.is_err(), "its others wait already");
        for other in waiting.len()..limits::GOLDEN_WAITING_MAX {
            let other = u8::try_from(10 + other).expect("a small number");
            waiting.push(turns.wait(tenant(other)).expect("few wait"));
        }
        assert!(turns.take(tenant(3)).await.is_err(), "all places are taken");
        // One that goes away makes room.
        waiting.pop();
        let third = turns.take(tenant(3));
        let ends = async { drop(first) };
        let (third, ()) = tokio::join!(third, ends);
        assert!(third.is_ok());
        drop((second, third, waiting));
        assert!(turns.queue().waiting.is_empty());
    }
}
