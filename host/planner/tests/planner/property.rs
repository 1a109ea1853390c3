//! Random histories and sights, under every policy: what holds of any plan.

use std::collections::BTreeMap;
use std::sync::Arc;

use assay_core::id::{BatchId, Digest, TenantId};
use assay_core::limits;
use assay_core::time::Micros;
use assay_planner::{Plan, PlanConfig, Planner, Policy, PoolConfig, PoolReport};
use assay_sched::{
    BatchView, Consumes, Ending, PoolView, Profile, ProfileRequest, RunningView, SchedView,
    StageShape, StageView,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use uuid::Uuid;

const START: Micros = Micros::from_secs(1_000_000);
const POLICIES: [Policy; 5] = Policy::ALL;
/// The last of them is never configured.
const POOLS: [&str; 4] = ["cpu", "gpu", "tpu", "own"];
/// The pools of each plugin's stages.
const PLUGINS: [&[&str]; 5] =
    [&["gpu"], &["cpu", "gpu"], &["cpu", "gpu", "cpu"], &["tpu", "own"], &["gpu", "tpu", "gpu"]];
/// The most requests in a history, and in a batch at each stage.
const REQUESTS_MAX: u32 = 12;
/// Workers that may be there with which whatever comes next begins.
const FEW: usize = 4;

/// A planner's life: what it learns, then what it sees, ten seconds apart.
#[derive(Debug, Clone)]
struct Life {
    config: PlanConfig,
    learned: Vec<Arc<Profile>>,
    seen: Vec<SchedView>,
}

impl Life {
    fn planner(&self) -> Planner {
        let mut planner = Planner::new(self.config.clone());
        self.learned.iter().for_each(|profile| planner.learn(Arc::clone(profile)));
        planner
    }

    /// Each plan with the state that it was made from.
    fn plans<'a>(&'a self, planner: &mut Planner) -> Vec<(Plan, &'a SchedView)> {
        let at = |nth: usize| START + Micros::from_secs(10 * nth as u64);
        let seen = self.seen.iter().enumerate();
        seen.map(|(nth, seen)| (planner.plan(at(nth), seen), seen)).collect()
    }

    fn knows(&self, batch: &BatchView) -> bool {
        let pools = |stages: &[StageShape]| -> Vec<Arc<str>> {
            stages.iter().map(|stage| Arc::clone(&stage.pool)).collect()
        };
        let alike = |profile: &&Arc<Profile>| pools(&profile.stages) == pools(&batch.stages);
        // A batch of errors alone says nothing.
        let says = |profile: &Arc<Profile>| {
            profile.requests.iter().any(|request| request.ending != Ending::Error)
        };
        // Each run goes by its last batch: the batch's own, its plugin's last, and the last of all.
        let latest = || self.learned.iter().rev();
        let says_of = |run: &Arc<str>| latest().find(|profile| profile.run == *run).filter(alike);
        let plugins = latest().find(|profile| profile.plugin == batch.plugin);
        let runs = [plugins, self.learned.last()].into_iter().flatten().map(|last| &last.run);
        let known = std::iter::once(&batch.run).chain(runs).any(|run| says_of(run).is_some());
        self.learned.iter().all(says) && known
    }

    /// The most requests of a pool that a plan can count with.
    fn participants(&self, pool: &str, seen: &SchedView) -> usize {
        let uses = |batch: &&BatchView| batch.stages.iter().any(|stage| &*stage.pool == pool);
        let batches = seen.batches.iter().filter(uses);
        batches.map(|batch| self.live(batch) + self.to_come(batch)).sum()
    }

    fn live(&self, batch: &BatchView) -> usize {
        batch.at_stage.iter().map(StageView::requests).sum()
    }

    fn to_come(&self, batch: &BatchView) -> usize {
        match batch.expected_size {
            _ if batch.sealed => 0,
            Some(size) if self.config.tuning.by_size => {
                size.saturating_sub(batch.submitted) as usize
            }
            _ => REQUESTS_MAX as usize,
        }
    }
}

fn configs() -> impl Strategy<Value = PlanConfig> {
    let startups = select(vec![0, 50, 10_000, 40_000]);
    let pool = (0..6_usize, 0..30_usize, 1..20_u32, startups);
    (select(POLICIES.to_vec()), vec(pool, 3), 0..20_u64).prop_map(|(policy, pools, tolerance)| {
        let pools = POOLS.into_iter().zip(pools).map(|(name, (min, max, cost, startup))| {
            let (cost, startup) = (f64::from(cost), Micros::from_ms(startup));
            let linger = Micros::ZERO;
            (Arc::from(name), PoolConfig { min, max, cost, startup, linger })
        });
        let mut config = PlanConfig::new(policy, pools.collect());
        config.tolerance = Micros::from_secs(tolerance);
        config
    })
}

