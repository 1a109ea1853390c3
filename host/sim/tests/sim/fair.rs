//! Tenants beside each other on one pool: who gets what, and who waits for whom.

use std::collections::BTreeMap;

use assay_core::time::Micros;
use assay_sched::{Discipline, Entitlement, Weight};
use assay_sim::fair::{Demand, STAGE, trace};
use assay_sim::policy::{ByPool, Settings};
use assay_sim::{BatchRun, Run};

use crate::made::{run, try_run};

const WORKERS: u64 = 24;
/// How long requests come, and when the first have waited.
const SPAN: Micros = Micros::from_secs(300);
const LOADED: Micros = Micros::from_secs(60);

fn fixed(workers: u64) -> String {
    format!("fixed:{STAGE}={workers}")
}

fn weights(weights: &[(&str, f64)]) -> Settings {
    let share = |(name, weight): &(&str, f64)| {
        let weight = Weight::new(*weight).expect("a weight");
        ((*name).to_owned(), Entitlement { weight, ..Entitlement::default() })
    };
    Settings { entitlements: weights.iter().map(share).collect(), ..Settings::default() }
}

/// Demand for as much work as the whole pool can do while requests come, in requests of this length.
fn all(tenant: &'static str, service_ms: u64) -> Demand {
    let service = Micros::from_ms(service_ms);
    let requests = WORKERS * SPAN.0 / service.0;
    let requests = u32::try_from(requests).expect("few requests");
    Demand { tenant, start: Micros::ZERO, requests, within: SPAN, service }
}

/// The share of each tenant in all worker time while every tenant has waiting requests.
fn shares(run: &Run) -> BTreeMap<&str, f64> {
    let time = |tenant: &assay_sim::TenantUse| tenant.worker_time(0, LOADED..SPAN) as f64;
    let total = WORKERS as f64 * SPAN.since(LOADED).0 as f64;
    run.tenants.iter().map(|tenant| (tenant.tenant.as_str(), time(tenant) / total)).collect()
}

fn check_shares(demands: &[Demand], settings: &Settings, wanted: &[(&str, f64)]) {
    let run = run(&trace(demands), &fixed(WORKERS), settings);
    let shares = shares(&run);
    for (tenant, wanted) in wanted {
        let share = shares[tenant];
        assert!((share / wanted - 1.0).abs() < 0.05, "{tenant}: {share}, not {wanted}");
    }
    assert!((shares.values().sum::<f64>() - 1.0).abs() < 0.001, "no worker is idle: {shares:?}");
}

#[test]
fn overloaded_tenants_get_workers_by_weight() {
    let two = [all("a", 1_000), all("b", 1_000)];
    check_shares(&two, &weights(&[]), &[("a", 0.5), ("b", 0.5)]);
    check_shares(&two, &weights(&[("b", 3.0)]), &[("a", 0.25), ("b", 0.75)]);
    let three = [all("a", 1_000), all("b", 1_000), all("c", 1_000)];
    let settings = weights(&[("a", 0.5), ("b", 1.0), ("c", 1.5)]);
    check_shares(&three, &settings, &[("a", 1.0 / 6.0), ("b", 1.0 / 3.0), ("c", 0.5)]);
}

/// Tenants share the workers at each moment, so the length of a tenant's stages does not change its share.
#[test]
fn long_stages_get_no_more_than_short_ones() {
    let long_and_short = [all("long", 15_000), all("short", 150)];
    check_shares(&long_and_short, &weights(&[]), &[("long", 0.5), ("short", 0.5)]);
    let settings = weights(&[("short", 3.0)]);
    check_shares(&long_and_short, &settings, &[("long", 0.25), ("short", 0.75)]);
}

#[test]
fn every_order_inside_a_share_leaves_the_shares_as_they_are() {
    for discipline in [Discipline::FCFS, Discipline::EBF_GROUPS] {
        let settings = Settings { discipline, ..weights(&[("b", 3.0)]) };
        let two = [all("a", 1_000), all("b", 1_000)];
        check_shares(&two, &settings, &[("a", 0.25), ("b", 0.75)]);
    }
}

#[test]
fn a_tenant_that_asks_for_less_leaves_the_rest_to_others() {
    let some = Demand { requests: 1_800, ..all("some", 1_000) };
    let run = run(&trace(&[all("most", 1_000), some]), &fixed(WORKERS), &weights(&[("most", 0.1)]));
    let shares = shares(&run);
    assert!((shares["some"] - 0.25).abs() < 0.01 && shares["most"] > 0.74, "{shares:?}");
}

fn batch(run: &Run, task: u32) -> &BatchRun {
    run.batches.iter().find(|batch| batch.task == task).expect("each task has a batch")
}

fn delay_s(run: &Run, task: u32) -> f64 {
    batch(run, task).extra_delay().as_secs_f64()
}

