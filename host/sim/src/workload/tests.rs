//! Every kind of workload: repeatable, in order, within its timeouts, and refused where it must be.

mod agent;
mod cuda;
mod judge;
mod mixture;
mod problems;

use std::collections::BTreeMap;

use assay_core::time::Micros;
use serde_json::json;

use super::*;
use crate::trace::TrainerMode;

pub(super) fn small(rewards: Rewards) -> Spec {
    let trainer =
        Trainer { tasks: 2, iterations: 3, batch: 200, group_size: 16, ..Trainer::default() };
    Spec { seed: 7, trainer, rewards, shifts: Vec::new() }
}

pub(super) fn requests(trace: &Trace) -> impl Iterator<Item = &TraceRequest> {
    trace.tasks.iter().flat_map(|task| &task.iterations).flat_map(|iteration| &iteration.requests)
}

pub(super) fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

pub(super) fn quantile(sorted: &[f64], share: f64) -> f64 {
    sorted[((share * sorted.len() as f64) as usize).min(sorted.len() - 1)]
}

pub(super) fn outcome_shares<'a>(
    requests: impl Iterator<Item = &'a TraceRequest>,
) -> BTreeMap<&'a str, f64> {
    let mut shares = BTreeMap::new();
    let mut count = 0.0;
    for request in requests {
        *shares.entry(request.outcome.as_str()).or_insert(0.0) += 1.0;
        count += 1.0;
    }
    shares.values_mut().for_each(|share| *share /= count);
    shares
}

fn every_kind() -> [Rewards; 4] {
    [
        Rewards::Cuda(Cuda::default()),
        Rewards::Judge(Judge::default()),
        Rewards::Mixture(Mixture::default()),
        Rewards::Agent(Agent::default()),
    ]
}

#[test]
fn every_trace_is_sound() {
    for rewards in every_kind() {
        let trace = generate(&small(rewards)).unwrap();
        assert_eq!(trace.tasks.len(), 2);
        for (id, task) in (0..).zip(&trace.tasks) {
            assert_eq!((task.id, task.start), (id, Micros::from_secs(60 * u64::from(id))));
            assert_eq!(task.iterations[0].rollout_start, task.start);
            for (number, iteration) in (0..).zip(&task.iterations) {
                assert_eq!((iteration.number, iteration.requests.len()), (number, 200));
                check_batch(&trace.meta.stages, &iteration.requests);
                assert_eq!(iteration.rollout, iteration.requests[199].rollout);
            }
        }
    }
}

fn check_batch(stages: &[TraceStage], requests: &[TraceRequest]) {
    let mut sizes = BTreeMap::new();
    for (number, request) in (0..).zip(requests) {
        assert_eq!(request.request, number);
        assert!(number == 0 || requests[number as usize - 1].rollout <= request.rollout);
        assert!(request.tokens >= 1);
        assert_eq!(request.service.len(), stages.len());
        for (stage, time) in stages.iter().zip(&request.service) {
            assert!(time.is_none_or(|time| time <= stage.timeout), "{request:?}");
        }
        let reached = request.service.iter().take_while(|time| time.is_some()).count();
        assert!(request.service[reached..].iter().all(Option::is_none), "no gap: {request:?}");
        *sizes.entry(request.group).or_insert(0) += 1;
    }
    let sizes: Vec<u32> = sizes.into_values().collect();
    assert_eq!(sizes, [[16; 12].as_slice(), &[8]].concat());
}

#[test]
fn a_seed_gives_one_trace_and_another_seed_another() {
    for rewards in every_kind() {
        let spec = small(rewards);
        let trace = generate(&spec).unwrap();
        assert_eq!(generate(&spec).unwrap(), trace);
        assert_ne!(generate(&Spec { seed: 8, ..spec }).unwrap().tasks, trace.tasks);
    }
}

#[test]
fn more_tasks_and_iterations_leave_the_first_as_they_were() {
    let spec = small(Rewards::default());
    let few = generate(&spec).unwrap();
    let trainer = Trainer { tasks: 3, iterations: 4, ..spec.trainer };
    let many = generate(&Spec { trainer, ..spec }).unwrap();
    for (few, many) in few.tasks.iter().zip(&many.tasks) {
        assert_eq!(few.iterations, many.iterations[..3]);
        assert_ne!(many.iterations[2].requests, many.iterations[3].requests);
    }
    assert_ne!(many.tasks[0].iterations[0].requests, many.tasks[1].iterations[0].requests);
}

