//! The committed view of live and just ended batches, for readers: counts, results, changes.
//!
//! Written by the group commits only, after each commit. A reader never sees what a crash could
//! still take back.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use assay_api::batch::{Batch, BatchState};
use assay_api::result::Counts;
use assay_core::id::{BatchId, TenantId};
use assay_core::limits;
use assay_core::time::Micros;
use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::{broadcast, watch};

use crate::plugin::ReadyPlugin;
use assay_store::admissions::BatchRow;

/// The number of ended batches by which a slow subscriber may lag.
const ENDS_MAX: usize = 1_024;

pub struct CommittedView {
    retained: Mutex<Retained>,
    ends: broadcast::Sender<Arc<CommittedBatch>>,
    late: watch::Sender<()>,
}

impl Default for CommittedView {
    fn default() -> Self {
        let ends = broadcast::Sender::new(ENDS_MAX);
        Self { retained: Mutex::default(), ends, late: watch::Sender::default() }
    }
}

#[derive(Default)]
struct Retained {
    batches: HashMap<BatchId, Arc<CommittedBatch>>,
    /// Those that have not been retired, the oldest first, single rewards aside.
    live: BTreeMap<BatchId, Arc<CommittedBatch>>,
    /// Ended batches with their bytes, oldest first.
    ended: VecDeque<(BatchId, usize)>,
    ended_bytes: usize,
}

/// The committed state of one batch, as its trainer may see it.
pub struct CommittedBatch {
    pub row: BatchRow,
    pub plugin: Arc<ReadyPlugin>,
    /// Whether it was made for a single request, so that nobody submits to it.
    pub is_single: bool,
    progress: Mutex<BatchProgress>,
    /// Counts the changes of `progress`.
    changes: watch::Sender<u64>,
}

#[derive(Debug, Clone)]
pub struct BatchProgress {
    pub state: BatchState,
    pub counts: Counts,
    pub reward_sum: f64,
    /// The number of requests that will have come, by what the trainer last said of its rollouts.
    pub size_told: Option<u32>,
    pub first_request_at: Option<Micros>,
    pub last_request_at: Option<Micros>,
    pub sealed_at: Option<Micros>,
    pub ended_at: Option<Micros>,
    pub earliest_end_at: Option<Micros>,
    /// T with the requests that are still to come, by the last plan.
    pub expected_earliest_end_at: Option<Micros>,
    pub estimated_done_at: Option<Micros>,
    /// `ResultItem`s as JSON, in the order of completion.
    pub results: Vec<Bytes>,
    /// Complete groups, each with the number of results at the time of its completion.
    pub groups_done: Vec<(u32, Arc<str>)>,
    /// Whether the database refused to keep the batch of a single request, which has no result then.
    pub refused: bool,
}

impl BatchProgress {
    fn announced() -> Self {
        Self {
            state: BatchState::Announced,
            counts: Counts::default(),
            reward_sum: 0.0,
            size_told: None,
            first_request_at: None,
            last_request_at: None,
            sealed_at: None,
            ended_at: None,
            earliest_end_at: None,
            expected_earliest_end_at: None,
            estimated_done_at: None,
            results: Vec::new(),
            groups_done: Vec::new(),
            refused: false,
        }
    }
}

impl CommittedView {
    /// The batch if it is live or just ended, and the tenant's.
    #[must_use]
    pub fn get(&self, tenant: TenantId, id: BatchId) -> Option<Arc<CommittedBatch>> {
        let retained = self.retained.lock();
        retained.batches.get(&id).filter(|batch| batch.row.tenant == tenant).cloned()
    }

    pub(super) fn find(&self, id: BatchId) -> Option<Arc<CommittedBatch>> {
        self.retained.lock().batches.get(&id).cloned()
    }

    pub(super) fn put(
        &self,
        row: BatchRow,
        plugin: Arc<ReadyPlugin>,
        is_single: bool,
    ) -> Arc<CommittedBatch> {
        let id = row.id;
        let progress = BatchProgress::announced();
        let changes = watch::Sender::new(0);
        let batch = Arc::new(CommittedBatch {
            row,
            plugin,
            is_single,
            progress: Mutex::new(progress),
            changes,
        });
        let mut retained = self.retained.lock();
        retained.batches.insert(id, Arc::clone(&batch));
        if !is_single {
            retained.live.insert(id, Arc::clone(&batch));
        }
        drop(retained);
        batch
    }

    /// A live batch of before the start is there at last.
    pub(super) fn came_late(&self) {
        self.late.send_replace(());
    }

    /// Removes a batch that the database refused to keep. Who waits for its result is told.
    pub(super) fn refuse(&self, id: BatchId) {
        let mut retained = self.retained.lock();
        let refused = retained.batches.remove(&id);
        retained.live.remove(&id);
        drop(retained);
        if let Some(batch) = refused {
            batch.change(|progress| progress.refused = true);
        }
    }

    /// Ended batches stay for a while; a single request's is gone at once, its caller holds it.
    pub(super) fn retire(&self, batch: &CommittedBatch) {
        let id = batch.row.id;
        let bytes = batch.bytes();
        let mut retained = self.retained.lock();
        retained.live.remove(&id);
        if batch.is_single {
            retained.batches.remove(&id);
            return;
        }
        if let Some(batch) = retained.batches.get(&id) {
            // There may be no subscriber.
            let _ = self.ends.send(Arc::clone(batch));
        }
        retained.ended.push_back((id, bytes));
        retained.ended_bytes += bytes;
        while retained.ended_bytes > limits::ENDED_BATCHES_BYTES_MAX {
            let Some((oldest, bytes)) = retained.ended.pop_front() else { break };
            retained.batches.remove(&oldest);
            retained.ended_bytes -= bytes;
        }
    }
}

