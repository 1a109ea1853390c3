//! A data set: what its problems keep when they return, and what traces without one are.

use std::collections::BTreeSet;

use super::*;
use crate::trace::Iteration;

const PROBLEMS: u32 = 30;

/// Programs that take as long as the tests of their problem, and nothing else.
fn judge() -> Judge {
    let programs = Programs {
        interpreted: 1.0,
        extract_failed: [0.0; 2],
        wrong_answer: [0.0; 2],
        time_limit: [0.0; 2],
        run_group_sigma: 0.1,
        run_sigma: 0.0,
        ..Programs::default()
    };
    let lengths = Lengths { tokens_max: 10_000_000, ..Judge::default().lengths };
    Judge { programs, lengths, ..Judge::default() }
}

/// 13 groups in a batch.
fn trace(problems: Option<u32>) -> Trace {
    let mut spec = small(Rewards::Judge(judge()));
    spec.trainer.problems = problems;
    spec.trainer.iterations = 5;
    generate(&spec).unwrap()
}

/// The run times by iteration and group.
fn runs(trace: &Trace) -> Vec<BTreeMap<u32, Vec<Option<Micros>>>> {
    let by_group = |iteration: &Iteration| {
        let mut groups: BTreeMap<u32, Vec<_>> = BTreeMap::new();
        for request in &iteration.requests {
            groups.entry(request.group).or_default().push(request.service[2]);
        }
        groups
    };
    trace.tasks.iter().flat_map(|task| &task.iterations).map(by_group).collect()
}

#[test]
fn a_problem_returns_after_all_others_and_is_what_it_was() {
    let trace = trace(Some(PROBLEMS));
    let mut times: BTreeMap<u32, Micros> = BTreeMap::new();
    let mut seen = 0;
    for (place, groups) in runs(&trace).into_iter().enumerate() {
        let iteration = place as u32 % 5;
        let wanted = (0..13).map(|group| (13 * iteration + group) % PROBLEMS);
        let numbers: Vec<u32> = sorted(wanted.map(f64::from)).iter().map(|n| *n as u32).collect();
        assert_eq!(groups.keys().copied().collect::<Vec<_>>(), numbers, "iteration {iteration}");
        for (problem, runs) in groups {
            for run in runs {
                let run = run.expect("each program runs");
                assert_eq!(*times.entry(problem).or_insert(run), run, "problem {problem}");
                seen += 1;
            }
        }
    }
    assert_eq!((times.len(), seen), (30, 2_000), "of both tasks");
    let different: BTreeSet<Micros> = times.into_values().collect();
    assert_eq!(different.len(), 30, "problems differ");
}

#[test]
fn every_kind_has_sound_batches_of_problems_and_lengths_that_go_with_them() {
    for rewards in every_kind() {
        let mut spec = small(rewards);
        spec.trainer.problems = Some(13);
        spec.trainer.iterations = 2;
        spec.trainer.batch = 208;
        let trace = generate(&spec).unwrap();
        let [first, second] = &trace.tasks[0].iterations[..] else { panic!("two iterations") };
        assert_ne!(first.requests, second.requests, "only what a problem's requests share returns");
        let median = |iteration: &Iteration, problem: u32| {
            let of = iteration.requests.iter().filter(|request| request.group == problem);
            let lengths = sorted(of.map(|request| f64::from(request.tokens)));
            assert_eq!(lengths.len(), 16);
            quantile(&lengths, 0.5).ln()
        };
        let pairs: Vec<[f64; 2]> =
            (0..13).map(|problem| [first, second].map(|it| median(it, problem))).collect();
        let far = |left: &[f64; 2], right: &[f64; 2]| (left[0] - right[1]).abs();
        let same: f64 = pairs.iter().map(|pair| far(pair, pair)).sum::<f64>() / 13.0;
        let all = pairs.iter().flat_map(|left| pairs.iter().map(move |right| far(left, right)));
        let other = all.sum::<f64>() / 169.0;
        assert!(same < other / 2.0, "{}: {same} {other}", trace.meta.generator);
    }
}

#[test]
fn without_a_data_set_each_group_is_a_new_problem() {
    let trace = trace(None);
    assert!(trace.meta.spec["trainer"].get("problems").is_none(), "its first line is as before");
    let runs = runs(&trace);
    assert_ne!(runs[0][&0][0], runs[1][&0][0]);
    assert_ne!(runs[0][&0][0], runs[5][&0][0]);
}

#[test]
fn a_batch_has_no_problem_twice() {
    let mut spec = small(Rewards::default());
    spec.trainer.problems = Some(12);
    let error = generate(&spec).unwrap_err().to_string();
    assert_eq!(error, "trainer.problems is 12, it must lie between 13 and 1000000");
}