/// The flood came first, so EBF alone would end it first.
#[test]
fn a_flood_delays_a_small_batch_by_no_more_than_its_share_implies() {
    let service = Micros::from_secs(1);
    let start = Micros::ZERO;
    let flood = Demand { tenant: "flood", start, requests: 10_000, within: start, service };
    let start = Micros::from_secs(100);
    let small = Demand { tenant: "small", start, requests: 40, within: Micros::ZERO, service };
    let shared = run(&trace(&[flood, small]), &fixed(10), &Settings::default());
    let one_tenant = Demand { tenant: "flood", ..small };
    let ebf_alone = run(&trace(&[flood, one_tenant]), &fixed(10), &Settings::default());
    let on_its_share = run(&trace(&[small]), &fixed(5), &Settings::default());
    let delays = [delay_s(&shared, 1), delay_s(&ebf_alone, 1), delay_s(&on_its_share, 0)];
    // It gets its workers as those of the flood finish what they run.
    assert!(delays[0] <= delays[2] + 1.5, "{delays:?}");
    assert!(delays[1] > 800.0, "{delays:?}");
    // The flood pays what the small batch got, and no more.
    let paid =
        delay_s(&shared, 0) - delay_s(&run(&trace(&[flood]), &fixed(10), &Settings::default()), 0);
    assert!((0.0..=5.0).contains(&paid), "{paid}");
}

#[test]
fn a_tenant_alone_gets_everything_as_before() {
    let alone = trace(&[all("a", 1_000)]);
    let mut unnamed = alone.clone();
    unnamed.tasks[0].tenant = None;
    let before = run(&unnamed, &fixed(WORKERS), &Settings::default());
    let weighed = run(&alone, &fixed(WORKERS), &weights(&[("a", 0.01)]));
    assert_eq!(before, weighed);
    // With others that ask for nothing just then.
    let later = Demand { start: Micros::from_secs(2_000), ..all("b", 1_000) };
    let beside = run(&trace(&[all("a", 1_000), later]), &fixed(WORKERS), &Settings::default());
    assert_eq!(batch(&beside, 0), batch(&before, 0));
}

/// Two batches of one tenant, beside another that takes half of the pool.
#[test]
fn earliest_batch_first_holds_inside_a_share() {
    let service = Micros::from_secs(1);
    let batch = |seconds, requests| Demand {
        tenant: "a",
        start: Micros::from_secs(seconds),
        requests,
        within: Micros::ZERO,
        service,
    };
    let trace = trace(&[all("b", 1_000), batch(1, 600), batch(20, 300)]);
    let run_in =
        |discipline| run(&trace, &fixed(WORKERS), &Settings { discipline, ..Settings::default() });
    let ebf = run_in(Discipline::EBF);
    // The first has 12 workers to itself until it is done: 600 s of work in 50 s.
    assert!((47.0..54.0).contains(&delay_s(&ebf, 1)), "{}", delay_s(&ebf, 1));
    assert!((53.0..60.0).contains(&delay_s(&ebf, 2)), "{}", delay_s(&ebf, 2));
}

#[test]
fn a_bound_holds_and_starts_nothing_in_vain() {
    let demands = [all("a", 4_000), all("b", 8_000)];
    let quota = ByPool::all(100);
    for policy in ["assay", "distrs", "limit", "zq", "fixed"] {
        let free = run(
            &trace(&demands),
            policy,
            &Settings { quota: quota.clone(), ..Settings::default() },
        );
        let bound = |max| Entitlement {
            workers_max: [(STAGE.into(), max)].into(),
            ..Entitlement::default()
        };
        let entitlements = [("a".to_owned(), bound(4)), ("b".to_owned(), bound(3))].into();
        let settings = Settings { entitlements, quota: quota.clone(), ..Settings::default() };
        let bounded = run(&trace(&demands), policy, &settings);
        let most = |run: &Run, tenant: usize| {
            let served = &run.tenants[tenant].served;
            let mut changes: Vec<(Micros, i32)> =
                served.iter().flat_map(|one| [(one.from, 1), (one.until, -1)]).collect();
            changes.sort_unstable();
            let busy = changes.iter().scan(0, |busy, (_, change)| {
                *busy += change;
                Some(*busy)
            });
            busy.max().unwrap_or(0)
        };
        assert_eq!((most(&bounded, 0), most(&bounded, 1)), (4, 3), "{policy}");
        assert!(most(&free, 0) > 20, "{policy}");
        if policy != "fixed" {
            let peak = bounded.pools[0].peak;
            assert!(peak <= 7, "{policy} started {peak} workers that nobody may use");
        }
    }
}

#[test]
fn shares_survive_a_restart() {
    let two = [all("a", 1_000), all("b", 1_000)];
    let faults = ["host-restart=100", "lose=360"];
    let faults = faults.iter().map(|text| text.parse::<assay_sim::faults::Fault>().expect(text));
    let settings = Settings { faults: faults.collect(), ..weights(&[("b", 3.0)]) };
    let run = run(&trace(&two), &fixed(WORKERS), &settings);
    let shares = shares(&run);
    assert!((shares["b"] / shares["a"] - 3.0).abs() < 0.2, "{shares:?}");
}

#[test]
fn a_share_of_nobody_is_refused() {
    let two = trace(&[all("a", 1_000), all("b", 1_000)]);
    let refusal = |settings: &Settings| {
        try_run(&two, "fixed", settings).expect_err("it does not fit").to_string()
    };
    let wanted = "the trace has no tenant `c`: its tenants are a, b";
    assert_eq!(refusal(&weights(&[("c", 2.0)])), wanted);
    let entitlement =
        Entitlement { workers_max: [("gpu".into(), 1)].into(), ..Entitlement::default() };
    let entitlements = [("a".to_owned(), entitlement)].into();
    let wanted = "the trace has no pool `gpu`: its pools are check";
    assert_eq!(refusal(&Settings { entitlements, ..Settings::default() }), wanted);
}
