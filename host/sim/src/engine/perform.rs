//! The scheduler's actions carried out.

use std::sync::Arc;

use assay_core::id::WorkerId;
use assay_planner::{Flow, FlowStage};
use assay_sched::{Action, BatchDone, Ending, Event, FinalEnd, Finish, Grant};

use super::Engine;
use super::clock::SimEvent;
use super::fleet::{Job, State};
use super::truth;
use super::work::{RequestState, batch_number, stage_end};
use crate::account::Change;

impl Engine<'_> {
    pub(super) fn perform(&mut self, action: Action) {
        match action {
            Action::Grant(grant) => self.granted(grant),
            Action::Advance { request, time, .. } => {
                let (now, stage) = (self.clock.now(), time.stage + 1);
                let batch = self.work.batch(batch_number(request.batch));
                batch.ran[request.seq as usize].push(time.ran);
                batch.states[request.seq as usize] = RequestState::Waiting { stage, since: now };
                self.accounts[self.serves[stage]].change(now, Change::Queued);
            }
            Action::Finish(finish) => self.finished(finish),
            Action::BatchDone(done) => self.batch_done(done),
            Action::StartWorkers { pool, count } => self.start_workers(&pool, count),
            Action::CancelStarts { pool, count } => {
                let pool = self.pool(&pool);
                for _ in 0..count {
                    self.lost(self.fleet.latest_start(pool));
                }
            }
            Action::StopWorker { worker } | Action::StopSlowWorker { worker } => {
                self.lost(worker);
                self.pending.push_back(Event::WorkerLost { worker });
            }
            // The scheduler has let go of it already.
            Action::KillWorker { worker, reason: _ } | Action::PreemptWorker { worker } => {
                self.lost(worker);
            }
            Action::PlanAnew => self.plan(),
            Action::WakeAt(at) => self.clock.wake_at(at),
            // A worker has one lease at most: nothing is prefetched. And nobody here follows batches and groups.
            Action::Revoke { .. } | Action::GroupDone { .. } | Action::Estimate { .. } => {}
        }
    }

    fn pool(&self, name: &Arc<str>) -> usize {
        let pool = self.pools.iter().position(|pool| pool.name == *name);
        pool.expect("only pools that were planned for are scaled")
    }

    fn granted(&mut self, grant: Grant) {
        let Grant { worker, lease, request, stage, .. } = grant;
        let now = self.clock.now();
        self.last_lease = self.last_lease.max(lease);
        let number = batch_number(request.batch);
        let index = request.seq as usize;
        let batch = self.work.batch(number);
        let tenant = self.tenants.of(batch.task);
        let timeout = self.trace.meta.stages[stage].timeout;
        let factor = self.fleet.get(worker).factor;
        let (end, ran) = stage_end(&batch.truth.requests[index], stage, timeout, factor);
        let (mut until, mut workers) = (now + ran, 1);
        if let RequestState::Running { until: first, workers: others, .. } = batch.states[index] {
            (until, workers) = (until.min(first), workers + others);
        } else {
            self.accounts[self.serves[stage]].change(now, Change::Unqueued);
        }
        batch.states[index] = RequestState::Running { stage, until, workers };
        self.accounts[self.serves[stage]].change(now, Change::Busy);
        let job = Job { lease, batch: number, request: index, stage, tenant, since: now, end, ran };
        self.fleet.take_up(worker, job);
        self.clock.push(now + ran, SimEvent::StageEnds { worker, lease });
    }

    fn finished(&mut self, finish: Finish) {
        let now = self.clock.now();
        let ending = match finish.end {
            FinalEnd::Scored => Ending::Scored,
            FinalEnd::TimedOut { .. } => Ending::TimedOut,
            FinalEnd::Error { .. } => Ending::Error,
        };
        let index = finish.request.seq as usize;
        let batch = self.work.batch(batch_number(finish.request.batch));
        if let RequestState::Waiting { stage, .. } = batch.states[index] {
            self.accounts[self.serves[stage]].change(now, Change::Unqueued);
        }
        let last = finish.stages.last().filter(|last| last.stage == batch.ran[index].len());
        batch.ran[index].extend(last.map(|last| last.ran));
        batch.ended(index, now, ending, finish.earliest_end);
    }

    fn batch_done(&mut self, done: BatchDone) {
        let now = self.clock.now();
        let batch = self.work.completed(batch_number(done.batch));
        let (task, iteration) = (batch.task, batch.iteration);
        self.batches.push(batch.completed(self.trace.tasks[task].id, done.ended));
        if let Some(profile) = done.profile {
            self.history.push(Arc::clone(&profile));
            self.planner.learn(profile);
        }
        let next = self.trainers[task].batch_completed(iteration, now);
        self.rollout_follows(task, next);
        let completed = self.batches.len();
        (self.watch.completed)(completed, completed + self.work.left);
    }

    fn start_workers(&mut self, name: &Arc<str>, count: usize) {
        let pool = self.pool(name);
        for _ in 0..count {
            self.fleet.start(pool, self.chance.factor());
        }
        self.fill_places(self.pools[pool].traced);
    }

    fn plan(&mut self) {
        let now = self.clock.now();
        let view = self.sched.view();
        let problem = self.policy.knows_all().then(|| {
            let (flow, tuning) = (self.flow(), &self.plan_config.tuning);
            truth::problem(now, flow, self.settings, tuning, &self.pools, &self.runs, &self.work)
        });
        let before = (self.watch.elapsed)();
        let plan = match problem {
            Some(problem) => self.planner.plan_for(problem, &view),
            None => self.planner.plan(now, &view),
        };
        let took = (self.watch.elapsed)().saturating_sub(before);
        self.times.plans += 1;
        self.times.total += took;
        self.times.max = self.times.max.max(took);
        for forecast in plan.report.forecasts {
            if let Some(batch) = self.work.by_id(forecast.batch) {
                batch.forecasts.add(now, forecast);
            }
        }
        self.pending.push_back(Event::Planned { pools: plan.pools, again: plan.again });
    }

    /// The way of every batch, if the pools are those of the trace.
    fn flow(&self) -> Flow {
        let stages = self.trace.meta.stages.iter().zip(&self.serves);
        let stages = stages.map(|(stage, pool)| FlowStage { pool: *pool, timeout: stage.timeout });
        Flow { stages: stages.collect() }
    }

    /// The worker is no more, and what it ran waits again.
    pub(super) fn lost(&mut self, worker: WorkerId) {
        let now = self.clock.now();
        let traced = self.pools[self.fleet.get(worker).pool].traced;
        let account = &mut self.accounts[traced];
        let was = self.fleet.gone(worker);
        if was == State::Unplaced {
            return;
        }
        if was == State::Starting {
            account.change(now, Change::Cancelled);
            return self.fill_places(traced);
        }
        if let State::Busy(job) = was {
            self.tenants.served(&job, traced, now);
            account.change(now, Change::Free);
            if self.work.runs(job.batch, job.request, job.stage) {
                let state = &mut self.work.batch(job.batch).states[job.request];
                match state {
                    RequestState::Running { workers, .. } if *workers > 1 => *workers -= 1,
                    _ => {
                        account.change(now, Change::Queued);
                        *state = RequestState::Waiting { stage: job.stage, since: now };
                    }
                }
            }
        }
        account.change(now, Change::Gone);
        self.fill_places(traced);
    }
}
