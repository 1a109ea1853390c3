//! Reward traces that people upload to simulations.
//!
//! A trace that is read is the same after it was written and read again. A small one can be simulated under every
//! policy, or is refused with a reason: each measured request is answered, and the same again when it is simulated again.

#![no_main]

use std::time::Duration;

use assay_core::time::Micros;
use assay_sim::policy::{ByPool, Settings, SimulatedPolicy};
use assay_sim::trace::{Trace, read, write};
use assay_sim::{Run, SimulateError, Watch, simulate};
use libfuzzer_sys::fuzz_target;

const POLICIES: [&str; 7] = ["assay", "distrs", "history", "zq", "ideal", "limit", "fixed"];
/// Larger traces take too long.
const REQUESTS_MAX: usize = 64;
const TIME_MAX: Micros = Micros::from_secs(24 * 3600);

fuzz_target!(|text: &[u8]| {
    let Ok(trace) = read(text) else { return };
    let mut written = Vec::new();
    write(&trace, &mut written).expect("memory takes bytes");
    let again = read(&written[..]).expect("what was written can be read");
    assert_eq!(again, trace);
    if !is_small(&trace) {
        return;
    }
    let policy = POLICIES[text.len() % POLICIES.len()].parse().expect("a policy");
    let run = simulated(&trace, &policy);
    assert_eq!(simulated(&trace, &policy), run);
    match run {
        Ok(run) => {
            let measured = trace.tasks.iter().flat_map(|task| task.iterations.iter().skip(1));
            assert_eq!(run.batches.len(), measured.count());
        }
        Err(SimulateError::Stuck { at, left }) => panic!("stuck at {at:?}, {left} left"),
        Err(refused) => assert!(!refused.to_string().is_empty()),
    }
});

fn is_small(trace: &Trace) -> bool {
    let iterations = || trace.tasks.iter().flat_map(|task| &task.iterations);
    let requests = || iterations().flat_map(|iteration| &iteration.requests);
    let of_stages = trace.meta.stages.iter().map(|stage| stage.timeout);
    let of_tasks = trace.tasks.iter().map(|task| task.start);
    let of_iterations = iterations()
        .flat_map(|one| [one.rollout_start, one.rollout, one.train, one.sync, one.earliest_end()]);
    let of_requests = requests().flat_map(|one| one.service.iter().copied().flatten());
    let mut times = of_stages.chain(of_tasks).chain(of_iterations).chain(of_requests);
    requests().count() <= REQUESTS_MAX && times.all(|time| time <= TIME_MAX)
}

fn simulated(trace: &Trace, policy: &SimulatedPolicy) -> Result<Run, SimulateError> {
    let startup = ByPool::all(Micros::from_secs(20));
    let settings = Settings { startup, quota: ByPool::all(3), ..Settings::default() };
    let (mut elapsed, mut completed) = (|| Duration::ZERO, |_, _| {});
    let watch = Watch { elapsed: &mut elapsed, completed: &mut completed, patience: None };
    simulate(trace, policy, &settings, watch)
}
