//! The auto batches of all runs: which one a call belongs to, when one is opened, who follows it.
//!
//! A run has one auto batch that takes calls, of a trainer's protocol or of processes that announced it to be
//! joined. Its batch carries a mark under which it is found again after a restart: it then goes on, and is sealed
//! like any other.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use assay_api::batch::{AnnounceBatch, BatchState, JoinBatch, JoinBy};
use assay_core::id::{BatchId, Digest, TenantId};
use assay_core::limits;
use assay_dispatch::committed::CommittedBatch;
use assay_dispatch::fair_semaphore::FairSemaphore;
use assay_dispatch::{Announcement, Dispatch};
use assay_store::admissions::Idempotency;
use assay_store::{Store, StoreError};
use tokio::sync::watch;
use tokio::time::Instant;

use super::auto_batch::{AutoBatch, CallGuard};
use super::labels::{self, EncodedSample};
use crate::app::App;
use crate::auth::Caller;
use crate::problem::ApiError;
use crate::quotas;
use crate::routes::batches::{self, announce};

const REPEAT: Duration = Duration::from_secs(limits::COMPAT_REPEAT_SECONDS);
const GAP: Duration = Duration::from_secs(limits::COMPAT_GAP_SECONDS);

/// The run of an auto batch, and its step where the trainer counts steps.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct RunKey {
    pub tenant: TenantId,
    pub run: String,
    pub step: Option<u64>,
}

/// The auto batch that a call belongs to, and the call's hash.
pub(super) struct JoinRequest<'a> {
    pub whose: RunKey,
    pub plugin: &'a str,
    pub gap: Option<Duration>,
    pub call: Digest,
    pub samples: &'a [EncodedSample],
}

pub(crate) struct AutoBatches {
    dispatch: Dispatch,
    stopping: watch::Receiver<bool>,
    runs: Mutex<Runs>,
    /// Calls that wait.
    pub waiting: FairSemaphore,
}

type Runs = HashMap<RunKey, Arc<tokio::sync::Mutex<Run>>>;

#[derive(Default)]
struct Run {
    /// The one that takes calls.
    taking: Option<Arc<AutoBatch>>,
    /// The auto batches before it, the newest first.
    kept: VecDeque<Arc<AutoBatch>>,
    last_iteration: Option<u64>,
}

impl Run {
    fn is_empty(&self) -> bool {
        self.taking.is_none() && self.kept.is_empty()
    }
}

impl AutoBatches {
    pub(crate) fn new(dispatch: Dispatch, stopping: watch::Receiver<bool>) -> Arc<Self> {
        let waiting = FairSemaphore::new(limits::COMPAT_WAITING_MAX);
        Arc::new(Self { dispatch, stopping, runs: Mutex::default(), waiting })
    }

    fn runs(&self) -> MutexGuard<'_, Runs> {
        // No code that holds the lock panics.
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes up the auto batches that an earlier process of the server left open. Call it before any call
    /// is accepted.
    pub(crate) async fn restore(self: &Arc<Self>, store: &Store) -> Result<(), StoreError> {
        for committed in self.dispatch.committed.live() {
            let (tenant, id) = (committed.row.tenant, committed.row.id);
            if committed.look(|progress| progress.state == BatchState::Sealed) {
                continue;
            }
            for counted in [false, true] {
                let mark = mark(id, counted);
                if store.batch_by_idempotency_key(tenant, &mark).await?.is_none() {
                    continue;
                }
                let step = counted.then_some(committed.row.iteration);
                let whose = RunKey { tenant, run: committed.row.run.clone(), step };
                // More than a tenant may have end when they expire.
                let Ok(run) = self.run(&whose) else { continue };
                let mut run = run.lock_owned().await;
                run.last_iteration = run.last_iteration.max(Some(committed.row.iteration));
                // One that is joined may hold more than a protocol's own.
                let auto_batch = AutoBatch::new(committed.clone(), GAP, limits::BATCH_REQUESTS_MAX);
                self.take(&mut run, whose, auto_batch);
            }
        }
        Ok(())
    }

