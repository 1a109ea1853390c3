//! One run: a trace, a policy, a virtual clock, and the scheduler and planner in between.
//!
//! The engine is to the scheduler what the server's shell is: it brings events and carries out
//! actions, and it never decides. It alone knows what requests will do; the scheduler does not.

mod chance;
mod clock;
mod fleet;
mod history;
mod perform;
mod places;
mod restart;
mod setup;
mod tenants;
mod trainer;
mod truth;
mod work;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use assay_core::id::{LeaseId, WorkerId};
use assay_core::time::Micros;
use assay_planner::{PlanConfig, Planner, PoolConfig};
use assay_sched::{
    Config, Ending, Event, NewBatch, NewRequest, Profile, Progress, Sched, StageShape,
};

use crate::account::{Account, BatchRun, Change, PoolUse, TenantUse};
use crate::policy::{Hint, Settings, SimulatedPolicy};
use crate::trace::{Trace, TracePool, UnlikeCosts};
use chance::Chance;
use clock::{Clock, SimEvent};
use fleet::Fleet;
use tenants::Tenants;
use trainer::Trainer;
use work::{Batch, RequestState, Work};

pub(crate) use history::{PLUGIN, profile};
pub(crate) use work::batch_id;

/// Why a run cannot be made, or cannot end.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SimulateError {
    #[error("no task has a second iteration, and the first is history only")]
    NothingMeasured,
    #[error("the trace has no pool `{named}`: its pools are {pools}")]
    NoSuchPool { named: String, pools: String },
    #[error("the trace has no tenant `{named}`: its tenants are {tenants}")]
    NoSuchTenant { named: String, tenants: String },
    #[error("pool `{pool}` has a maximum of 0 workers, so nothing can run")]
    NoWorkers { pool: String },
    #[error(transparent)]
    UnlikeCosts(#[from] UnlikeCosts),
    #[error("it takes too long: the planner alone has taken {} s", planned.as_secs())]
    TooLong { planned: Duration },
    #[error("nothing moves any more at {} s, with {left} batches to go", at.as_secs_f64())]
    Stuck { at: Micros, left: usize },
}

/// The caller's hooks into a run that is under way.
pub struct Watch<'a> {
    /// Time since a fixed point, to measure the planner by: the simulator has no clock.
    pub elapsed: &'a mut dyn FnMut() -> Duration,
    /// Called after each completed batch with the number of completed batches, and of all.
    pub completed: &'a mut dyn FnMut(usize, usize),
    /// The total planning time after which the run is given up.
    pub patience: Option<Duration>,
}

/// The result of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    pub policy: SimulatedPolicy,
    /// The use of each pool, in the order of [`Meta::pools`](crate::trace::Meta::pools).
    pub pools: Vec<PoolUse>,
    /// The batches in order of completion.
    pub batches: Vec<BatchRun>,
    /// The tenants by name; empty if there is only one.
    pub tenants: Vec<TenantUse>,
    pub planner: PlannerTimes,
    /// The end of the last batch; billing ends with it.
    pub ended: Micros,
}

/// How long the planner took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PlannerTimes {
    pub plans: u32,
    pub total: Duration,
    pub max: Duration,
}

/// A pool of the run. A pool of the trace is one of them, or one a task if the policy has pools by task.
#[derive(Debug)]
struct Pool {
    name: Arc<str>,
    /// The place of the trace's pool.
    traced: usize,
    startup: Micros,
    config: PoolConfig,
}

struct Engine<'a> {
    trace: &'a Trace,
    settings: &'a Settings,
    policy: &'a SimulatedPolicy,
    watch: Watch<'a>,
    clock: Clock,
    sched: Sched,
    sched_config: Config,
    planner: Planner,
    plan_config: PlanConfig,
    /// The events of this instant that the scheduler has not received yet.
    pending: VecDeque<Event>,
    pools: Vec<Pool>,
    /// The pools of the trace.
    traced: Vec<TracePool>,
    /// The place of the trace's pool that serves a stage, by stage.
    serves: Vec<usize>,
    /// The stages of each task's batches, by task.
    shapes: Vec<Arc<[StageShape]>>,
    runs: Vec<Arc<str>>,
    tenants: Tenants,
    trainers: Vec<Trainer<'a>>,
    fleet: Fleet,
    work: Work<'a>,
    chance: Chance,
    /// The account of the workers, by pool of the trace.
    accounts: Vec<Account>,
    /// All profiles so far, for a host that restarts.
    history: Vec<Arc<Profile>>,
    last_lease: LeaseId,
    batches: Vec<BatchRun>,
    times: PlannerTimes,
}

/// Replays the trace until its last measured batch is complete.
pub fn simulate<'a>(
    trace: &'a Trace,
    policy: &'a SimulatedPolicy,
    settings: &'a Settings,
    watch: Watch<'a>,
) -> Result<Run, SimulateError> {
    let mut engine = Engine::new(trace, policy, settings, watch)?;
    while engine.work.left > 0 {
        let Some(due) = engine.clock.next() else {
            return Err(SimulateError::Stuck { at: engine.clock.now(), left: engine.work.left });
        };
        let planned = engine.times.total;
        if engine.watch.patience.is_some_and(|patience| planned > patience) {
            return Err(SimulateError::TooLong { planned });
        }
        engine.happen(due);
        while let Some(event) = engine.pending.pop_front() {
            let actions = engine.sched.step(engine.clock.now(), event);
            actions.into_iter().for_each(|action| engine.perform(action));
        }
    }
    Ok(engine.into_run())
}

