//! What happened so far, as the rules say it must have.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::sync::Arc;

use assay_core::id::{BatchId, LeaseId, RequestId, TenantId, WorkerId};
use assay_core::outcome::ErrorCode;
use assay_core::time::Micros;
use assay_sched::{
    Action, BatchDone, BatchEnding, Config, Discipline, Entitlement, Event, FinalEnd, Finish,
    Grant, HeldStages, NewRequest, Progress, Sched, StageShape,
};

use super::pools::Planning;

pub(super) const POOLS: [&str; 2] = ["cpu", "gpu"];

/// Of the pool with this name.
pub(super) fn at(pool: &str) -> usize {
    usize::from(pool == POOLS[1])
}

pub(super) fn all_of(batch: BatchId) -> RangeInclusive<RequestId> {
    RequestId { batch, seq: 0 }..=RequestId { batch, seq: u32::MAX }
}

#[derive(Debug)]
pub(super) struct Request {
    pub(super) stage: usize,
    pub(super) arrived: Micros,
    pub(super) ready: Micros,
    /// The times of the stages that it is through with.
    pub(super) times: Vec<Micros>,
    ran: Micros,
    pub(super) lease: Option<LeaseId>,
    pub(super) ended: bool,
    pub(super) primary: Option<RequestId>,
    pub(super) deadline: Option<Micros>,
    /// The earliest estimate of a waiter's batch, at the time at which the waiter came.
    pub(super) inherited_deadline: Option<Micros>,
    pub(super) expected_ms: u32,
}

pub(super) struct Batch {
    pub(super) tenant: TenantId,
    pub(super) run: Arc<str>,
    pub(super) announced: Micros,
    pub(super) stages: Arc<[StageShape]>,
    pub(super) group_size: Option<u32>,
    pub(super) submitted: u32,
    earliest_end: Option<Micros>,
    last_end: Option<Micros>,
    pub(super) ended: bool,
}

pub(super) struct Worker {
    pub(super) pool: Arc<str>,
    pub(super) leases_max: usize,
    pub(super) draining: bool,
    /// The scheduler wanted it stopped.
    pub(super) stopped: bool,
    pub(super) leases: Vec<(LeaseId, RequestId)>,
    /// Those that were revoked last, granted after those that it answered.
    pub(super) revoked: Vec<(LeaseId, RequestId)>,
    /// The lease that it runs for nothing, as it had started it when it was revoked.
    started: Option<LeaseId>,
    /// The time from which it has no lease, if it has none.
    pub(super) idle_since: Micros,
}

/// What was told, and what was answered.
pub(super) struct Step {
    pub(super) now: Micros,
    pub(super) event: Event,
    pub(super) actions: Vec<Action>,
}

pub(super) struct World {
    pub(super) sched: Sched,
    pub(super) discipline: Discipline,
    /// How many there are.
    pub(super) tenants: u8,
    pub(super) now: Micros,
    pub(super) requests: BTreeMap<RequestId, Request>,
    pub(super) batches: BTreeMap<BatchId, Batch>,
    pub(super) workers: BTreeMap<WorkerId, Worker>,
    pub(super) pools: [super::pools::Pool; 2],
    pub(super) planning: Planning,
    /// Of tenants of which one was told.
    pub(super) entitlements: BTreeMap<TenantId, Entitlement>,
    /// The held stages by tenant.
    pub(super) held: BTreeMap<TenantId, HeldStages>,
    /// The step since which a tenant waits without a worker, by pool.
    pub(super) unserved: [BTreeMap<TenantId, usize>; 2],
    pub(super) groups_done: BTreeSet<(BatchId, u32)>,
    pub(super) workers_ever: u64,
    pub(super) steps: Vec<Step>,
    /// Requests whose ends were not reported to their waiters.
    pub(super) ends: Vec<(RequestId, FinalEnd)>,
    last_lease: LeaseId,
}

/// Of the request with this number.
pub(super) fn group(seq: u32) -> Option<u32> {
    (seq % 7 != 6).then_some(seq / 3)
}

impl World {
    pub(super) fn new(discipline: Discipline, tenants: u8) -> Self {
        let config = Config {
            discipline,
            worker_lost_retries_max: 2,
            announced_max: Micros::from_secs(2),
            open_idle_max: Micros::from_secs(3),
            leases_after: LeaseId(100),
            plan_pause: super::pools::PLAN_PAUSE,
            preempt_after: Some(Micros::from_ms(5)),
            // The model knows one lease of a request; `hedge` has those with two.
            hedge_after: None,
            ..Config::default()
        };
        Self {
            sched: Sched::new(config),
            discipline,
            tenants,
            now: Micros::from_secs(1),
            requests: BTreeMap::new(),
            batches: BTreeMap::new(),
            workers: BTreeMap::new(),
            pools: Default::default(),
            planning: Planning::default(),
            entitlements: BTreeMap::new(),
            held: BTreeMap::new(),
            unserved: Default::default(),
            groups_done: BTreeSet::new(),
            workers_ever: 0,
            steps: Vec::new(),
            ends: Vec::new(),
            last_lease: LeaseId(100),
        }
    }

