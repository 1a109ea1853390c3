//! Grants: waiting requests are leased to workers that take leases.

use assay_core::id::LeaseId;

use crate::action::{Action, Grant};
use crate::sched::Sched;
use crate::worker::WorkerLease;

impl Sched {
    /// Grants until each pool is out of requests that may run, or of workers that take one.
    pub(crate) fn grant(&mut self, out: &mut Vec<Action>) {
        for (_, pool) in self.pools.active_mut() {
            while let Some((id, tenant)) = pool.next_grant() {
                let request_id = pool.fair_queue.pop(tenant);
                let batch =
                    self.batches.get_mut(&request_id.batch).expect("what waits has a live batch");
                let worker = self.workers.get_mut(&id).expect("an offer's worker is there");
                let plugin = batch.new.plugin;
                let request = batch.request(request_id.seq);
                request.holder = Some(id);
                let (stage, attempt) = (request.stage(), request.tries + 1);
                let mean = self.estimates.stages(&plugin).get(stage).copied().flatten();
                self.last_lease = LeaseId(self.last_lease.0 + 1);
                let held = WorkerLease {
                    lease: self.last_lease,
                    request: request_id,
                    owner: batch.owner(),
                    stage,
                    granted: self.now,
                    timeout: batch.new.stages[stage].timeout,
                    expected: mean.map(|mean| mean.value()),
                    usual: self.estimates.usual(&plugin, stage),
                    abandoned: false,
                };
                worker.hold(held, self.now);
                worker.settle(&self.config, pool, &mut self.timers);
                let lease = self.last_lease;
                let grant =
                    Grant { worker: id, lease, request: request_id, stage, attempt, hedge: false };
                out.push(Action::Grant(grant));
            }
        }
    }
}
