//! The payloads of a live batch, which the scheduler does not know.

mod entry;
mod request_keys;
mod summary;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use assay_api::batch::BatchState;
use assay_api::result::{Counts, ResultItem, StageTime};
use assay_core::id::{BatchId, RequestId};
use assay_core::limits;
use assay_core::outcome::{ErrorCode, Outcome};
use assay_core::time::Micros;

use crate::batch_stats::BatchStats;
use crate::budget::BudgetPermit;
use crate::command::{HashedItem, Reply};
use crate::committed::CommittedBatch;
use crate::dedup::ContentHash;
use crate::fair_semaphore::FairSemaphore;
use crate::handle::{DispatchError, ItemFate, NewItem};
use crate::silence::WaitingBatch;
use crate::tenants::SettingsEpoch;
use crate::traces::RequestTraces;
use assay_planner::Forecasts;
use assay_store::admissions::{BatchMark, RequestRow};
use assay_store::restore::LastArtifact;
use request_keys::RequestKeys;

pub(super) use entry::Entry;
pub(super) use summary::recorded_end;

pub(super) struct LiveBatch {
    pub committed: Arc<CommittedBatch>,
    pub state: BatchState,
    keys: RequestKeys,
    groups: HashMap<Arc<str>, u32>,
    group_names: Vec<Arc<str>>,
    /// Entries by sequence number; `None` once the request has ended, or if the database refused it.
    entries: Vec<Option<Entry>>,
    /// The bytes of the admission budget that the entries hold.
    held: BudgetPermit,
    /// The number of entries that the database refused.
    refused: u32,
    /// The number of requests that are committed.
    durable: u32,
    /// Whether the time of the first request is committed.
    is_opened: bool,
    /// Seals that wait until the requests before them are committed.
    seals: Vec<Reply<()>>,
    /// The position of the last finished request in the order of completion.
    pub position: u32,
    pub counts: Counts,
    pub reward_sum: f64,
    /// Requests that ended as an error, by code.
    pub errors: BTreeMap<ErrorCode, u32>,
    /// The request that this batch's single request replays.
    pub replays: Option<RequestId>,
    /// The number of requests that the tenant's bucket was charged for.
    paid: u32,
    /// The use of workers by finished requests, by stage.
    used: Vec<StageUse>,
    /// Unused for a single request.
    stats: BatchStats,
    pub traces: RequestTraces,
    pub forecasts: Forecasts,
}

#[derive(Debug, Clone, Copy, Default)]
struct StageUse {
    requests: u32,
    ran: Micros,
}

/// The reason why a batch accepts no more requests, if there is one.
pub(crate) fn refusal(state: BatchState) -> Option<DispatchError> {
    match state {
        BatchState::Announced | BatchState::Open => None,
        BatchState::Sealed => Some(DispatchError::Sealed),
        BatchState::Done | BatchState::Cancelled | BatchState::Expired => {
            Some(DispatchError::Ended)
        }
    }
}

/// The changes of one submission: rows to commit, and fates to report after that.
#[derive(Default)]
pub(super) struct TakenItems {
    pub rows: Vec<RequestRow>,
    pub fates: Vec<ItemFate>,
    /// New deadlines of unfinished requests that were repeated.
    pub dues: Vec<(RequestId, Micros)>,
}

impl LiveBatch {
    pub(super) fn new(committed: Arc<CommittedBatch>) -> Self {
        Self {
            paid: committed.row.expected_size.unwrap_or(0),
            used: vec![StageUse::default(); committed.plugin.shapes.len()],
            committed,
            state: BatchState::Announced,
            keys: RequestKeys::default(),
            groups: HashMap::new(),
            group_names: Vec::new(),
            entries: Vec::new(),
            held: BudgetPermit::default(),
            refused: 0,
            durable: 0,
            is_opened: false,
            seals: Vec::new(),
            position: 0,
            counts: Counts::default(),
            reward_sum: 0.0,
            errors: BTreeMap::new(),
            replays: None,
            stats: BatchStats::default(),
            forecasts: Forecasts::default(),
            traces: RequestTraces::default(),
        }
    }

    pub(super) fn id(&self) -> BatchId {
        self.committed.row.id
    }

    /// The number of requests that are committed or about to be.
    pub(super) fn size(&self) -> u32 {
        self.next_seq() - self.refused
    }

    /// The number of requests that are committed, or will be with their outcome.
    pub(super) fn acknowledged(&self) -> u32 {
        if self.committed.is_single { self.size() } else { self.durable }
    }

    fn all_are_durable(&self) -> bool {
        self.size() == self.durable
    }

    /// Whether all requests that were announced have come.
    fn is_full(&self) -> bool {
        let expected = self.committed.row.expected_size;
        self.size() > 0 && expected.is_some_and(|size| self.size() >= size)
    }

