//! Requests that somebody waits for in person: they are wanted by then, whenever their batch is.
//!
//! A client that gives up at its time has gone: a due that has passed counts no more, so that what
//! nobody waits for holds up nothing. Dues matter when something is granted, so that they pass at
//! the start of each step and need no timer. They change the order of service and nothing else.

use assay_model::id::RequestId;
use assay_model::time::Micros;

use crate::queue::Place;
use crate::sched::Sched;

impl Sched {
    /// The request is due then, whatever was said before; what it follows is, too, if not before.
    pub(crate) fn request_due(&mut self, id: RequestId, due: Option<Micros>) {
        let due = due.filter(|due| *due > self.now);
        let Some(batch) = self.batches.get_mut(&id.batch) else { return };
        let Some(request) = batch.requests.get_mut(&id.seq) else { return };
        if request.due != due {
            if let Some(old) = request.due {
                self.dues.remove(&(old, id));
            }
            self.dues.extend(due.map(|due| (due, id)));
            request.due = due;
        }
        match request.leader {
            Some(leader) => self.leader_due(leader, due),
            None => self.wanted_changed(id),
        }
    }

    fn leader_due(&mut self, leader: RequestId, due: Option<Micros>) {
        let Some(due) = due else { return };
        let known =
            self.batches.get(&leader.batch).and_then(|batch| batch.requests.get(&leader.seq));
        // Of several the first counts; who comes back after it says so anew.
        if known.is_some_and(|leader| leader.due.is_none_or(|known| due < known)) {
            self.request_due(leader, Some(due));
        }
    }

    /// A request of a batch that ends then follows this one, which is wanted as early from now on.
    pub(crate) fn lead(&mut self, leader: RequestId, at: Micros) {
        let Some(batch) = self.batches.get_mut(&leader.batch) else { return };
        let Some(request) = batch.requests.get_mut(&leader.seq) else { return };
        if request.led.is_none_or(|led| at < led) {
            request.led = Some(at);
            self.wanted_changed(leader);
        }
    }

    /// Dues that have passed count no more.
    pub(crate) fn pass_dues(&mut self) {
        while let Some((_, id)) = self.dues.first().copied().filter(|(due, _)| *due <= self.now) {
            self.request_due(id, None);
        }
    }

    /// The request ends.
    pub(crate) fn forget_due(&mut self, id: RequestId) {
        let batch = self.batches.get_mut(&id.batch).expect("what ends has a live batch");
        if let Some(due) = batch.request(id.seq).due.take() {
            self.dues.remove(&(due, id));
        }
    }

    /// If it waits in a queue, it may have another place there.
    fn wanted_changed(&mut self, id: RequestId) {
        let batch = self.batches.get_mut(&id.batch).expect("what is wanted has a live batch");
        let (tenant, rank) = (batch.new.tenant, batch.rank());
        let request = &batch.requests[&id.seq];
        if request.holder.is_some() || request.leader.is_some() {
            return;
        }
        let (ready, group, wanted) = (request.ready, request.group, request.wanted());
        let place = Place { rank, ready, group, left: 0, wanted };
        if let Some(pool) = self.pools.get_mut(&batch.new.stages[request.stage].pool) {
            pool.division.want(tenant, id, place);
        }
    }
}
