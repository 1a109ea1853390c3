//! Pools for the planner and for readers: bounds, workers, and the last plan with its reasons, also in words.

use std::collections::BTreeMap;
use std::sync::Arc;

use assay_api::capacity::{
    Capacity, LastPlan, LeavingWorkers, PlanBecause, PlanReason, PoolCapacity, PoolTarget,
    PoolWorkers, StartTrouble, WaitingWorkers,
};
use assay_core::time::Micros;
use assay_planner::{Bound, LateReason, PoolReport, Reason};
use assay_sched::{Event, PoolView};

use crate::planning::PlanInForce;
use crate::shell::Shell;
use assay_fleet::{Departures, StartFailure, WaitingStarts};

impl Shell {
    /// Asks for a plan for the workers that can be had now.
    pub(super) fn plan_anew(&mut self, now: Micros) {
        let mut unplaced = self.fleet.unplaced();
        let pools = self.sched.pool_views();
        for (pool, _) in pools.into_iter().filter(|(_, seen)| !seen.unplaced.is_empty()) {
            unplaced.entry(pool).or_default();
        }
        for (pool, count) in unplaced {
            for action in self.sched.step(now, Event::StartsUnplaced { pool, count }) {
                self.perform(now, action, &mut None);
            }
        }
        self.planning.call(now, || self.sched.view());
    }

    pub(super) fn capacity(&self, seen: &BTreeMap<Arc<str>, PoolView>, now: Micros) -> Capacity {
        let mut troubles = self.fleet.troubles();
        let last = self.planning.last.as_ref();
        let pools = self.planning.config.pools.iter().map(|(name, config)| {
            let pool_view = seen.get(name);
            let report = last.and_then(|plan| plan.report.pools.iter().find(|r| r.pool == *name));
            PoolCapacity {
                pool: name.to_string(),
                min: count(config.min),
                max: count(config.max),
                cost: config.cost,
                workers: pool_view.map(workers).unwrap_or_default(),
                queued: pool_view.map_or(0, |pool| pool.waiting as u64),
                startup_ms: pool_view.and_then(|pool| pool.startup).map(Micros::as_ms_f64),
                target: report.map(target),
                trouble: troubles.remove(name).map(trouble),
                waiting: self.fleet.waiting(name).into_iter().map(waiting).collect(),
                leaving: self.fleet.departures(name).into_iter().map(leaving).collect(),
            }
        });
        Capacity {
            planner: self.planning.config.policy.name.into(),
            pools: pools.collect(),
            plan: last.map(|plan| last_plan(plan, now)),
        }
    }
}

fn last_plan(plan: &PlanInForce, now: Micros) -> LastPlan {
    LastPlan {
        at: plan.report.at,
        age_ms: now.since(plan.report.at).as_ms_f64(),
        requests: plan.report.requests as u64,
        simulations: plan.report.simulations as u64,
        took_ms: plan.took.as_secs_f64() * 1e3,
    }
}

fn workers(pool: &PoolView) -> PoolWorkers {
    PoolWorkers {
        starting: count(pool.starting.len() + pool.unplaced.len()),
        idle: count(pool.idle),
        busy: count(pool.busy()),
        draining: count(pool.draining),
        joined: count(pool.came),
    }
}

fn target(report: &PoolReport) -> PoolTarget {
    PoolTarget {
        hold: count(report.hold),
        ceiling: count(report.ceiling),
        zero_queue: count(report.zero_queue),
        why: why(report),
        reason: reason(&report.reason),
    }
}

fn trouble(trouble: StartFailure) -> StartTrouble {
    let StartFailure { failures, error, failed_at, next_try_at } = trouble;
    StartTrouble { failures, error, failed_at, next_try_at }
}

fn waiting(waiting: WaitingStarts) -> WaitingWorkers {
    let WaitingStarts { workers, reason, since } = waiting;
    WaitingWorkers { workers: count(workers), reason, since }
}

fn leaving(leaving: Departures) -> LeavingWorkers {
    let Departures { workers, reason, since } = leaving;
    LeavingWorkers { workers: count(workers), reason, since }
}

fn reason(reason: &Reason) -> PlanReason {
    match reason {
        Reason::Idle => PlanReason::Idle,
        Reason::Held => PlanReason::Held,
        Reason::Policy => PlanReason::Mode,
        Reason::Minimum => PlanReason::Minimum,
        Reason::Maximum { wanted } => PlanReason::Maximum { wanted: count(*wanted) },
        Reason::Unknown => PlanReason::Unknown,
        Reason::Needed => PlanReason::Needed,
        Reason::Bound(bound) => PlanReason::Bound {
            batch: bound.batch,
            run: bound.run.to_string(),
            stage: count(bound.stage),
            ready_at: bound.ready,
            start_at: bound.start,
            because: match bound.because {
                LateReason::Late { end, by } => PlanBecause::Late { end_at: end, by_at: by },
                LateReason::MayTimeOut { latest, by } => {
                    PlanBecause::MayTimeOut { latest_at: latest, by_at: by }
                }
                LateReason::Waits { mean, max } => {
                    PlanBecause::Waits { mean_ms: mean.as_ms_f64(), max_ms: max.as_ms_f64() }
                }
                LateReason::Risk { expected, budget } => PlanBecause::Risk {
                    expected_ms: expected.as_ms_f64(),
                    budget_ms: budget.as_ms_f64(),
                },
            },
        },
    }
}