#[test]
fn trainers_take_turns_or_go_on() {
    let mut spec = small(Rewards::default());
    spec.trainer.iterations = 6;
    let colocated = generate(&spec).unwrap();
    for pair in colocated.tasks[1].iterations.windows(2) {
        let complete = pair[0].rollout_start + pair[0].earliest_end();
        assert_eq!(pair[1].rollout_start, complete + pair[0].train + pair[0].sync);
    }
    spec.trainer.mode = TrainerMode::Disaggregated { stale: 1 };
    let disaggregated = generate(&spec).unwrap();
    let iterations = &disaggregated.tasks[1].iterations;
    assert_eq!(iterations[0].requests, colocated.tasks[1].iterations[0].requests);
    let mut trained = vec![Micros::ZERO];
    for (number, iteration) in iterations.iter().enumerate().take(5) {
        let complete = iteration.rollout_start + iteration.earliest_end();
        trained.push(trained[number].max(complete) + iteration.train);
        let rolled_out = iteration.rollout_start + iteration.rollout + iteration.sync;
        assert_eq!(iterations[number + 1].rollout_start, rolled_out.max(trained[number]));
    }
    assert!(iterations[5].rollout_start < colocated.tasks[1].iterations[5].rollout_start);
    // Trainings that take longer than rollouts hold them up: two steps later.
    spec.trainer.train_s = 3_000.0;
    for stale in [1, 2, 3] {
        spec.trainer.mode = TrainerMode::Disaggregated { stale };
        let trace = generate(&spec).unwrap();
        let iterations = &trace.tasks[0].iterations;
        let waited = iterations.windows(2).map(|pair| {
            pair[1].rollout_start > pair[0].rollout_start + pair[0].rollout + pair[0].sync
        });
        let wanted: Vec<bool> = (0..5).map(|number| number >= stale).collect();
        assert_eq!(waited.collect::<Vec<_>>(), wanted);
    }
}

#[test]
fn a_mode_is_one_word_in_a_trace() {
    for (mode, text) in [
        (TrainerMode::Colocated, "\"colocated\""),
        (TrainerMode::Disaggregated { stale: 1 }, "\"disaggregated\""),
        (TrainerMode::Disaggregated { stale: 3 }, "\"disaggregated:3\""),
    ] {
        assert_eq!(serde_json::to_string(&mode).unwrap(), text);
        assert_eq!(serde_json::from_str::<TrainerMode>(text).unwrap(), mode);
    }
    for text in ["disaggregated:0", "disaggregated:65", "disaggregated:", "stale"] {
        TrainerMode::try_from(text.to_owned()).unwrap_err();
    }
}

#[test]
fn a_slice_of_a_training_begins_where_it_says() {
    let mut spec = small(Rewards::default());
    spec.trainer.first_iteration = 49;
    spec.trainer.batch = 2_000;
    let late = generate(&spec).unwrap();
    assert_eq!(late.tasks[0].iterations[0].number, 49);
    spec.trainer.first_iteration = 0;
    let early = generate(&spec).unwrap();
    let success = |trace: &Trace| outcome_shares(requests(trace))["success"];
    assert!(success(&late) > success(&early) + 0.3);
}

#[test]
fn a_shift_changes_what_it_names_from_its_iteration_on() {
    let plain = small(Rewards::default());
    let shift =
        Shift { at_iteration: 1, length: 2.0, execute: 3.0, compile: 0.5, timeouts: Some(0.5) };
    let later = Shift { at_iteration: 2, ..Shift::default() };
    let spec = Spec { shifts: vec![later, shift], ..plain.clone() };
    let (plain, shifted) = (generate(&plain).unwrap(), generate(&spec).unwrap());
    let of =
        |trace: &Trace, iteration: usize| trace.tasks[0].iterations[iteration].requests.clone();
    assert_eq!(of(&plain, 0), of(&shifted, 0));
    assert_eq!(of(&plain, 2), of(&shifted, 2));
    let (before, after) = (of(&plain, 1), of(&shifted, 1));
    let median = |requests: &[TraceRequest], value: &dyn Fn(&TraceRequest) -> Option<f64>| {
        quantile(&sorted(requests.iter().filter_map(value)), 0.5)
    };
    let ratio = |value: &dyn Fn(&TraceRequest) -> Option<f64>| {
        median(&after, value) / median(&before, value)
    };
    let lengths = ratio(&|request| Some(f64::from(request.tokens)));
    assert!((1.8..2.2).contains(&lengths), "{lengths}");
    let ran =
        |request: &TraceRequest, stage: usize| request.service[stage].map(Micros::as_secs_f64);
    let compiles = ratio(&|request| ran(request, 0));
    assert!((0.45..0.55).contains(&compiles), "{compiles}");
    let ended = |request: &&TraceRequest| request.outcome != "execute_timeout";
    let executes =
        ratio(&|request| Some(request).filter(ended).and_then(|request| ran(request, 1)));
    assert!((2.3..3.7).contains(&executes), "{executes}");
    let executed = after.iter().filter(|request| request.service[1].is_some());
    let timeouts = outcome_shares(executed)["execute_timeout"];
    assert!((0.35..0.65).contains(&timeouts), "{timeouts}");
}

#[test]
fn a_trace_is_read_as_it_was_written() {
    for rewards in every_kind() {
        let trace = generate(&small(rewards)).unwrap();
        let mut text = Vec::new();
        crate::trace::write(&trace, &mut text).unwrap();
        assert_eq!(crate::trace::read(text.as_slice()).unwrap(), trace);
    }
}

