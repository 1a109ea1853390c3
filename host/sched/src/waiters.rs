//! Waiters: requests that wait for the outcome of an equal request, the primary, instead of running.
//!
//! The dispatcher decides which requests are equal, because the scheduler does not see their payloads. A
//! waiter ends with its primary's outcome or is released; it takes no worker and is in no queue. A primary
//! inherits the deadlines of its waiters and of their batches (`priority`).

use std::collections::BTreeSet;

use assay_core::id::{BatchId, RequestId};

use crate::action::{Action, FinalEnd};
use crate::event::{Released, SharedEnd, WaiterEnd};
use crate::sched::Sched;

impl Sched {
    pub(crate) fn waiters_ended(&mut self, ended: Vec<WaiterEnd>, out: &mut Vec<Action>) {
        let mut changed: BTreeSet<BatchId> = BTreeSet::new();
        for WaiterEnd { request: id, end, earliest_end } in ended {
            if !self.is_waiter(id) {
                continue;
            }
            self.forget_deadline(id);
            let end = match end {
                SharedEnd::Scored => FinalEnd::Scored,
                SharedEnd::TimedOut { stage } => FinalEnd::TimedOut { stage },
            };
            let now = self.now;
            let batch = self.batches.get_mut(&id.batch).expect("a waiter's batch is live");
            let group = batch.finish_waiter(id.seq, end, earliest_end, now, out);
            self.regroup(id.batch, group);
            changed.insert(id.batch);
        }
        changed.into_iter().for_each(|batch| self.progressed(batch, out));
    }

    pub(crate) fn waiters_released(&mut self, released: Vec<Released>, out: &mut Vec<Action>) {
        let mut changed: BTreeSet<BatchId> = BTreeSet::new();
        for id in released.iter().map(|released| released.request) {
            if self.is_waiter(id) {
                let batch = self.batches.get_mut(&id.batch).expect("a waiter's batch is live");
                batch.release(id.seq);
                self.queue(id);
                changed.insert(id.batch);
            }
        }
        changed.into_iter().for_each(|batch| self.progressed(batch, out));
        for Released { request: primary, waiters } in released {
            waiters.into_iter().for_each(|waiter| self.wait_for(waiter, primary));
        }
    }

    /// The waiter gets another primary.
    fn wait_for(&mut self, id: RequestId, primary: RequestId) {
        if !self.is_waiter(id) {
            return;
        }
        let batch = self.batches.get_mut(&id.batch).expect("a waiter's batch is live");
        let request = batch.request(id.seq);
        request.set_primary(Some(primary));
        let deadline = request.deadline();
        self.queue(id);
        self.set_deadline(id, deadline);
    }

    fn is_waiter(&self, id: RequestId) -> bool {
        let batch = self.batches.get(&id.batch);
        let request = batch.and_then(|batch| batch.requests.get(id.seq));
        request.is_some_and(|request| request.primary().is_some())
    }
}