    /// How many actions there were.
    pub(super) fn actions(&self) -> usize {
        self.steps.iter().map(|step| step.actions.len()).sum()
    }

    /// Whether a batch of this name can be announced: requests tell batches apart by it.
    pub(super) fn is_unused(&self, id: BatchId) -> bool {
        self.batches.get(&id).is_none_or(|batch| batch.ended && batch.submitted == 0)
    }

    pub(super) fn in_last_stage(&self, id: RequestId) -> bool {
        self.requests
            .get(&id)
            .is_none_or(|request| request.stage + 1 == self.batches[&id.batch].stages.len())
    }

    pub(super) fn apply(&mut self, event: Event) {
        let calls_for_plan = self.calls_for_plan(&event);
        self.drop_passed_deadlines();
        let answered = self.foresee(&event);
        let started = self.started_before_revoked(&event);
        let actions = self.sched.step(self.now, event.clone());
        let mut grants = Vec::new();
        for action in &actions {
            match action {
                Action::Grant(grant) => {
                    self.granted(grant);
                    grants.push(*grant);
                }
                Action::Revoke { worker, lease } => {
                    self.revoked(*worker, *lease, started.is_some());
                }
                Action::KillWorker { worker, reason: _ } => self.gone(*worker),
                Action::PreemptWorker { worker } => self.preempted(*worker),
                Action::Advance { request, stage, time } => {
                    assert_eq!(answered.map(|(id, _)| id), Some(*request));
                    let advanced = self.requests.get_mut(request).expect("submitted");
                    assert_eq!(advanced.stage, *stage);
                    advanced.stage += 1;
                    advanced.ready = self.now;
                    advanced.times.push(time.ran);
                    advanced.ran = advanced.ran + time.ran;
                }
                Action::Finish(finish) => self.finished(finish, answered, &event),
                Action::BatchDone(done) => {
                    self.batch_done(done);
                    assert!(done.ending != BatchEnding::Expired || matches!(event, Event::Tick));
                }
                Action::GroupDone { batch, group } => {
                    assert!(self.groups_done.insert((*batch, *group)), "a group was done twice");
                }
                Action::StartWorkers { pool, count } => self.started(pool, *count),
                Action::CancelStarts { pool, count } => self.starts_cancelled(pool, *count),
                Action::StopWorker { worker } | Action::StopSlowWorker { worker } => {
                    self.stopped(*worker);
                }
                Action::Estimate { .. } | Action::PlanAnew | Action::WakeAt(_) => {}
            }
        }
        if let Some((worker, lease)) = started {
            let worker = self.workers.get_mut(&worker).expect("it runs a lease");
            assert!(worker.leases.is_empty(), "leases wait for one that was revoked");
            worker.started = Some(lease.0);
            worker.leases.push(lease);
        }
        self.inherit(&event);
        let waiting = self.waiting();
        let view = self.sched.view();
        self.check_order(&grants, &waiting);
        self.check_entitlements(&grants, &waiting);
        self.check_state(&waiting, &view);
        self.check_plan_calls(&event, calls_for_plan, &actions);
        self.note_unneeded(&view, &actions);
        self.check_pools(&waiting, &view, &actions);
        self.steps.push(Step { now: self.now, event, actions });
        self.settle();
    }

