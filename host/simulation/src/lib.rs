//! The planner on what completed batches left, with other settings: what `POST /v1/simulations`
//! answers, on a virtual clock, by the simulator of `assay simulate`.
//!
//! It reads no clock but to say how long it took, holds no state, and takes a core for as long as it
//! lasts: whoever calls it bounds what it replays and how many run at once.

pub mod file;
mod peaks;
pub mod runs;
pub mod trace;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use assay_api::batch::Consumes;
use assay_api::history::BatchProfile;
use assay_api::simulation::{SimulatedBatch, SimulatedPoint, SimulatedStage, Simulation};
use assay_core::limits;
use assay_core::time::Micros;
pub use assay_sim::SimulateError;
use assay_sim::policy::{ByPool, Hint, Settings, SimulatedPolicy};
use assay_sim::trace::Trace;
use assay_sim::{BatchRun, PoolUse, Run, Sample, Watch};
pub use peaks::peaks;

/// Between the end of a batch and the next rollout, where a batch is its own history.
const PAUSE: Micros = Micros::from_secs(1);

/// The input of a simulation.
pub struct SimulationInput {
    /// The profiles of one run in the order of time. The first is history only, unless it is the only one.
    pub profiles: Vec<BatchProfile>,
    pub policy: String,
    pub tolerance: Micros,
    /// The unit for which the trainer waits.
    pub consumes: Consumes,
    pub pools: BTreeMap<String, PoolInput>,
    /// The planning time after which the simulation is given up.
    pub patience: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoolInput {
    pub max: u32,
    pub startup: Micros,
    pub cost: f64,
}

/// The reason why a simulation has no result.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    #[error("{0}")]
    Policy(#[from] assay_sim::policy::BadPolicy),
    #[error("stage {stage} may have {max} workers at most", max = limits::SIMULATED_WORKERS_MAX)]
    TooManyWorkers { stage: String },
    #[error("{0}")]
    Simulator(#[from] SimulateError),
    #[error("{0:#}")]
    Trace(anyhow::Error),
}

impl SimulationInput {
    fn pool(&self, pool: &str) -> PoolInput {
        let none = PoolInput { max: 0, startup: Micros::ZERO, cost: 1.0 };
        self.pools.get(pool).copied().unwrap_or(none)
    }

    /// `of` a stage's pool, by stage.
    fn by_stage<T: Default>(&self, of: impl Fn(PoolInput) -> T) -> ByPool<T> {
        let stages = self.profiles.iter().flat_map(|profile| &profile.stages);
        let named = stages.map(|stage| (stage.name.clone(), of(self.pool(&stage.pool))));
        ByPool { all: T::default(), named: named.collect() }
    }

    fn settings(&self) -> Settings {
        let startup = self.by_stage(|pool| pool.startup);
        let immediate = startup.named.values().all(|startup| *startup == Micros::ZERO);
        Settings {
            tolerance: self.tolerance,
            consumes: match self.consumes {
                Consumes::Batch => assay_sim::policy::Consumes::Batch,
                Consumes::Groups => assay_sim::policy::Consumes::Groups,
            },
            quota: self.by_stage(|pool| pool.max as usize),
            hint: if immediate { Hint::FirstRequest } else { Hint::RolloutStart },
            startup,
            ..Settings::default()
        }
    }
}

/// Replays all but the first batch. It blocks.
pub fn simulate(mut wanted: SimulationInput) -> Result<Simulation, SimulationError> {
    wanted.profiles.sort_by_key(|profile| (profile.batch.announced_at, profile.batch.id));
    let policy: SimulatedPolicy = wanted.policy.parse()?;
    check_workers(&policy)?;
    let costs = wanted.pools.iter().map(|(pool, wanted)| (pool.clone(), wanted.cost)).collect();
    let mut trace =
        trace::trace(wanted.profiles.clone(), &costs).map_err(SimulationError::Trace)?;
    separate_pools(&mut trace);
    let own_history = wanted.profiles.len() == 1;
    if own_history {
        repeat_first(&mut trace);
    }
    let started = Instant::now();
    let settings = wanted.settings();
    let mut elapsed = || started.elapsed();
    let mut completed = |_, _| {};
    let patience = Some(wanted.patience);
    let watch = Watch { elapsed: &mut elapsed, completed: &mut completed, patience };
    let run = assay_sim::simulate(&trace, &policy, &settings, watch).map_err(refused)?;
    let took = started.elapsed();
    // The first iteration of a trace is not simulated.
    let simulated = if own_history { &wanted.profiles[..] } else { &wanted.profiles[1..] };
    let requests = wanted.profiles.iter().map(|profile| profile.batch.requests).sum();
    Ok(Simulation {
        policy: policy.to_string(),
        tolerance_ms: wanted.tolerance.as_ms_f64(),
        batches_replayed: u32::try_from(wanted.profiles.len()).unwrap_or(u32::MAX),
        requests_replayed: requests,
        own_history,
        simulated_in_ms: took.as_secs_f64() * 1e3,
        batches: batches(&run, simulated, wanted.tolerance),
        stages: stages(&run, simulated, &wanted),
    })
}

/// Each worker of a fixed number takes memory from the start on.
fn check_workers(policy: &SimulatedPolicy) -> Result<(), SimulationError> {
    let SimulatedPolicy::Fixed(counts) = policy else { return Ok(()) };
    let max = limits::SIMULATED_WORKERS_MAX as usize;
    match counts.iter().find(|(_, count)| **count > max) {
        Some((stage, _)) => Err(SimulationError::TooManyWorkers { stage: stage.clone() }),
        None => Ok(()),
    }
}

/// Each stage gets workers of its own, as the interface promises: its answer and `fixed:STAGE=N` are by stage.
fn separate_pools(trace: &mut Trace) {
    for stage in &mut trace.meta.stages {
        stage.pool = None;
    }
}

/// A refusal in words of the interface, whose callers name stages.
fn refused(error: SimulateError) -> SimulationError {
    match error {
        SimulateError::NoSuchPool { named, pools } => SimulationError::Trace(anyhow::anyhow!(
            "the trace has no stage `{named}`: its stages are {pools}"
        )),
        error => SimulationError::Simulator(error),
    }
}

/// A batch that has none before it: the planner knows it as it was.
fn repeat_first(trace: &mut Trace) {
    for task in &mut trace.tasks {
        let Some(first) = task.iterations.first_mut() else { continue };
        first.train = PAUSE;
        let mut again = first.clone();
        again.number += 1;
        again.rollout_start = first.rollout_start + first.earliest_end() + PAUSE;
        task.iterations.push(again);
    }
}

fn batches(run: &Run, profiles: &[BatchProfile], tolerance: Micros) -> Vec<SimulatedBatch> {
    let mut runs: Vec<&BatchRun> = run.batches.iter().collect();
    runs.sort_by_key(|batch| batch.iteration);
    let both = runs.into_iter().zip(profiles);
    let batches = both.map(|(run, profile)| {
        let batch = &profile.batch;
        SimulatedBatch {
            id: batch.id,
            iteration: batch.iteration,
            requests: batch.requests,
            earliest_end_ms: run.earliest_end.since(run.rollout_start).as_ms_f64(),
            end_ms: run.completed.since(run.rollout_start).as_ms_f64(),
            extra_delay_ms: run.extra_delay().as_ms_f64(),
            late: run.extra_delay() > tolerance,
            actual_end_ms: batch.done_at.since(batch.announced_at).as_ms_f64(),
            actual_extra_delay_ms: batch.extra_delay_ms,
        }
    });
    batches.collect()
}

fn stages(run: &Run, profiles: &[BatchProfile], wanted: &SimulationInput) -> Vec<SimulatedStage> {
    let start = run.batches.iter().map(|batch| batch.rollout_start).min().unwrap_or_default();
    let shapes = profiles.first().map_or(&[][..], |first| &first.stages);
    let stages = run.pools.iter().zip(shapes).enumerate().map(|(number, (used, shape))| {
        let ran = profiles.iter().flat_map(|profile| &profile.requests);
        let ran_ms: f64 = ran.filter_map(|request| *request.ran_ms.get(number)?).sum();
        SimulatedStage {
            stage: shape.name.clone(),
            pool: shape.pool.clone(),
            worker_seconds: used.allocated_s(),
            busy_seconds: used.executed_s(),
            starting_seconds: used.starting as f64 / 1e6,
            cost: used.allocated_s() * wanted.pool(&shape.pool).cost,
            workers_peak: count(used.peak),
            starts: count(used.starts),
            actual_busy_seconds: ran_ms / 1e3,
            curve: curve(used, start),
        }
    });
    stages.collect()
}

/// As many points as there may be; each has the most of those that it stands for.
fn curve(used: &PoolUse, start: Micros) -> Vec<SimulatedPoint> {
    let samples = &used.timeline.samples;
    let together = samples.len().div_ceil(limits::SIMULATED_POINTS_MAX).max(1);
    let most = |samples: &[Sample], of: fn(&Sample) -> usize| {
        count(samples.iter().map(of).max().unwrap_or_default())
    };
    let points = samples.chunks(together).map(|samples| SimulatedPoint {
        at_ms: samples[0].at.as_ms_f64() - start.as_ms_f64(),
        workers: most(samples, |sample| sample.workers),
        busy: most(samples, |sample| sample.busy),
        queued: most(samples, |sample| sample.queued),
    });
    points.collect()
}

fn count(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
