//! The bursts of all runs: which one a call belongs to, when one is opened, who follows it.
//!
//! A run has one burst that takes calls. Its batch carries a mark under which it is found again after a
//! restart: it then goes on, and is sealed like any other.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use assay_model::api::{AnnounceBatch, BatchState};
use assay_model::id::{BatchId, Digest, TenantId};
use assay_model::limits;
use tokio::sync::{Semaphore, watch};
use tokio::time::Instant;

use super::super::auth::Caller;
use super::super::problem::ApiError;
use super::super::{App, batches, quotas};
use super::burst::{Burst, Seat};
use crate::dispatch::board::Published;
use crate::dispatch::{Announcement, Dispatch};
use crate::store::admissions::Idempotency;
use crate::store::{Store, StoreError};

const REPEAT: Duration = Duration::from_secs(limits::COMPAT_REPEAT_SECONDS);
const GAP: Duration = Duration::from_secs(limits::COMPAT_GAP_SECONDS);

/// Whose burst: of a run, or of one step of it where the trainer counts them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Whose {
    pub tenant: TenantId,
    pub run: String,
    pub step: Option<u64>,
}

/// What a call asks for.
pub(super) struct Wanted<'a> {
    pub whose: Whose,
    pub plugin: &'a str,
    pub gap: Option<Duration>,
    pub call: Digest,
}

pub(in crate::http) struct Bursts {
    dispatch: Dispatch,
    stopping: watch::Receiver<bool>,
    runs: Mutex<Runs>,
    /// Calls that wait.
    pub waiting: Semaphore,
}

type Runs = HashMap<Whose, Arc<tokio::sync::Mutex<Run>>>;

#[derive(Default)]
struct Run {
    /// The one that takes calls.
    taking: Option<Arc<Burst>>,
    /// Those before it, the newest first.
    kept: VecDeque<Arc<Burst>>,
    last_iteration: Option<u64>,
}

impl Run {
    fn is_empty(&self) -> bool {
        self.taking.is_none() && self.kept.is_empty()
    }
}

impl Bursts {
    pub(in crate::http) fn new(dispatch: Dispatch, stopping: watch::Receiver<bool>) -> Arc<Self> {
        let waiting = Semaphore::new(limits::COMPAT_WAITING_MAX);
        Arc::new(Self { dispatch, stopping, runs: Mutex::default(), waiting })
    }

    fn runs(&self) -> MutexGuard<'_, Runs> {
        // No code that holds the lock panics.
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes up what an earlier life of the server left open. To be called before any call comes.
    pub(in crate::http) async fn restore(
        self: &Arc<Self>,
        store: &Store,
    ) -> Result<(), StoreError> {
        for published in self.dispatch.board.live() {
            let (tenant, id) = (published.row.tenant, published.row.id);
            if published.look(|standing| standing.state == BatchState::Sealed) {
                continue;
            }
            for counted in [false, true] {
                let mark = mark(id, counted);
                if store.batch_by_idempotency_key(tenant, &mark).await?.is_none() {
                    continue;
                }
                let step = counted.then_some(published.row.iteration);
                let whose = Whose { tenant, run: published.row.run.clone(), step };
                // More than a tenant may have end when they expire.
                let Ok(run) = self.run(&whose) else { continue };
                let mut run = run.lock_owned().await;
                run.last_iteration = run.last_iteration.max(Some(published.row.iteration));
                self.take(&mut run, whose, Burst::new(published.clone(), GAP));
            }
        }
        Ok(())
    }

    fn run(&self, whose: &Whose) -> Result<Arc<tokio::sync::Mutex<Run>>, ApiError> {
        let mut runs = self.runs();
        if !runs.contains_key(whose) {
            let max = limits::COMPAT_RUNS_MAX;
            let theirs = |runs: &Runs| runs.keys().filter(|it| it.tenant == whose.tenant).count();
            if theirs(&runs) >= max {
                // Those of calls that were refused, or broke off.
                runs.retain(|_, run| {
                    Arc::strong_count(run) > 1 || run.try_lock().is_ok_and(|run| !run.is_empty())
                });
            }
            if theirs(&runs) >= max {
                let detail = format!("{max} runs of trainers are live already");
                return Err(ApiError::unavailable("too_many_runs", detail));
            }
        }
        Ok(runs.entry(whose.clone()).or_default().clone())
    }

    /// A seat at the burst that a call belongs to, which is opened if there is none.
    pub(super) async fn enter(
        self: &Arc<Self>,
        app: &App,
        caller: &Caller,
        wanted: &Wanted<'_>,
    ) -> Result<Seat, ApiError> {
        quotas::not_suspended(app, caller.tenant)?;
        let reference = batches::reference(caller, wanted.plugin)?;
        let mut run = self.run(&wanted.whose)?.lock_owned().await;
        let fits = |burst: &Burst| {
            let row = &burst.published.row;
            row.plugin == reference.name
                && (!reference.is_version() || row.version == reference.channel_or_version)
        };
        let mut all = run.taking.iter().chain(&run.kept).filter(|burst| fits(burst));
        if let Some(seat) = all.find_map(|burst| burst.sit_again(wanted.call)) {
            return Ok(seat);
        }
        if let Some(burst) = run.taking.as_ref().filter(|burst| fits(burst))
            && let Some(seat) = burst.sit(wanted.call)
        {
            return Ok(seat);
        }
        let burst = self.open(app, caller, wanted, &mut run).await?;
        self.take(&mut run, wanted.whose.clone(), burst.clone());
        burst
            .sit(wanted.call)
            .ok_or_else(|| ApiError::unavailable("batch_ended", "it ended at once"))
    }