    /// What the event itself changes. Returns the live lease's request and how long it ran.
    fn foresee(&mut self, event: &Event) -> Option<(RequestId, Micros)> {
        match event {
            Event::BatchAnnounced(new) => {
                let batch = Batch {
                    tenant: new.tenant,
                    run: Arc::clone(&new.run),
                    announced: self.now,
                    stages: Arc::clone(&new.stages),
                    group_size: new.group_size,
                    submitted: 0,
                    earliest_end: None,
                    last_end: None,
                    ended: false,
                };
                self.batches.insert(new.id, batch);
            }
            Event::RequestsSubmitted { batch, requests } => {
                requests.iter().for_each(|new| self.submitted(*batch, new));
            }
            Event::RequestDeadline { request, deadline } => self.set_deadline(*request, *deadline),
            Event::WaitersReleased { released } => self.released(released),
            Event::WorkerJoined { worker, pool, leases_max } => {
                self.pool(pool).starting -= usize::from(self.pool(pool).starting > 0);
                let new = Worker {
                    pool: Arc::clone(pool),
                    leases_max: (*leases_max).max(1),
                    draining: false,
                    stopped: false,
                    leases: Vec::new(),
                    revoked: Vec::new(),
                    started: None,
                    idle_since: self.now,
                };
                self.workers.insert(*worker, new);
            }
            Event::WorkerDraining { worker } => {
                self.workers.get_mut(worker).expect("chosen").draining = true;
            }
            Event::WorkerLost { worker } => self.gone(*worker),
            Event::StageFinished { worker, lease, ran, .. } => {
                let id = self.hand_over(*worker, *lease)?;
                if self.workers[worker].started == Some(*lease) {
                    return None;
                }
                let request = self.requests.get_mut(&id).filter(|request| !request.ended)?;
                assert_eq!(request.lease.take(), Some(*lease));
                return Some((id, *ran));
            }
            Event::StartFailed { pool } => {
                self.pool(pool).starting -= usize::from(self.pool(pool).starting > 0);
            }
            Event::Planned { pools, .. } => self.planned(pools),
            Event::StagesHeld { tenant, stages } => {
                self.held.insert(*tenant, *stages);
            }
            Event::StagesReleased { tenant } => {
                self.held.remove(tenant);
            }
            Event::EntitlementChanged { tenant, entitlement } => {
                self.entitlements.insert(*tenant, entitlement.clone());
            }
            _ => {}
        }
        None
    }

    fn submitted(&mut self, batch: BatchId, new: &NewRequest) {
        let id = RequestId { batch, seq: new.seq };
        let Some(batch) = self.batches.get_mut(&batch).filter(|batch| !batch.ended) else { return };
        if self.requests.contains_key(&id) {
            if let Some(deadline) = new.deadline {
                self.set_deadline(id, deadline);
            }
            return;
        }
        let (stage, ran, ended) = match &new.progress {
            Progress::Waiting { stage, ran } => {
                let ran = ran.iter().take(*stage);
                (*stage, ran.fold(Micros::ZERO, |sum, ran| sum + *ran), None)
            }
            Progress::WaitsFor { .. } => (0, Micros::ZERO, None),
            Progress::Finished { earliest_end, .. } => (0, Micros::ZERO, Some(*earliest_end)),
        };
        let mut times = match &new.progress {
            Progress::Waiting { ran, .. } => ran.clone(),
            _ => Vec::new(),
        };
        times.resize(stage, Micros::ZERO);
        let primary = match new.progress {
            Progress::WaitsFor { primary } => Some(primary),
            _ => None,
        };
        batch.earliest_end = batch.earliest_end.max(ended);
        batch.last_end = batch.last_end.max(ended);
        let request = Request {
            stage,
            arrived: new.arrived,
            ready: if stage == 0 { new.arrived } else { self.now },
            times,
            ran,
            lease: None,
            ended: ended.is_some(),
            primary,
            deadline: None,
            inherited_deadline: None,
            expected_ms: new.expected_ms.unwrap_or(0),
        };
        self.requests.insert(id, request);
        if let Some(deadline) = new.deadline {
            self.set_deadline(id, deadline);
        }
    }

    /// Removes the lease from the worker, if it holds it.
    fn hand_over(&mut self, worker: WorkerId, lease: LeaseId) -> Option<RequestId> {
        let worker = self.workers.get_mut(&worker)?;
        let at = worker.leases.iter().position(|(held, _)| *held == lease)?;
        let (_, id) = worker.leases.remove(at);
        worker.revoked.retain(|(held, _)| *held > lease);
        if worker.leases.is_empty() {
            worker.idle_since = self.now;
        }
        Some(id)
    }

    fn granted(&mut self, grant: &Grant) {
        assert!(grant.lease > self.last_lease, "leases increase strictly");
        self.last_lease = grant.lease;
        let request = self.requests.get_mut(&grant.request).expect("only what was submitted");
        assert!(!request.ended && request.lease.is_none(), "granted twice: {request:?}");
        assert_eq!(request.stage, grant.stage);
        request.lease = Some(grant.lease);
        let worker = self.workers.get_mut(&grant.worker).expect("a worker that is there");
        assert!(!worker.draining);
        assert_eq!(worker.pool, self.batches[&grant.request.batch].stages[grant.stage].pool);
        worker.leases.push((grant.lease, grant.request));
        let pool = Arc::clone(&worker.pool);
        self.check_ceiling(&pool);
    }

