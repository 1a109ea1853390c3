//! Rebuilds the scheduler, the payloads and the committed view from Postgres after a restart.

use std::sync::Arc;
use std::time::Duration;

use assay_api::batch::BatchState;
use assay_api::operations::IncidentKind;
use assay_api::result::{Counts, ResultItem, StageTime};
use assay_core::id::{BatchId, RequestId};
use assay_core::outcome::ErrorCode;
use assay_core::time::Micros;
use assay_sched::{Ending, Event, NewRequest, Progress};

use crate::batch::LiveBatch;
use crate::budget::AdmissionBudget;
use crate::command::Command;
use crate::dedup::Eligibility;
use crate::handle::NewItem;
use crate::history;
use crate::plugin::{Plugins, ReadyPlugin};
use crate::publish::count;
use crate::shell::{Shell, answer};
use assay_store::DispatchStore;
use assay_store::operations::IncidentRow;
use assay_store::restore::{LiveBatchRow, LiveRequestRow, LiveRequestState};
use tokio::sync::{Mutex, Notify, mpsc};
use tokio::task::JoinSet;

/// A start waits for plugins that are not compiled yet for this time in all; once it is over, for each a moment.
const PLUGINS_WAIT_MAX: Duration = Duration::from_secs(10);
const PLUGIN_WAIT_MIN: Duration = Duration::from_millis(200);
/// The pauses between two tries to get the plugins of batches that could not be restored.
const RETRY_PAUSE: Duration = Duration::from_secs(1);
const RETRY_PAUSE_MAX: Duration = Duration::from_secs(60);
/// The pause after a try that took long, in times of the try, and its bound.
const COSTLY_PAUSE_FACTOR: u32 = 4;
const COSTLY_PAUSE_MAX: Duration = Duration::from_secs(600);

/// The numbers of restored batches and requests.
#[derive(Default)]
pub(super) struct Restored {
    /// Batches whose plugins could not be had, or not in time.
    pub missing: Vec<PluginSearch>,
    pub batches: usize,
    pub waiting: usize,
    pub finished: usize,
}

pub(super) async fn restore(
    shell: &mut Shell,
    store: &impl DispatchStore,
    budget: &AdmissionBudget,
    plugins: &impl Plugins,
) -> anyhow::Result<Restored> {
    let mut restored = Restored::default();
    let mut patience = PLUGINS_WAIT_MAX;
    for live in store.live_batches().await? {
        let began = assay_clock::now();
        let plugin = tokio::select! {
            biased;
            plugin = plugins.of(&live.row) => Some(plugin),
            () = assay_clock::sleep(patience.max(PLUGIN_WAIT_MIN)) => None,
        };
        let took = assay_clock::now().since(began);
        patience = patience.saturating_sub(Duration::from(took));
        let Some(plugin) = plugin else {
            let cancelled = shell.restored_later(&live);
            restored.missing.push(PluginSearch { live, cancelled });
            continue;
        };
        match plugin {
            Ok(plugin) => {
                let requests = store.live_requests(live.row.tenant, live.row.id).await?;
                restored.batches += 1;
                let (finished, waiting) = shell.restore_batch(live, plugin, requests, budget);
                restored.finished += finished;
                restored.waiting += waiting;
            }
            Err(error) => {
                let cancelled = shell.not_restored(&live, &error);
                restored.missing.push(PluginSearch { live, cancelled });
            }
        }
    }
    Ok(restored)
}

/// A batch whose plugin could be had after the start, or that was cancelled while it waited.
pub(crate) struct FoundBatch {
    live: LiveBatchRow,
    plugin: Arc<ReadyPlugin>,
    requests: Vec<LiveRequestRow>,
    budget: AdmissionBudget,
}

/// The search for the plugin of a live batch, and what tells that the batch is cancelled.
pub(super) struct PluginSearch {
    live: LiveBatchRow,
    cancelled: Arc<Notify>,
}

/// Restores batches later whose plugins could not be had at the start.
pub(super) struct Retry<S, P> {
    store: S,
    plugins: P,
    budget: AdmissionBudget,
    /// Held while the requests of a batch are read, as a batch may have many.
    reading: Mutex<()>,
}

impl<S: DispatchStore, P: Plugins> Retry<S, P> {
    pub(super) fn new(store: S, plugins: P, budget: AdmissionBudget) -> Self {
        Self { store, plugins, budget, reading: Mutex::default() }
    }

