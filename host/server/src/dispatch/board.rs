//! What is committed of live and just ended batches, for readers: counts, results, changes.
//!
//! Written by the group commits only, after each commit. A reader never sees what a crash could
//! still take back.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use assay_model::api::{Batch, BatchState, Counts};
use assay_model::id::{BatchId, TenantId};
use assay_model::limits;
use assay_model::time::Micros;
use bytes::Bytes;
use tokio::sync::{broadcast, watch};

use super::PluginInfo;
use crate::store::admissions::BatchRow;

/// Ended batches that a reader may be behind.
const ENDS_MAX: usize = 1_024;

pub struct Board {
    shelves: Mutex<Shelves>,
    ends: broadcast::Sender<Arc<Published>>,
}

impl Default for Board {
    fn default() -> Self {
        Self { shelves: Mutex::default(), ends: broadcast::Sender::new(ENDS_MAX) }
    }
}

#[derive(Default)]
struct Shelves {
    batches: HashMap<BatchId, Arc<Published>>,
    /// Ended batches with their number of results, oldest first.
    ended: VecDeque<(BatchId, usize)>,
    ended_results: usize,
}

/// One batch as its trainer may see it.
pub struct Published {
    pub row: BatchRow,
    pub plugin: Arc<PluginInfo>,
    /// Made for one request alone: nobody submits to it.
    pub lone: bool,
    standing: Mutex<Standing>,
    /// Counts the changes of `standing`.
    changes: watch::Sender<u64>,
}

#[derive(Debug, Clone)]
pub struct Standing {
    pub state: BatchState,
    pub counts: Counts,
    pub reward_sum: f64,
    pub first_request_at: Option<Micros>,
    pub sealed_at: Option<Micros>,
    pub ended_at: Option<Micros>,
    pub earliest_end_at: Option<Micros>,
    pub estimated_done_at: Option<Micros>,
    /// `ResultItem`s as JSON, by completion.
    pub results: Vec<Bytes>,
    /// Complete groups, each with the number of results there were when it was completed.
    pub groups_done: Vec<(u32, Arc<str>)>,
}

impl Standing {
    fn announced() -> Self {
        Self {
            state: BatchState::Announced,
            counts: Counts::default(),
            reward_sum: 0.0,
            first_request_at: None,
            sealed_at: None,
            ended_at: None,
            earliest_end_at: None,
            estimated_done_at: None,
            results: Vec::new(),
            groups_done: Vec::new(),
        }
    }

    /// Of a batch that is no longer on the board, without its results.
    #[must_use]
    pub fn ended(batch: &Batch) -> Self {
        Self { state: batch.state, counts: batch.counts, ..Self::announced() }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No code that holds these locks panics half-way through a change.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Board {
    /// The batch if it is live or just ended, and the tenant's.
    #[must_use]
    pub fn get(&self, tenant: TenantId, id: BatchId) -> Option<Arc<Published>> {
        let shelves = lock(&self.shelves);
        shelves.batches.get(&id).filter(|batch| batch.row.tenant == tenant).cloned()
    }

    pub(super) fn find(&self, id: BatchId) -> Option<Arc<Published>> {
        lock(&self.shelves).batches.get(&id).cloned()
    }

    pub(super) fn put(&self, row: BatchRow, plugin: Arc<PluginInfo>, lone: bool) -> Arc<Published> {
        let id = row.id;
        let standing = Standing::announced();
        let changes = watch::Sender::new(0);
        let batch =
            Arc::new(Published { row, plugin, lone, standing: Mutex::new(standing), changes });
        lock(&self.shelves).batches.insert(id, batch.clone());
        batch
    }

    /// Ended batches stay for a while; a lone request's is gone at once, its caller holds it.
    pub(super) fn retire(&self, batch: &Published) {
        let id = batch.row.id;
        let results = batch.look(|standing| standing.results.len());
        let mut shelves = lock(&self.shelves);
        if batch.lone {
            shelves.batches.remove(&id);
            return;
        }
        if let Some(batch) = shelves.batches.get(&id) {
            // Nobody may be looking.
            let _ = self.ends.send(Arc::clone(batch));
        }
        // A batch without results takes room too.
        let weight = results.max(1);
        shelves.ended.push_back((id, weight));
        shelves.ended_results += weight;
        while shelves.ended_results > limits::RESULTS_AT_HAND_MAX {
            let Some((oldest, weight)) = shelves.ended.pop_front() else { break };
            shelves.batches.remove(&oldest);
            shelves.ended_results -= weight;
        }
    }
}

impl Board {
    /// Batches of all tenants as they end, single rewards aside.
    #[must_use]
    pub fn ends(&self) -> broadcast::Receiver<Arc<Published>> {
        self.ends.subscribe()
    }

    /// Batches of all tenants that have not ended, the oldest first, single rewards aside.
    #[must_use]
    pub fn live(&self) -> Vec<Arc<Published>> {
        let shelves = lock(&self.shelves);
        let live = |batch: &&Arc<Published>| {
            !batch.lone && batch.look(|standing| !standing.state.is_final())
        };
        let mut batches: Vec<_> = shelves.batches.values().filter(live).cloned().collect();
        drop(shelves);
        batches.sort_unstable_by_key(|batch| batch.row.id);
        batches
    }

    /// What the batch held may not be read any more.
    pub fn forget(&self, id: BatchId) {
        let mut shelves = lock(&self.shelves);
        let ended = |batch: &Arc<Published>| batch.look(|standing| standing.state.is_final());
        if shelves.batches.get(&id).is_some_and(ended) {
            shelves.batches.remove(&id);
        }
    }
}

impl Published {
    pub(super) fn change(&self, change: impl FnOnce(&mut Standing)) {
        change(&mut lock(&self.standing));
        self.changes.send_modify(|count| *count += 1);
    }

    /// Looks at the present state; not across an await.
    pub fn look<T>(&self, look: impl FnOnce(&Standing) -> T) -> T {
        look(&lock(&self.standing))
    }

    #[must_use]
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Returns once `met` holds.
    pub async fn wait_until(&self, met: impl Fn(&Standing) -> bool) {
        let mut changes = self.watch();
        while !self.look(&met) {
            if changes.changed().await.is_err() {
                return;
            }
        }
    }

    #[must_use]
    pub fn batch(&self) -> Batch {
        let row = &self.row;
        self.look(|standing| {
            let rewarded = standing.counts.scored + standing.counts.timed_out;
            let mean = standing.reward_sum / f64::from(rewarded);
            Batch {
                id: row.id,
                state: standing.state,
                plugin: format!("{}@{}", row.plugin, row.version),
                plugin_digest: row.digest,
                run: row.run.clone(),
                iteration: row.iteration,
                expected_size: row.expected_size,
                group_size: row.group_size,
                max_extra_delay_ms: row.max_extra_delay_ms,
                counts: standing.counts,
                mean_reward: (rewarded > 0).then_some(mean),
                announced_at: row.announced_at,
                first_request_at: standing.first_request_at,
                sealed_at: standing.sealed_at,
                done_at: standing.ended_at,
                estimated_done_at: standing.ended_at.or(standing.estimated_done_at),
                extra_delay_ms: standing
                    .ended_at
                    .zip(standing.earliest_end_at)
                    .map(|(ended, earliest)| ended.since(earliest).as_ms_f64()),
                expired_at: None,
            }
        })
    }
}