    /// The worker and the lease that it runs for nothing, if the event says so of one that was revoked.
    fn started_before_revoked(
        &mut self,
        event: &Event,
    ) -> Option<(WorkerId, (LeaseId, RequestId))> {
        let Event::StartedBeforeRevoked { worker: id, lease } = event else { return None };
        let worker = self.workers.get_mut(id)?;
        if worker.leases.first().is_some_and(|(first, _)| first < lease) {
            return None;
        }
        let at = worker.revoked.iter().position(|(held, _)| held == lease)?;
        Some((*id, worker.revoked.remove(at)))
    }

    fn revoked(&mut self, worker: WorkerId, lease: LeaseId, runs_another: bool) {
        let worker = self.workers.get_mut(&worker).expect("a worker that is there");
        let held = worker.leases.iter().position(|(held, _)| *held == lease);
        let at = held.expect("a lease of the worker");
        assert!(at > 0 || runs_another, "a running lease was revoked");
        let revoked = worker.leases.remove(at);
        worker.revoked.push(revoked);
        let excess = worker.revoked.len().saturating_sub(worker.leases_max);
        worker.revoked.drain(..excess);
        self.release(revoked);
    }

    /// The request is not leased any more, if it was leased by that.
    fn release(&mut self, (lease, request): (LeaseId, RequestId)) {
        // A batch that ended took its requests along.
        let request = self.requests.get_mut(&request);
        if let Some(request) = request.filter(|request| request.lease == Some(lease)) {
            request.lease = None;
        }
    }

    pub(super) fn gone(&mut self, worker: WorkerId) {
        let Some(worker) = self.workers.remove(&worker) else { return };
        worker.leases.into_iter().for_each(|lease| self.release(lease));
    }

    fn finished(&mut self, finish: &Finish, answered: Option<(RequestId, Micros)>, event: &Event) {
        self.ends.push((finish.request, finish.end));
        let request = self.requests.get_mut(&finish.request).expect("only what was submitted");
        assert!(!request.ended, "finished twice: {finish:?}");
        request.ended = true;
        request.lease = None;
        self.batches.get_mut(&finish.request.batch).expect("announced").last_end = Some(self.now);
        if let FinalEnd::Error { code: ErrorCode::Cancelled, .. } = finish.end {
            return;
        }
        if request.primary.is_some() {
            self.waiter_finished(finish, event);
            return;
        }
        let lost = matches!(
            finish.end,
            FinalEnd::Error {
                code: ErrorCode::WorkerLost | ErrorCode::LeaseExpired,
                attempts: 3..
            }
        );
        match answered {
            Some((id, ran)) => {
                assert_eq!(id, finish.request, "only a live lease's answer ends its request");
                // The time of a lost try counts nowhere.
                request.ran = request.ran + if lost { Micros::ZERO } else { ran };
            }
            None => assert!(lost, "{finish:?}"),
        }
        assert_eq!(finish.earliest_end, request.arrived + request.ran);
        self.reached(finish);
    }

    pub(super) fn reached(&mut self, finish: &Finish) {
        let batch = self.batches.get_mut(&finish.request.batch).expect("announced");
        batch.earliest_end = batch.earliest_end.max(Some(finish.earliest_end));
    }

    fn batch_done(&mut self, done: &BatchDone) {
        let requests: Vec<_> = self.requests.extract_if(all_of(done.batch), |_, _| true).collect();
        assert!(requests.iter().all(|(_, request)| request.ended));
        if done.ending == BatchEnding::Done {
            let mut groups = requests.iter().filter_map(|(id, _)| group(id.seq));
            assert!(groups.all(|group| self.groups_done.contains(&(done.batch, group))));
        }
        let batch = self.batches.get_mut(&done.batch).expect("announced");
        assert!(!batch.ended, "a batch ended twice");
        assert_eq!(batch.earliest_end, done.earliest_end, "{done:?}");
        assert_eq!(batch.last_end.unwrap_or(self.now), done.ended, "{done:?}");
        batch.ended = true;
    }
}

impl Request {
    /// Whether it waits for a worker, or for the release of its stage.
    pub(super) fn waits(&self) -> bool {
        !self.ended && self.lease.is_none() && self.primary.is_none()
    }
}

impl Worker {
    pub(super) fn holds(&self, lease: LeaseId) -> bool {
        self.leases.iter().any(|(held, _)| *held == lease)
    }

    pub(super) fn is_idle(&self) -> bool {
        self.leases.is_empty() && !self.draining
    }
}
