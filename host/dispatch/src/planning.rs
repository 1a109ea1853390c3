//! The planner's thread. A plan takes up to a second, and the loop must not wait for it.
//!
//! The loop puts a call into the inbox and continues; the plan comes back as a command. A call while a plan is made
//! waits until that comes: its view, which copies what is known of each live batch, is made then.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use assay_core::time::Micros;
use assay_planner::{Forecast, Plan, PlanConfig, PlanReport, Planner, PoolConfig};
use assay_sched::{Event, PoolPlan, Profile, SchedView};
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};

use crate::command::Command;
use assay_store::capacity::CapacityRow;
use assay_store::{Store, StoreError};

/// The pause before a planner that failed is called again.
const FAILED_PAUSE: Micros = Micros::from_secs(1);

/// The settings of a pool that was not named at the start.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolDefaults {
    /// Cost of a worker's second by pool; 1 for other pools.
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

/// The minimum and maximum number of a pool's workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    pub min: usize,
    pub max: usize,
}

/// Replaces the command line's bounds by those that were set while an earlier server ran.
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

/// The answer to one call of the planner.
pub(super) struct PlanResult {
    pools: Vec<PoolPlan>,
    again: Option<Micros>,
    /// `None` if the planner failed.
    report: Option<PlanReport>,
    took: Duration,
}

impl PlanResult {
    /// The ends that it expects of live batches.
    pub(super) fn forecasts(&self) -> &[Forecast] {
        self.report.as_ref().map_or(&[], |report| &report.forecasts)
    }
}

/// The report of the plan that is in force.
pub(super) struct PlanInForce {
    pub report: PlanReport,
    pub took: Duration,
}

/// Where plans are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlannerPlace {
    /// On a thread of its own, as a plan may take long.
    Thread,
    /// On the runtime, which waits for it: for simulations, whose time stands still meanwhile.
    Runtime,
}

/// The loop's side of the planner's thread.
pub(super) struct Planning {
    pub config: PlanConfig,
    pub last: Option<PlanInForce>,
    /// Whether the planner works on a call.
    working: bool,
    /// Whether it was called meanwhile.
    called: bool,
    defaults: PoolDefaults,
    inbox: Arc<PlannerInbox>,
    /// Says that something was put into the inbox; closed when this is dropped.
    filled: mpsc::Sender<()>,
}

impl Planning {
    /// Both sides; the planner must be started, and ends after this is dropped.
    pub(super) fn new(
        config: PlanConfig,
        defaults: PoolDefaults,
        history: Vec<Arc<Profile>>,
    ) -> (Self, PlannerSide) {
        let inbox = Arc::new(PlannerInbox::default());
        inbox.put(|contents| contents.profiles = history);
        let (filled, calls) = mpsc::channel(1);
        let thread = PlannerThread::new(config.clone());
        let planner = PlannerSide { thread, inbox: Arc::clone(&inbox), calls };
        let (working, called) = (false, false);
        (Self { config, last: None, working, called, defaults, inbox, filled }, planner)
    }

    fn put(&self, put: impl FnOnce(&mut InboxContents)) {
        self.inbox.put(put);
        // One that waits is enough, and a planner that has ended gets none.
        let _ = self.filled.try_send(());
    }

    /// Passes on the profile of a completed batch; later calls of the planner know it.
    pub(super) fn learn(&self, profile: Arc<Profile>) {
        self.put(|contents| contents.profiles.push(profile));
    }

    /// Calls the planner with what is seen now. While it works, the call waits and nothing is looked at.
    pub(super) fn call(&mut self, now: Micros, see: impl FnOnce() -> SchedView) {
        self.called = self.working;
        if !std::mem::replace(&mut self.working, true) {
            let seen = see();
            self.put(|contents| contents.plan = Some((now, seen)));
        }
    }

    /// Whether a call waits that can be made now.
    pub(super) fn is_called(&self) -> bool {
        self.called && !self.working
    }

    /// Sets a pool's bounds, from the next plan on.
    pub(super) fn set_bounds(&mut self, pool: &Arc<str>, bounds: Bounds) {
        bound(&mut self.config, &self.defaults, pool, bounds);
        self.put(|contents| contents.config = Some(self.config.clone()));
    }

    /// The cost of a worker's second.
    pub(super) fn cost(&self, pool: &str) -> f64 {
        let named = self.config.pools.get(pool).map(|pool| pool.cost);
        named.or_else(|| self.defaults.costs.get(pool).copied()).unwrap_or(1.0)
    }

