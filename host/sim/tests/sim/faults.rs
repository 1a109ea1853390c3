//! Every request ends, whatever goes wrong.

use assay_core::time::Micros;
use assay_sim::Run;
use assay_sim::faults::{Fault, Faults};
use assay_sim::policy::{ByPool, Settings};
use assay_sim::trace::TrainerMode;

use crate::made::{run, trace};

fn faults(texts: &[&str]) -> Faults {
    texts.iter().map(|text| text.parse::<Fault>().expect(text)).collect()
}

fn settings(texts: &[&str]) -> Settings {
    let startup = ByPool::all(Micros::from_secs(3));
    Settings { faults: faults(texts), quota: ByPool::all(60), startup, ..Settings::default() }
}

#[test]
fn lost_workers_leave_no_request_behind() {
    for mode in [TrainerMode::Colocated, TrainerMode::Disaggregated { stale: 1 }] {
        let trace = trace(&["compile", "execute"], mode, 2, 3);
        for policy in ["assay", "distrs", "fixed", "ideal"] {
            let calm = run(&trace, policy, &settings(&[]));
            let lossy = run(&trace, policy, &settings(&["lose=720"]));
            let starts = |run: &Run| run.pools.iter().map(|used| used.starts).sum::<usize>();
            if policy == "fixed" {
                assert!(starts(&lossy) > starts(&calm) + 20, "hardly one was lost");
            }
            let again = run(&trace, policy, &settings(&["lose=720"]));
            assert_eq!(lossy, again, "{policy}");
        }
    }
}

/// Workers that a start answers in another order than they were asked for.
#[test]
fn starts_of_different_lengths_leave_no_request_behind() {
    let trace = trace(&["compile", "execute"], TrainerMode::Colocated, 2, 3);
    for policy in ["assay", "distrs", "limit"] {
        let spread = |startup_spread| {
            let startup = ByPool::all(Micros::from_secs(20));
            run(&trace, policy, &Settings { startup, startup_spread, ..settings(&["lose=60"]) })
        };
        assert_eq!(spread(0.9), spread(0.9), "{policy}");
        assert_ne!(spread(0.9), spread(0.0), "{policy}");
    }
}

/// The scheduler learns of one loss after the other, and must not grant what a busy worker ran to an idle one that
/// is lost as well.
#[test]
fn workers_lost_at_once_take_no_work() {
    let trace = trace(&["prepare", "compile", "execute"], TrainerMode::Colocated, 2, 3);
    for policy in ["assay", "distrs", "fixed", "zq"] {
        let run = run(&trace, policy, &settings(&["capacity=execute:2:230:260"]));
        assert!(run.batches.iter().all(|batch| batch.failed == 0), "{policy}");
        assert!(run.pools[2].peak > 2, "{policy}: nothing was lost");
    }
}

#[test]
fn what_cannot_be_had_waits_and_is_not_billed() {
    let trace = trace(&["compile", "execute"], TrainerMode::Colocated, 2, 3);
    let scarce = ["capacity=execute:2:200:500", "host-restart=300"];
    for policy in ["assay", "distrs", "fixed", "limit"] {
        let run = || run(&trace, policy, &settings(&scarce));
        let scarce = run();
        assert_eq!(scarce, run(), "{policy}");
        let during = |at: Micros| (200..500).contains(&(at.0 / 1_000_000));
        let samples = &scarce.pools[1].timeline.samples;
        let there = samples.iter().filter(|sample| during(sample.at)).map(|sample| sample.workers);
        // A sample holds the most of its time, the workers of the moment before included.
        assert!(there.skip(1).all(|workers| workers <= 2), "{policy}: {samples:?}");
        assert!(scarce.pools[1].peak > 2, "{policy}: nothing was scarce");
    }
    // Without any the work waits until there are workers again.
    let none = run(&trace, "assay", &settings(&["capacity=execute:0:0:900"]));
    assert!(
        none.pools[1]
            .timeline
            .samples
            .iter()
            .all(|sample| sample.at.0 >= 900_000_000 || sample.workers == 0)
    );
    assert!(none.batches.iter().all(|batch| batch.failed == 0));
}

#[test]
fn slow_workers_take_longer_for_everything() {
    let trace = trace(&["compile", "execute"], TrainerMode::Colocated, 1, 3);
    let calm = run(&trace, "fixed", &settings(&[]));
    let slow = run(&trace, "fixed", &settings(&["slow=1:2"]));
    let spent = |run: &Run| run.pools[1].executed as f64;
    let ratio = spent(&slow) / spent(&calm);
    assert!((1.7..=2.0).contains(&ratio), "{ratio}");
    run(&trace, "assay", &settings(&["slow=0.3:4"]));
}

#[test]
fn a_restarted_host_goes_on_where_it_was() {
    for stages in [&["judge"][..], &["prepare", "compile", "execute"][..]] {
        let trace = trace(stages, TrainerMode::Colocated, 2, 3);
        for policy in ["assay", "distrs", "zq", "fixed", "limit"] {
            let calm = run(&trace, policy, &settings(&[]));
            let texts = ["host-restart=250", "host-restart=310", "host-restart=470"];
            let restarted = run(&trace, policy, &settings(&texts));
            let starts = |run: &Run| run.pools[0].starts;
            if policy == "fixed" {
                assert!(starts(&restarted) >= 4 * starts(&calm), "workers die with the host");
            }
            for (after, before) in restarted.pools.iter().zip(&calm.pools) {
                assert_eq!(after.executed, before.executed, "{policy}");
            }
            assert!(restarted.batches.iter().all(|batch| batch.failed == 0), "{policy}");
        }
    }
}
