//! Every policy, order and trainer on traces of one to three stages.

use assay_core::time::Micros;
use assay_planner::{Policy, Tuning};
use assay_sched::{Consumes, Discipline};
use assay_sim::Run;
use assay_sim::faults::Fault;
use assay_sim::policy::{ByPool, Settings};
use assay_sim::report::Report;
use assay_sim::trace::{Trace, TrainerMode};

use crate::made::{run, trace, try_run};

const POLICIES: [&str; 7] = ["distrs", "assay", "history", "zq", "ideal", "limit", "fixed"];

fn small() -> Trace {
    trace(&["compile", "execute"], TrainerMode::Colocated, 2, 3)
}

/// Enough workers for each pool that only the planner bounds a run, and few enough that `fixed` stays
/// small.
fn settings() -> Settings {
    Settings { quota: ByPool::all(100), ..Settings::default() }
}

/// The running time of each stage, over all requests; it must be the same for every policy.
fn executed(trace: &Trace) -> Vec<u128> {
    let measured = || trace.tasks.iter().flat_map(|task| &task.iterations[1..]);
    let requests = || measured().flat_map(|iteration| &iteration.requests);
    let sum = |stage: usize| requests().filter_map(move |request| request.service[stage]);
    (0..trace.meta.stages.len())
        .map(|stage| sum(stage).map(|time| u128::from(time.0)).sum())
        .collect()
}

#[test]
fn every_policy_ends_every_request_in_every_order() {
    let trace = small();
    for discipline in Discipline::ALL {
        for (startup, consumes) in
            [(0, Consumes::Batch), (7, Consumes::Batch), (7, Consumes::Groups)]
        {
            let startup = ByPool::all(Micros::from_secs(startup));
            let settings = Settings { discipline, startup, consumes, ..settings() };
            for policy in POLICIES {
                let run = run(&trace, policy, &settings);
                let ran: Vec<u128> = run.pools.iter().map(|used| used.executed).collect();
                assert_eq!(ran, executed(&trace), "{policy}");
                assert!(run.batches.iter().all(|batch| batch.failed == 0), "{policy}");
            }
        }
    }
}

#[test]
fn groups_wait_less_where_the_trainer_consumes_them() {
    let trace = small();
    let delay = |policy: &str, consumes| {
        let startup = ByPool::all(Micros::from_secs(7));
        let group_wait = Some(Micros::ZERO);
        let tuning = Some(Tuning { group_wait, ..Policy::ASSAY.tuning() });
        let run = run(&trace, policy, &Settings { startup, consumes, tuning, ..settings() });
        Report::of(&[run]).policies[0].group_delay_s.mean
    };
    for policy in ["assay", "limit"] {
        let (batches, groups) = (delay(policy, Consumes::Batch), delay(policy, Consumes::Groups));
        assert!(groups < batches, "{policy}: {batches} s, {groups} s");
    }
}

#[test]
fn traces_have_one_stage_or_three_and_trainers_two_modes() {
    for stages in [&["judge"][..], &["prepare", "compile", "execute"][..]] {
        for mode in [TrainerMode::Colocated, TrainerMode::Disaggregated { stale: 1 }] {
            let trace = trace(stages, mode, 2, 4);
            for policy in POLICIES {
                let run = run(&trace, policy, &settings());
                let ran: Vec<u128> = run.pools.iter().map(|used| used.executed).collect();
                assert_eq!(ran, executed(&trace), "{policy}");
            }
        }
    }
}

/// As a judge that calls a tool and is asked again: the first and the last stage share a pool.
fn with_shared_pool() -> Trace {
    let mut trace = trace(&["judge-1", "tool", "judge-2"], TrainerMode::Colocated, 2, 3);
    trace.meta.stages[0].pool = Some("gpu".into());
    trace.meta.stages[0].cost = 10.0;
    trace.meta.stages[2].pool = Some("gpu".into());
    trace
}