    /// Keeps the report for readers and returns the event for the scheduler.
    pub(super) fn take(&mut self, planned: PlanResult) -> Event {
        let PlanResult { pools, again, report, took } = planned;
        self.working = false;
        metrics::histogram!("assay_planner_seconds").record(took.as_secs_f64());
        if let Some(report) = report {
            self.last = Some(PlanInForce { report, took });
        }
        Event::Planned { pools, again }
    }
}

/// Everything that was put into the inbox since it was last emptied.
#[derive(Default)]
struct InboxContents {
    profiles: Vec<Arc<Profile>>,
    config: Option<PlanConfig>,
    plan: Option<(Micros, SchedView)>,
}

#[derive(Default)]
struct PlannerInbox(Mutex<InboxContents>);

impl PlannerInbox {
    fn put(&self, put: impl FnOnce(&mut InboxContents)) {
        put(&mut self.0.lock());
    }

    /// Empties the inbox, if a plan is asked for.
    fn take(&self) -> Option<InboxContents> {
        let mut contents = self.0.lock();
        contents.plan.is_some().then(|| std::mem::take(&mut *contents))
    }
}

/// The planner's side; it ends when the loop's side is dropped.
pub(super) struct PlannerSide {
    thread: PlannerThread,
    inbox: Arc<PlannerInbox>,
    calls: mpsc::Receiver<()>,
}

impl PlannerSide {
    /// Starts it; the receiver resolves when it has ended.
    pub(super) fn start(
        self,
        place: PlannerPlace,
        commands: mpsc::Sender<Command>,
    ) -> std::io::Result<oneshot::Receiver<()>> {
        let (ending, ended) = oneshot::channel();
        let end = move || {
            // The receiver is gone if the start of the server failed.
            let _ = ending.send(());
        };
        match place {
            PlannerPlace::Thread => {
                std::thread::Builder::new().name("planner".into()).spawn(move || {
                    self.serve_on_thread(&commands);
                    end();
                })?;
            }
            PlannerPlace::Runtime => {
                tokio::spawn(async move {
                    self.serve_on_runtime(&commands).await;
                    end();
                });
            }
        }
        Ok(ended)
    }

    fn serve_on_thread(mut self, commands: &mpsc::Sender<Command>) {
        while self.calls.blocking_recv().is_some() && !self.calls.is_closed() {
            let Some(planned) = self.answer() else { continue };
            if commands.blocking_send(Command::Planned(planned)).is_err() {
                return;
            }
        }
    }

    async fn serve_on_runtime(mut self, commands: &mpsc::Sender<Command>) {
        while self.calls.recv().await.is_some() && !self.calls.is_closed() {
            let Some(planned) = self.answer() else { continue };
            if commands.send(Command::Planned(planned)).await.is_err() {
                return;
            }
        }
    }

    fn answer(&mut self) -> Option<PlanResult> {
        let contents = self.inbox.take()?;
        self.thread.answer(contents, Planner::plan)
    }
}

/// The state of the thread: a planner, which is replaced when it panics.
struct PlannerThread {
    config: PlanConfig,
    planner: Planner,
    /// Whether a plan is in force.
    planned: bool,
}

impl PlannerThread {
    fn new(config: PlanConfig) -> Self {
        Self { planner: Planner::new(config.clone()), config, planned: false }
    }

    fn answer(
        &mut self,
        contents: InboxContents,
        plan: impl FnOnce(&mut Planner, Micros, &SchedView) -> Plan,
    ) -> Option<PlanResult> {
        let InboxContents { profiles, config, plan: call } = contents;
        let (now, seen) = call?;
        let changed = config.is_some();
        self.config = config.unwrap_or_else(|| self.config.clone());
        let started = Instant::now();
        // A planner that panics is dropped, so its broken state is never used.
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
                PlanResult { pools, again, report: Some(report), took }
            }
            Err(panic) => self.failed(now, changed, &*panic, took),
        };
        self.planned = true;
        Some(planned)
    }

    /// Starts a new planner without history, because the history may have caused the panic.
    fn failed(
        &mut self,
        now: Micros,
        changed: bool,
        panic: &(dyn std::any::Any + Send),
        took: Duration,
    ) -> PlanResult {
        let texts = (panic.downcast_ref::<&str>().copied(), panic.downcast_ref::<String>());
        let said = texts.0.or(texts.1.map(String::as_str)).unwrap_or("it did not say why");
        self.planner = Planner::new(self.config.clone());
        // New bounds hold even if no plan could be made within them.
        let bounds = !self.planned || changed;
        let stays = if bounds { "demand alone moves the pools" } else { "the last plan stays" };
        tracing::error!("the planner panicked and starts anew without history; {stays}: {said}");
        let pools = self.config.pools.iter().filter(|_| bounds).map(|(name, pool)| PoolPlan {
            pool: Arc::clone(name),
            hold: pool.min,
            ceiling: pool.max,
            linger: pool.linger,
        });
        PlanResult { pools: pools.collect(), again: Some(now + FAILED_PAUSE), report: None, took }
    }
}

