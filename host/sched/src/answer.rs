//! The events of workers: they join, load plugins, answer, block, overrun, drain and get lost.
//!
//! An answer counts only while that worker holds the lease; every other is stale.

use std::collections::VecDeque;
use std::sync::Arc;

use assay_core::id::{LeaseId, RequestId, WorkerId};
use assay_core::outcome::ErrorCode;
use assay_core::time::Micros;

use crate::action::{Action, KillReason, StageTiming};
use crate::event::End;
use crate::request::{TryConsequence, is_undecided};
use crate::sched::{Sched, pool_entitlement};
use crate::timer::SchedTimer;
use crate::worker::{Overrun, Worker, WorkerLease};

impl Sched {
    pub(crate) fn join(&mut self, id: WorkerId, name: Arc<str>, leases_max: usize) {
        if self.workers.contains_key(&id) {
            return;
        }
        self.pools.activate(&name).joined(self.now);
        self.workers.insert(id, Worker::new(id, name, leases_max, self.now));
        self.settle(id);
    }

    /// A worker joins that nobody started; its pool needs fewer of those that are started.
    pub(crate) fn come(&mut self, id: WorkerId, name: Arc<str>, leases_max: usize) {
        if self.workers.contains_key(&id) {
            return;
        }
        self.pools.activate(&name).came(id);
        self.workers.insert(id, Worker::new(id, name, leases_max, self.now));
        self.plan_due();
        self.settle(id);
    }

    pub(crate) fn drain(&mut self, id: WorkerId) {
        let Some(worker) = self.workers.get_mut(&id) else { return };
        let pool = self.pools.of_worker(&worker.pool);
        worker.drain(&self.config, pool, &mut self.timers);
    }

    pub(crate) fn load_started(&mut self, id: WorkerId, lease: LeaseId) {
        let Some(worker) = self.workers.get_mut(&id) else { return };
        worker.load_started(lease, self.now);
        self.settle(id);
    }

    pub(crate) fn load_ended(&mut self, id: WorkerId, lease: LeaseId) {
        let Some(worker) = self.workers.get_mut(&id) else { return };
        worker.load_ended(lease, self.now);
        self.settle(id);
    }

    pub(crate) fn started_before_revoked(
        &mut self,
        id: WorkerId,
        lease: LeaseId,
        out: &mut Vec<Action>,
    ) {
        let Some(worker) = self.workers.get_mut(&id) else { return };
        let waiting = worker.started_before_revoked(lease, self.now);
        let Some((running, _)) = worker.running(self.now) else { return };
        let (tenant, name) = (running.owner.tenant, Arc::clone(&worker.pool));
        // Nothing else of its tenant may be here any more.
        let pool = self.pools.of_worker(&name);
        pool.fair_queue.enter(tenant, || pool_entitlement(&self.entitlements, tenant, &name));
        self.settle(id);
        for held in waiting {
            out.push(Action::Revoke { worker: id, lease: held.lease });
            if held.abandoned {
                continue;
            }
            let request = held.request;
            let batch = self.batches.get_mut(&request.batch).expect("a live lease's batch is live");
            if !batch.request(request.seq).leave_to_other(id) {
                self.queue(request);
            }
        }
    }

    pub(crate) fn stage_finished(
        &mut self,
        worker: WorkerId,
        lease: LeaseId,
        end: End,
        ran: Micros,
        out: &mut Vec<Action>,
    ) {
        let now = self.now;
        let held = self.workers.get_mut(&worker).and_then(|worker| worker.answer(lease, ran, now));
        let Some(held) = held else { return };
        self.note_pace(worker, &held, end, ran);
        self.settle(worker);
        if held.abandoned {
            return;
        }
        let id = held.request;
        let batch = self.batches.get_mut(&id.batch).expect("a live lease's batch is live");
        let stages = Arc::clone(&batch.new.stages);
        let plugin = batch.new.plugin;
        let request = batch.request(id.seq);
        let stage = request.stage();
        if request.hedge().is_some() && is_undecided(end) {
            request.leave_to_other(worker);
            return;
        }
        let other = request.other_holder(worker);
        let shape = &stages[stage];
        let last = stage + 1 == stages.len();
        let then = request.answered(end, shape, last, self.config.worker_lost_retries_max);
        let queued = held.granted.since(request.ready);
        let timing = StageTiming { stage, queued, ran, attempts: request.tries };
        if !matches!(end, End::Failed(_)) {
            self.estimates.stage_ran(plugin, stage, shape, ran);
            self.estimates.note_end(&plugin, stage, now);
        }
        if let Some(other) = other {
            self.take_back(other, id, out);
        }
        let batch = self.batches.get_mut(&id.batch).expect("a live lease's batch is live");
        match then {
            TryConsequence::Advance => {
                batch.advance(id.seq, timing, now);
                out.push(Action::Advance { request: id, stage, time: timing });
                self.queue(id);
            }
            TryConsequence::Retry => self.queue(id),
            // The time of a lost try says nothing about the stage, so the planner must not learn from it.
            TryConsequence::End(end) => {
                self.finish(id, end, Some(timing).filter(|_| !end.is_lost()), out)
            }
        }
        self.progressed(id.batch, out);
        self.refresh_others(out);
    }