    /// Tries until all are found or the loop has ended.
    pub(super) async fn run(self, missing: Vec<PluginSearch>, shell: mpsc::Sender<Command>) {
        let (retry, mut searches) = (Arc::new(self), JoinSet::new());
        for batch in missing {
            // All at once: a plugin that takes long to compile keeps no other batch back.
            searches.spawn(Arc::clone(&retry).find(batch));
        }
        loop {
            let found = tokio::select! {
                biased;
                () = shell.closed() => return,
                found = searches.join_next() => found,
            };
            match found {
                None => return,
                Some(Ok(found)) => {
                    if shell.send(Command::Restore(Box::new(found))).await.is_err() {
                        return;
                    }
                }
                Some(Err(error)) => {
                    tracing::error!("a live batch is not restored before the next start: {error}");
                }
            }
        }
    }

    /// Returns when the batch has its plugin, or is cancelled.
    async fn find(self: Arc<Self>, batch: PluginSearch) -> FoundBatch {
        let PluginSearch { live, cancelled } = batch;
        let (plugin, requests) = tokio::select! {
            biased;
            () = cancelled.notified() => {
                self.search(&live, Duration::ZERO, || self.plugins.described(&live.row)).await
            }
            found = self.search(&live, RETRY_PAUSE, || self.plugins.of(&live.row)) => found,
        };
        FoundBatch { live, plugin, requests, budget: self.budget.clone() }
    }

    /// Looks for a batch's plugin and its requests until it has both, the first time after this pause.
    async fn search<F: Future<Output = anyhow::Result<Arc<ReadyPlugin>>>>(
        &self,
        live: &LiveBatchRow,
        mut pause: Duration,
        plugin: impl Fn() -> F,
    ) -> (Arc<ReadyPlugin>, Vec<LiveRequestRow>) {
        let (tenant, batch) = (live.row.tenant, live.row.id);
        loop {
            assay_clock::sleep(pause).await;
            let began = assay_clock::now();
            let plugin = plugin().await;
            // A plugin that is there now is there for the next try as well.
            let failed_after = match plugin {
                Ok(_) => Micros(0),
                Err(_) => assay_clock::now().since(began),
            };
            let found = async {
                let plugin = plugin?;
                let _turn = self.reading.lock().await;
                // Nobody changes its rows: it is not live.
                anyhow::Ok((plugin, self.store.live_requests(tenant, batch).await?))
            };
            match found.await {
                Ok(found) => return found,
                Err(error) => {
                    tracing::warn!(%batch, "a live batch cannot be restored yet: {error:#}");
                }
            }
            pause = pause_after(pause, failed_after.into());
        }
    }
}

/// The pause after a try that failed, by the pause before it and the time after which there was no plugin. Most of that may be
/// a compilation, which fails again.
fn pause_after(pause: Duration, failed_after: Duration) -> Duration {
    let costly = (failed_after * COSTLY_PAUSE_FACTOR).min(COSTLY_PAUSE_MAX);
    (pause * 2).clamp(RETRY_PAUSE, RETRY_PAUSE_MAX).max(costly)
}

impl Shell {
    pub(super) fn restore_found(&mut self, found: FoundBatch) {
        let FoundBatch { live, plugin, requests, budget } = found;
        let batch = live.row.id;
        let (finished, waiting) = self.restore_batch(live, plugin, requests, &budget);
        self.committed.came_late();
        tracing::info!(%batch, finished, waiting, "a live batch is restored late");
    }

    /// The batch waits until its plugin is compiled: its rows are unchanged, and the others must not wait for it.
    fn restored_later(&mut self, live: &LiveBatchRow) -> Arc<Notify> {
        let (batch, plugin) = (live.row.id, &live.row.plugin);
        tracing::info!(%batch, plugin, "a live batch is restored when its plugin is compiled");
        self.batches.miss(batch, live.row.tenant)
    }