#[cfg(test)]
mod tests {
    use assay_planner::Policy;

    use super::*;

    const BOUNDS: Bounds = Bounds { min: 1, max: 4 };

    fn defaults() -> PoolDefaults {
        let costs = BTreeMap::from([("gpu".into(), 10.0)]);
        PoolDefaults { costs, startup: Micros::from_ms(100), linger: Micros::from_secs(1) }
    }

    fn config() -> PlanConfig {
        let pools = BTreeMap::from([("cpu".into(), defaults().pool("cpu", BOUNDS))]);
        PlanConfig::new(Policy::FIXED, pools)
    }

    fn contents(at: u64) -> InboxContents {
        InboxContents { plan: Some((Micros(at), SchedView::default())), ..InboxContents::default() }
    }

    fn holds(planned: &PlanResult) -> Vec<(&str, usize, usize)> {
        planned.pools.iter().map(|plan| (&*plan.pool, plan.hold, plan.ceiling)).collect()
    }

    #[test]
    fn a_call_while_the_planner_works_waits_and_copies_nothing() {
        let (commands, mut plans) = mpsc::channel(1);
        let (mut planning, planner) = Planning::new(config(), defaults(), Vec::new());
        planning.call(Micros(1), SchedView::default);
        planning.call(Micros(2), || unreachable!("the planner works"));
        assert!(!planning.is_called());
        let ended = planner.start(PlannerPlace::Thread, commands).expect("a thread");
        let next = |planning: &mut Planning, plans: &mut mpsc::Receiver<Command>| {
            let Some(Command::Planned(planned)) = plans.blocking_recv() else { return None };
            let _ = planning.take(planned);
            planning.last.as_ref().map(|last| last.report.at)
        };
        assert_eq!(next(&mut planning, &mut plans), Some(Micros(1)));
        assert!(planning.is_called());
        planning.call(Micros(3), SchedView::default);
        assert_eq!(next(&mut planning, &mut plans), Some(Micros(3)));
        assert!(!planning.is_called());
        drop(planning);
        ended.blocking_recv().expect("it ends well");
        assert!(plans.try_recv().is_err());
    }

    #[test]
    fn a_planner_that_panics_is_replaced_and_the_last_plan_stays() {
        let mut thread = PlannerThread::new(config());
        let panics = |_: &mut Planner, _: Micros, _: &SchedView| -> Plan { panic!("on purpose") };
        // Without a plan in force the bounds are one.
        let first = thread.answer(contents(1), panics).expect("an answer");
        assert_eq!(holds(&first), [("cpu", 1, 4)]);
        assert_eq!(first.again, Some(Micros(1) + FAILED_PAUSE));
        assert!(first.report.is_none());
        let good = thread.answer(contents(2), Planner::plan).expect("an answer");
        assert_eq!(holds(&good), [("cpu", 4, 4)]);
        let bad = thread.answer(contents(3), panics).expect("an answer");
        assert_eq!(holds(&bad), []);
        let mut lower = config();
        lower.pools.get_mut("cpu").expect("is there").max = 2;
        let bounded = InboxContents { config: Some(lower), ..contents(4) };
        assert_eq!(holds(&thread.answer(bounded, panics).expect("an answer")), [("cpu", 1, 2)]);
        // The new one plans within the new bounds.
        let good = thread.answer(contents(5), Planner::plan).expect("an answer");
        assert_eq!(holds(&good), [("cpu", 2, 2)]);
    }

    #[test]
    fn a_pool_that_is_new_gets_the_defaults() {
        let (commands, _plans) = mpsc::channel(1);
        let (mut planning, planner) = Planning::new(config(), defaults(), Vec::new());
        let ended = planner.start(PlannerPlace::Thread, commands).expect("a thread");
        planning.set_bounds(&"gpu".into(), Bounds { min: 0, max: 2 });
        planning.set_bounds(&"cpu".into(), Bounds { min: 2, max: 2 });
        let pools = &planning.config.pools;
        assert_eq!((pools["gpu"].cost, pools["gpu"].max), (10.0, 2));
        assert_eq!((pools["cpu"].cost, pools["cpu"].min, pools["cpu"].max), (1.0, 2, 2));
        drop(planning);
        ended.blocking_recv().expect("the thread ends");
    }
}
