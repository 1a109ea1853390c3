use assay_api::history::{BatchHistory, ProfileStage, RequestProfile};
use assay_core::id::{BatchId, Digest};

use super::*;

const BASE: u64 = 1_000_000;

/// Announced so many seconds behind the base; its requests come at once and run for a second each.
fn profile(announced: u64, requests: u32) -> BatchProfile {
    let announced_at = Micros::from_secs(BASE + announced);
    let batch = BatchHistory {
        id: BatchId::generate(),
        run: "r".into(),
        iteration: announced,
        plugin: "math@1.0.0".into(),
        plugin_digest: Digest([1; 32]),
        requests,
        announced_at,
        first_request_at: announced_at + Micros::from_secs(1),
        earliest_end_at: announced_at + Micros::from_secs(2),
        done_at: announced_at + Micros::from_secs(9),
        extra_delay_ms: 7_000.0,
        worker_seconds: BTreeMap::new(),
    };
    let stage = ProfileStage {
        name: "judge".into(),
        pool: "cpu".into(),
        timeout_ms: 5_000,
        retries_max: 0,
    };
    let request = |seq| RequestProfile {
        seq: Some(seq),
        group: None,
        arrived_ms: 0.0,
        ran_ms: vec![Some(1_000.0)],
        outcome: "scored".into(),
        verdict: None,
    };
    BatchProfile { batch, stages: vec![stage], requests: (0..requests).map(request).collect() }
}

fn wanted(profiles: Vec<BatchProfile>, policy: &str, max: u32) -> SimulationInput {
    let pool = PoolInput { max, startup: Micros::ZERO, cost: 3.0 };
    SimulationInput {
        profiles,
        policy: policy.into(),
        tolerance: Micros::from_secs(2),
        consumes: Consumes::Batch,
        pools: BTreeMap::from([("cpu".into(), pool)]),
        patience: Duration::from_secs(60),
    }
}

#[test]
fn more_workers_end_a_batch_earlier() {
    let run = |max| {
        let simulated = simulate(wanted(vec![profile(0, 8), profile(60, 8)], "fixed", max));
        simulated.expect("it runs")
    };
    let (few, many) = (run(2), run(8));
    assert_eq!((few.batches.len(), few.batches_replayed, few.requests_replayed), (1, 2, 16));
    let batch = &few.batches[0];
    assert_eq!((batch.iteration, batch.requests), (60, 8));
    assert_eq!((batch.earliest_end_ms, batch.end_ms), (2_000.0, 5_000.0));
    assert_eq!((batch.extra_delay_ms, batch.late), (3_000.0, true));
    assert_eq!((batch.actual_end_ms, batch.actual_extra_delay_ms), (9_000.0, 7_000.0));
    assert_eq!((many.batches[0].extra_delay_ms, many.batches[0].late), (0.0, false));
    let stage = &few.stages[0];
    assert_eq!((&*stage.stage, &*stage.pool, stage.workers_peak), ("judge", "cpu", 2));
    assert_eq!((stage.busy_seconds, stage.actual_busy_seconds), (8.0, 8.0));
    assert_eq!(stage.cost, stage.worker_seconds * 3.0);
    assert!(stage.curve.iter().any(|point| point.busy == 2 && point.queued > 0));
    assert!(stage.curve.is_sorted_by(|a, b| a.at_ms < b.at_ms));
}

#[test]
fn a_first_batch_is_its_own_history() {
    let simulated = simulate(wanted(vec![profile(0, 8)], "assay", 8)).expect("it runs");
    assert!(simulated.own_history);
    assert_eq!((simulated.batches.len(), simulated.batches[0].late), (1, false));
}

#[test]
fn what_cannot_be_simulated_is_refused() {
    let refused = |policy, max| {
        let refused = simulate(wanted(vec![profile(0, 2), profile(60, 2)], policy, max));
        refused.expect_err("it is refused").to_string()
    };
    assert!(refused("none", 1).contains("`none`"));
    assert!(refused("assay", 0).contains("maximum of 0 workers"));
    assert!(refused("fixed:other=1", 1).contains("no stage `other`"));
}

#[test]
fn what_takes_too_long_is_given_up() {
    let wanted = wanted(vec![profile(0, 8), profile(60, 8)], "assay", 2);
    let refused = simulate(SimulationInput { patience: Duration::ZERO, ..wanted });
    assert!(refused.expect_err("it is given up").to_string().contains("too long"));
}

#[test]
fn a_long_curve_keeps_its_peaks() {
    let profiles = vec![profile(0, 900), profile(60, 900)];
    let simulated = simulate(wanted(profiles, "fixed", 1)).expect("it runs");
    let curve = &simulated.stages[0].curve;
    assert!((100..=limits::SIMULATED_POINTS_MAX).contains(&curve.len()), "{}", curve.len());
    assert_eq!(curve.iter().map(|point| point.queued).max(), Some(899));
}
