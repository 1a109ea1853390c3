//! Rebuilds the scheduler, the payloads and the committed view from Postgres after a restart.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use assay_api::batch::BatchState;
use assay_api::operations::IncidentKind;
use assay_api::result::{Counts, ResultItem};
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
use crate::shell::Shell;
use assay_store::DispatchStore;
use assay_store::operations::IncidentRow;
use assay_store::restore::{LiveBatchRow, LiveRequestRow, LiveRequestState};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// A start waits for plugins that are not compiled yet for this time in all; once it is over, for each a moment.
const PLUGINS_WAIT_MAX: Duration = Duration::from_secs(10);
const PLUGIN_WAIT_MIN: Duration = Duration::from_millis(200);
/// The pauses between two tries to get the plugins of batches that could not be restored.
const RETRY_PAUSE: Duration = Duration::from_secs(1);
const RETRY_PAUSE_MAX: Duration = Duration::from_secs(60);

/// The numbers of restored batches and requests.
#[derive(Default)]
pub(super) struct Restored {
    /// Batches whose plugins could not be had, or not in time.
    pub missing: Vec<LiveBatchRow>,
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
        patience = patience.saturating_sub(Duration::from_micros(took.0));
        let Some(plugin) = plugin else {
            shell.restored_later(&live);
            restored.missing.push(live);
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
                shell.not_restored(&live, &error);
                restored.missing.push(live);
            }
        }
    }
    Ok(restored)
}

/// A batch whose plugin could be had after the start.
pub(crate) struct FoundBatch {
    live: LiveBatchRow,
    plugin: Arc<ReadyPlugin>,
    requests: Vec<LiveRequestRow>,
    budget: AdmissionBudget,
}

/// Restores batches later whose plugins could not be had at the start.
pub(super) struct Retry<S, P> {
    pub store: S,
    pub plugins: P,
    pub budget: AdmissionBudget,
}

impl<S: DispatchStore, P: Plugins> Retry<S, P> {
    /// Tries until all are found or the loop has ended.
    pub(super) async fn run(self, mut missing: Vec<LiveBatchRow>, shell: mpsc::Sender<Command>) {
        let Self { store, plugins, budget } = self;
        let plugins = Arc::new(plugins);
        let mut pause = RETRY_PAUSE;
        while !missing.is_empty() {
            tokio::select! {
                biased;
                () = shell.closed() => return,
                () = assay_clock::sleep(pause) => pause = (pause * 2).min(RETRY_PAUSE_MAX),
            }
            // All at once: a plugin that takes long to compile keeps no other batch back.
            let (mut looking, mut waiting) = (JoinSet::new(), HashMap::new());
            for live in std::mem::take(&mut missing) {
                let (plugins, row) = (Arc::clone(&plugins), live.row.clone());
                let task = looking.spawn(async move { plugins.of(&row).await });
                waiting.insert(task.id(), live);
            }
            loop {
                let looked = tokio::select! {
                    biased;
                    () = shell.closed() => return,
                    looked = looking.join_next_with_id() => looked,
                };
                let Some(looked) = looked else { break };
                let (task, plugin) = looked.unwrap_or_else(|error| (error.id(), Err(error.into())));
                let Some(live) = waiting.remove(&task) else { continue };
                let batch = live.row.id;
                // One after the other: a batch may have many requests. Nobody changes its rows: it is not live.
                let found = async {
                    let plugin = plugin?;
                    anyhow::Ok((plugin, store.live_requests(live.row.tenant, batch).await?))
                };
                match found.await {
                    Ok((plugin, requests)) => {
                        let budget = budget.clone();
                        let found = FoundBatch { live, plugin, requests, budget };
                        if shell.send(Command::Restore(Box::new(found))).await.is_err() {
                            return;
                        }
                    }
                    Err(error) => {
                        tracing::warn!(%batch, "a live batch cannot be restored yet: {error:#}");
                        missing.push(live);
                    }
                }
            }
        }
    }
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
    fn restored_later(&mut self, live: &LiveBatchRow) {
        let (batch, plugin) = (live.row.id, &live.row.plugin);
        self.batches.miss(batch, live.row.tenant);
        tracing::info!(%batch, plugin, "a live batch is restored when its plugin is compiled");
    }

    /// Records a batch that waits for its plugin.
    fn not_restored(&mut self, live: &LiveBatchRow, error: &anyhow::Error) {
        let row = &live.row;
        self.batches.miss(row.id, row.tenant);
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
        self.batches.insert(batch);
        self.admission.readmit(tenant);
        self.batch_announced(id);
        if was_cancelled && waiting == 0 {
            // The scheduler would take it for one that is done.
            self.step(Event::BatchCancelled { batch: id });
            return (finished, waiting);
        }
        if !news.is_empty() {
            let requests = news.into_iter().map(|(_, new)| self.restore_dedup(id, new));
            let requests = requests.collect();
            self.submitted(id, requests);
        }
        if was_cancelled {
            self.step(Event::BatchCancelled { batch: id });
        } else if let Some(at) = sealed_at {
            self.batch_sealed(id, at);
        }
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