fn why(report: &PoolReport) -> String {
    match &report.reason {
        Reason::Idle => "no live batch needs workers of this pool".into(),
        Reason::Held => {
            "the requests that need this pool are held until memory for their artifacts is free"
                .into()
        }
        Reason::Policy => "the planner's policy always asks for this number".into(),
        Reason::Minimum => "the pool's minimum is sufficient".into(),
        Reason::Maximum { wanted } => {
            format!(
                "limited by the maximum of the pool or of its tenants; the plan needs {wanted} workers"
            )
        }
        Reason::Unknown => {
            "no stage times are known for a live batch, so workers are added on demand".into()
        }
        Reason::Needed => {
            "one worker, the smallest number while a live batch needs this pool".into()
        }
        Reason::Bound(bound) => bound_in_words(bound),
    }
}

fn bound_in_words(bound: &Bound) -> String {
    let fewer = bound.workers.saturating_sub(1);
    let (run, stage) = (&bound.run, bound.stage + 1);
    let waits = bound.start.since(bound.ready);
    if waits > FOR_EVER {
        return format!(
            "with {}, a request of run {run} would never reach stage {stage}",
            workers_in_words(fewer)
        );
    }
    let waits = seconds(waits);
    let so = match bound.because {
        LateReason::Late { end, by } => {
            format!("and the batch would end {} after its deadline", seconds(end.since(by)))
        }
        LateReason::MayTimeOut { latest, by } => format!(
            "and with timeouts it could end {} after the batch's deadline",
            seconds(latest.since(by))
        ),
        LateReason::Waits { mean, max } => format!(
            "and a request of the batch, whose trainer consumes groups, would wait {} on average; {} \
             is allowed",
            seconds(mean),
            seconds(max)
        ),
        LateReason::Risk { expected, budget } => format!(
            "and the expected delay by long-running requests would be {}; {} is allowed",
            seconds(expected),
            seconds(budget)
        ),
    };
    let fewer = workers_in_words(fewer);
    format!("with {fewer}, a request of run {run} would wait {waits} for stage {stage}, {so}")
}

/// Longer than any stage may run: in the simulation the request was never served.
const FOR_EVER: Micros = Micros::from_secs(30 * 24 * 3_600);

fn workers_in_words(workers: usize) -> String {
    format!("{workers} worker{}", if workers == 1 { "" } else { "s" })
}

fn seconds(span: Micros) -> String {
    format!("{:.2} s", span.as_secs_f64())
}

fn count(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use assay_core::id::BatchId;

    use super::*;

    fn report(reason: Reason) -> PoolReport {
        PoolReport { pool: "cpu".into(), hold: 2, ceiling: 3, zero_queue: 9, reason }
    }

    fn bound(because: LateReason) -> Reason {
        Reason::Bound(Bound {
            batch: BatchId::generate(),
            run: "cuda-7".into(),
            workers: 3,
            stage: 1,
            ready: Micros::from_secs(10),
            start: Micros::from_ms(12_500),
            because,
        })
    }

    #[test]
    fn a_bound_says_what_one_worker_less_would_do() {
        let late = LateReason::Late { end: Micros::from_secs(20), by: Micros::from_ms(18_750) };
        let target = target(&report(bound(late)));
        assert_eq!(
            target.why,
            "with 2 workers, a request of run cuda-7 would wait 2.50 s for stage 2, and the batch \
             would end 1.25 s after its deadline"
        );
        let data = serde_json::to_value(&target.reason).expect("plain data");
        assert_eq!(data["kind"], "bound");
        assert_eq!(data["because"]["kind"], "late");
        assert_eq!(data["because"]["by_at"], "1970-01-01T00:00:18.75Z");
        assert_eq!(data["start_at"], "1970-01-01T00:00:12.5Z");
        let risk =
            LateReason::Risk { expected: Micros::from_ms(500), budget: Micros::from_ms(250) };
        assert!(why(&report(bound(risk))).ends_with("would be 0.50 s; 0.25 s is allowed"));
        let waits = LateReason::Waits { mean: Micros::from_ms(700), max: Micros::from_ms(500) };
        assert!(why(&report(bound(waits))).ends_with("wait 0.70 s on average; 0.50 s is allowed"));
        let never = LateReason::Late { end: Micros::MAX, by: Micros::from_secs(20) };
        let Reason::Bound(never) = bound(never) else { unreachable!() };
        let never = Reason::Bound(Bound { start: Micros::MAX, ..never });
        assert!(why(&report(never)).ends_with("would never reach stage 2"));
    }

    #[test]
    fn the_quota_says_what_it_refuses() {
        let target = target(&report(Reason::Maximum { wanted: 40 }));
        assert_eq!(
            target.why,
            "limited by the maximum of the pool or of its tenants; the plan needs 40 workers"
        );
        assert_eq!(target.reason, PlanReason::Maximum { wanted: 40 });
        assert_eq!((target.hold, target.ceiling, target.zero_queue), (2, 3, 9));
    }
}