fn stages(plugin: usize) -> Arc<[StageShape]> {
    let shape = |pool: &&str| StageShape {
        pool: (*pool).into(),
        timeout: Micros::from_secs(40),
        retries_max: 0,
    };
    PLUGINS[plugin].iter().map(shape).collect()
}

fn seconds(max: u64) -> impl Strategy<Value = Micros> {
    (0..=max * 1_000).prop_map(Micros::from_ms)
}

fn profiles() -> impl Strategy<Value = Arc<Profile>> {
    // A stage that takes no time was not reached, nor were the stages after it.
    let request = (seconds(60), vec(seconds(40), 3), 0..4_usize);
    let requests = vec(request, 1..=REQUESTS_MAX as usize);
    (0..PLUGINS.len(), 0..3_u8, seconds(50), requests).prop_map(|(plugin, run, lead, requests)| {
        let width = PLUGINS[plugin].len();
        let ending = |reached: usize| match reached {
            0 => Ending::Error,
            1 => Ending::TimedOut,
            _ => Ending::Scored,
        };
        let times = |(_, ran, reached): &(Micros, Vec<Micros>, usize)| -> Vec<Micros> {
            let time = |(stage, time): (usize, &Micros)| {
                if stage < *reached { *time } else { Micros::ZERO }
            };
            ran.iter().enumerate().map(time).take(width).collect()
        };
        Arc::new(Profile {
            batch: BatchId(Uuid::nil()),
            tenant: TenantId(Uuid::nil()),
            run: format!("run-{run}").into(),
            plugin: Digest([plugin as u8; 32]),
            stages: stages(plugin),
            announced: START,
            first_arrival: START + lead,
            earliest_end: START,
            ended: START,
            ran: requests.iter().flat_map(times).collect(),
            requests: requests
                .iter()
                .map(|(arrived, _, reached)| ProfileRequest {
                    arrived: *arrived,
                    ending: ending(*reached),
                })
                .collect(),
        })
    })
}

fn stages_seen() -> impl Strategy<Value = StageView> {
    let running =
        (seconds(45), seconds(20)).prop_map(|(elapsed, queued)| RunningView { elapsed, queued });
    let running = vec(running, 0..REQUESTS_MAX as usize);
    let held = prop_oneof![3 => Just(0), 1 => 0..REQUESTS_MAX as usize];
    let waiting = (0..REQUESTS_MAX as usize, held);
    (waiting, running, seconds(60), 0..80_u32, seconds(40)).prop_map(
        |((waiting, held), running, ago, ended, each)| StageView {
            waiting,
            held,
            running,
            reached: START - ago,
            ended,
            ended_time: Micros(each.0 * u64::from(ended)),
        },
    )
}

fn batches() -> impl Strategy<Value = BatchView> {
    let ages = (seconds(200), proptest::option::of(seconds(200)));
    let sizes = (0..40_u32, proptest::option::of(0..60_u32), any::<bool>());
    let known = (proptest::option::of(seconds(60)), proptest::option::of(seconds(60)));
    (0..PLUGINS.len(), 0..3_u8, ages, sizes, known, vec(stages_seen(), 3)).prop_map(
        |(plugin, run, (announced, first), sizes, (end, rank), mut at_stage)| {
            let (submitted, expected_size, sealed) = sizes;
            at_stage.truncate(PLUGINS[plugin].len());
            BatchView {
                id: BatchId(Uuid::nil()),
                tenant: TenantId(Uuid::nil()),
                run: format!("run-{run}").into(),
                plugin: Digest([plugin as u8; 32]),
                stages: stages(plugin),
                tolerance: None,
                consumes: Consumes::Batch,
                announced: START - announced.max(first.unwrap_or_default()),
                first_arrival: first.map(|first| START - first),
                submitted,
                expected_size,
                sealed,
                earliest_end: end.map(|end| START + end),
                rank: rank.map(|rank| START + rank),
                at_stage,
                waiters: 0,
            }
        },
    )
}