    /// The change of the batch's row that comes with new requests. They seal it if with them it has all that it
    /// expects, and the others are durable: otherwise one of those may be refused, and must come again.
    pub(super) fn mark(&mut self, new: u32, at: Micros) -> BatchMark {
        let mut mark = BatchMark::default();
        if new > 0 {
            // With all requests until one is committed, because the first may be refused.
            mark.first_request_at = (!self.is_opened).then_some(at);
            if self.state == BatchState::Announced {
                self.state = BatchState::Open;
            }
        }
        let others_are_durable = self.size() - new == self.durable;
        if refusal(self.state).is_none() && self.is_full() && others_are_durable {
            self.state = BatchState::Sealed;
            mark.sealed_at = Some(at);
        }
        mark
    }

    /// An admission is committed. Returns the time of the seal if the batch is complete by it and its row does not say so.
    pub(super) fn settle(&mut self, new: u32, mark: BatchMark, at: Micros) -> Option<Micros> {
        self.durable += new;
        self.is_opened |= mark.first_request_at.is_some();
        if new > 0 && self.state == BatchState::Announced {
            self.state = BatchState::Open;
        }
        let is_complete = refusal(self.state).is_none() && self.is_full() && self.all_are_durable();
        is_complete.then(|| {
            self.state = BatchState::Sealed;
            at
        })
    }

    /// Seals the batch, in time if requests are on their way: if one is refused, so is the seal. Returns the change of
    /// the batch's row and the reply, if they can be written now.
    pub(super) fn seal(&mut self, at: Micros, reply: Reply<()>) -> Option<(BatchMark, Reply<()>)> {
        let is_open = refusal(self.state).is_none();
        if is_open {
            self.state = BatchState::Sealed;
        }
        if !self.all_are_durable() || !self.seals.is_empty() {
            self.seals.push(reply);
            return None;
        }
        // Sealing again is harmless.
        Some((BatchMark { sealed_at: is_open.then_some(at), ..BatchMark::default() }, reply))
    }

    /// The seals that need not wait any longer.
    pub(super) fn take_seals(&mut self) -> Vec<Reply<()>> {
        if self.all_are_durable() { std::mem::take(&mut self.seals) } else { Vec::new() }
    }

    /// All seals that wait, because the batch ends.
    pub(super) fn drop_seals(&mut self) -> Vec<Reply<()>> {
        std::mem::take(&mut self.seals)
    }

    /// The next request's sequence number. Those of refused requests are not used again.
    fn next_seq(&self) -> u32 {
        self.keys.next_seq()
    }

