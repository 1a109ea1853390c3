//! Measurements where there is no clock: the same trials, the same spot checks, and no timing.

use assay_gpu::session::{MeasureOptions, Measurement, SessionError};
use assay_gpu::types::{KernelArg, PlanStep};

use super::bench::*;

const OPTIONS: MeasureOptions = MeasureOptions {
    warm_ups: 2,
    trials: 10,
    relative_error: 0.01,
    budget_ms: 60_000,
    flush_l2: true,
    spot_checks: 4,
};

fn measured(task: &mut Task, plan: &[PlanStep], seed: u64) -> Result<Measurement, SessionError> {
    task.session.measure(plan, &task.reference(), &[pair(EXACT)], seed, &OPTIONS)
}

fn ok(measurement: &Measurement) -> Vec<bool> {
    measurement.spot.iter().map(|report| report.outputs[0].ok).collect()
}

#[test]
fn a_simulated_device_calls_nothing_a_timing() {
    let mut task = Task::new(&gpu());
    let plan = task.step("twice");
    let measurement = measured(&mut task, &plan, 3).unwrap();
    assert_eq!((&measurement.candidate, &measurement.reference), (&None, &None));
    assert_eq!(measurement.suspicious, [""; 0]);
    assert_eq!(ok(&measurement), [true; 4]);
    let seeds: std::collections::BTreeSet<u64> =
        measurement.spot.iter().map(|report| report.seed).collect();
    assert_eq!(seeds.len(), 4);
    assert_eq!(measured(&mut task, &plan, 3), Ok(measurement.clone()));
    assert_ne!(measured(&mut task, &plan, 4), Ok(measurement));
}

#[test]
fn a_candidate_that_is_timed_alone_is_checked_as_well() {
    let timed = |kernel: &str| {
        let mut task = Task::new(&gpu());
        let (plan, reference) = (task.step(kernel), task.reference());
        task.session.time(&plan, &reference, &[pair(EXACT)], 3, &OPTIONS).unwrap()
    };
    let honest = timed("twice");
    assert_eq!((&honest.candidate, &honest.reference), (&None, &None));
    assert_eq!(ok(&honest), [true; 4]);
    assert_eq!(ok(&timed("cached")), [false; 4]);
}

#[test]
fn what_was_computed_once_fails_the_spot_checks() {
    let mut task = Task::new(&gpu());
    let plan = task.step("cached");
    assert_eq!(ok(&measured(&mut task, &plan, 3).unwrap()), [false; 4]);
}

#[test]
fn who_was_honest_in_the_check_must_be_in_the_trials() {
    let mut task = Task::new(&gpu());
    // The check's launch and the warm-ups.
    let args = vec![at(0), at(1), KernelArg::I32(COUNT as i32), KernelArg::I32(3)];
    let plan = [PlanStep::Launch(launch(task.candidate, "lazy_after", args))];
    assert!(task.check(&plan, &[1]).unwrap()[0].outputs[0].ok);
    let measurement = measured(&mut task, &plan, 3).unwrap();
    assert_eq!(ok(&measurement), [false; 4]);
}

#[test]
fn faults_in_trials_are_faults() {
    let mut task = Task::new(&gpu());
    let plan = task.step("traps");
    assert!(matches!(measured(&mut task, &plan, 3), Err(SessionError::Trapped(_))));
    let mut task = Task::new(&gpu());
    let plan = task.step("endless");
    assert_eq!(measured(&mut task, &plan, 3), Err(SessionError::TimedOut(100)));
}