fn pools_seen() -> impl Strategy<Value = PoolView> {
    let startup = proptest::option::of(select(vec![0, 50, 10_000]));
    let workers_max = proptest::option::weighted(0.3, 0..40_usize);
    let came = prop_oneof![3 => Just(0), 1 => 1..8_usize];
    let starts = (vec(seconds(50), 0..5), vec(seconds(600), 0..3));
    (0..30_usize, 0..30_usize, came, starts, startup, workers_max).prop_map(
        |(workers, idle, came, (starting, unplaced), startup, workers_max)| PoolView {
            workers,
            unplaced,
            came: came.min(workers),
            idle: idle.min(workers),
            starting,
            startup: startup.map(Micros::from_ms),
            workers_max,
            ..PoolView::default()
        },
    )
}

fn sights() -> impl Strategy<Value = SchedView> {
    (vec(pools_seen(), POOLS.len()), vec(batches(), 0..4)).prop_map(|(pools, mut batches)| {
        for (number, batch) in batches.iter_mut().enumerate() {
            batch.id = BatchId(Uuid::from_u128(number as u128));
        }
        let pools = POOLS.into_iter().zip(pools).map(|(name, pool)| (Arc::from(name), pool));
        SchedView { pools: pools.collect(), batches, ..SchedView::default() }
    })
}

fn lives() -> impl Strategy<Value = Life> {
    (configs(), vec(profiles(), 0..10), vec(sights(), 1..4))
        .prop_map(|(config, learned, seen)| Life { config, learned, seen })
}

/// The bounds that hold for whatever is seen; workers that came by themselves are beside them.
fn check_bounds(config: &PoolConfig, pool: &PoolReport) -> Result<(), TestCaseError> {
    let PoolReport { hold, ceiling, .. } = *pool;
    prop_assert!(config.min <= hold, "{pool:?} of {config:?}");
    prop_assert!(hold <= ceiling, "{pool:?} of {config:?}");
    prop_assert!(ceiling <= config.min.max(config.max), "{pool:?} of {config:?}");
    Ok(())
}

/// No worker is started above the tenants' limits, under which nobody could use it.
fn check_tenants(
    config: &PoolConfig,
    pool: &PoolReport,
    seen: &SchedView,
) -> Result<(), TestCaseError> {
    let most = seen.pools[&pool.pool].workers_max.unwrap_or(usize::MAX);
    prop_assert!(pool.ceiling <= most.max(config.min), "{pool:?}, {most} of {config:?}");
    Ok(())
}

/// Nothing is held that is neither there nor used when nothing queues.
fn check_hold(
    config: &PoolConfig,
    pool: &PoolReport,
    seen: &SchedView,
) -> Result<(), TestCaseError> {
    let there = &seen.pools[&pool.pool];
    let most = (there.workers + there.starting.len()).max(pool.zero_queue).max(config.min);
    prop_assert!(pool.hold <= most, "{pool:?} with {there:?} of {config:?}");
    Ok(())
}

/// The bound of a ceiling, where everything is known. It is at most the number of workers that the pool can
/// use at the same time, holds or keeps busy, with the headroom on top of the first two, unless starting a
/// worker costs almost nothing.
fn check_ceiling(life: &Life, pool: &PoolReport, seen: &SchedView) -> Result<(), TestCaseError> {
    let there = &seen.pools[&pool.pool];
    // A plan counts all workers of a pool, also those that joined by themselves.
    let (hold, ceiling) = (pool.hold + there.came, pool.ceiling + there.came);
    let pool = &PoolReport { hold, ceiling, ..pool.clone() };
    let config = &life.config.pools[&pool.pool];
    let config = &PoolConfig { min: config.min + there.came, ..config.clone() };
    if life.config.policy != Policy::ZQ {
        let participants = life.participants(&pool.pool, seen);
        prop_assert!(pool.zero_queue <= participants, "{pool:?} with {participants} at most");
    }
    let startup = there.startup.unwrap_or(config.startup);
    // The longest stage that there can be takes 40 s.
    let is_free = startup.as_secs_f64() <= life.config.tuning.free_startup * 40.0;
    if life.config.policy == Policy::ASSAY && is_free {
        return Ok(());
    }
    let top = pool.zero_queue.max(pool.hold);
    let top = top + (life.config.tuning.headroom * (top as f64).sqrt()) as usize;
    let busy = if life.config.policy == Policy::ASSAY { there.workers - there.idle } else { 0 };
    let most = top.max(busy).max(FEW).max(config.min);
    prop_assert!(pool.ceiling <= most, "{pool:?}, {most} at most, with {there:?} of {config:?}");
    Ok(())
}