    /// Records a batch that waits for its plugin.
    fn not_restored(&mut self, live: &LiveBatchRow, error: &anyhow::Error) -> Arc<Notify> {
        let row = &live.row;
        tracing::error!(batch = %row.id, "a live batch cannot be restored: {error:#}");
        self.notes.note(IncidentRow {
            at: assay_clock::now(),
            tenant: Some(row.tenant),
            kind: IncidentKind::RequestsFailed,
            pool: None,
            batch: Some(row.id),
            run: Some(row.run.clone()),
            code: None,
            count: 1,
            detail: format!("its requests wait for its plugin, which cannot be had: {error:#}"),
        });
        self.batches.miss(row.id, row.tenant)
    }

    /// Returns the number of requests that have ended and the number of those that wait.
    fn restore_batch(
        &mut self,
        live: LiveBatchRow,
        plugin: Arc<ReadyPlugin>,
        requests: Vec<LiveRequestRow>,
        budget: &AdmissionBudget,
    ) -> (usize, usize) {
        let LiveBatchRow { row, first_request_at, sealed_at } = live;
        let (id, tenant) = (row.id, row.tenant);
        // Announced, filled and sealed by one call.
        let is_single = first_request_at == Some(row.announced_at) && first_request_at == sealed_at;
        let is_opened = first_request_at.is_some();
        let expected = row.expected_size.map_or(usize::MAX, |size| size.max(1) as usize);
        let committed = self.committed.put(row, plugin, is_single);
        let mut batch = LiveBatch::new(committed);
        let last_request_at = requests.iter().map(|request| request.arrived_at).max();
        let first_arrived_at = requests.iter().map(|request| request.arrived_at).min();
        let first_request_at = first_request_at.or(first_arrived_at);
        // The seal may have been on its way when the server ended.
        let sealed_at = sealed_at.or(last_request_at.filter(|_| requests.len() >= expected));
        let mut results = Vec::new();
        let mut news = Vec::with_capacity(requests.len());
        for request in requests {
            news.push(batch.restore_request(request, budget, &mut results));
        }
        results.sort_unstable_by_key(|(position, _)| *position);
        // In the order of completion, as in the batch's profile; those that wait come last.
        news.sort_by_key(|(position, _)| position.unwrap_or(u32::MAX));
        let finished = results.len();
        let waiting = news.len() - finished;
        batch.restore_progress(results, (first_request_at, last_request_at), sealed_at);
        batch.settle_restored(is_opened);
        // Only the end of a batch ends its requests so: it was cancelled, or expired, and its own row does not say so yet.
        let was_cancelled = batch.errors.contains_key(&ErrorCode::Cancelled);
        let (is_cancelled, cancels) = self.batches.found(id);
        let is_cancelled = was_cancelled || is_cancelled;
        self.batches.insert(batch);
        self.admission.readmit(tenant);
        self.batch_announced(id);
        // The scheduler would take one that was cancelled, and has no request left, for one that is done.
        if !news.is_empty() && (waiting > 0 || !was_cancelled) {
            let requests = news.into_iter().map(|(_, new)| match is_cancelled {
                true => never_granted(id, new),
                false => self.restore_dedup(id, new),
            });
            let requests = requests.collect();
            self.submitted(id, requests);
        }
        if let Some(at) = sealed_at.filter(|_| !was_cancelled) {
            self.batch_sealed(id, at);
        }
        if is_cancelled {
            self.step(Event::BatchCancelled { batch: id });
        }
        cancels.into_iter().for_each(|reply| answer(reply, Ok(())));
        (finished, waiting)
    }

    /// Primaries and waiters are chosen again; a request past its first stage runs by itself.
    fn restore_dedup(&mut self, batch: BatchId, new: NewRequest) -> NewRequest {
        let request = RequestId { batch, seq: new.seq };
        let progress = match new.progress {
            Progress::Waiting { stage: 0, .. } => self.progress_of(request, Eligibility::Primary),
            Progress::Waiting { .. } => {
                if let Some(key) = self.batches.dedup_key(request) {
                    self.dedup.make_eligible(key, request);
                }
                new.progress
            }
            Progress::WaitsFor { .. } | Progress::Finished { .. } => new.progress,
        };
        NewRequest { progress, ..new }
    }
}

/// A request of a batch that is about to be cancelled: it waits for itself, so that no worker gets it until then, and it is
/// no other request's primary.
fn never_granted(batch: BatchId, new: NewRequest) -> NewRequest {
    let progress = match new.progress {
        Progress::Waiting { .. } => {
            Progress::WaitsFor { primary: RequestId { batch, seq: new.seq } }
        }
        progress => progress,
    };
    NewRequest { progress, ..new }
}