    /// The batch if it is open and all its requests have ended, so that it waits for its trainer.
    pub(super) fn waiting(&self) -> Option<WaitingBatch<'_>> {
        let waits = self.state == BatchState::Open && self.counts.finished() == self.size();
        if !waits || self.committed.is_single {
            return None;
        }
        let row = &self.committed.row;
        Some(WaitingBatch {
            id: row.id,
            tenant: row.tenant,
            run: &row.run,
            iteration: row.iteration,
            last_request_at: self.committed.look(|progress| progress.last_request_at)?,
        })
    }

    /// The number of requests that were not charged for yet; they count as charged from now on.
    pub(super) fn pay(&mut self) -> u32 {
        let unpaid = self.size().saturating_sub(self.paid);
        self.paid += unpaid;
        unpaid
    }

    /// The number of requests that were charged for and never came.
    pub(super) fn overpaid(&self) -> u32 {
        self.paid.saturating_sub(self.size())
    }

    pub(super) fn count_error(&mut self, outcome: &Outcome) {
        if let Outcome::Error { code, .. } = outcome {
            *self.errors.entry(*code).or_default() += 1;
        }
    }

    /// Adds the stages of a request that has ended to the batch's use of workers.
    pub(super) fn charge(&mut self, times: &[StageTime]) {
        let stages = &self.committed.plugin.description.stages;
        for time in times {
            let place = stages.iter().position(|stage| stage.name == time.stage);
            if let Some(used) = place.and_then(|place| self.used.get_mut(place)) {
                used.requests += 1;
                used.ran = used.ran + Micros::from_ms_f64(time.ran_ms);
            }
        }
    }

    /// Adds the result of a request that has ended to the batch stats.
    pub(super) fn count(&mut self, item: &ResultItem, group: Option<u32>, earliest_end: Micros) {
        if !self.committed.is_single {
            let stages = &self.committed.plugin.description.stages;
            self.stats.add(stages, item, group, earliest_end);
        }
    }

    pub(super) fn entry(&self, seq: u32) -> Option<&Entry> {
        self.entries.get(seq as usize)?.as_ref()
    }

    pub(super) fn entry_mut(&mut self, seq: u32) -> Option<&mut Entry> {
        self.entries.get_mut(seq as usize)?.as_mut()
    }

    /// Removes a request; returns it with what it held of the admission budget.
    pub(super) fn end(&mut self, seq: u32) -> Option<(Entry, BudgetPermit)> {
        let entry = self.entries.get_mut(seq as usize)?.take()?;
        let permit = self.held.take(entry.body.len());
        Some((entry, permit))
    }

    pub(super) fn key(&self, seq: u32) -> &str {
        self.keys.get(seq)
    }

    pub(super) fn group_name(&self, group: u32) -> Option<&Arc<str>> {
        self.group_names.get(group as usize)
    }

    /// Adds the items that are new; a repeated key gets the request that it already has.
    pub(super) fn take(&mut self, items: Vec<HashedItem>) -> Result<TakenItems, DispatchError> {
        let refused = refusal(self.state).or(self.is_full().then_some(DispatchError::Sealed));
        let mut taken = TakenItems::default();
        for HashedItem { item, content } in items {
            if let Some(seq) = self.keys.find(&item.key) {
                let id = RequestId { batch: self.id(), seq };
                taken.fates.push(ItemFate::Repeated(id));
                if let (Some(due), Some(entry)) = (item.due, self.entry_mut(seq)) {
                    entry.set_due(due);
                    taken.dues.push((id, due));
                }
                continue;
            }
            // A call with repeated keys only is harmless even after the seal; a new key is not.
            if let Some(refused) = refused {
                return Err(refused);
            }
            if self.next_seq() >= limits::BATCH_REQUESTS_MAX {
                taken.fates.push(ItemFate::Refused);
                continue;
            }
            let seq = self.next_seq();
            taken.rows.push(RequestRow {
                seq,
                key: item.key.clone(),
                group: item.group.clone(),
                body: item.body.clone(),
                expected_ms: item.expected_ms,
            });
            taken.fates.push(ItemFate::Accepted(RequestId { batch: self.id(), seq }));
            self.add(item, content);
        }
        Ok(taken)
    }

    /// Takes back an admission that the database refused. Its keys may come again. Returns the seals that relied on
    /// it.
    pub(super) fn take_back(&mut self, rows: &[RequestRow], mark: BatchMark) -> Vec<Reply<()>> {
        for row in rows {
            self.keys.remove(&row.key);
            self.refused += u32::from(self.end(row.seq).is_some());
        }
        if mark.sealed_at.is_some() && self.state == BatchState::Sealed {
            self.state = BatchState::Open;
        }
        let relied = if rows.is_empty() { Vec::new() } else { std::mem::take(&mut self.seals) };
        if !relied.is_empty() && self.state == BatchState::Sealed {
            self.state = BatchState::Open;
        }
        // The next submission marks the first request again.
        if mark.first_request_at.is_some() && !self.is_opened && self.state == BatchState::Open {
            self.state = BatchState::Announced;
        }
        relied
    }

    /// The restored requests are committed.
    pub(super) fn settle_restored(&mut self, is_opened: bool) {
        self.durable = self.size();
        self.is_opened = is_opened;
    }

    /// Passes over the numbers of requests that the database refused before a restart.
    pub(super) fn skip_to(&mut self, seq: u32) {
        while self.next_seq() < seq {
            self.keys.skip();
            self.entries.push(None);
            self.refused += 1;
        }
    }

    fn add(&mut self, mut item: NewItem, content: Option<ContentHash>) {
        if let Some(context) = item.trace.take() {
            let seq = self.next_seq();
            self.traces.begin(seq, context, &self.committed.row);
        }
        self.keys.push(std::mem::take(&mut item.key));
        self.held.add(std::mem::take(&mut item.permit));
        let group = item.group.take().map(|name| self.group(&name));
        self.entries.push(Some(Entry::new(item, group, content)));
    }

    pub(super) fn group(&mut self, name: &str) -> u32 {
        if let Some(&group) = self.groups.get(name) {
            return group;
        }
        let group = u32::try_from(self.group_names.len()).expect("fewer than requests");
        let name: Arc<str> = name.into();
        self.groups.insert(name.clone(), group);
        self.group_names.push(name);
        group
    }

    /// Restores a request that waits, with the artifact of its last stage and the number of its last log line; returns
    /// how long each completed stage ran.
    pub(super) fn restore_waiting(
        &mut self,
        item: NewItem,
        left: Option<LastArtifact>,
        log_lines: u32,
    ) -> Vec<Micros> {
        let seq = self.next_seq();
        let CommittedBatch { row, plugin, .. } = &*self.committed;
        // No tenant's settings have changed since the start.
        let content = ContentHash::of(row, plugin, SettingsEpoch::default(), &item.body);
        self.add(item, content);
        let entry = self.entry_mut(seq).expect("just added");
        entry.log_lines = log_lines;
        let Some(left) = left else { return Vec::new() };
        let stages = entry.stages_mut();
        stages.times = serde_json::from_str(&left.times).unwrap_or_default();
        stages.input = Some(Arc::new(left.artifact));
        stages.read_storage = true;
        stages.times.iter().map(|time| Micros::from_ms_f64(time.ran_ms)).collect()
    }

    /// Restores a request that has ended.
    pub(super) fn restore_finished(&mut self, key: String) {
        self.keys.push(key);
        self.entries.push(None);
    }

    /// Takes the memory for the artifacts of a batch that was restored.
    pub(super) fn hold_artifacts(&mut self, places: &FairSemaphore) {
        let tenant = self.committed.row.tenant;
        for entry in self.entries.iter_mut().flatten() {
            entry.hold_input(tenant, places);
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
