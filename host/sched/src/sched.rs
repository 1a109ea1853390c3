//! The scheduler: the state, the dispatch on events, and the life of batches.
//!
//! It owns everything else in this crate. `answer` handles the events of workers, `grant` gives them leases.
//! Between two steps each unfinished request is in the queue of its stage's pool, is leased to one worker,
//! waits for an equal request, or is held (`hold`). No worker is idle while a request waits for it whose tenant is below its bound,
//! except above the pool's ceiling.

mod view;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound::{Excluded, Unbounded};
use std::sync::Arc;

use assay_core::id::{BatchId, LeaseId, RequestId, TenantId, WorkerId};
use assay_core::outcome::ErrorCode;
use assay_core::time::Micros;

use crate::action::{Action, BatchDone, BatchEnding, FinalEnd, StageTiming};
use crate::batch::Batch;
use crate::config::Config;
use crate::entitlement::{Entitlement, PoolEntitlement};
use crate::estimate::Estimates;
use crate::event::{Event, NewBatch, NewRequest};
use crate::held::HeldRequests;
use crate::pools::Pools;
use crate::timer::{SchedTimer, Timers};
use crate::worker::Worker;

/// Batches whose estimate is brought up to date after each answer, in turn: service times move for
/// all batches of a plugin, and this bounds both the work and how stale an estimate gets.
const REFRESHED_PER_ANSWER: usize = 2;

/// The scheduler: a state machine of batches, requests, leases and workers.
#[derive(Debug)]
pub struct Sched {
    pub(crate) config: Config,
    /// The current time, which never goes back, whatever the caller's clock does.
    pub(crate) now: Micros,
    pub(crate) last_lease: LeaseId,
    pub(crate) batches: BTreeMap<BatchId, Batch>,
    pub(crate) pools: Pools,
    pub(crate) workers: BTreeMap<WorkerId, Worker>,
    pub(crate) estimates: Estimates,
    /// The weights and bounds of tenants that differ from the default.
    pub(crate) entitlements: BTreeMap<TenantId, Entitlement>,
    /// The held stages by tenant, with the requests that wait for them.
    pub(crate) held: BTreeMap<TenantId, HeldRequests>,
    pub(crate) timers: Timers,
    /// The deadlines of clients that have not passed.
    pub(crate) deadlines: BTreeSet<(Micros, RequestId)>,
    /// The time at which the next worker that no plan holds has lingered; its entry among the timers.
    pub(crate) lingers_until: Option<Micros>,
    /// The time at which a worker may have to be taken for a tenant without one; its entry among the timers.
    pub(crate) preempts_at: Option<Micros>,
    /// The batch refreshed last in turn.
    turn: Option<BatchId>,
    planning: Planning,
}

/// When the planner is called.
#[derive(Debug, Default)]
struct Planning {
    /// Something in this step calls for a plan.
    called: bool,
    last: Option<Micros>,
    due: Option<Micros>,
}

