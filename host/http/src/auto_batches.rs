//! The auto batches of all runs: which one a call belongs to, when one is opened, who follows it.
//!
//! A run has one auto batch that takes calls, of a trainer's protocol or of processes that announced it to be
//! joined. Its batch carries a mark under which it is found again after a restart: it then goes on, and is sealed
//! like any other.

mod auto_batch;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use assay_api::batch::BatchState;
use assay_core::id::{BatchId, TenantId};
use assay_core::limits;
use assay_dispatch::fair_semaphore::FairSemaphore;
use assay_dispatch::{Dispatch, DispatchError};
use assay_store::{Store, StoreError};
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::problem::ApiError;

pub(crate) use auto_batch::{AutoBatch, CallGuard, may_end_otherwise};

const REPEAT: Duration = Duration::from_secs(limits::COMPAT_REPEAT_SECONDS);
/// The time between two tries to seal a batch.
const SEAL_PAUSE: Duration = Duration::from_secs(1);
/// The time between two tries to take up auto batches.
const RESTORE_PAUSE: Duration = Duration::from_secs(1);
/// The silence after which an auto batch is sealed that names no other.
pub(crate) const GAP: Duration = Duration::from_secs(limits::COMPAT_GAP_SECONDS);

/// The run of an auto batch, and its step where the trainer counts steps.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct RunKey {
    pub tenant: TenantId,
    pub run: String,
    pub step: Option<u64>,
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
pub(crate) struct Run {
    /// The one that takes calls.
    pub taking: Option<Arc<AutoBatch>>,
    /// The auto batches before it, the newest first.
    pub kept: VecDeque<Arc<AutoBatch>>,
    pub last_iteration: Option<u64>,
}

impl Run {
    fn has(&self, batch: BatchId) -> bool {
        self.taking.iter().chain(&self.kept).any(|it| it.committed.row.id == batch)
    }

    fn is_empty(&self) -> bool {
        self.taking.is_none() && self.kept.is_empty()
    }
}

impl AutoBatches {
    pub(crate) fn new(dispatch: Dispatch, stopping: watch::Receiver<bool>) -> Arc<Self> {
        let waiting = FairSemaphore::new(limits::COMPAT_WAITING_MAX);
        Arc::new(Self { dispatch, stopping, runs: Mutex::default(), waiting })
    }

    /// Takes up the auto batches that an earlier process of the server left open, unless they are taken up already. The first
    /// time it must be called before any call is accepted.
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
                if run.has(id) {
                    continue;
                }
                let idle = committed.row.idle_ms.map(|ms| Duration::from_millis(ms.into()));
                // One that is joined may hold more than a protocol's own.
                let requests_max = limits::BATCH_REQUESTS_MAX;
                let auto_batch =
                    AutoBatch::new(committed.clone(), idle.unwrap_or(GAP), requests_max);
                if run.taking.is_none() {
                    self.take(&mut run, whose, auto_batch);
                } else {
                    // A newer one takes the calls.
                    auto_batch.close();
                    run.kept.push_back(auto_batch.clone());
                    tokio::spawn(self.clone().follow(whose, auto_batch));
                }
            }
        }
        Ok(())
    }

    /// Takes up those whose batches come back after the start, once their plugins can be had. Ends when the server stops.
    pub(crate) async fn restore_late(self: Arc<Self>, store: Store) {
        let mut late = self.dispatch.committed.restored_late();
        let mut stopping = self.stopping.clone();
        let restoring = async {
            while late.changed().await.is_ok() {
                while let Err(error) = self.restore(&store).await {
                    tracing::warn!("a trainer's batch is not taken up yet: {error}");
                    tokio::time::sleep(RESTORE_PAUSE).await;
                }
            }
        };
        tokio::select! {
            () = restoring => {}
            _ = stopping.wait_for(|stopped| *stopped) => {}
        }
    }

    pub(crate) fn run(&self, whose: &RunKey) -> Result<Arc<tokio::sync::Mutex<Run>>, ApiError> {
        let mut runs = self.runs.lock();
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

    /// Ends the earlier iterations of a run sooner.
    pub(crate) fn hurry_earlier(&self, whose: &RunKey) {
        for (other, run) in self.runs.lock().iter() {
            let earlier = (other.tenant, &other.run) == (whose.tenant, &whose.run)
                && other.step.zip(whose.step).is_some_and(|(other, step)| other < step);
            // A run that is in use has a process that is not done with it.
            if earlier && let Ok(run) = run.try_lock() {
                run.taking.iter().for_each(|auto_batch| auto_batch.hurry());
            }
        }
    }

    /// Sends calls to this auto batch from now on.
    pub(crate) fn take(self: &Arc<Self>, run: &mut Run, whose: RunKey, auto_batch: Arc<AutoBatch>) {
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
            // Calls that wait see the stop themselves.
            _ = stopping.wait_for(|stopped| *stopped) => return auto_batch.end(),
        }
        // Meanwhile its run alone holds it, with its results.
        let batch = auto_batch.committed.row.id;
        drop(auto_batch);
        tokio::select! {
            () = tokio::time::sleep(REPEAT) => {}
            _ = stopping.wait_for(|stopped| *stopped) => return,
        }
        self.forget(&whose, batch).await;
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
                let sealing = self.dispatch.seal(whose.tenant, auto_batch.committed.row.id, None);
                match sealing.await {
                    // The database refused it: the batch is open as before.
                    Err(DispatchError::NotKept) => tokio::time::sleep(SEAL_PAUSE).await,
                    // A batch that is not live any more has ended, and its change is on its way.
                    _ => sealed = true,
                }
                continue;
            }
            tokio::select! {
                changed = changes.changed() => if changed.is_err() { return },
                () = auto_batch.closed.notified(), if !sealed => {}
                () = tokio::time::sleep_until(look.unwrap_or_else(Instant::now)), if !sealed => {}
            }
        }
    }

    async fn forget(&self, whose: &RunKey, batch: BatchId) {
        let Some(run) = self.runs.lock().get(whose).cloned() else { return };
        let mut run = run.lock_owned().await;
        run.kept.retain(|kept| kept.committed.row.id != batch);
        if run.taking.as_ref().is_some_and(|taking| taking.committed.row.id == batch) {
            run.taking = None;
        }
        // A call that has the run but not yet its lock would fill a run that no other call finds.
        let mut runs = self.runs.lock();
        let held = runs.get(whose).is_some_and(|it| Arc::strong_count(it) > 2);
        if !held && run.is_empty() {
            runs.remove(whose);
        }
    }
}

/// The idempotency key of an auto batch's batch, which no header can carry.
pub(crate) fn mark(id: BatchId, counted: bool) -> String {
    format!("compat\u{a7}{id}\u{a7}{}", if counted { "step" } else { "gap" })
}
