//! Perfect knowledge: the workload that a planner would guess from history, as it will be.

use std::sync::Arc;

use assay_core::time::Micros;
use assay_planner::{Flow, Problem, ProblemBatch, ProblemPool, ProblemRequest, Tuning};

use super::Pool;
use super::work::{Batch, RequestState, Work, batch_id, first_stage};
use crate::policy::Settings;

/// All that is left of the batches that are announced, which all have one flow through these pools.
pub(super) fn problem(
    now: Micros,
    flow: Flow,
    settings: &Settings,
    tuning: &Tuning,
    pools: &[Pool],
    runs: &[Arc<str>],
    work: &Work,
) -> Problem {
    let stages_max = flow.stages.len();
    let mut problem = Problem {
        now,
        pools: pools
            .iter()
            .map(|pool| ProblemPool {
                name: Arc::clone(&pool.name),
                cost: pool.config.cost,
                max: pool.config.max,
            })
            .collect(),
        flows: vec![flow],
        batches: Vec::new(),
        requests: Vec::new(),
        service: Vec::new(),
        stages_max,
    };
    let wait_max = tuning.wait_max(settings.consumes);
    for (number, batch) in work.live().filter(|(_, batch)| batch.announced.is_some()) {
        let earliest_end = batch.earliest_end();
        problem.batches.push(ProblemBatch {
            id: batch_id(number),
            run: Arc::clone(&runs[batch.task]),
            flow: 0,
            rank: earliest_end,
            earliest_end,
            tolerance: settings.tolerance,
            wait_max,
        });
        add_requests(&mut problem, batch);
    }
    problem
}

/// Those of the batch added last, in the order in which they are or become ready.
fn add_requests(problem: &mut Problem, batch: &Batch) {
    let now = problem.now;
    let mut left: Vec<(Micros, usize, ProblemRequest, Micros)> = Vec::new();
    for (index, state) in batch.states.iter().enumerate() {
        let truth = &batch.truth.requests[index];
        let service = |stage: usize| truth.service[stage].unwrap_or_default();
        let (order, stage, running, ready, first) = match *state {
            RequestState::Future => {
                let Some(stage) = first_stage(truth) else { continue };
                let arrival = batch.arrival(index).max(now);
                (arrival, stage, false, arrival, service(stage))
            }
            RequestState::Waiting { stage, since } => (since, stage, false, now, service(stage)),
            RequestState::Running { stage, until, .. } => {
                (Micros::ZERO, stage, true, now, until.since(now))
            }
            RequestState::Ended { .. } => continue,
        };
        let request = ProblemRequest { batch: problem.batches.len() - 1, stage, running, ready };
        left.push((order, index, request, first));
    }
    left.sort_unstable_by_key(|(order, index, ..)| (*order, *index));
    for (_, index, request, first) in left {
        let service = batch.truth.requests[index].service.iter().enumerate();
        problem.service.extend(service.map(|(stage, time)| {
            if stage < request.stage {
                Micros::ZERO
            } else if stage == request.stage {
                first.max(Micros(1))
            } else {
                time.map_or(Micros::ZERO, |time| time.max(Micros(1)))
            }
        }));
        problem.requests.push(request);
    }
}