impl Sched {
    /// A scheduler without batches and workers.
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self {
            now: Micros::ZERO,
            last_lease: config.leases_after,
            batches: BTreeMap::new(),
            pools: Pools::new(config.discipline),
            workers: BTreeMap::new(),
            estimates: Estimates::new(),
            entitlements: BTreeMap::new(),
            held: BTreeMap::new(),
            timers: Timers::default(),
            deadlines: BTreeSet::new(),
            lingers_until: None,
            preempts_at: None,
            turn: None,
            planning: Planning::default(),
            config,
        }
    }

    /// Takes in what happened and says what to do, in order. Events that concern an unknown or
    /// ended batch, worker or lease change nothing.
    #[must_use]
    pub fn step(&mut self, now: Micros, event: Event) -> Vec<Action> {
        self.now = self.now.max(now);
        let mut out = Vec::new();
        self.drop_passed_deadlines();
        match event {
            Event::BatchAnnounced(new) => self.announce(new, &mut out),
            Event::RequestsSubmitted { batch, requests } => self.submit(batch, requests, &mut out),
            Event::RequestDeadline { request, deadline } => {
                self.set_deadline(request, Some(deadline))
            }
            Event::WaitersEnded { ended } => self.waiters_ended(ended, &mut out),
            Event::WaitersReleased { released } => self.waiters_released(released, &mut out),
            Event::BatchProgressed { batch, outstanding } => {
                self.progress_told(batch, outstanding, &mut out);
            }
            Event::BatchSealed { batch } => self.seal(batch, &mut out),
            Event::BatchCancelled { batch } => self.close(batch, BatchEnding::Cancelled, &mut out),
            Event::HistoryRead(profile) => self.estimates.history_read(&profile),
            Event::WorkerJoined { worker, pool, leases_max } => {
                self.join(worker, pool, leases_max);
            }
            Event::WorkerCame { worker, pool, leases_max } => self.come(worker, pool, leases_max),
            Event::WorkerDraining { worker } => self.drain(worker),
            Event::WorkerLost { worker } => self.lose(worker, ErrorCode::WorkerLost, &mut out),
            Event::PluginLoading { worker, lease } => self.load_started(worker, lease),
            Event::PluginLoaded { worker, lease } => self.load_ended(worker, lease),
            Event::StartedBeforeRevoked { worker, lease } => {
                self.started_before_revoked(worker, lease, &mut out);
            }
            Event::StageFinished { worker, lease, end, ran } => {
                self.stage_finished(worker, lease, end, ran, &mut out);
            }
            Event::StagesHeld { tenant, stages } => {
                let changed = self.hold_stages(tenant, stages);
                self.planning.called |= changed;
            }
            Event::StagesReleased { tenant } => {
                let changed = self.release_stages(tenant);
                self.planning.called |= changed;
            }
            Event::StartFailed { pool } => self.start_failed(&pool),
            Event::StartsUnplaced { pool, count } => self.starts_unplaced(&pool, count),
            Event::Planned { pools, again } => self.planned(pools, again),
            Event::EntitlementChanged { tenant, entitlement } => {
                self.entitlement_changed(tenant, entitlement)
            }
            Event::PlanOutdated => self.planning.called = true,
            Event::Tick => self.tick(&mut out),
        }
        self.release_surplus(&mut out);
        self.release_slow(&mut out);
        self.grant(&mut out);
        self.preempt(&mut out);
        self.hedge(&mut out);
        self.scale(&mut out);
        self.pools.settle();
        self.call_planner(&mut out);
        out.extend(self.timers.next_wake().map(Action::WakeAt));
        out
    }

    /// When the batch is expected to end if nothing of it has to queue; by this EBF ranks. `None`
    /// for an unknown or ended batch and for one without requests.
    #[must_use]
    pub fn estimated_done(&self, batch: BatchId) -> Option<Micros> {
        self.batches.get(&batch)?.estimate()
    }

    /// Asks for a plan if something called for one, at most once in [`Config::plan_pause`].
    fn call_planner(&mut self, out: &mut Vec<Action>) {
        if !std::mem::take(&mut self.planning.called) {
            return;
        }
        let at = self.planning.last.map_or(self.now, |last| last + self.config.plan_pause);
        if at > self.now {
            self.plan_next(Some(at));
            return;
        }
        self.plan_due();
        self.planning.called = false;
        self.planning.last = Some(self.now);
        out.push(Action::PlanAnew);
    }

    /// It is time to plan again, or nobody needs to be reminded of it.
    pub(crate) fn plan_due(&mut self) {
        self.timers.replace(SchedTimer::Plan, self.planning.due.take(), None);
        self.planning.called = true;
    }

    /// Plans again at this time, or earlier.
    pub(crate) fn plan_next(&mut self, at: Option<Micros>) {
        let due = [self.planning.due, at].into_iter().flatten().min();
        self.timers.replace(SchedTimer::Plan, self.planning.due, due);
        self.planning.due = due;
    }

    /// Changes a tenant's entitlement from now on; granted leases stay, even above a bound.
    fn entitlement_changed(&mut self, tenant: TenantId, entitlement: Entitlement) {
        for (name, pool) in self.pools.iter_mut() {
            pool.fair_queue.set_entitlement(tenant, entitlement.of(name));
        }
        let before = self.entitlements.remove(&tenant).unwrap_or_default();
        // Bounds are the planner's business as well, once there is something to plan for.
        let bounds = before.workers_max != entitlement.workers_max;
        self.planning.called |= bounds && !self.batches.is_empty();
        if entitlement != Entitlement::default() {
            self.entitlements.insert(tenant, entitlement);
        }
    }

    /// A batch without stages has nothing to run and is not taken.
    fn announce(&mut self, new: NewBatch, out: &mut Vec<Action>) {
        let id = new.id;
        if self.batches.contains_key(&id) || new.stages.is_empty() {
            return;
        }
        self.estimates.plugin_used(new.plugin, new.stages.len());
        self.batches.insert(id, Batch::new(new, self.now));
        self.planning.called = true;
        self.batch_changed(id, out);
    }

    fn submit(&mut self, id: BatchId, requests: Vec<NewRequest>, out: &mut Vec<Action>) {
        let Some(batch) = self.batches.get_mut(&id) else { return };
        self.planning.called |= !batch.has_requests() && !requests.is_empty();
        let groups: BTreeSet<u32> = if self.config.discipline.serves_groups(batch.new.consumes) {
            requests.iter().filter_map(|request| request.group).collect()
        } else {
            BTreeSet::new()
        };
        let deadlines: Vec<(u32, Micros)> =
            requests.iter().filter_map(|request| Some((request.seq, request.deadline?))).collect();
        let unfinished = batch.submit(requests, self.now, out);
        batch.refresh(&self.estimates);
        for seq in unfinished {
            self.queue(RequestId { batch: id, seq });
        }
        for (seq, deadline) in deadlines {
            self.set_deadline(RequestId { batch: id, seq }, Some(deadline));
        }
        self.regroup(id, groups);
        self.refreshed(id, out);
        self.batch_changed(id, out);
    }

    fn seal(&mut self, id: BatchId, out: &mut Vec<Action>) {
        let Some(batch) = self.batches.get_mut(&id) else { return };
        batch.seal(out);
        batch.refresh(&self.estimates);
        self.refreshed(id, out);
        self.batch_changed(id, out);
    }

    /// Plans anew if more or fewer requests are to come than was known.
    fn progress_told(&mut self, id: BatchId, outstanding: u32, out: &mut Vec<Action>) {
        let Some(batch) = self.batches.get_mut(&id) else { return };
        if batch.tell_outstanding(outstanding, self.now) {
            self.planning.called = true;
        }
        self.batch_changed(id, out);
    }

    /// Puts a request into the queue of its stage's pool, at its turn there; a waiter goes into none, nor does one whose stage
    /// is held.
    pub(crate) fn queue(&mut self, id: RequestId) {
        let batch = self.batches.get_mut(&id.batch).expect("what is queued has a live batch");
        let ends = batch.rank().at;
        let request = batch.request(id.seq);
        request.holder = None;
        if let Some(primary) = request.primary() {
            return self.inherit(primary, ends);
        }
        let (stage, stages) = (request.stage(), batch.new.stages.len());
        let held = self.held.get_mut(&batch.new.tenant);
        if held.is_some_and(|held| held.take(id, stage, stages)) {
            return;
        }
        let place = batch.place(id.seq, self.config.discipline);
        let (owner, name) = (batch.owner(), &batch.new.stages[stage].pool);
        let entitlement = || pool_entitlement(&self.entitlements, owner.tenant, name);
        self.pools.for_request(name).fair_queue.push(&owner, id, place, entitlement);
    }

    /// Ends a request; `timing` is of its last stage, where that ran to an end.
    pub(crate) fn finish(
        &mut self,
        id: RequestId,
        end: FinalEnd,
        timing: Option<StageTiming>,
        out: &mut Vec<Action>,
    ) {
        self.forget_deadline(id);
        let batch = self.batches.get_mut(&id.batch).expect("what ends has a live batch");
        let group = batch.finish(id.seq, end, timing, self.now, out);
        self.regroup(id.batch, group);
    }

    /// These groups have another number of requests left: what waits of them moves.
    pub(crate) fn regroup(&mut self, id: BatchId, groups: impl IntoIterator<Item = u32>) {
        let batch = &self.batches[&id];
        if !self.config.discipline.serves_groups(batch.new.consumes) {
            return;
        }
        let owner = batch.owner();
        for group in groups {
            let left = batch.left(Some(group));
            for stage in batch.new.stages.iter() {
                if let Some(pool) = self.pools.get_mut(&stage.pool) {
                    pool.fair_queue.regroup(&owner, id, group, left);
                }
            }
        }
    }

    /// Closes the batch when it is done; otherwise keeps its timer up to date, and notes when its last requests are left.
    pub(crate) fn batch_changed(&mut self, id: BatchId, out: &mut Vec<Action>) {
        let Some(batch) = self.batches.get_mut(&id) else { return };
        if batch.is_done() {
            self.close(id, BatchEnding::Done, out);
            return;
        }
        let expires = batch.expires(&self.config);
        // Putting it off on each change would cost more than a look too early does.
        if batch.due.is_none() || expires < batch.due {
            self.timers.replace(SchedTimer::Batch(id), batch.due, expires);
            batch.due = expires;
        }
        self.note_last_requests(id);
    }

    /// The batch's timer went off.
    pub(crate) fn batch_due(&mut self, id: BatchId, out: &mut Vec<Action>) {
        let batch = self.batches.get_mut(&id).expect("a timer's batch is live");
        let expires = batch.expires(&self.config);
        let idle = batch.requests.is_empty();
        if idle && expires.is_some_and(|at| at <= self.now) {
            self.close(id, BatchEnding::Expired, out);
            return;
        }
        // With unfinished requests it is not idle before they end.
        let pause = self.config.open_idle_max.max(Micros(1));
        let earliest = if idle { Micros::ZERO } else { self.now + pause };
        let next = expires.map(|at| at.max(earliest));
        self.timers.replace(SchedTimer::Batch(id), batch.due, next);
        batch.due = next;
    }

    /// The end of a batch: what is unfinished ends with it, and its memory is freed.
    fn close(&mut self, id: BatchId, ending: BatchEnding, out: &mut Vec<Action>) {
        let Some(mut batch) = self.batches.remove(&id) else { return };
        if let Some(held) = self.held.get_mut(&batch.new.tenant) {
            held.remove_batch(id);
        }
        self.timers.replace(SchedTimer::Batch(id), batch.due, None);
        let owner = batch.owner();
        for stage in batch.new.stages.iter() {
            if let Some(pool) = self.pools.get_mut(&stage.pool) {
                pool.fair_queue.remove_batch(&owner, id);
                self.pools.requests_removed(&stage.pool);
            }
        }
        let (earliest_end, ended) = (batch.earliest_end(), batch.end(self.now));
        for (seq, request) in std::mem::take(&mut batch.requests).into_entries() {
            let id = RequestId { batch: id, seq };
            for worker in [request.holder, request.hedge()].into_iter().flatten() {
                self.take_back(worker, id, out);
            }
            if let Some(deadline) = request.deadline() {
                self.deadlines.remove(&(deadline, id));
            }
            let end = FinalEnd::Error { code: ErrorCode::Cancelled, attempts: request.tries };
            let earliest_end = request.earliest_end();
            out.push(Action::Finish(request.into_finish(id, end, None, earliest_end)));
        }
        let mut profile = None;
        if ending == BatchEnding::Done {
            if let Some(last) = batch.completed() {
                self.estimates.batch_completed(batch.new.tenant, Arc::clone(&batch.new.run), last);
            }
            profile = batch.into_profile(ended);
        }
        self.planning.called = true;
        out.push(Action::BatchDone(BatchDone { batch: id, ending, earliest_end, ended, profile }));
    }

    /// A request of the batch got on or ended: its estimate moves, and it may be done.
    pub(crate) fn progressed(&mut self, id: BatchId, out: &mut Vec<Action>) {
        self.refresh(id, out);
        self.batch_changed(id, out);
    }

    /// Service times moved: brings the estimates of some batches up to date, in turn.
    pub(crate) fn refresh_others(&mut self, out: &mut Vec<Action>) {
        for _ in 0..REFRESHED_PER_ANSWER.min(self.batches.len()) {
            let behind = (self.turn.map_or(Unbounded, Excluded), Unbounded);
            let next = self.batches.range(behind).next().or_else(|| self.batches.first_key_value());
            self.turn = next.map(|(id, _)| *id);
            if let Some(next) = self.turn {
                self.refresh(next, out);
            }
        }
    }

    fn refresh(&mut self, id: BatchId, out: &mut Vec<Action>) {
        let Some(batch) = self.batches.get_mut(&id) else { return };
        if batch.refresh(&self.estimates) {
            self.refreshed(id, out);
        }
    }

    /// The batch's estimate was made anew: its lanes move, and it is told if it moved far.
    fn refreshed(&mut self, id: BatchId, out: &mut Vec<Action>) {
        let batch = self.batches.get_mut(&id).expect("what was refreshed is live");
        let (owner, rank) = (batch.owner(), batch.rank());
        for stage in batch.new.stages.iter() {
            if let Some(pool) = self.pools.get_mut(&stage.pool) {
                pool.fair_queue.rerank(&owner, id, rank);
            }
        }
        // A batch that ends in this step has nothing left to expect.
        if !batch.is_done()
            && let Some(done_at) = batch.tell(self.now)
        {
            out.push(Action::Estimate { batch: id, done_at });
        }
    }
}

/// The tenant's entitlement in one pool.
pub(crate) fn pool_entitlement(
    entitlements: &BTreeMap<TenantId, Entitlement>,
    tenant: TenantId,
    pool: &str,
) -> PoolEntitlement {
    entitlements
        .get(&tenant)
        .map_or_else(|| Entitlement::default().of(pool), |entitlement| entitlement.of(pool))
}
