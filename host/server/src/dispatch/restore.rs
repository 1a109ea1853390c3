//! After a restart: rebuilds the scheduler, the payloads and the board from Postgres.

use std::sync::Arc;

use assay_model::api::{BatchState, Counts, ResultItem};
use assay_model::id::{BatchId, RequestId};
use assay_model::time::Micros;
use assay_sched::{Ending, NewRequest, Progress};

use super::NewItem;
use super::PluginInfo;
use super::batch::LiveBatch;
use super::history;
use super::publish::count;
use super::room::Room;
use super::sharing::Leading;
use super::shell::Shell;
use crate::store::Store;
use crate::store::admissions::BatchRow;
use crate::store::restore::{LiveBatchRow, LiveRequestRow, Standing};

/// What was brought back.
#[derive(Debug, Default)]
pub(super) struct Restored {
    pub batches: usize,
    pub waiting: usize,
    pub finished: usize,
}

pub(super) async fn restore(
    shell: &mut Shell,
    store: &Store,
    room: &Room,
    plugins: impl AsyncFn(&BatchRow) -> anyhow::Result<Arc<PluginInfo>>,
) -> anyhow::Result<Restored> {
    let mut restored = Restored::default();
    for live in store.live_batches().await? {
        let plugin = match plugins(&live.row).await {
            Ok(plugin) => plugin,
            Err(error) => {
                // It stays as it is in the database; the others must not wait for it.
                tracing::error!("a live batch is left out: {error:#}");
                continue;
            }
        };
        let requests = store.live_requests(live.row.tenant, live.row.id).await?;
        restored.batches += 1;
        let (finished, waiting) = shell.restore_batch(live, plugin, requests, room);
        restored.finished += finished;
        restored.waiting += waiting;
    }
    Ok(restored)
}

impl Shell {
    /// Returns how many requests had ended and how many wait.
    fn restore_batch(
        &mut self,
        live: LiveBatchRow,
        plugin: Arc<PluginInfo>,
        requests: Vec<LiveRequestRow>,
        room: &Room,
    ) -> (usize, usize) {
        let LiveBatchRow { row, first_request_at, sealed_at } = live;
        let (id, tenant) = (row.id, row.tenant);
        // Announced, filled and sealed by one call.
        let lone = first_request_at == Some(row.announced_at) && first_request_at == sealed_at;
        let published = self.board.put(row, plugin, lone);
        let mut batch = LiveBatch::new(published);
        let mut results = Vec::new();
        let mut news = Vec::with_capacity(requests.len());
        for request in requests {
            news.push(batch.restore_request(request, room, &mut results));
        }
        results.sort_unstable_by_key(|(position, _)| *position);
        // By completion, as the batch's profile has them; those that wait come last.
        news.sort_by_key(|(position, _)| position.unwrap_or(u32::MAX));
        let finished = results.len();
        let waiting = news.len() - finished;
        batch.restore_standing(results, first_request_at, sealed_at);
        self.artifact_bytes += batch.artifact_bytes();
        self.batches.insert(id, batch);
        self.batch_opened(tenant);
        self.batch_announced(id);
        if !news.is_empty() {
            let requests = news.into_iter().map(|(_, new)| self.restore_sharing(id, new));
            let requests = requests.collect();
            self.submitted(id, requests);
        }
        if let Some(at) = sealed_at {
            self.batch_sealed(id, at);
        }
        (finished, waiting)
    }

    /// Who followed whom is found out anew; what is past its first stage goes on by itself.
    fn restore_sharing(&mut self, batch: BatchId, new: NewRequest) -> NewRequest {
        let request = RequestId { batch, seq: new.seq };
        let progress = match new.progress {
            Progress::Waiting { stage: 0, .. } => self.progress_of(request, Leading::May),
            Progress::Waiting { .. } => {
                if let Some(key) = self.shared_key(request) {
                    self.sharing.may_lead(key, request);
                }
                new.progress
            }
            Progress::Follows { .. } | Progress::Finished { .. } => new.progress,
        };
        NewRequest { progress, ..new }
    }
}

impl LiveBatch {
    /// Returns it with its place in the order of completion, once it has one.
    fn restore_request(
        &mut self,
        request: LiveRequestRow,
        room: &Room,
        results: &mut Vec<(u32, bytes::Bytes)>,
    ) -> (Option<u32>, NewRequest) {
        let LiveRequestRow { seq, key, group, arrived_at, standing } = request;
        let group_number = group.as_deref().map(|name| self.group(name));
        let (place, progress) = match standing {
            Standing::Finished { position, earliest_end_at, reward, kind, result } => {
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
            Standing::Waiting { body, left } => {
                let place = room.enter_restored(body.len());
                let stage = left.as_ref().map_or(0, |left| left.stage + 1);
                let item = NewItem { key, group, body, place, due: None };
                let ran = self.restore_waiting(item, left);
                (None, Progress::Waiting { stage, ran })
            }
        };
        (place, NewRequest { seq, group: group_number, arrived: arrived_at, due: None, progress })
    }

    fn restore_standing(
        &mut self,
        results: Vec<(u32, bytes::Bytes)>,
        first_request_at: Option<Micros>,
        sealed_at: Option<Micros>,
    ) {
        self.state = match (first_request_at, sealed_at) {
            (_, Some(_)) => BatchState::Sealed,
            (Some(_), None) => BatchState::Open,
            (None, None) => BatchState::Announced,
        };
        let (state, reward_sum) = (self.state, self.reward_sum);
        // Buckets are full after a restart: what is here is paid for.
        self.pay();
        let counts = Counts { submitted: self.size(), ..self.counts };
        self.published.change(|standing| {
            standing.state = state;
            standing.counts = counts;
            standing.reward_sum = reward_sum;
            standing.first_request_at = first_request_at;
            standing.results = results.into_iter().map(|(_, result)| result).collect();
        });
    }
}