impl LiveBatch {
    /// Returns the request, with its position in the order of completion if it has ended.
    fn restore_request(
        &mut self,
        request: LiveRequestRow,
        budget: &AdmissionBudget,
        results: &mut Vec<(u32, bytes::Bytes)>,
    ) -> (Option<u32>, NewRequest) {
        let LiveRequestRow { seq, key, group, arrived_at, expected_ms, state } = request;
        self.skip_to(seq);
        let group_number = group.as_deref().map(|name| self.group(name));
        let (position, progress) = match state {
            LiveRequestState::Finished { position, earliest_end_at, reward, kind, result } => {
                self.restore_finished(key);
                self.position = self.position.max(position);
                self.reward_sum += reward.unwrap_or(0.0);
                count(&mut self.counts, &kind);
                let item: Option<ResultItem> = serde_json::from_slice(&result).ok();
                let shared = item.as_ref().is_some_and(|item| item.shared_from.is_some());
                self.counts.shared += u32::from(shared);
                let stages = item.as_ref().map_or(&[][..], |item| &item.stages);
                self.charge(stages);
                let ran = stages.iter().map(|time| Micros::from_ms_f64(time.ran_ms));
                let progress = Progress::Finished {
                    earliest_end: earliest_end_at,
                    ended: end_of(arrived_at, stages).max(earliest_end_at),
                    ran: ran.collect(),
                    ending: history::ending_of(&kind).unwrap_or(Ending::Error),
                };
                if let Some(item) = &item {
                    self.count(item, group_number, earliest_end_at);
                    self.count_error(&item.outcome);
                }
                results.push((position, result));
                (Some(position), progress)
            }
            LiveRequestState::Waiting { body, left, log_lines } => {
                let permit = budget.acquire_restored(self.committed.row.tenant, body.len());
                let stage = left.as_ref().map_or(0, |left| left.stage + 1);
                let item =
                    NewItem { key, group, body, permit, due: None, expected_ms, trace: None };
                let ran = self.restore_waiting(item, left, log_lines);
                (None, Progress::Waiting { stage, ran })
            }
        };
        let new = NewRequest {
            seq,
            group: group_number,
            arrived: arrived_at,
            deadline: None,
            expected_ms,
            progress,
        };
        (position, new)
    }

    fn restore_progress(
        &mut self,
        results: Vec<(u32, bytes::Bytes)>,
        (first_request_at, last_request_at): (Option<Micros>, Option<Micros>),
        sealed_at: Option<Micros>,
    ) {
        self.state = match (first_request_at, sealed_at) {
            (_, Some(_)) => BatchState::Sealed,
            (Some(_), None) => BatchState::Open,
            (None, None) => BatchState::Announced,
        };
        let (state, reward_sum) = (self.state, self.reward_sum);
        // Buckets are full after a restart, so restored requests count as charged.
        self.pay();
        let counts = Counts { submitted: self.size(), ..self.counts };
        self.committed.change(|progress| {
            progress.state = state;
            progress.counts = counts;
            progress.reward_sum = reward_sum;
            progress.first_request_at = first_request_at;
            progress.last_request_at = last_request_at;
            progress.results = results.into_iter().map(|(_, result)| result).collect();
        });
    }
}

/// The time at which a request's last stage ended, by what its result says: only times lost between stages are missing.
fn end_of(arrived: Micros, stages: &[StageTime]) -> Micros {
    let took: f64 = stages.iter().map(|time| time.queued_ms + time.ran_ms).sum();
    arrived + Micros::from_ms_f64(took)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_try_that_takes_long_is_repeated_less_often() {
        let pauses = |seconds| {
            let after = |pause: &Duration| Some(pause_after(*pause, Duration::from_secs(seconds)));
            let pauses = std::iter::successors(Some(RETRY_PAUSE), after);
            pauses.map(|pause| pause.as_secs()).take(9).collect::<Vec<_>>()
        };
        assert_eq!(pauses(0), [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        assert_eq!(pauses(20), [1, 80, 80, 80, 80, 80, 80, 80, 80]);
        assert_eq!(pauses(300), [1, 600, 600, 600, 600, 600, 600, 600, 600]);
        assert_eq!(pause_after(Duration::ZERO, Duration::ZERO), RETRY_PAUSE);
    }
}
