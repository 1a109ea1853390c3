//! The generated CUDA task beside the reference trace of the same settings.

use std::io::{BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use super::*;
use crate::trace;

/// Beside the checkout, or in it, or where the environment says.
fn reference() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = [root.join("shared/traces"), root.join("../shared/traces")];
    let named = std::env::var_os("ASSAY_TRACES").map(PathBuf::from);
    named
        .into_iter()
        .chain(folders)
        .map(|folder| folder.join("full_1x50x2048_colocated.jsonl.gz"))
        .find(|path| path.exists())
}

fn read(path: &Path) -> Trace {
    let packed = std::fs::read(path).unwrap();
    let mut lines = Vec::new();
    flate2::read::GzDecoder::new(Cursor::new(packed)).read_to_end(&mut lines).unwrap();
    trace::read(BufReader::new(Cursor::new(lines))).unwrap()
}

/// The reference's settings in our words; each number must be there.
fn cuda_of(spec: &serde_json::Value) -> Cuda {
    let number = |name: &str| spec[name].as_f64().unwrap();
    let numbers = |name: &str| serde_json::from_value::<Vec<f64>>(spec[name].clone()).unwrap();
    Cuda {
        lengths: Lengths {
            median_tokens: number("median_tokens"),
            drift: number("drift"),
            sigma_between: number("sigma_between"),
            sigma_within: number("sigma_within"),
            jitter: number("length_jitter"),
            tokens_max: number("max_tokens") as u32,
        },
        engine: Engine {
            token_s: number("token_s"),
            token_jitter: number("token_jitter"),
            prefill_s: number("prefill_s"),
        },
        generation_failed: numbers("gen_fail").try_into().unwrap(),
        compile_failed: numbers("comp_fail").try_into().unwrap(),
        execute_error: numbers("exec_err").try_into().unwrap(),
        compile_median_s: number("comp_med"),
        compile_sigma: number("comp_sigma"),
        compile_failed_median_s: number("compfail_med"),
        compile_failed_sigma: number("compfail_sigma"),
        compile_long: number("comp_long"),
        compile_timeout: number("comp_timeout"),
        execute_median_s: number("exec_med"),
        execute_group_sigma: number("exec_sigma_group"),
        execute_sigma: number("exec_sigma"),
        execute_long: number("exec_long"),
        execute_timeout: number("exec_timeout"),
        ..Cuda::default()
    }
}

/// Quantiles of one measure, each within a tolerance of the reference's.
fn compare(
    what: &str,
    pair: [&Trace; 2],
    value: impl Fn(&TraceRequest) -> Option<f64>,
    tolerances: &[(f64, f64)],
) {
    let [ours, theirs] = pair.map(|trace| sorted(requests(trace).filter_map(&value)));
    for (share, tolerance) in tolerances {
        let (ours, theirs) = (quantile(&ours, *share), quantile(&theirs, *share));
        let error = ours / theirs - 1.0;
        println!("{what} at {share}: {ours:.3}, reference {theirs:.3}, {:+.2} %", error * 100.0);
        assert!(error.abs() <= *tolerance, "{what} at {share}: {ours}, not {theirs}");
    }
}

