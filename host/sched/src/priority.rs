//! Deadlines: a request whose client waits for it is ranked by the client's deadline if that is before the
//! end of its batch.
//!
//! A deadline that has passed is dropped: its client has given up, and a request that nobody waits for must
//! not delay others. Deadlines matter only when a lease is granted, so they are dropped at the start of each
//! step and need no timer. They change the order of service and nothing else.

use assay_core::id::RequestId;
use assay_core::time::Micros;

use crate::sched::Sched;

impl Sched {
    /// Sets the deadline of the client that waits for a request. The equal request that it waits for, if
    /// any, inherits the deadline unless it has an earlier one.
    pub(crate) fn set_deadline(&mut self, id: RequestId, deadline: Option<Micros>) {
        let deadline = deadline.filter(|deadline| *deadline > self.now);
        let Some(batch) = self.batches.get_mut(&id.batch) else { return };
        let Some(request) = batch.requests.get_mut(id.seq) else { return };
        if request.deadline() != deadline {
            if let Some(old) = request.deadline() {
                self.deadlines.remove(&(old, id));
            }
            self.deadlines.extend(deadline.map(|deadline| (deadline, id)));
            request.set_deadline(deadline);
        }
        match request.primary() {
            Some(primary) => self.primary_deadline(primary, deadline),
            None => self.deadline_changed(id),
        }
    }

    fn primary_deadline(&mut self, primary: RequestId, deadline: Option<Micros>) {
        let Some(deadline) = deadline else { return };
        let known =
            self.batches.get(&primary.batch).and_then(|batch| batch.requests.get(primary.seq));
        // The earliest of several deadlines counts; a client that asks again sets a new one.
        if known.is_some_and(|primary| primary.deadline().is_none_or(|known| deadline < known)) {
            self.set_deadline(primary, Some(deadline));
        }
    }

    /// Priority inheritance: a request of a batch that ends at `at` waits for the primary, which is ranked as
    /// early from now on.
    pub(crate) fn inherit(&mut self, primary: RequestId, at: Micros) {
        let Some(batch) = self.batches.get_mut(&primary.batch) else { return };
        let Some(request) = batch.requests.get_mut(primary.seq) else { return };
        if request.inherited_deadline().is_none_or(|inherited| at < inherited) {
            request.inherit_deadline(at);
            self.deadline_changed(primary);
        }
    }

    /// Drops the deadlines that have passed.
    pub(crate) fn drop_passed_deadlines(&mut self) {
        while let Some((_, id)) =
            self.deadlines.first().copied().filter(|(deadline, _)| *deadline <= self.now)
        {
            self.set_deadline(id, None);
        }
    }

    /// Drops the deadline of a request that ends.
    pub(crate) fn forget_deadline(&mut self, id: RequestId) {
        let batch = self.batches.get_mut(&id.batch).expect("what ends has a live batch");
        let request = batch.request(id.seq);
        if let Some(deadline) = request.deadline() {
            request.set_deadline(None);
            self.deadlines.remove(&(deadline, id));
        }
    }

    /// Moves the request to its new place if it waits in a queue.
    fn deadline_changed(&mut self, id: RequestId) {
        let batch =
            self.batches.get(&id.batch).expect("a request with a deadline has a live batch");
        let request = &batch.requests[id.seq];
        let (stage, stages) = (request.stage(), batch.new.stages.len());
        let held = self.held.get(&batch.new.tenant);
        let is_held = held.is_some_and(|held| held.stages.contain(stage, stages));
        if !request.waits() || is_held {
            return;
        }
        let place = batch.place(id.seq, self.config.discipline);
        if let Some(pool) = self.pools.get_mut(&batch.new.stages[request.stage()].pool) {
            pool.fair_queue.set_deadline(&batch.owner(), id, place);
        }
    }
}