/// True for the pools about which the policy has a choice.
fn is_chosen(life: &Life, pool: &PoolReport) -> bool {
    life.config.policy != Policy::FIXED && !life.config.pools[&pool.pool].is_fixed()
}

/// What a tenant only announces takes no more of the planner's time and memory than its limit allows.
#[test]
fn announcements_alone_do_not_fill_the_planner() {
    let pool =
        PoolConfig { min: 2, max: 2, cost: 1.0, startup: Micros::ZERO, linger: Micros::ZERO };
    let pools = BTreeMap::from([(Arc::from("gpu"), pool)]);
    let mut planner = Planner::new(PlanConfig::new(Policy::ASSAY, pools));
    let request = ProfileRequest { arrived: Micros::ZERO, ending: Ending::Scored };
    planner.learn(Arc::new(Profile {
        batch: BatchId(Uuid::nil()),
        tenant: TenantId(Uuid::nil()),
        run: "run".into(),
        plugin: Digest([0; 32]),
        stages: stages(0),
        announced: START,
        first_arrival: START,
        earliest_end: START,
        ended: START,
        ran: vec![Micros::from_ms(1)],
        requests: [request].into(),
    }));
    let announced = |number: u128| BatchView {
        id: BatchId(Uuid::from_u128(number)),
        tenant: TenantId(Uuid::nil()),
        run: "run".into(),
        plugin: Digest([0; 32]),
        stages: stages(0),
        tolerance: None,
        consumes: Consumes::Batch,
        announced: START,
        first_arrival: None,
        submitted: 0,
        expected_size: Some(limits::BATCH_REQUESTS_MAX),
        sealed: false,
        earliest_end: None,
        rank: None,
        at_stage: vec![StageView::default()],
        waiters: 0,
    };
    let mut batches: Vec<BatchView> = (0..200).map(announced).collect();
    // It has run for longer than all history.
    let running = RunningView { elapsed: Micros::from_secs(30), queued: Micros::ZERO };
    batches[199].first_arrival = Some(START);
    batches[199].submitted = 1;
    batches[199].at_stage[0].running = vec![running];
    let seen = SchedView { batches, ..SchedView::default() };
    let plan = planner.plan(START, &seen);
    let planned = plan.report.requests;
    assert!((2..=limits::PLANNED_REQUESTS_MAX).contains(&planned), "{planned} are planned for");
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 4 * ProptestConfig::default().cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_plan_stays_within_its_bounds(life in lives()) {
        for (plan, seen) in life.plans(&mut life.planner()) {
            let planned: Vec<&Arc<str>> = plan.pools.iter().map(|pool| &pool.pool).collect();
            prop_assert_eq!(planned, life.config.pools.keys().collect::<Vec<_>>());
            let all_known = seen.batches.iter().all(|batch| life.knows(batch));
            for pool in &plan.report.pools {
                let config = &life.config.pools[&pool.pool];
                check_bounds(config, pool)?;
                if is_chosen(&life, pool) {
                    check_hold(config, pool, seen)?;
                    check_tenants(config, pool, seen)?;
                }
                if is_chosen(&life, pool) && all_known {
                    check_ceiling(&life, pool, seen)?;
                }
            }
        }
    }

    #[test]
    fn the_same_life_has_the_same_plans(life in lives()) {
        let first = life.plans(&mut life.planner());
        prop_assert_eq!(first, life.plans(&mut life.planner()));
    }

    #[test]
    fn where_nothing_is_live_the_minimum_is_left(life in lives()) {
        let mut planner = life.planner();
        let before = life.plans(&mut planner);
        let pools = before.last().map(|(_, seen)| seen.pools.clone()).unwrap_or_default();
        let nothing = SchedView { pools, ..SchedView::default() };
        let plans = life.config.tuning.held_plans + 1;
        let mut again = None;
        let mut held = BTreeMap::new();
        for nth in 0..plans {
            let now = START + Micros::from_secs(1_000 + 10 * nth as u64);
            let plan = planner.plan(now, &nothing);
            again = plan.again;
            held = plan.pools.into_iter().map(|pool| (pool.pool, pool.hold)).collect();
        }
        let pools = life.config.pools.iter();
        let least: BTreeMap<Arc<str>, usize> = pools
            .map(|(name, pool)| {
                let fixed = life.config.policy == Policy::FIXED;
                (Arc::clone(name), if fixed { pool.max.max(pool.min) } else { pool.min })
            })
            .collect();
        prop_assert_eq!(held, least);
        prop_assert_eq!(again, None);
    }
}
