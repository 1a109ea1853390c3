//! A run before its first event.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use assay_core::id::LeaseId;
use assay_core::time::Micros;
use assay_planner::{PlanConfig, Planner, PoolConfig};
use assay_sched::{Config, Event, Sched, StageShape};

use super::chance::Chance;
use super::clock::{Clock, SimEvent};
use super::fleet::Fleet;
use super::tenants::Tenants;
use super::trainer::Trainer;
use super::work::{Work, batch_id};
use super::{Engine, PlannerTimes, Pool, SimulateError, Watch, history};
use crate::account::Account;
use crate::policy::{Settings, SimulatedPolicy};
use crate::trace::{Trace, TraceStage};

impl<'a> Engine<'a> {
    pub(super) fn new(
        trace: &'a Trace,
        policy: &'a SimulatedPolicy,
        settings: &'a Settings,
        watch: Watch<'a>,
    ) -> Result<Self, SimulateError> {
        check(trace, policy, settings)?;
        let (pools, shapes) = pools(trace, policy, settings);
        let configs = pools.iter().map(|pool| (Arc::clone(&pool.name), pool.config.clone()));
        let plan_config = PlanConfig {
            tuning: policy.tuning(settings),
            discipline: settings.discipline,
            tolerance: settings.tolerance,
            period: settings.period,
            forecasts: settings.forecasts,
            ..PlanConfig::new(policy.planner(), configs.collect())
        };
        let sched_config = Config {
            discipline: settings.discipline,
            preempt_after: settings.preempt_after,
            hedge_after: settings.hedge_after,
            // A trainer takes as long as it takes; the batches of a trace never expire.
            announced_max: Micros::MAX,
            open_idle_max: Micros::MAX,
            ..Config::default()
        };
        let runs = trace.tasks.iter().map(|task| format!("task-{}", task.id).into());
        let mode = trace.meta.mode;
        let mut engine = Self {
            clock: Clock::default(),
            sched: Sched::new(sched_config.clone()),
            planner: Planner::new(plan_config.clone()),
            pending: VecDeque::new(),
            fleet: Fleet::new(pools.len()),
            work: Work::new(trace),
            chance: Chance::new(settings.seed, &settings.faults),
            accounts: trace.meta.stages.iter().map(|stage| Account::new(&stage.name)).collect(),
            runs: runs.collect(),
            tenants: Tenants::of_trace(trace),
            trainers: trace.tasks.iter().map(|task| Trainer::new(task, mode)).collect(),
            history: Vec::new(),
            last_lease: LeaseId(0),
            batches: Vec::new(),
            times: PlannerTimes::default(),
            trace,
            policy,
            settings,
            watch,
            sched_config,
            plan_config,
            pools,
            shapes,
        };
        engine.tell_entitlements();
        engine.learn_history();
        engine.schedule();
        Ok(engine)
    }

    /// The first iteration of each task is in the past, in order of completion.
    fn learn_history(&mut self) {
        for (task, run) in self.runs.iter().enumerate() {
            let id = batch_id(self.work.number(task, 0));
            let iteration = &self.trace.tasks[task].iterations[0];
            let shapes = Arc::clone(&self.shapes[task]);
            let tenant = self.tenants.id(task);
            let profile = history::profile(id, tenant, Arc::clone(run), shapes, iteration);
            self.history.push(Arc::new(profile));
        }
        self.history.sort_by_key(|profile| profile.ended);
        for profile in &self.history {
            self.planner.learn(Arc::clone(profile));
            self.pending.push_back(Event::HistoryRead(Arc::clone(profile)));
        }
    }

    fn schedule(&mut self) {
        for task in 0..self.trainers.len() {
            self.rollout_follows(task, self.trainers[task].first());
        }
        self.capacity_follows();
        for at in &self.settings.faults.host_restarts {
            self.clock.push(*at, SimEvent::HostRestarts);
        }
        self.loss_follows();
    }
}

fn check(
    trace: &Trace,
    policy: &SimulatedPolicy,
    settings: &Settings,
) -> Result<(), SimulateError> {
    if trace.tasks.iter().all(|task| task.iterations.len() < 2) {
        return Err(SimulateError::NothingMeasured);
    }
    let stages = &trace.meta.stages;
    let fixed = match policy {
        SimulatedPolicy::Fixed(counts) => Some(counts.keys()),
        _ => None,
    };
    let bounds =
        settings.entitlements.values().flat_map(|entitlement| entitlement.workers_max.keys());
    let named = settings.startup.named.keys().chain(settings.quota.named.keys());
    let scarce = settings.faults.scarcities.iter().map(|scarcity| &scarcity.stage);
    let named = named.chain(fixed.into_iter().flatten()).chain(scarce).map(String::as_str);
    for named in named.chain(bounds.map(AsRef::as_ref)) {
        if !stages.iter().any(|stage| stage.name == named) {
            let names: Vec<&str> = stages.iter().map(|stage| stage.name.as_str()).collect();
            let stages = names.join(", ");
            return Err(SimulateError::NoSuchStage { named: named.to_owned(), stages });
        }
    }
    Tenants::of_trace(trace).check(&settings.entitlements)?;
    match stages.iter().find(|stage| workers_max(policy, settings, &stage.name) == 0) {
        Some(stage) => Err(SimulateError::NoWorkers { stage: stage.name.clone() }),
        None => Ok(()),
    }
}

fn workers_max(policy: &SimulatedPolicy, settings: &Settings, stage: &str) -> usize {
    let fixed = match policy {
        SimulatedPolicy::Fixed(counts) => counts.get(stage).copied(),
        _ => None,
    };
    fixed.unwrap_or_else(|| settings.quota.get(stage))
}

/// The pools, and by task the stages that lead through them.
fn pools(
    trace: &Trace,
    policy: &SimulatedPolicy,
    settings: &Settings,
) -> (Vec<Pool>, Vec<Arc<[StageShape]>>) {
    let mut pools: BTreeMap<Arc<str>, Pool> = BTreeMap::new();
    let mut shapes = Vec::new();
    for task in &trace.tasks {
        let mut shape = Vec::new();
        for (stage, traced) in trace.meta.stages.iter().enumerate() {
            let name: Arc<str> = match policy.has_pools_by_task() {
                true => format!("{}-{}", traced.name, task.id).into(),
                false => traced.name.as_str().into(),
            };
            let made = pools
                .entry(name)
                .or_insert_with_key(|name| pool(Arc::clone(name), stage, traced, policy, settings));
            let pool = Arc::clone(&made.name);
            shape.push(StageShape { pool, timeout: traced.timeout, retries_max: 0 });
        }
        shapes.push(shape.into());
    }
    let mut pools: Vec<Pool> = pools.into_values().collect();
    pools.sort_by_key(|pool| pool.stage);
    (pools, shapes)
}

fn pool(
    name: Arc<str>,
    stage: usize,
    traced: &TraceStage,
    policy: &SimulatedPolicy,
    settings: &Settings,
) -> Pool {
    let max = workers_max(policy, settings, &traced.name);
    let startup = settings.startup.get(&traced.name);
    let config = PoolConfig {
        min: if matches!(policy, SimulatedPolicy::Fixed(_)) { max } else { 0 },
        max,
        cost: traced.cost,
        startup,
        linger: settings.linger,
    };
    Pool { name, stage, startup, config }
}
