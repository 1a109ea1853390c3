//! The planner, on a thread of its own: a plan takes up to a second, and the loop never waits.
//!
//! The loop leaves what it wants in the in-tray and goes on; the plan comes back as a command. At
//! most one call waits: a newer one replaces it, as its view of the service is the better one.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use assay_model::time::Micros;
use assay_sched::{
    Event, Plan, PlanConfig, PlanReport, Planner, PoolConfig, PoolPlan, Profile, Seen,
};
use tokio::sync::{mpsc, oneshot};

use super::Command;
use crate::store::capacity::CapacityRow;
use crate::store::{Store, StoreError};

/// A planner that failed is called again after this long.
const FAILED_PAUSE: Micros = Micros::from_secs(1);

/// How a pool is planned for that was not named at the start.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolDefaults {
    /// By pool; 1 for one that is not here.
    pub costs: BTreeMap<Arc<str>, f64>,
    pub startup: Micros,
    pub linger: Micros,
}

impl PoolDefaults {
    #[must_use]
    pub fn pool(&self, name: &str, bounds: Bounds) -> PoolConfig {
        PoolConfig {
            min: bounds.min,
            max: bounds.max,
            cost: self.costs.get(name).copied().unwrap_or(1.0),
            startup: self.startup,
            linger: self.linger,
        }
    }
}

/// How many workers a pool has at least and at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    pub min: usize,
    pub max: usize,
}

/// Bounds that were set while an earlier server ran override the command line.
pub async fn override_bounds(
    store: &Store,
    config: &mut PlanConfig,
    defaults: &PoolDefaults,
) -> Result<(), StoreError> {
    for CapacityRow { pool, min, max, set_at } in store.capacity().await? {
        let bounds = Bounds { min: min as usize, max: max as usize };
        let before = config.pools.get(&*pool).map(|pool| (pool.min, pool.max));
        if before != Some((bounds.min, bounds.max)) {
            tracing::warn!(
                worker.pool = pool,
                "this pool has {min}..{max} workers, as set at {set_at}, whatever the command line says"
            );
        }
        bound(config, defaults, &pool.into(), bounds);
    }
    Ok(())
}

fn bound(config: &mut PlanConfig, defaults: &PoolDefaults, pool: &Arc<str>, bounds: Bounds) {
    let fresh = || defaults.pool(pool, bounds);
    let pool = config.pools.entry(Arc::clone(pool)).or_insert_with(fresh);
    (pool.min, pool.max) = (bounds.min, bounds.max);
}

/// What came of one call of the planner.
pub(super) struct Planned {
    pools: Vec<PoolPlan>,
    again: Option<Micros>,
    /// `None` when the planner failed.
    report: Option<PlanReport>,
    took: Duration,
}

/// A plan that is in force.
pub(super) struct Made {
    pub report: PlanReport,
    pub took: Duration,
}

/// The loop's side.
pub(super) struct Planning {
    pub config: PlanConfig,
    pub last: Option<Made>,
    defaults: PoolDefaults,
    tray: Arc<Tray>,
}

impl Planning {
    /// Starts the thread; it ends after this is dropped, and `ended` resolves then.
    pub(super) fn start(
        config: PlanConfig,
        defaults: PoolDefaults,
        history: Vec<Arc<Profile>>,
        commands: mpsc::Sender<Command>,
    ) -> std::io::Result<(Self, oneshot::Receiver<()>)> {
        let tray = Arc::new(Tray::default());
        tray.put(|wanted| wanted.profiles = history);
        let clerk = Clerk::new(config.clone());
        let (ending, ended) = oneshot::channel();
        let calls = Arc::clone(&tray);
        std::thread::Builder::new().name("planner".into()).spawn(move || {
            serve(clerk, &calls, &commands);
            // Nobody waits where the start of the server failed.
            let _ = ending.send(());
        })?;
        Ok((Self { config, last: None, defaults, tray }, ended))
    }

    /// A batch was completed; heard before any plan that is called for later.
    pub(super) fn learn(&self, profile: Arc<Profile>) {
        self.tray.put(|wanted| wanted.profiles.push(profile));
    }

    pub(super) fn call(&self, now: Micros, seen: Seen) {
        self.tray.put(|wanted| wanted.plan = Some((now, seen)));
    }

    /// From the next plan on.
    pub(super) fn set_bounds(&mut self, pool: &Arc<str>, bounds: Bounds) {
        bound(&mut self.config, &self.defaults, pool, bounds);
        self.tray.put(|wanted| wanted.config = Some(self.config.clone()));
    }

