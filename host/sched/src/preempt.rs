//! Preemption: a tenant without a worker takes one from a tenant with several.
//!
//! A worker that runs a long stage is not free before the stage ends. If a tenant without a worker is the next
//! to be served for [`Config::preempt_after`], a worker of the tenant with the most workers for its weight is
//! killed: the one that began its stage last, so that the least work is
//! lost. Its request waits again at its old place, the try is not counted, and each stage of a request is
//! preempted [`PREEMPTIONS_MAX`] times at most. A tenant never loses its last worker.
//!
//! Only a pool at the ceiling of its plan preempts, or one whose starts have no place: the worker that is taken makes
//! room for another. Otherwise a worker is being started; in a pool without a plan nobody would start another one, and
//! above the ceiling nobody does. No second worker is taken before another one has joined or come. A worker that came
//! by itself comes again when it likes: at the ceiling one more may be taken after half a minute.
//!
//! [`Config::preempt_after`]: crate::Config::preempt_after

use std::cmp::Reverse;
use std::sync::Arc;

use assay_core::id::{TenantId, WorkerId};
use assay_core::time::Micros;

use crate::action::Action;
use crate::sched::Sched;
use crate::timer::SchedTimer;
use crate::worker::Worker;

/// The times that a stage of a request may lose its worker to another tenant.
const PREEMPTIONS_MAX: u32 = 3;

impl Sched {
    /// Takes workers from tenants that have several for those that have waited long enough for one. To be
    /// called after leases were granted.
    pub(crate) fn preempt(&mut self, out: &mut Vec<Action>) {
        let Some(patience) = self.config.preempt_after else { return };
        let mut short_of: Vec<(Arc<str>, Vec<TenantId>)> = Vec::new();
        let mut next = None;
        for (name, pool) in self.pools.active_mut() {
            let Some(since) = pool.note_unserved(self.now) else { continue };
            let Some(from) = pool.preempts_from().filter(|_| pool.serving() > 1) else { continue };
            let mut at = from.max(since + patience);
            if at <= self.now {
                short_of.push((Arc::clone(name), pool.fair_queue.most_served()));
                // If no worker can be taken now, perhaps later.
                pool.wait_anew(self.now);
                at = self.now + patience;
            }
            next = Some(next.map_or(at, |next: Micros| next.min(at)));
        }
        self.preempt_next(next);
        let before = out.len();
        for (pool, tenants) in short_of {
            let mut tenants = tenants.into_iter();
            if let Some(worker) = tenants.find_map(|tenant| self.youngest(&pool, tenant)) {
                self.take(worker, out);
                let pool = self.pools.get_mut(&pool).expect("a pool that preempts is there");
                pool.preempted(self.now);
            }
        }
        if out.len() > before {
            // Workers that stay may prefetch what the others held.
            self.grant(out);
        }
    }

    /// The time at which the next worker may have to be taken; `None` if nobody waits for one.
    pub(crate) fn preempt_next(&mut self, at: Option<Micros>) {
        self.timers.replace(SchedTimer::Preempt, self.preempts_at, at);
        self.preempts_at = at;
    }

    /// The tenant's worker in the pool that began its stage last; one that runs what was cancelled comes first.
    fn youngest(&self, pool: &str, tenant: TenantId) -> Option<WorkerId> {
        let workers = self.workers.values().filter(|worker| *worker.pool == *pool);
        let key = |worker: &Worker| {
            let (held, elapsed) = worker.running(self.now)?;
            let batch = self.batches.get(&held.request.batch);
            let request = batch.and_then(|batch| batch.requests.get(held.request.seq));
            let spared = request.is_some_and(|request| request.preempted() >= PREEMPTIONS_MAX);
            let may = held.owner.tenant == tenant && !worker.draining;
            (may && (held.abandoned || !spared)).then_some((
                !held.abandoned,
                elapsed,
                Reverse(worker.id),
            ))
        };
        let keyed = workers.filter_map(|worker| Some((key(worker)?, worker.id)));
        keyed.min().map(|(_, worker)| worker)
    }

    fn take(&mut self, id: WorkerId, out: &mut Vec<Action>) {
        out.push(Action::PreemptWorker { worker: id });
        let leases = self.remove_worker(id).expect("a worker to take is there");
        for (place, held) in leases.into_iter().enumerate().filter(|(_, held)| !held.abandoned) {
            let batch =
                self.batches.get_mut(&held.request.batch).expect("a live lease's batch is live");
            let request = batch.request(held.request.seq);
            if request.leave_to_other(id) {
                continue;
            }
            if place == 0 {
                request.preempt();
            }
            self.queue(held.request);
        }
    }
}