#[test]
fn the_reference_trace_and_ours_look_alike() {
    let Some(path) = reference() else {
        eprintln!("SKIPPED: no reference traces; name their folder in ASSAY_TRACES");
        return;
    };
    let theirs = read(&path);
    let cuda = cuda_of(&theirs.meta.spec);
    assert_eq!(cuda, Cuda::default());
    let spec = Spec { seed: 3, rewards: Rewards::Cuda(cuda), ..Spec::default() };
    let ours = generate(&spec).unwrap();
    assert_eq!(ours.meta.stages, theirs.meta.stages);
    assert_eq!(requests(&ours).count(), requests(&theirs).count());
    let both = [&ours, &theirs];

    let body = [(0.01, 0.05), (0.1, 0.03), (0.25, 0.02), (0.5, 0.02), (0.75, 0.02), (0.9, 0.03)];
    let long = [&body[..], &[(0.99, 0.05)]].concat();
    compare("tokens", both, |request| Some(f64::from(request.tokens)), &long);
    compare("rollout", both, |request| Some(request.rollout.as_secs_f64()), &long);
    let of = |stage: usize, outcome: &'static str| {
        move |request: &TraceRequest| {
            let ended = request.outcome == outcome;
            request.service[stage].filter(|_| ended).map(Micros::as_secs_f64)
        }
    };
    let tail = [&body[..], &[(0.99, 0.08), (0.999, 0.12)]].concat();
    compare("compile, success", both, of(0, "success"), &tail);
    compare("compile, failure", both, of(0, "compile_failed"), &long);
    compare("execute, success", both, of(1, "success"), &tail);
    compare("execute, error", both, of(1, "execute_error"), &tail);
    compare_outcomes(both);
    compare_batches(both);
}

fn compare_outcomes(both: [&Trace; 2]) {
    let [ours, theirs] = both.map(|trace| outcome_shares(requests(trace)));
    println!("ours {ours:.4?}\nreference {theirs:.4?}");
    assert!(ours.keys().eq(theirs.keys()));
    for (outcome, share) in &theirs {
        // A few hundred time-outs in a trace: chance alone moves them by 5 %.
        let tolerance = if outcome.ends_with("timeout") { 0.15 * share } else { 0.01 };
        assert!((ours[outcome] - share).abs() <= tolerance, "{outcome}");
    }
    for tenth in 0..10 {
        let [ours, theirs] = both.map(|trace| {
            let iterations = &trace.tasks[0].iterations[tenth * 5..tenth * 5 + 5];
            outcome_shares(iterations.iter().flat_map(|iteration| &iteration.requests))
        });
        for (outcome, share) in &theirs {
            assert!((ours[outcome] - share).abs() <= 0.025, "{tenth}: {ours:?}, not {theirs:?}");
        }
    }
}

/// Compares what a planner depends on: T, the training's time, and how similar the requests of a prompt
/// are.
fn compare_batches(both: [&Trace; 2]) {
    let [ours, theirs] = both.map(|trace| {
        let iterations = &trace.tasks[0].iterations[..];
        let mean = |value: &dyn Fn(&crate::trace::Iteration) -> f64| {
            iterations.iter().map(value).sum::<f64>() / iterations.len() as f64
        };
        [
            mean(&|iteration| iteration.earliest_end().as_secs_f64()),
            mean(&|iteration| iteration.rollout.as_secs_f64()),
            mean(&|iteration| iteration.train.as_secs_f64()),
            mean(&|iteration| group_variance(iteration, |request| request.service[1].is_some())),
            mean(&|iteration| group_variance(iteration, |request| request.tokens > 5_000)),
        ]
    });
    println!(
        "T, rollout, train, variances of a group's counts: {ours:.2?}, reference {theirs:.2?}"
    );
    for ((ours, theirs), tolerance) in
        ours.into_iter().zip(theirs).zip([0.03, 0.02, 0.02, 0.1, 0.1])
    {
        assert!((ours / theirs - 1.0).abs() <= tolerance, "{ours}, not {theirs}");
    }
}

/// The variance, between prompts, of the number of a group's requests for which `holds` is true.
fn group_variance(
    iteration: &crate::trace::Iteration,
    holds: impl Fn(&TraceRequest) -> bool,
) -> f64 {
    let mut counts = BTreeMap::new();
    for request in &iteration.requests {
        *counts.entry(request.group).or_insert(0.0) += f64::from(u8::from(holds(request)));
    }
    let mean = counts.values().sum::<f64>() / counts.len() as f64;
    counts.values().map(|count| (count - mean).powi(2)).sum::<f64>() / counts.len() as f64
}