    fn run(&self, whose: &RunKey) -> Result<Arc<tokio::sync::Mutex<Run>>, ApiError> {
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

    /// A guard at the auto batch that a call belongs to, which is opened if there is none.
    pub(super) async fn enter(
        self: &Arc<Self>,
        app: &App,
        caller: &Caller,
        wanted: &JoinRequest<'_>,
    ) -> Result<CallGuard, ApiError> {
        quotas::not_suspended(app, caller.tenant)?;
        let reference = batches::reference(caller, wanted.plugin)?;
        let mut run = self.run(&wanted.whose)?.lock_owned().await;
        let fits = |auto_batch: &&Arc<AutoBatch>| auto_batch.fits(&reference);
        let mut all = run.taking.iter().chain(&run.kept).filter(fits);
        if let Some(guard) = all.find_map(|auto_batch| auto_batch.join_again(wanted.call)) {
            return Ok(guard);
        }
        if let Some(auto_batch) = run.taking.as_ref().filter(fits)
            && let Some(guard) = auto_batch.join(wanted.call)
        {
            return Ok(guard);
        }
        // A call that is refused leaves no batch and no run.
        let plugin = announce::plugin_of_run(app, caller, &wanted.whose.run, wanted.plugin).await?;
        labels::validate(app, &plugin, wanted.samples).await?;
        let call = AnnounceBatch {
            plugin: wanted.plugin.into(),
            run: wanted.whose.run.clone(),
            iteration: self.iteration(app, &wanted.whose, &run).await?,
            expected_size: None,
            group_size: None,
            max_extra_delay_ms: None,
            consumes: None,
            share_equal: None,
            settings: None,
            join: None,
        };
        let committed = self.open(app, caller, call, &wanted.whose, &mut run).await?;
        let gap = wanted.gap.unwrap_or(GAP);
        let auto_batch = AutoBatch::new(committed, gap, limits::COMPAT_BATCH_REQUESTS_MAX);
        self.take(&mut run, wanted.whose.clone(), auto_batch.clone());
        auto_batch
            .join(wanted.call)
            .ok_or_else(|| ApiError::unavailable("batch_ended", "it ended at once"))
    }

    /// The batch of an announcement that other processes of the trainer make as well.
    pub(crate) async fn announce(
        self: &Arc<Self>,
        app: &App,
        caller: &Caller,
        mut call: AnnounceBatch,
        join: JoinBatch,
    ) -> Result<Arc<CommittedBatch>, ApiError> {
        let step = (join.by == JoinBy::Iteration).then_some(call.iteration);
        let whose = RunKey { tenant: caller.tenant, run: call.run.clone(), step };
        let reference = batches::reference(caller, &call.plugin)?;
        let mut run = self.run(&whose)?.lock_owned().await;
        if let Some(auto_batch) = run.taking.as_ref().filter(|it| it.fits(&reference))
            && auto_batch.touch()
        {
            // Refuses what the batch's first announcement would have been refused.
            let _ = announce::row(app, caller, call, None).await?;
            return Ok(auto_batch.committed.clone());
        }
        call.iteration = self.iteration(app, &whose, &run).await?;
        let committed = self.open(app, caller, call, &whose, &mut run).await?;
        let gap = Duration::from_millis(join.idle_ms.into());
        let auto_batch = AutoBatch::new(committed.clone(), gap, limits::BATCH_REQUESTS_MAX);
        self.hurry_earlier(&whose);
        self.take(&mut run, whose, auto_batch);
        Ok(committed)
    }

    /// Ends the earlier iterations of a run sooner.
    fn hurry_earlier(&self, whose: &RunKey) {
        for (other, run) in self.runs().iter() {
            let earlier = (other.tenant, &other.run) == (whose.tenant, &whose.run)
                && other.step.zip(whose.step).is_some_and(|(other, step)| other < step);
            // A run that is in use has a process that is not done with it.
            if earlier && let Ok(run) = run.try_lock() {
                run.taking.iter().for_each(|auto_batch| auto_batch.hurry());
            }
        }
    }

    async fn iteration(&self, app: &App, whose: &RunKey, run: &Run) -> Result<u64, ApiError> {
        Ok(match (whose.step, run.last_iteration) {
            (Some(step), _) => step,
            (None, Some(last)) => last + 1,
            (None, None) => self.last_iteration(app, whose).await?.map_or(1, |last| last + 1),
        })
    }

    async fn open(
        &self,
        app: &App,
        caller: &Caller,
        call: AnnounceBatch,
        whose: &RunKey,
        run: &mut Run,
    ) -> Result<Arc<CommittedBatch>, ApiError> {
        let iteration = call.iteration;
        let (mut row, plugin) = announce::row(app, caller, call, None).await?;
        let key = mark(row.id, whose.step.is_some());
        let call_hash = assay_core::id::Digest::of(key.as_bytes());
        row.idempotency = Some(Idempotency { key, call_hash });
        let announcement = Announcement { row, plugin, single: None, replays: None };
        let committed = app.dispatch.announce(announcement).await?;
        run.last_iteration = Some(iteration);
        Ok(committed)
    }

    /// The last iteration of a run's batches, whoever made them.
    async fn last_iteration(&self, app: &App, whose: &RunKey) -> Result<Option<u64>, ApiError> {
        let ended = match app.store.run_summary(whose.tenant, &whose.run).await {
            Ok((summary, _)) => summary.last_iteration,
            Err(StoreError::NotFound(_)) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let ours = |batch: &&Arc<CommittedBatch>| {
            batch.row.tenant == whose.tenant && batch.row.run == whose.run
        };
        let live = self.dispatch.committed.live();
        Ok(live.iter().filter(ours).map(|batch| batch.row.iteration).max().max(ended))
    }

    /// Sends calls to this auto batch from now on.
    fn take(self: &Arc<Self>, run: &mut Run, whose: RunKey, auto_batch: Arc<AutoBatch>) {
        if let Some(before) = run.taking.replace(auto_batch.clone()) {
            before.close();
            run.kept.push_front(before);
            run.kept.truncate(limits::COMPAT_REPEAT_BATCHES_MAX);
        }
        tokio::spawn(self.clone().follow(whose, auto_batch));
    }

    /// Sees to an auto batch until it is forgotten: tells of results, seals its batch.
    async fn follow(self: Arc<Self>, whose: RunKey, auto_batch: Arc<AutoBatch>) {
        let mut stopping = self.stopping.clone();
        tokio::select! {
            () = self.follow_batch(&whose, &auto_batch) => auto_batch.end(),
            // What waits is told by its own look at the stop.
            _ = stopping.wait_for(|stopped| *stopped) => return auto_batch.end(),
        }
        tokio::select! {
            () = tokio::time::sleep(REPEAT) => {}
            _ = stopping.wait_for(|stopped| *stopped) => return,
        }
        self.forget(&whose, &auto_batch).await;
    }

    async fn follow_batch(&self, whose: &RunKey, auto_batch: &AutoBatch) {
        let mut changes = auto_batch.committed.watch();
        let (mut seen, mut sealed) = (0, false);
        loop {
            changes.borrow_and_update();
            let ended = auto_batch.committed.look(|progress| progress.state.is_final());
            seen = auto_batch.note(seen);
            if ended {
                return;
            }
            let look = if sealed { None } else { Some(auto_batch.close_if_idle()) };
            if auto_batch.is_closed() && !sealed {
                sealed = true;
                // A batch that is not live any more has ended, and its change is on its way.
                let _ = self.dispatch.seal(whose.tenant, auto_batch.committed.row.id, None).await;
                continue;
            }
            tokio::select! {
                changed = changes.changed() => if changed.is_err() { return },
                () = auto_batch.closed.notified(), if !sealed => {}
                () = tokio::time::sleep_until(look.unwrap_or_else(Instant::now)), if !sealed => {}
            }
        }
    }

    async fn forget(&self, whose: &RunKey, auto_batch: &Arc<AutoBatch>) {
        let Some(run) = self.runs().get(whose).cloned() else { return };
        let mut run = run.lock_owned().await;
        run.kept.retain(|kept| !Arc::ptr_eq(kept, auto_batch));
        if run.taking.as_ref().is_some_and(|taking| Arc::ptr_eq(taking, auto_batch)) {
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

/// The idempotency key of an auto batch's batch, which no header can carry.
fn mark(id: BatchId, counted: bool) -> String {
    format!("compat\u{a7}{id}\u{a7}{}", if counted { "step" } else { "gap" })
}