    /// What a second of a worker costs.
    pub(super) fn cost(&self, pool: &str) -> f64 {
        let named = self.config.pools.get(pool).map(|pool| pool.cost);
        named.or_else(|| self.defaults.costs.get(pool).copied()).unwrap_or(1.0)
    }

    /// Keeps the report for readers; the rest is the scheduler's.
    pub(super) fn take(&mut self, planned: Planned) -> Event {
        let Planned { pools, again, report, took } = planned;
        metrics::histogram!("assay_planner_seconds").record(took.as_secs_f64());
        if let Some(report) = report {
            self.last = Some(Made { report, took });
        }
        Event::Planned { pools, again }
    }
}

impl Drop for Planning {
    fn drop(&mut self) {
        self.tray.put(|wanted| wanted.closed = true);
    }
}

/// What the planner is to do next.
#[derive(Default)]
struct Wanted {
    profiles: Vec<Arc<Profile>>,
    config: Option<PlanConfig>,
    plan: Option<(Micros, Seen)>,
    closed: bool,
}

#[derive(Default)]
struct Tray {
    wanted: Mutex<Wanted>,
    filled: Condvar,
}

impl Tray {
    fn put(&self, put: impl FnOnce(&mut Wanted)) {
        put(&mut self.lock());
        self.filled.notify_one();
    }

    /// Waits for a call to plan, and takes all that was put before it; `None` when it is closed.
    fn take(&self) -> Option<Wanted> {
        let mut wanted = self.lock();
        while wanted.plan.is_none() && !wanted.closed {
            wanted = self.filled.wait(wanted).unwrap_or_else(PoisonError::into_inner);
        }
        (!wanted.closed).then(|| std::mem::take(&mut *wanted))
    }

    fn lock(&self) -> MutexGuard<'_, Wanted> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn serve(mut clerk: Clerk, tray: &Tray, commands: &mpsc::Sender<Command>) {
    while let Some(wanted) = tray.take() {
        let Some(planned) = clerk.answer(wanted, Planner::plan) else { continue };
        if commands.blocking_send(Command::Planned(planned)).is_err() {
            return;
        }
    }
}

/// The thread's side: a planner that is replaced when it panics.
struct Clerk {
    config: PlanConfig,
    planner: Planner,
    /// Some plan is in force.
    planned: bool,
}

impl Clerk {
    fn new(config: PlanConfig) -> Self {
        Self { planner: Planner::new(config.clone()), config, planned: false }
    }

    fn answer(
        &mut self,
        wanted: Wanted,
        plan: impl FnOnce(&mut Planner, Micros, &Seen) -> Plan,
    ) -> Option<Planned> {
        let Wanted { profiles, config, plan: call, closed: _ } = wanted;
        let (now, seen) = call?;
        let changed = config.is_some();
        self.config = config.unwrap_or_else(|| self.config.clone());
        let started = Instant::now();
        // What it had in hand when it panicked is thrown away.
        let made = catch_unwind(AssertUnwindSafe(|| {
            if changed {
                self.planner.configure(self.config.clone());
            }
            profiles.into_iter().for_each(|profile| self.planner.learn(profile));
            plan(&mut self.planner, now, &seen)
        }));
        let took = started.elapsed();
        let planned = match made {
            Ok(Plan { pools, again, report }) => {
                Planned { pools, again, report: Some(report), took }
            }
            Err(panic) => self.failed(now, changed, &*panic, took),
        };
        self.planned = true;
        Some(planned)
    }

    /// The planner starts anew, without the history that may have been what it failed at.
    fn failed(
        &mut self,
        now: Micros,
        changed: bool,
        panic: &(dyn std::any::Any + Send),
        took: Duration,
    ) -> Planned {
        let texts = (panic.downcast_ref::<&str>().copied(), panic.downcast_ref::<String>());
        let said = texts.0.or(texts.1.map(String::as_str)).unwrap_or("it did not say why");
        self.planner = Planner::new(self.config.clone());
        // New bounds hold also when nobody can say what is best within them.
        let bounds = !self.planned || changed;
        let stays = if bounds { "demand alone moves the pools" } else { "the last plan stays" };
        tracing::error!("the planner panicked and starts anew without history; {stays}: {said}");
        let pools = self.config.pools.iter().filter(|_| bounds).map(|(name, pool)| PoolPlan {
            pool: Arc::clone(name),
            hold: pool.min,
            ceiling: pool.max,
            linger: pool.linger,
        });
        Planned { pools: pools.collect(), again: Some(now + FAILED_PAUSE), report: None, took }
    }
}

