//! Slow and unreliable workers.
//!
//! A worker that is slow again and again is stopped when it is idle, so that its pool starts another one.
//!
//! Hedging: a batch is as late as its last request, and a last request that loses its worker begins anew. So
//! in a pool that has lost a busy worker not long ago, the last requests of a batch run on two workers, and the first
//! answer counts. Only an idle worker that nothing waits for gets such a second lease. The other lease is given
//! up with the first answer; its worker goes on until its stage is over. A second lease counts as no try, and
//! a request of which one worker is lost is left to the other. Each try has one second lease at most.

use std::collections::BTreeMap;

use assay_core::id::{BatchId, LeaseId, WorkerId};
use assay_core::time::Micros;

use crate::action::{Action, Grant};
use crate::batch::Batch;
use crate::event::End;
use crate::queue::Rank;
use crate::sched::Sched;
use crate::slowness::may_be_due_to_worker;
use crate::worker::{Worker, WorkerLease};

/// At most one in this many workers of a pool is slow. If more seem to be, times have changed and not the
/// workers. No more than that are replaced at once.
const SLOW_PART: usize = 4;
/// A pool hedges for this long after it lost a busy worker.
const HEDGED_FOR: Micros = Micros::from_secs(600);
/// A batch is hedged when no more requests of it are expected and no more than this many have not ended.
const LAST_REQUESTS: usize = 8;

/// A worker whose running request may run on another one as well: the batch's rank, and the time since which it runs.
type Hedgeable = (Rank, Micros, WorkerId);

/// Whether no more requests of a batch are expected, few have not ended, and those may run twice.
fn has_last_requests(batch: &Batch) -> bool {
    batch.new.hedged && batch.is_sealed() && batch.requests.len() <= LAST_REQUESTS
}

/// `None` unless the worker has run a batch's last request for long, and alone.
fn hedgeable(
    batches: &BTreeMap<BatchId, Batch>,
    worker: &Worker,
    now: Micros,
) -> Option<Hedgeable> {
    let (held, elapsed) = worker.running(now).filter(|_| worker.long_running)?;
    let batch = batches.get(&held.request.batch).filter(|batch| has_last_requests(batch))?;
    let request = batch.requests.get(held.request.seq)?;
    let alone = !held.abandoned && request.may_be_hedged();
    alone.then(|| (batch.rank(), now - elapsed, worker.id))
}

impl Sched {
    /// Compares a lease that has ended with what is usual: its time, or its failure.
    pub(crate) fn note_pace(&mut self, id: WorkerId, held: &WorkerLease, end: End, ran: Micros) {
        let worker = self.workers.get_mut(&id).expect("a worker that answers is there");
        if let End::Failed(code) = end {
            if may_be_due_to_worker(code) {
                let plugin = self.batches.get(&held.request.batch).map(|batch| &batch.new.plugin);
                let ended = plugin.and_then(|plugin| self.estimates.last_end(plugin, held.stage));
                worker.slowness.failed(self.now, ended);
            }
            return;
        }
        worker.slowness.ended();
        if let Some(usual) = held.usual {
            worker.slowness.observe(usual, ran.min(held.timeout));
        }
    }

    /// Stops slow workers that are idle, if their pool can start others.
    pub(crate) fn release_slow(&mut self, out: &mut Vec<Action>) {
        for (_, pool) in self.pools.active_mut().filter(|(_, pool)| pool.plan.is_some()) {
            let slow: Vec<WorkerId> = pool.idle_slow().collect();
            let many = slow.len() * SLOW_PART > pool.serving();
            let starting = pool.starting_placed();
            if !many && (slow.len() + starting) * SLOW_PART > pool.serving() + starting {
                continue;
            }
            for id in slow {
                let worker = self.workers.get_mut(&id).expect("an idle worker is there");
                if many {
                    worker.slowness.forget();
                    worker.settle(&self.config, pool, &mut self.timers);
                } else {
                    worker.drain(&self.config, pool, &mut self.timers);
                    out.push(Action::StopSlowWorker { worker: id });
                }
            }
        }
    }

    /// A worker is lost, or killed as it missed a deadline.
    pub(crate) fn note_lost(&mut self, id: WorkerId) {
        let Some(worker) = self.workers.get(&id).filter(|worker| !worker.leases().is_empty())
        else {
            return;
        };
        let pool = self.pools.of_worker(&worker.pool);
        pool.lost = Some(self.now);
    }

    /// The stage that a worker runs has run for so long that another may run it as well.
    pub(crate) fn note_long_running(&mut self, id: WorkerId) {
        self.workers.get_mut(&id).expect("a timer's worker is there").long_running = true;
        self.note_hedgeable(id);
        self.settle(id);
    }