#[test]
fn a_specification_passes_through_json_and_names_what_it_does_not_know() {
    for rewards in every_kind() {
        let spec = small(rewards);
        let trace = generate(&spec).unwrap();
        assert_eq!(serde_json::from_value::<Spec>(trace.meta.spec).unwrap(), spec);
    }
    let sparse = json!({"seed": 3, "rewards": {"kind": "mixture", "shares": {"video": 1.0}}});
    assert_eq!(generate(&serde_json::from_value(sparse).unwrap()).unwrap().meta.seed, 3);
    for (wrong, named) in [
        (json!({"sed": 3}), "sed"),
        (json!({"trainer": {"batch_size": 3}}), "batch_size"),
        (json!({"rewards": {"kind": "cuda", "compile": 3}}), "compile"),
        (json!({"rewards": {"kind": "judge", "programs": {"langs": 3}}}), "langs"),
        (json!({"rewards": {"kind": "mixture", "weights": {"chess": 1.0}}}), "chess"),
        (json!({"rewards": {"kind": "agent", "turns": 3}}), "turns"),
        (json!({"rewards": {"kind": "chess"}}), "chess"),
        (json!({"shifts": [{"at": 3}]}), "at"),
    ] {
        let error = serde_json::from_value::<Spec>(wrong).unwrap_err().to_string();
        assert!(error.contains(named), "{error}");
    }
}

#[test]
fn what_is_out_of_range_is_refused_by_name() {
    for (spec, message) in [
        (json!({"trainer": {"batch": 0}}), "trainer.batch is 0, it must lie between 1 and 1000000"),
        (
            json!({"trainer": {"group_size": 4096}}),
            "trainer.group_size is 4096, it must lie between 1 and 2048",
        ),
        (
            json!({"trainer": {"train_s": -1.0}}),
            "trainer.train_s is -1, it must lie between 0 and 1000000",
        ),
        (
            json!({"trainer": {"tasks": 1000}}),
            "1000 tasks of 50 iterations of 2048 requests are 102400000 requests, the limit is 10000000",
        ),
        (
            json!({"rewards": {"kind": "cuda", "engine": {"token_s": 0}}}),
            "rewards.engine.token_s is 0, it must lie between 0.000001 and 10",
        ),
        (
            json!({"rewards": {"kind": "cuda", "compile_failed": [0.1, 1.5]}}),
            "rewards.compile_failed is 1.5, it must lie between 0 and 1",
        ),
        (
            json!({"rewards": {"kind": "cuda", "compile_failed": [0.9, 0.1]}}),
            "rewards.generation_failed, compile_failed and execute_error at the start come to 1.37 together, they must not exceed 1",
        ),
        (
            json!({"rewards": {"kind": "judge", "programs": {"tests": 0}}}),
            "rewards.programs.tests is 0, it must lie between 1 and 1000000",
        ),
        (
            json!({"rewards": {"kind": "mixture", "weights": {}}}),
            "rewards.weights is empty; name at least one kind of task",
        ),
        (
            json!({"rewards": {"kind": "mixture", "weights": {"video": -1}}}),
            "rewards.weights.video is -1, it must lie between 0.000001 and 1000000",
        ),
        (
            json!({"rewards": {"kind": "agent", "turns_max": 9}}),
            "rewards.turns_max is 9, it must lie between 1 and 8",
        ),
        (
            json!({"rewards": {"kind": "agent", "local": 1.5}}),
            "rewards.local is 1.5, it must lie between 0 and 1",
        ),
        (
            json!({"shifts": [{"execute": 0}]}),
            "shifts.execute is 0, it must lie between 0.01 and 100",
        ),
    ] {
        let spec: Spec = serde_json::from_value(spec).unwrap();
        assert_eq!(generate(&spec).unwrap_err().to_string(), message);
    }
    let mut spec = Spec::default();
    spec.trainer.sync_s = f64::NAN;
    assert!(matches!(generate(&spec), Err(SpecError::OutOfRange { .. })));
}

#[test]
fn batches_may_differ_in_size() {
    for rewards in every_kind() {
        let mut spec = small(rewards);
        spec.trainer.iterations = 20;
        spec.trainer.batch_least = 0.3;
        let trace = generate(&spec).unwrap();
        assert_eq!(trace, generate(&spec).unwrap());
        let iterations = trace.tasks.iter().flat_map(|task| &task.iterations);
        let sizes: Vec<usize> = iterations.map(|iteration| iteration.requests.len()).collect();
        // A batch has whole groups. The last group of the largest batch is smaller.
        assert!(sizes.iter().all(|size| *size == 200 || size.is_multiple_of(16)), "{sizes:?}");
        assert!(sizes.iter().all(|size| (48..=200).contains(size)), "{sizes:?}");
        assert!(sizes.iter().any(|size| *size < 100), "{sizes:?}");
        assert!(sizes.iter().any(|size| *size > 150), "{sizes:?}");
    }
    let mut spec = small(Rewards::default());
    spec.trainer.batch_least = 1.5;
    assert!(generate(&spec).unwrap_err().to_string().contains("batch_least"));
}