#[cfg(test)]
mod tests {
    use assay_sched::Mode;

    use super::*;

    const BOUNDS: Bounds = Bounds { min: 1, max: 4 };

    fn defaults() -> PoolDefaults {
        let costs = BTreeMap::from([("gpu".into(), 10.0)]);
        PoolDefaults { costs, startup: Micros::from_ms(100), linger: Micros::from_secs(1) }
    }

    fn config() -> PlanConfig {
        let pools = BTreeMap::from([("cpu".into(), defaults().pool("cpu", BOUNDS))]);
        PlanConfig::new(Mode::Fixed, pools)
    }

    fn wanted(at: u64) -> Wanted {
        Wanted { plan: Some((Micros(at), Seen::default())), ..Wanted::default() }
    }

    fn holds(planned: &Planned) -> Vec<(&str, usize, usize)> {
        planned.pools.iter().map(|plan| (&*plan.pool, plan.hold, plan.ceiling)).collect()
    }

    #[test]
    fn the_newest_call_replaces_the_one_that_waits() {
        let (commands, mut plans) = mpsc::channel(1);
        let tray = Arc::new(Tray::default());
        tray.put(|wanted| wanted.plan = Some((Micros(1), Seen::default())));
        tray.put(|wanted| wanted.plan = Some((Micros(2), Seen::default())));
        let thread = std::thread::spawn({
            let tray = Arc::clone(&tray);
            move || serve(Clerk::new(config()), &tray, &commands)
        });
        let next = |plans: &mut mpsc::Receiver<Command>| match plans.blocking_recv() {
            Some(Command::Planned(planned)) => planned.report.map(|report| report.at),
            _ => None,
        };
        assert_eq!(next(&mut plans), Some(Micros(2)));
        tray.put(|wanted| wanted.plan = Some((Micros(3), Seen::default())));
        assert_eq!(next(&mut plans), Some(Micros(3)));
        tray.put(|wanted| wanted.closed = true);
        thread.join().expect("it ends well");
        assert!(plans.try_recv().is_err());
    }

    #[test]
    fn a_planner_that_panics_is_replaced_and_the_last_plan_stays() {
        let mut clerk = Clerk::new(config());
        let panics = |_: &mut Planner, _: Micros, _: &Seen| -> Plan { panic!("on purpose") };
        // Without a plan in force the bounds are one.
        let first = clerk.answer(wanted(1), panics).expect("an answer");
        assert_eq!(holds(&first), [("cpu", 1, 4)]);
        assert_eq!(first.again, Some(Micros(1) + FAILED_PAUSE));
        assert!(first.report.is_none());
        let good = clerk.answer(wanted(2), Planner::plan).expect("an answer");
        assert_eq!(holds(&good), [("cpu", 4, 4)]);
        let bad = clerk.answer(wanted(3), panics).expect("an answer");
        assert_eq!(holds(&bad), []);
        let mut lower = config();
        lower.pools.get_mut("cpu").expect("is there").max = 2;
        let bounded = Wanted { config: Some(lower), ..wanted(4) };
        assert_eq!(holds(&clerk.answer(bounded, panics).expect("an answer")), [("cpu", 1, 2)]);
        // The new one plans within the new bounds.
        let good = clerk.answer(wanted(5), Planner::plan).expect("an answer");
        assert_eq!(holds(&good), [("cpu", 2, 2)]);
    }

    #[test]
    fn a_pool_that_is_new_gets_the_defaults() {
        let (commands, _plans) = mpsc::channel(1);
        let (mut planning, ended) =
            Planning::start(config(), defaults(), Vec::new(), commands).expect("a thread");
        planning.set_bounds(&"gpu".into(), Bounds { min: 0, max: 2 });
        planning.set_bounds(&"cpu".into(), Bounds { min: 2, max: 2 });
        let pools = &planning.config.pools;
        assert_eq!((pools["gpu"].cost, pools["gpu"].max), (10.0, 2));
        assert_eq!((pools["cpu"].cost, pools["cpu"].min, pools["cpu"].max), (1.0, 2, 2));
        drop(planning);
        ended.blocking_recv().expect("the thread ends");
    }
}
