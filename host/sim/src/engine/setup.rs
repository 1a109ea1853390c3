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
use crate::trace::{Task, Trace, TracePool, TraceStage};

impl<'a> Engine<'a> {
    pub(super) fn new(
        trace: &'a Trace,
        policy: &'a SimulatedPolicy,
        settings: &'a Settings,
        watch: Watch<'a>,
    ) -> Result<Self, SimulateError> {
        let traced = trace.meta.pools()?;
        check(trace, &traced, policy, settings)?;
        let serves: Vec<usize> =
            trace.meta.stages.iter().map(|stage| place(&traced, stage)).collect();
        let pools = pools(trace, &traced, policy, settings);
        let shapes = trace.tasks.iter().map(|task| shape(trace, task, policy)).collect();
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
            accounts: traced.iter().map(|pool| Account::new(&pool.name)).collect(),
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
            traced,
            serves,
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
    traced: &[TracePool],
    policy: &SimulatedPolicy,
    settings: &Settings,
) -> Result<(), SimulateError> {
    if trace.tasks.iter().all(|task| task.iterations.len() < 2) {
        return Err(SimulateError::NothingMeasured);
    }
    let fixed = match policy {
        SimulatedPolicy::Fixed(counts) => Some(counts.keys()),
        _ => None,
    };
    let bounds =
        settings.entitlements.values().flat_map(|entitlement| entitlement.workers_max.keys());
    let named = settings.startup.named.keys().chain(settings.quota.named.keys());
    let scarce = settings.faults.scarcities.iter().map(|scarcity| &scarcity.pool);
    let named = named.chain(fixed.into_iter().flatten()).chain(scarce).map(String::as_str);
    for named in named.chain(bounds.map(AsRef::as_ref)) {
        if !traced.iter().any(|pool| pool.name == named) {
            let names: Vec<&str> = traced.iter().map(|pool| pool.name.as_str()).collect();
            let pools = names.join(", ");
            return Err(SimulateError::NoSuchPool { named: named.to_owned(), pools });
        }
    }
    Tenants::of_trace(trace).check(&settings.entitlements)?;
    match traced.iter().find(|pool| workers_max(policy, settings, &pool.name) == 0) {
        Some(pool) => Err(SimulateError::NoWorkers { pool: pool.name.clone() }),
        None => Ok(()),
    }
}

fn workers_max(policy: &SimulatedPolicy, settings: &Settings, pool: &str) -> usize {
    let fixed = match policy {
        SimulatedPolicy::Fixed(counts) => counts.get(pool).copied(),
        _ => None,
    };
    fixed.unwrap_or_else(|| settings.quota.get(pool))
}

/// The place of the pool that serves a stage.
fn place(traced: &[TracePool], stage: &TraceStage) -> usize {
    traced
        .iter()
        .position(|pool| pool.name == stage.pool())
        .expect("the pools are those of the stages")
}

/// The name of a pool of the trace in a run, for a task.
fn pool_name(traced: &str, task: &Task, policy: &SimulatedPolicy) -> Arc<str> {
    match policy.has_pools_by_task() {
        true => format!("{traced}-{}", task.id).into(),
        false => traced.into(),
    }
}

/// The pools in the order of the trace's, and those by task in the order of their names.
fn pools(
    trace: &Trace,
    traced: &[TracePool],
    policy: &SimulatedPolicy,
    settings: &Settings,
) -> Vec<Pool> {
    let mut pools: BTreeMap<Arc<str>, Pool> = BTreeMap::new();
    for task in &trace.tasks {
        for (place, of) in traced.iter().enumerate() {
            let name = pool_name(&of.name, task, policy);
            let startup = settings.startup.get(&of.name);
            let config = pool_config(of, startup, policy, settings);
            let pool = Pool { name: Arc::clone(&name), traced: place, startup, config };
            pools.entry(name).or_insert(pool);
        }
    }
    let mut pools: Vec<Pool> = pools.into_values().collect();
    pools.sort_by_key(|pool| pool.traced);
    pools
}

fn pool_config(
    pool: &TracePool,
    startup: Micros,
    policy: &SimulatedPolicy,
    settings: &Settings,
) -> PoolConfig {
    let max = workers_max(policy, settings, &pool.name);
    let min = if matches!(policy, SimulatedPolicy::Fixed(_)) { max } else { 0 };
    PoolConfig { min, max, cost: pool.cost, startup, linger: settings.linger }
}

/// The stages of a task's batches.
fn shape(trace: &Trace, task: &Task, policy: &SimulatedPolicy) -> Arc<[StageShape]> {
    let stages = trace.meta.stages.iter().map(|stage| StageShape {
        pool: pool_name(stage.pool(), task, policy),
        timeout: stage.timeout,
        retries_max: 0,
    });
    stages.collect()
}