#[test]
fn a_pool_serves_several_stages_under_every_policy_and_fault() {
    let trace = with_shared_pool();
    let of_stage = executed(&trace);
    let wanted = [of_stage[0] + of_stage[2], of_stage[1]];
    let quota = ByPool { all: 100, named: [("gpu".to_owned(), 4)].into() };
    for policy in POLICIES {
        for quota in [ByPool::all(100), quota.clone()] {
            let run = run(&trace, policy, &Settings { quota, ..settings() });
            let names: Vec<&str> = run.pools.iter().map(|used| used.pool.as_str()).collect();
            assert_eq!(names, ["gpu", "tool"]);
            let ran: Vec<u128> = run.pools.iter().map(|used| used.executed).collect();
            assert_eq!(ran, wanted, "{policy}");
        }
        let texts = ["lose=60", "slow=0.2:3", "capacity=gpu:2:230:260", "host-restart=240"];
        let faults = texts.iter().map(|text| text.parse::<Fault>().expect(text)).collect();
        let startup = ByPool::all(Micros::from_secs(3));
        let run = run(&trace, policy, &Settings { faults, startup, ..settings() });
        // A request that timed out on a slow worker is missing in one stage or two.
        assert!(run.pools.iter().all(|used| used.executed > 0), "{policy}");
    }
}

#[test]
fn a_pool_has_one_cost() {
    let mut trace = with_shared_pool();
    trace.meta.stages[0].cost = 1.0;
    assert_eq!(
        try_run(&trace, "assay", &settings()).expect_err("two costs").to_string(),
        "stages `judge-1` and `judge-2` share the pool `gpu` but cost 1 and 10: give them one cost, \
         or a pool each"
    );
}

fn text(runs: &[Run]) -> String {
    serde_json::to_string(&Report::of(runs)).expect("plain")
}

#[test]
fn the_same_seed_gives_the_same_report() {
    let trace = small();
    for policy in POLICIES {
        let settings = Settings { seed: 3, ..settings() };
        let first = run(&trace, policy, &settings);
        let again = run(&trace, policy, &settings);
        assert_eq!(first, again);
        assert_eq!(text(&[first]), text(&[again]));
    }
}

#[test]
fn enough_workers_that_are_always_there_delay_nothing() {
    let run = run(&small(), "fixed", &settings());
    assert!(run.batches.iter().all(|batch| batch.extra_delay() == Micros::ZERO));
    let starts: Vec<usize> = run.pools.iter().map(|used| used.starts).collect();
    assert_eq!(starts, [100, 100]);
    // They start with the first batch, and are billed until the last is done.
    let lived = run.ended.since(run.batches[0].rollout_start);
    assert_eq!(run.pools[0].allocated, 100 * u128::from(lived.0));
}

#[test]
fn dedicated_pools_delay_little_and_cost_most() {
    let trace = trace(&["compile", "execute"], TrainerMode::Colocated, 3, 6);
    let runs: Vec<Run> =
        ["zq", "distrs", "assay"].iter().map(|policy| run(&trace, policy, &settings())).collect();
    let report = Report::of(&runs);
    let zq = &report.policies[0];
    assert!(zq.extra_delay_s.mean < 3.0, "{zq:?}");
    for other in &report.policies[1..] {
        for (stage, pool) in &other.pools {
            assert!(pool.ratio_to_zq > Some(1.0), "{} {stage}: {pool:?}", other.policy);
        }
    }
    assert_eq!(zq.pools["compile"].ratio_to_zq, Some(1.0));
    assert_eq!(Report::of(&runs[1..]).policies[0].pools["compile"].ratio_to_zq, None);
}

#[test]
fn a_quota_holds_and_is_paid_for_in_delay() {
    let quota = ByPool { all: 100, named: [("execute".to_owned(), 2)].into() };
    let tight = run(&small(), "distrs", &Settings { quota, ..settings() });
    assert!(tight.pools[1].peak <= 2, "{:?}", tight.pools[1].peak);
    let free = run(&small(), "distrs", &settings());
    let delay = |run: &Run| run.batches.iter().map(|batch| batch.extra_delay().0).sum::<u64>();
    assert!(delay(&tight) > delay(&free) + 60_000_000);
}

#[test]
fn settings_that_fit_no_pool_are_refused() {
    let trace = small();
    let refusal = |policy: &str, settings: &Settings| {
        try_run(&trace, policy, settings).expect_err("it does not fit").to_string()
    };
    let startup = ByPool { all: Micros::ZERO, named: [("gpu".to_owned(), Micros::ZERO)].into() };
    assert_eq!(
        refusal("zq", &Settings { startup, ..settings() }),
        "the trace has no pool `gpu`: its pools are compile, execute"
    );
    assert_eq!(
        refusal("fixed:execute=0", &settings()),
        "pool `execute` has a maximum of 0 workers, so nothing can run"
    );
    let history_only = crate::made::trace(&["judge"], TrainerMode::Colocated, 2, 1);
    let refused = try_run(&history_only, "zq", &settings()).expect_err("nothing to measure");
    assert_eq!(
        refused.to_string(),
        "no task has a second iteration, and the first is history only"
    );
}
