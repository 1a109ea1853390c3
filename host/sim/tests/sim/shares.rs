//! One request beside a flood: of another run of the same tenant, and of another tenant with longer requests.

use std::collections::BTreeMap;

use assay_core::time::Micros;
use assay_sched::Entitlement;
use assay_sim::fair::{Demand, STAGE, trace};
use assay_sim::policy::{ByPool, Settings};
use assay_sim::{BatchRun, Run};

use crate::made::run;

/// An answer is in time if it comes this long after the earliest possible end at most.
const IN_TIME: Micros = Micros::from_secs(1);

/// The extra delays of small batches, in order.
#[derive(Debug)]
struct Answers(Vec<Micros>);

impl Answers {
    /// The extra delays of all batches except the flood's, which is of task 0.
    fn of(run: &Run) -> Self {
        let small = run.batches.iter().filter(|batch| batch.task > 0);
        let mut delays: Vec<Micros> = small.map(BatchRun::extra_delay).collect();
        delays.sort_unstable();
        Self(delays)
    }

    fn percentile(&self, percent: usize) -> Micros {
        self.0[(self.0.len() * percent / 100).min(self.0.len() - 1)]
    }

    fn in_time(&self) -> usize {
        self.0.iter().filter(|delay| **delay <= IN_TIME).count()
    }

    fn show(&self, what: &str) {
        let (p50, p99) = (self.percentile(50).as_secs_f64(), self.percentile(99).as_secs_f64());
        let (in_time, all) = (self.in_time(), self.0.len());
        println!("{what}: p50 {p50:.2} s, p99 {p99:.2} s, {in_time} of {all} in time");
    }
}

fn fixed(workers: usize) -> String {
    format!("fixed:{STAGE}={workers}")
}

/// A flood at the start, then one request of another run every so often.
fn flood_and_singles(flood: Demand, tenant: &'static str, every: Micros) -> Vec<Demand> {
    let single = |number: u64| Demand {
        tenant,
        start: Micros(every.0 * number),
        requests: 1,
        within: Micros::ZERO,
        service: Micros::from_ms(10),
    };
    std::iter::once(flood).chain((1..=100).map(single)).collect()
}

fn flood(requests: u32, service: Micros) -> Demand {
    Demand { tenant: "lab", start: Micros::ZERO, requests, within: Micros::ZERO, service }
}

fn shared_runs() -> BTreeMap<String, Entitlement> {
    [("lab".to_owned(), Entitlement { share_runs: true, ..Entitlement::default() })].into()
}

/// 900 programs of one run, 10 s each on 10 workers, and 100 runs with one request each.
#[test]
fn a_run_with_one_request_need_not_wait_for_900_of_another() {
    let demands = flood_and_singles(flood(900, Micros::from_secs(10)), "lab", Micros::from_secs(8));
    let trace = trace(&demands);
    let ebf = run(&trace, &fixed(10), &Settings::default());
    let settings = Settings { entitlements: shared_runs(), ..Settings::default() };
    let shared = run(&trace, &fixed(10), &settings);
    let (before, after) = (Answers::of(&ebf), Answers::of(&shared));
    before.show("earliest batch first");
    after.show("shared between runs");
    assert!(before.in_time() < 10 && after.in_time() > 60, "{before:?} {after:?}");
    assert!(after.percentile(99) < Micros::from_secs(5), "{after:?}");
    // The flood pays for what the others got, which is a second of work.
    let paid = shared.batches[0].completed.since(ebf.batches[0].completed);
    assert!(paid < Micros::from_secs(2), "{paid:?}");
}

/// Three batches that together need the pool for 90 s. Earliest batch first ends them one after the other;
/// sharing ends all of them late.
#[test]
fn sharing_between_runs_delays_batches() {
    let batch =
        |seconds| Demand { start: Micros::from_secs(seconds), ..flood(300, Micros::from_secs(1)) };
    let trace = trace(&[batch(1), batch(2), batch(3)]);
    let ends = |settings: &Settings| -> Vec<f64> {
        let run = run(&trace, &fixed(10), settings);
        (0..3)
            .map(|task| run.batches.iter().find(|batch| batch.task == task).expect("a batch"))
            .map(|batch| batch.extra_delay().as_secs_f64())
            .collect()
    };
    let ebf = ends(&Settings::default());
    let shared = ends(&Settings { entitlements: shared_runs(), ..Settings::default() });
    println!("extra delays: earliest batch first {ebf:.0?}, shared between runs {shared:.0?}");
    assert!((ebf[2] - shared[2]).abs() < 2.0, "the last ends as early: {ebf:?} {shared:?}");
    assert!(ebf[0] + 40.0 < shared[0] && ebf[1] + 15.0 < shared[1], "{ebf:?} {shared:?}");
}

/// Programs of 30 s on 4 workers, and another tenant's reward every 20 s.
#[test]
fn a_short_request_takes_a_worker_from_long_ones() {
    let demands =
        flood_and_singles(flood(400, Micros::from_secs(30)), "other", Micros::from_secs(20));
    let trace = trace(&demands);
    let simulated = |preempt_after| {
        let startup = ByPool::all(Micros::from_ms(300));
        run(&trace, &fixed(4), &Settings { startup, preempt_after, ..Settings::default() })
    };
    let never = simulated(None);
    let preempting = simulated(Some(Micros::from_ms(500)));
    let (before, after) = (Answers::of(&never), Answers::of(&preempting));
    before.show("without preemption");
    after.show("with preemption");
    let worked = |run: &Run| run.pools[0].allocated_s() / run.pools[0].executed_s();
    println!(
        "worker time for executed time: {:.3}, then {:.3}",
        worked(&never),
        worked(&preempting)
    );
    assert!(before.in_time() < 30 && after.in_time() == 100, "{before:?} {after:?}");
    assert!(preempting.batches.iter().all(|batch| batch.failed == 0), "no try was counted");
}

/// A tenant alone, whatever its requests take, is never preempted.
#[test]
fn preemption_costs_a_tenant_alone_nothing() {
    let demands = flood_and_singles(flood(100, Micros::from_secs(30)), "lab", Micros::from_secs(5));
    let trace = trace(&demands);
    let simulated =
        |preempt_after| run(&trace, &fixed(4), &Settings { preempt_after, ..Settings::default() });
    assert_eq!(simulated(None), simulated(Some(Micros::from_ms(500))));
}
