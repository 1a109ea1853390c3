//! The planner on one thread: a whole decision, algorithm 2, SIMULATE and the search, for live
//! batches of 2,000 requests shaped like the paper's CUDA task, half of them arrived.

use std::collections::BTreeMap;
use std::sync::Arc;

use assay_core::id::{BatchId, Digest, TenantId};
use assay_core::time::Micros;
use assay_planner::{PlanConfig, Planner, Policy, PoolConfig};
use assay_sched::{
    BatchView, Consumes, Ending, PoolView, Profile, ProfileRequest, RunningView, SchedView,
    StageShape, StageView,
};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use uuid::Uuid;

const BATCH: usize = 2_000;
const NOW: Micros = Micros::from_secs(1_000_000);

/// Uniform in [0, 1), always the same.
fn uniform(n: usize) -> f64 {
    let bits = (n as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((bits ^ (bits >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 11) as f64 / (1u64 << 53) as f64
}

fn secs(seconds: f64) -> Micros {
    Micros((seconds * 1e6) as u64)
}

fn stages() -> Arc<[StageShape]> {
    let shape = |pool: &str, timeout| StageShape {
        pool: pool.into(),
        timeout: Micros::from_secs(timeout),
        retries_max: 0,
    };
    [shape("compile", 120), shape("execute", 60)].into()
}

fn profile(run: usize) -> Profile {
    let request = |n: usize| {
        // Bell-shaped with a tail: few early, most in the middle, the last ones late.
        let at = uniform(n) + uniform(n + BATCH) + 0.5 * uniform(n + 2 * BATCH).powi(6);
        ProfileRequest { arrived: secs(150.0 * at), ending: Ending::Scored }
    };
    let requests: Vec<ProfileRequest> = (0..BATCH).map(|n| request(run * BATCH + n)).collect();
    let ran = (0..BATCH).flat_map(|n| {
        let long = uniform(run * BATCH + n + 7_777) < 0.012;
        let compile = 40.0 + 20.0 * uniform(n);
        let execute = if long { 60.0 } else { 2.0 + 4.0 * uniform(n + 99) };
        let reached = uniform(n + 555) < 0.7;
        [secs(compile), secs(if reached { execute } else { 0.0 })]
    });
    Profile {
        batch: BatchId(Uuid::from_u128(run as u128)),
        tenant: TenantId(Uuid::from_u128(1)),
        run: format!("run-{run}").into(),
        plugin: Digest([1; 32]),
        stages: stages(),
        announced: Micros::ZERO,
        first_arrival: Micros::ZERO,
        earliest_end: secs(420.0),
        ended: secs(420.0),
        ran: ran.collect(),
        requests,
    }
}

fn batch(run: usize) -> BatchView {
    let stage = |waiting, running: usize| StageView {
        waiting,
        running: (0..running)
            .map(|n| RunningView { elapsed: secs(30.0 * uniform(n)), queued: Micros::ZERO })
            .collect(),
        ..StageView::default()
    };
    BatchView {
        id: BatchId(Uuid::from_u128(run as u128)),
        tenant: TenantId(Uuid::from_u128(1)),
        run: format!("run-{run}").into(),
        plugin: Digest([1; 32]),
        stages: stages(),
        tolerance: None,
        consumes: Consumes::Batch,
        announced: NOW - secs(150.0),
        first_arrival: Some(NOW - secs(60.0 + 2.0 * uniform(run))),
        submitted: BATCH as u32 / 2,
        expected_size: Some(BATCH as u32),
        sealed: false,
        earliest_end: None,
        rank: None,
        at_stage: vec![stage(BATCH / 4, BATCH / 8), stage(BATCH / 16, BATCH / 16)],
        waiters: 0,
    }
}

fn planner(policy: Policy, runs: usize) -> (Planner, SchedView) {
    let pool = |cost| PoolConfig {
        min: 0,
        max: 1_000_000,
        cost,
        startup: Micros::from_secs(30),
        linger: Micros::ZERO,
    };
    let pools = BTreeMap::from([("compile".into(), pool(1.0)), ("execute".into(), pool(10.0))]);
    let mut planner = Planner::new(PlanConfig::new(policy, pools));
    (0..runs).for_each(|run| planner.learn(Arc::new(profile(run))));
    let busy = |count| PoolView { workers: runs * count, ..PoolView::default() };
    let view = SchedView {
        pools: BTreeMap::from([
            ("compile".into(), busy(BATCH / 8)),
            ("execute".into(), busy(BATCH / 16)),
        ]),
        batches: (0..runs).map(batch).collect(),
        ..SchedView::default()
    };
    (planner, view)
}

fn plans(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("plan");
    group.sample_size(10);
    for requests in [16_000, 100_000, 1_000_000] {
        for (name, policy) in [("assay", Policy::ASSAY), ("distrs", Policy::DISTRS)] {
            let (mut planner, view) = planner(policy, requests / BATCH);
            // The first plan has no other to start from; those that are timed do.
            let first = planner.plan(NOW, &view).report.simulations;
            let report = planner.plan(NOW, &view).report;
            println!(
                "{name}: {requests} live requests, {} left in SIMULATE, {} simulations, {first} at first",
                report.requests, report.simulations
            );
            group.bench_function(BenchmarkId::new(name, requests), |bencher| {
                bencher.iter(|| planner.plan(NOW, &view));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, plans);
criterion_main!(benches);