    /// A batch changed: if only its last requests are left now, those that have run for long may run twice.
    pub(crate) fn note_last_requests(&mut self, id: BatchId) {
        let Some(batch) = self.batches.get_mut(&id) else { return };
        let is_last = has_last_requests(batch);
        if std::mem::replace(&mut batch.noted_last, is_last) || !is_last {
            return;
        }
        let holders: Vec<WorkerId> =
            batch.requests.entries().filter_map(|(_, request)| request.holder).collect();
        holders.into_iter().for_each(|worker| self.note_hedgeable(worker));
    }

    fn note_hedgeable(&mut self, id: WorkerId) {
        let worker = &self.workers[&id];
        if hedgeable(&self.batches, worker, self.now).is_some() {
            let pool = self.pools.of_worker(&worker.pool);
            pool.hedgeable.insert(id);
        }
    }

    /// Gives idle workers a second lease of batches' last requests. To be called after leases were granted.
    pub(crate) fn hedge(&mut self, out: &mut Vec<Action>) {
        let mut last: Vec<Hedgeable> = Vec::new();
        for (_, pool) in self.pools.active_mut() {
            let hedges = pool.lost.is_some_and(|at| self.now <= at + HEDGED_FOR);
            if !hedges || pool.hedgeable.is_empty() || pool.idle_for_hedge().is_none() {
                continue;
            }
            pool.hedgeable.retain(|id| {
                let worker = self.workers.get(id);
                let still = worker.and_then(|worker| hedgeable(&self.batches, worker, self.now));
                last.extend(still);
                still.is_some()
            });
        }
        last.sort_unstable();
        for (.., first) in last {
            self.grant_second(first, out);
        }
    }

    /// Leases what a worker runs to an idle one of its pool as well, if there is one that the tenant may have.
    fn grant_second(&mut self, first: WorkerId, out: &mut Vec<Action>) {
        let (held, _) = self.workers[&first].running(self.now).expect("it runs a lease");
        let pool = self.pools.of_worker(&self.workers[&first].pool);
        let Some(second) = pool.idle_for_hedge() else { return };
        if !pool.fair_queue.may_serve_more(held.owner.tenant) {
            return;
        }
        self.last_lease = LeaseId(self.last_lease.0 + 1);
        let lease = held.second(self.last_lease, self.now);
        let (id, stage) = (lease.request, lease.stage);
        let batch = self.batches.get_mut(&id.batch).expect("what runs has a live batch");
        let request = batch.request(id.seq);
        request.set_hedge(Some(second));
        let attempt = request.tries + 1;
        let worker = self.workers.get_mut(&second).expect("an idle worker is there");
        worker.hold(lease, self.now);
        worker.settle(&self.config, pool, &mut self.timers);
        let lease = self.last_lease;
        out.push(Action::Grant(Grant {
            worker: second,
            lease,
            request: id,
            stage,
            attempt,
            hedge: true,
        }));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use assay_core::id::{Digest, TenantId};
    use uuid::Uuid;

    use super::*;
    use crate::config::Config;
    use crate::discipline::Consumes;
    use crate::event::{Event, NewBatch, NewRequest, Progress};
    use crate::stage::StageShape;

    /// As many requests run for long as there are workers. Returns how many of those workers each step looks at, while the
    /// batch is open and once it is sealed.
    fn looked_at(workers: u32) -> (usize, usize) {
        let mut sched = Sched::new(Config::default());
        let pool: Arc<str> = "cpu".into();
        for worker in 0..u64::from(workers) {
            let (worker, pool) = (WorkerId(worker), Arc::clone(&pool));
            let _ = sched.step(Micros(0), Event::WorkerJoined { worker, pool, leases_max: 1 });
        }
        let batch = BatchId(Uuid::nil());
        let timeout = Micros::from_secs(100);
        let _ = sched.step(
            Micros(0),
            Event::BatchAnnounced(NewBatch {
                id: batch,
                tenant: TenantId(Uuid::nil()),
                run: "r".into(),
                plugin: Digest([1; 32]),
                stages: [StageShape { pool: Arc::clone(&pool), timeout, retries_max: 0 }].into(),
                expected_size: None,
                group_size: None,
                tolerance: None,
                consumes: Consumes::Batch,
                hedged: true,
                announced: Micros(0),
            }),
        );
        let request = |seq| NewRequest {
            seq,
            group: None,
            arrived: Micros(0),
            deadline: None,
            expected_ms: None,
            progress: Progress::Waiting { stage: 0, ran: Vec::new() },
        };
        let requests = (0..workers).map(request).collect();
        let _ = sched.step(Micros(0), Event::RequestsSubmitted { batch, requests });
        let _ = sched.step(Micros::from_secs(50), Event::Tick);
        let open = sched.pools.get(&pool).expect("it has workers").hedgeable.len();
        let _ = sched.step(Micros::from_secs(50), Event::BatchSealed { batch });
        (open, sched.pools.get(&pool).expect("it has workers").hedgeable.len())
    }

    #[test]
    fn a_step_looks_at_last_requests_alone() {
        assert_eq!(looked_at(200), (0, 0));
        assert_eq!(looked_at(8), (0, 8));
    }
}
