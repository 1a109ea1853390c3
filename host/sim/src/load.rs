//! A moment with any number of live requests, to time the planner by (figure 15).
//!
//! Batches of the paper's CUDA task, each as far as it would be if nothing ever queued, all in the
//! first third of their lives: nearly everything is still to be simulated. It measures nothing: the
//! caller has a clock.

use std::sync::Arc;

use assay_core::id::TenantId;
use assay_core::time::Micros;
use assay_planner::{PlanConfig, PlanReport, Planner, Policy, PoolConfig};
use assay_sched::{BatchView, Consumes, PoolView, RunningView, SchedView, StageShape, StageView};
use uuid::Uuid;

use crate::engine::{PLUGIN, batch_id, profile};
use crate::trace::{Iteration, Trace, TraceStage};
use crate::workload::{Spec, Trainer, generate};

/// Requests of each batch.
pub const BATCH: usize = 1_000;

/// The number of different batches; further ones repeat them.
const DISTINCT_MAX: usize = 16;

/// The oldest batch is this far from its first request to its completion.
const LIFE_SHARE: f64 = 1.0 / 3.0;

const TENANT: TenantId = TenantId(Uuid::nil());
const NOW: Micros = Micros::from_secs(1_000_000);

/// A planner with history, and what it sees.
#[derive(Debug)]
pub struct Load {
    planner: Planner,
    view: SchedView,
}

impl Load {
    /// A planner that sees this number of live batches, each with [`BATCH`] requests and a run of its own.
    #[must_use]
    pub fn new(policy: Policy, batches: usize) -> Self {
        let trace = drawn(batches.clamp(1, DISTINCT_MAX));
        let pools = trace.meta.stages.iter().map(|stage| (pool_name(stage), pool(stage)));
        let mut planner = Planner::new(PlanConfig::new(policy, pools.collect()));
        let shapes: Arc<[StageShape]> = trace.meta.stages.iter().map(shape).collect();
        let mut view = SchedView::default();
        for number in 0..batches {
            let task = &trace.tasks[number % trace.tasks.len()];
            let run: Arc<str> = format!("run-{number}").into();
            let (before, live) = (&task.iterations[0], &task.iterations[1]);
            let (past, id) = (batch_id(batches + number), batch_id(number));
            let history = profile(past, TENANT, Arc::clone(&run), Arc::clone(&shapes), before);
            planner.learn(Arc::new(history));
            let life = live.earliest_end().0 as f64 * LIFE_SHARE;
            let age = life * (number as f64 + 0.5) / batches as f64;
            let batch = BatchView { id, ..seen_at(live, Micros(age as u64), run, &shapes) };
            for (stage, at_stage) in trace.meta.stages.iter().zip(&batch.at_stage) {
                let pool: &mut PoolView = view.pools.entry(pool_name(stage)).or_default();
                pool.workers += at_stage.running.len();
            }
            view.batches.push(batch);
        }
        Self { planner, view }
    }

    /// One whole decision: algorithm 2, then the search.
    pub fn plan(&mut self) -> PlanReport {
        self.planner.plan(NOW, &self.view).report
    }
}

fn drawn(tasks: usize) -> Trace {
    let batch = BATCH as u32;
    let trainer = Trainer { tasks: tasks as u32, iterations: 2, batch, ..Trainer::default() };
    let spec = Spec { seed: 15, trainer, ..Spec::default() };
    generate(&spec).expect("the defaults are within their ranges")
}

fn pool_name(stage: &TraceStage) -> Arc<str> {
    stage.pool().into()
}

fn shape(stage: &TraceStage) -> StageShape {
    StageShape { pool: pool_name(stage), timeout: stage.timeout, retries_max: 0 }
}

fn pool(stage: &TraceStage) -> PoolConfig {
    PoolConfig {
        min: 0,
        max: usize::MAX,
        cost: stage.cost,
        startup: Micros::ZERO,
        linger: Micros::ZERO,
    }
}

/// A batch at this time after the start of its rollout; none of its requests has ever queued.
fn seen_at(
    iteration: &Iteration,
    age: Micros,
    run: Arc<str>,
    shapes: &Arc<[StageShape]>,
) -> BatchView {
    let announced = NOW - age;
    let mut view = BatchView {
        id: batch_id(0),
        tenant: TENANT,
        run,
        plugin: PLUGIN,
        stages: Arc::clone(shapes),
        tolerance: None,
        consumes: Consumes::Batch,
        announced,
        first_arrival: None,
        submitted: 0,
        expected_size: Some(iteration.requests.len() as u32),
        sealed: false,
        earliest_end: None,
        rank: None,
        at_stage: vec![StageView::default(); shapes.len()],
        waiters: 0,
    };
    for request in iteration.requests.iter().filter(|request| request.rollout <= age) {
        view.submitted += 1;
        let arrived = announced + request.rollout;
        view.first_arrival = Some(view.first_arrival.map_or(arrived, |first| first.min(arrived)));
        let mut ready = request.rollout;
        let mut is_running = false;
        for (stage, service) in request.service.iter().enumerate() {
            let Some(service) = *service else { continue };
            let at_stage = &mut view.at_stage[stage];
            if ready + service > age {
                let running = RunningView { elapsed: age - ready, queued: Micros::ZERO };
                at_stage.running.push(running);
                at_stage.reached = at_stage.reached.max(announced + ready);
                is_running = true;
                break;
            }
            at_stage.ended += 1;
            at_stage.ended_time = at_stage.ended_time + service;
            ready = ready + service;
        }
        if !is_running {
            let ended = announced + ready;
            view.earliest_end = Some(view.earliest_end.map_or(ended, |latest| latest.max(ended)));
        }
    }
    view
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_planned_for_as_live_work_is() {
        let mut load = Load::new(Policy::DISTRS, 3);
        let submitted: Vec<u32> = load.view.batches.iter().map(|batch| batch.submitted).collect();
        assert!(submitted.is_sorted() && submitted[0] < submitted[2], "{submitted:?}");
        let report = load.plan();
        // Batches that ended are not simulated, all others are.
        assert!((2 * BATCH..=3 * BATCH).contains(&report.requests), "{}", report.requests);
        assert!(report.pools.iter().all(|pool| pool.ceiling > 0), "{report:?}");
    }
}