    /// The worker is lost: its running lease counts as a lost try, its prefetched ones do not. That of a worker that
    /// was leaving, such as one that is evicted, does not either.
    pub(crate) fn lose(&mut self, id: WorkerId, code: ErrorCode, out: &mut Vec<Action>) {
        let was_leaving = code == ErrorCode::WorkerLost
            && self.workers.get(&id).is_some_and(|worker| worker.draining);
        if !was_leaving {
            self.note_lost(id);
        }
        let Some(mut leases) = self.remove_worker(id) else { return };
        let running = leases.pop_front();
        for held in leases {
            self.queue(held.request);
        }
        let Some(WorkerLease { request, .. }) = running.filter(|held| !held.abandoned) else {
            return;
        };
        let batch = self.batches.get_mut(&request.batch).expect("a live lease's batch is live");
        if batch.request(request.seq).leave_to_other(id) {
            return;
        }
        if was_leaving {
            self.queue(request);
            return self.progressed(request.batch, out);
        }
        let batch = self.batches.get_mut(&request.batch).expect("a live lease's batch is live");
        match batch.request(request.seq).lost(code, self.config.worker_lost_retries_max) {
            None => self.queue(request),
            Some(end) => self.finish(request, end, None, out),
        }
        self.progressed(request.batch, out);
    }

    /// Removes a worker; returns its leases, in their order.
    pub(crate) fn remove_worker(&mut self, id: WorkerId) -> Option<VecDeque<WorkerLease>> {
        let worker = self.workers.remove(&id)?;
        let pool = self.pools.of_worker(&worker.pool);
        pool.workers -= 1;
        pool.draining -= usize::from(worker.draining);
        pool.hedgeable.remove(&id);
        let came = pool.remove_came(id);
        let leases = worker.leave(pool, &mut self.timers);
        if came {
            self.plan_due();
        }
        Some(leases)
    }

    /// Handles everything that is due.
    pub(crate) fn tick(&mut self, out: &mut Vec<Action>) {
        self.timers.ticked();
        while let Some(due) = self.timers.first_due(self.now) {
            match due {
                SchedTimer::Batch(batch) => self.batch_due(batch, out),
                SchedTimer::Worker(worker) => self.worker_due(worker, out),
                SchedTimer::Linger => self.lingered(),
                SchedTimer::Plan => self.plan_due(),
                SchedTimer::Preempt => self.preempt_next(None),
            }
        }
    }

    fn worker_due(&mut self, id: WorkerId, out: &mut Vec<Action>) {
        let worker = self.workers.get_mut(&id).expect("a timer's worker is there");
        match worker.overrun(&self.config, self.now) {
            Overrun::PastDeadline => {
                out.push(Action::KillWorker { worker: id, reason: KillReason::Stage });
                self.lose(id, ErrorCode::LeaseExpired, out);
            }
            Overrun::LoadPastDeadline => {
                out.push(Action::KillWorker { worker: id, reason: KillReason::Load });
                self.lose(id, ErrorCode::PluginUnloadable, out);
            }
            Overrun::Blocked => {
                let prefetched = worker.block();
                self.settle(id);
                for held in prefetched {
                    out.push(Action::Revoke { worker: id, lease: held.lease });
                    self.queue(held.request);
                }
            }
            Overrun::LongRunning => self.note_long_running(id),
            Overrun::None => self.settle(id),
        }
    }

    /// Takes the lease of an ended request from its worker.
    pub(crate) fn take_back(&mut self, id: WorkerId, request: RequestId, out: &mut Vec<Action>) {
        let worker = self.workers.get_mut(&id).expect("a holder is there");
        let revoked = worker.abandon(request);
        out.extend(revoked.map(|lease| Action::Revoke { worker: id, lease }));
        self.settle(id);
    }

    pub(crate) fn settle(&mut self, id: WorkerId) {
        let worker = self.workers.get_mut(&id).expect("only a worker that is there is settled");
        let pool = self.pools.of_worker(&worker.pool);
        worker.settle(&self.config, pool, &mut self.timers);
    }
}
