//! Made-up traces, and runs of them.

use std::time::Duration;

use assay_core::time::Micros;
use assay_sim::policy::{Settings, SimulatedPolicy};
use assay_sim::trace::{Iteration, Meta, Task, Trace, TraceRequest, TraceStage, TrainerMode};
use assay_sim::{Run, SimulateError, Watch, simulate};

/// Timeouts of 60 s; the last stage costs ten times what the others do.
pub(crate) fn meta(stages: &[&str], mode: TrainerMode) -> Meta {
    let stage = |(place, name): (usize, &&str)| TraceStage {
        name: (*name).to_owned(),
        pool: None,
        timeout: Micros::from_secs(60),
        cost: if place + 1 == stages.len() { 10.0 } else { 1.0 },
    };
    Meta {
        stages: stages.iter().enumerate().map(stage).collect(),
        mode,
        generator: "made up".into(),
        seed: 7,
        spec: serde_json::json!({"size": 1}),
    }
}

/// Requests come over 100 s; each stage takes 1 to 21 s; one in five ends after its first stage,
/// one in fifty runs into a timeout, one in eleven has nothing to run.
pub(crate) fn trace(stages: &[&str], mode: TrainerMode, tasks: u32, iterations: u32) -> Trace {
    let task = |id: u32| Task {
        id,
        tenant: None,
        start: Micros::from_secs(20 * u64::from(id)),
        iterations: (0..iterations).map(|number| iteration(stages.len(), id, number)).collect(),
    };
    Trace { meta: meta(stages, mode), tasks: (0..tasks).map(task).collect() }
}

fn iteration(stages: usize, task: u32, number: u32) -> Iteration {
    let start = u64::from(20 * task + 200 * number);
    let draw = |request: u32, what: u32| {
        let mixed = (request + 64 * number + 1_000 * task) * 31 + what * 17 + 11;
        u64::from(mixed.wrapping_mul(2_654_435_761) >> 8)
    };
    let mut requests: Vec<TraceRequest> = (0..48)
        .map(|request| {
            let (mut service, outcome) = match draw(request, 0) % 50 {
                0 => (vec![Some(Micros::from_secs(60))], "first_timeout"),
                1..=4 => (vec![], "generation_failed"),
                draw => {
                    let reached = if draw % 5 == 0 { 1 } else { stages };
                    let times = (0..reached as u32).map(|stage| {
                        Some(Micros(1_000_000 + draw_span(draw + u64::from(stage) + 5)))
                    });
                    (times.collect(), "success")
                }
            };
            service.resize(stages, None);
            TraceRequest {
                request,
                group: request / 8,
                tokens: 100 + request,
                rollout: Micros(draw(request, 1) % 100_000_000),
                service,
                outcome: outcome.into(),
            }
        })
        .collect();
    requests.sort_by_key(|request| request.rollout);
    Iteration {
        number,
        rollout_start: Micros::from_secs(start),
        rollout: Micros::from_secs(100),
        train: Micros::from_secs(50),
        sync: Micros::from_secs(5),
        requests,
    }
}

fn draw_span(seed: u64) -> u64 {
    seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) % 20_000_000
}

pub(crate) fn try_run(
    trace: &Trace,
    policy: &str,
    settings: &Settings,
) -> Result<Run, SimulateError> {
    let policy: SimulatedPolicy = policy.parse().expect("a policy");
    let mut ticks = 0;
    let mut elapsed = || {
        ticks += 1;
        Duration::from_millis(ticks)
    };
    let watch = Watch { elapsed: &mut elapsed, completed: &mut |_, _| {}, patience: None };
    simulate(trace, &policy, settings, watch)
}

/// Runs it and checks what holds for every run.
pub(crate) fn run(trace: &Trace, policy: &str, settings: &Settings) -> Run {
    let run = try_run(trace, policy, settings).expect(policy);
    let measured = trace.tasks.iter().flat_map(|task| &task.iterations[1..]);
    assert_eq!(run.batches.len(), measured.clone().count(), "{policy}: batches");
    let mut seen: Vec<(u32, u32)> =
        run.batches.iter().map(|batch| (batch.task, batch.iteration)).collect();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), run.batches.len(), "{policy}: each batch once");
    let requests: usize = run.batches.iter().map(|batch| batch.requests).sum();
    assert_eq!(requests, measured.map(|iteration| iteration.requests.len()).sum::<usize>());
    for batch in &run.batches {
        assert!(batch.completed >= batch.earliest_end || batch.failed > 0, "{policy}: {batch:?}");
        let worst = batch.group_delays.iter().max().expect("groups");
        assert!(*worst >= batch.extra_delay(), "{policy}: {batch:?}");
    }
    for used in &run.pools {
        assert!(used.allocated >= used.executed, "{policy}: {used:?}");
        assert!(used.peak <= used.starts, "{policy}: {used:?}");
    }
    assert_eq!(run.ended, run.batches.last().expect("batches").completed);
    run
}