impl Engine<'_> {
    fn happen(&mut self, due: SimEvent) {
        match due {
            SimEvent::RolloutStarts { task, iteration } => self.rollout_starts(task, iteration),
            SimEvent::RequestArrives { batch, request } => self.request_arrives(batch, request),
            SimEvent::WorkerJoins(worker) => {
                if let Some(pool) = self.fleet.joined(worker) {
                    let traced = self.pools[pool].traced;
                    self.accounts[traced].change(self.clock.now(), Change::Joined);
                    let pool = Arc::clone(&self.pools[pool].name);
                    self.pending.push_back(Event::WorkerJoined { worker, pool, leases_max: 1 });
                }
            }
            SimEvent::StageEnds { worker, lease } => self.stage_ends(worker, lease),
            SimEvent::SchedulerWakes => self.pending.push_back(Event::Tick),
            SimEvent::WorkerFails => self.worker_fails(),
            SimEvent::CapacityChanges { traced } => self.capacity_changes(traced),
            SimEvent::HostRestarts => self.restart(),
        }
    }

    /// The trainer announces its batch and will send each request when its rollout is over.
    fn rollout_starts(&mut self, task: usize, iteration: usize) {
        let now = self.clock.now();
        let truth = &self.trace.tasks[task].iterations[iteration];
        let number = self.work.number(task, iteration);
        let batch = Batch::new(task, iteration, truth, now);
        for request in 0..truth.requests.len() {
            let arrives = SimEvent::RequestArrives { batch: number, request };
            self.clock.push(batch.arrival(request), arrives);
        }
        self.work.started(number, batch);
        if self.settings.hint == Hint::RolloutStart {
            self.announce(number);
        }
        let next = self.trainers[task].rollout_started(iteration, now);
        self.rollout_follows(task, next);
    }

    fn announce(&mut self, number: usize) {
        self.work.batch(number).announced = Some(self.clock.now());
        self.pending.extend(self.announcement(number).map(Event::BatchAnnounced));
    }

    /// `None` before the trainer has announced it.
    fn announcement(&self, number: usize) -> Option<NewBatch> {
        let batch = self.work.get(number);
        let announced = batch.announced?;
        Some(NewBatch {
            id: batch_id(number),
            tenant: self.tenants.id(batch.task),
            run: Arc::clone(&self.runs[batch.task]),
            plugin: history::PLUGIN,
            stages: Arc::clone(&self.shapes[batch.task]),
            expected_size: Some(batch.truth.requests.len() as u32),
            group_size: batch.group_size(),
            tolerance: None,
            consumes: self.settings.consumes,
            hedged: true,
            announced,
        })
    }

    fn rollout_follows(&mut self, task: usize, next: Option<(usize, Micros)>) {
        if let Some((iteration, at)) = next {
            self.clock.push(at, SimEvent::RolloutStarts { task, iteration });
        }
    }

    fn request_arrives(&mut self, number: usize, request: usize) {
        let now = self.clock.now();
        if self.work.batch(number).announced.is_none() {
            self.announce(number);
        }
        let batch = self.work.batch(number);
        let progress = match work::first_stage(&batch.truth.requests[request]) {
            Some(stage) => {
                batch.states[request] = RequestState::Waiting { stage, since: now };
                batch.ran[request] = vec![Micros::ZERO; stage];
                self.accounts[self.serves[stage]].change(now, Change::Queued);
                Progress::Waiting { stage, ran: vec![Micros::ZERO; stage] }
            }
            None => {
                batch.ended(request, now, Ending::Scored, now);
                let (ran, ending) = (Vec::new(), Ending::Scored);
                Progress::Finished { earliest_end: now, ended: now, ran, ending }
            }
        };
        let group = Some(batch.group(request));
        let request = NewRequest {
            seq: request as u32,
            group,
            arrived: now,
            deadline: None,
            expected_ms: batch.expected_ms(request, self.settings),
            progress,
        };
        let batch = batch_id(number);
        self.pending.push_back(Event::RequestsSubmitted { batch, requests: vec![request] });
    }

    fn stage_ends(&mut self, worker: WorkerId, lease: LeaseId) {
        let Some(job) = self.fleet.put_down(worker, lease) else { return };
        let traced = self.pools[self.fleet.get(worker).pool].traced;
        self.tenants.served(&job, traced, self.clock.now());
        let account = &mut self.accounts[traced];
        account.change(self.clock.now(), Change::Free);
        // If two workers run a stage, the first one counts.
        if self.work.runs(job.batch, job.request, job.stage) {
            account.executed(job.ran);
        }
        self.pending.push_back(Event::StageFinished { worker, lease, end: job.end, ran: job.ran });
    }

    /// One of the busy workers is lost, and the next loss is on its way.
    fn worker_fails(&mut self) {
        let busy = self.fleet.busy();
        if !busy.is_empty() {
            let worker = busy[self.chance.one_of(busy.len())];
            self.lost(worker);
            self.pending.push_back(Event::WorkerLost { worker });
        }
        self.loss_follows();
    }

    fn loss_follows(&mut self) {
        if let Some(after) = self.chance.next_loss() {
            self.clock.push(self.clock.now() + after, SimEvent::WorkerFails);
        }
    }

    fn into_run(self) -> Run {
        let ended = self.clock.now();
        let accounts = self.accounts.into_iter();
        Run {
            policy: self.policy.clone(),
            pools: accounts.map(|account| account.close(ended)).collect(),
            batches: self.batches,
            tenants: self.tenants.into_used(self.trace),
            planner: self.times,
            ended,
        }
    }
}