impl CommittedView {
    /// Batches of all tenants as they end, single rewards aside.
    #[must_use]
    pub fn ends(&self) -> broadcast::Receiver<Arc<CommittedBatch>> {
        self.ends.subscribe()
    }

    /// Changes when a live batch of before the start is restored after it.
    pub fn restored_late(&self) -> watch::Receiver<()> {
        self.late.subscribe()
    }

    /// Batches of all tenants that have not ended, the oldest first, single rewards aside.
    #[must_use]
    pub fn live(&self) -> Vec<Arc<CommittedBatch>> {
        let live = |batch: &&Arc<CommittedBatch>| batch.look(|it| !it.state.is_final());
        self.retained.lock().live.values().filter(live).cloned().collect()
    }

    /// The latest iteration of a tenant's run among batches that have not been retired.
    #[must_use]
    pub fn latest(&self, tenant: TenantId, run: &str) -> Option<Arc<CommittedBatch>> {
        let retained = self.retained.lock();
        let ours =
            |batch: &&Arc<CommittedBatch>| batch.row.tenant == tenant && batch.row.run == run;
        retained.live.values().filter(ours).max_by_key(|batch| batch.row.iteration).cloned()
    }

    /// Removes an ended batch, because its results must not be read any more.
    pub fn forget(&self, id: BatchId) {
        let mut retained = self.retained.lock();
        let ended = |batch: &Arc<CommittedBatch>| batch.look(|progress| progress.state.is_final());
        if retained.batches.get(&id).is_some_and(ended) {
            retained.batches.remove(&id);
            retained.live.remove(&id);
        }
    }
}

impl CommittedBatch {
    /// The bytes in memory, about.
    fn bytes(&self) -> usize {
        let row = size_of_val(&self.row) + self.row.run.len() + self.row.settings.len();
        self.look(|progress| {
            let results = progress.results.iter().map(|json| size_of_val(json) + json.len());
            let groups =
                progress.groups_done.iter().map(|group| size_of_val(group) + group.1.len());
            row + results.sum::<usize>() + groups.sum::<usize>()
        })
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut BatchProgress)) {
        change(&mut self.progress.lock());
        self.changes.send_modify(|count| *count += 1);
    }

    /// Reads the present state; never hold it across an await.
    pub fn look<T>(&self, look: impl FnOnce(&BatchProgress) -> T) -> T {
        look(&self.progress.lock())
    }

    #[must_use]
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Returns once `met` holds.
    pub async fn wait_until(&self, met: impl Fn(&BatchProgress) -> bool) {
        let mut changes = self.watch();
        while !self.look(&met) {
            if changes.changed().await.is_err() {
                return;
            }
        }
    }

    /// The plugin as `name@version`.
    pub(super) fn plugin_name(&self) -> String {
        self.row.version_name().to_string()
    }

    /// The name of a stage; empty if the plugin has no such stage.
    pub(super) fn stage_name(&self, stage: usize) -> String {
        let stages = &self.plugin.description.stages;
        stages.get(stage).map(|stage| stage.name.clone()).unwrap_or_default()
    }

    #[must_use]
    pub fn batch(&self) -> Batch {
        let row = &self.row;
        self.look(|progress| Batch {
            id: row.id,
            state: progress.state,
            plugin: self.plugin_name(),
            plugin_digest: row.digest,
            run: row.run.clone(),
            iteration: row.iteration,
            expected_size: row.expected_size,
            group_size: row.group_size,
            max_extra_delay_ms: row.max_extra_delay_ms,
            consumes: row.consumes,
            outstanding: progress
                .size_told
                .filter(|_| progress.sealed_at.is_none() && !progress.state.is_final())
                .map(|size| size.saturating_sub(progress.counts.submitted)),
            counts: progress.counts,
            mean_reward: progress.counts.mean_reward(Some(progress.reward_sum)),
            announced_at: row.announced_at,
            first_request_at: progress.first_request_at,
            sealed_at: progress.sealed_at,
            done_at: progress.ended_at,
            estimated_done_at: progress.ended_at.or(progress.estimated_done_at),
            extra_delay_ms: progress
                .ended_at
                .zip(progress.earliest_end_at)
                .map(|(ended, earliest)| ended.since(earliest).as_ms_f64()),
            expired_at: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::tests::row;
    use crate::plugin::CompiledForms;
    use crate::plugin::tests::description;

    fn ended(
        view: &CommittedView,
        iteration: u64,
        settings_bytes: usize,
        result: &Bytes,
    ) -> BatchId {
        let id = BatchId::generate();
        let settings = " ".repeat(settings_bytes);
        let (digest, forms) = (row().digest, CompiledForms::new());
        let plugin = Arc::new(ReadyPlugin::new(digest, forms, description(), Vec::new()));
        let batch = view.put(BatchRow { id, iteration, settings, ..row() }, plugin, false);
        batch.change(|progress| {
            progress.results.push(result.clone());
            progress.state = BatchState::Done;
        });
        view.retire(&batch);
        id
    }

    #[test]
    fn ended_batches_are_bounded_by_their_bytes() {
        let view = CommittedView::default();
        let half = limits::ENDED_BATCHES_BYTES_MAX / 2;
        let (small, large) = (Bytes::from_static(b"{}"), Bytes::from(vec![b' '; half]));
        let first = ended(&view, 1, half / 2, &small);
        let second = ended(&view, 2, 0, &large);
        let there = |id| view.find(id).is_some();
        assert!(there(first) && there(second));
        let third = ended(&view, 3, 0, &large);
        assert_eq!([first, second, third].map(there), [false, false, true]);
        assert!(view.live().is_empty() && view.latest(row().tenant, &row().run).is_none());
    }
}