    async fn open(
        &self,
        app: &App,
        caller: &Caller,
        wanted: &Wanted<'_>,
        run: &mut Run,
    ) -> Result<Arc<Burst>, ApiError> {
        let whose = &wanted.whose;
        let iteration = match (whose.step, run.last_iteration) {
            (Some(step), _) => step,
            (None, Some(last)) => last + 1,
            (None, None) => self.last_iteration(app, whose).await?.map_or(1, |last| last + 1),
        };
        let call = AnnounceBatch {
            plugin: wanted.plugin.into(),
            run: whose.run.clone(),
            iteration,
            expected_size: None,
            group_size: None,
            max_extra_delay_ms: None,
            share_equal: None,
            settings: None,
        };
        let (mut row, plugin) = batches::row(app, caller, call, None).await?;
        let key = mark(row.id, whose.step.is_some());
        let call_hash = crate::blob::digest(key.as_bytes());
        row.idempotency = Some(Idempotency { key, call_hash });
        let announcement = Announcement { row, plugin, lone: None, replays: None };
        let published = app.dispatch.announce(announcement).await?;
        run.last_iteration = Some(iteration);
        Ok(Burst::new(published, wanted.gap.unwrap_or(GAP)))
    }

    /// The last iteration of a run's batches, whoever made them.
    async fn last_iteration(&self, app: &App, whose: &Whose) -> Result<Option<u64>, ApiError> {
        let ended = match app.store.run_summary(whose.tenant, &whose.run).await {
            Ok((summary, _)) => summary.last_iteration,
            Err(StoreError::NotFound(_)) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let ours = |batch: &&Arc<Published>| {
            batch.row.tenant == whose.tenant && batch.row.run == whose.run
        };
        let live = self.dispatch.board.live();
        Ok(live.iter().filter(ours).map(|batch| batch.row.iteration).max().max(ended))
    }

    /// From now on calls go to this burst.
    fn take(self: &Arc<Self>, run: &mut Run, whose: Whose, burst: Arc<Burst>) {
        if let Some(before) = run.taking.replace(burst.clone()) {
            before.close();
            run.kept.push_front(before);
            run.kept.truncate(limits::COMPAT_REPEAT_BATCHES_MAX);
        }
        tokio::spawn(self.clone().follow(whose, burst));
    }

    /// Sees to a burst until it is forgotten: tells of results, seals its batch.
    async fn follow(self: Arc<Self>, whose: Whose, burst: Arc<Burst>) {
        let mut stopping = self.stopping.clone();
        tokio::select! {
            () = self.follow_batch(&whose, &burst) => burst.end(),
            // What waits is told by its own look at the stop.
            _ = stopping.wait_for(|stopped| *stopped) => return burst.end(),
        }
        tokio::select! {
            () = tokio::time::sleep(REPEAT) => {}
            _ = stopping.wait_for(|stopped| *stopped) => return,
        }
        self.forget(&whose, &burst).await;
    }

    async fn follow_batch(&self, whose: &Whose, burst: &Burst) {
        let mut changes = burst.published.watch();
        let (mut seen, mut sealed) = (0, false);
        loop {
            changes.borrow_and_update();
            let ended = burst.published.look(|standing| standing.state.is_final());
            seen = burst.note(seen);
            if ended {
                return;
            }
            let look = if sealed { None } else { Some(burst.close_if_idle()) };
            if burst.is_closed() && !sealed {
                sealed = true;
                // A batch that is not live any more has ended, and its change is on its way.
                let _ = self.dispatch.seal(whose.tenant, burst.published.row.id, None).await;
                continue;
            }
            tokio::select! {
                changed = changes.changed() => if changed.is_err() { return },
                () = burst.closed.notified(), if !sealed => {}
                () = tokio::time::sleep_until(look.unwrap_or_else(Instant::now)), if !sealed => {}
            }
        }
    }

    async fn forget(&self, whose: &Whose, burst: &Arc<Burst>) {
        let Some(run) = self.runs().get(whose).cloned() else { return };
        let mut run = run.lock_owned().await;
        run.kept.retain(|kept| !Arc::ptr_eq(kept, burst));
        if run.taking.as_ref().is_some_and(|taking| Arc::ptr_eq(taking, burst)) {
            run.taking = None;
        }
        // Whoever has the run in hand but not its lock would fill one that nobody finds.
        let mut runs = self.runs();
        let held = runs.get(whose).is_some_and(|it| Arc::strong_count(it) > 2);
        if !held && run.is_empty() {
            runs.remove(whose);
        }
    }
}

/// The idempotency key of a burst's batch, which no header can carry.
fn mark(id: BatchId, counted: bool) -> String {
    format!("compat\u{a7}{id}\u{a7}{}", if counted { "step" } else { "gap" })
}
