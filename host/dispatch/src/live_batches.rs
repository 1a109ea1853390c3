//! The live batches with their payloads, which the scheduler does not know.
//!
//! It owns every [`LiveBatch`] and the memory, shared by tenants, for the artifacts that wait in them for their next stage.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use assay_core::architecture::Architecture;
use assay_core::id::{BatchId, Digest, RequestId, TenantId};
use assay_core::limits;
use assay_core::outcome::{Artifact, StageEnd};

use crate::batch::{Entry, LiveBatch};
use crate::budget::BudgetPermit;
use crate::command::Reply;
use crate::dedup::{DedupKey, SharedOutcome};
use crate::fair_semaphore::FairSemaphore;
use crate::handle::{DispatchError, ItemFate};
use crate::publish::{RowMemory, UncommittedBytes};
use crate::silence::WaitingBatch;
use assay_store::admissions::Admission;
use tokio::sync::Notify;

/// The requests that the database refused last, for repeats that were under way with them.
#[derive(Default)]
struct RefusedRequests {
    latest: VecDeque<RequestId>,
    all: HashSet<RequestId>,
}

impl RefusedRequests {
    fn add(&mut self, request: RequestId) {
        self.latest.push_back(request);
        self.all.insert(request);
        if self.latest.len() > limits::REFUSED_REQUESTS_KNOWN_MAX
            && let Some(oldest) = self.latest.pop_front()
        {
            self.all.remove(&oldest);
        }
    }
}

/// A batch that waits for its plugin.
struct MissingBatch {
    tenant: TenantId,
    /// Tells the search for the plugin that the batch is cancelled.
    cancelled: Arc<Notify>,
    is_cancelled: bool,
    cancels: Vec<Reply<()>>,
}

pub(super) struct LiveBatches {
    by_id: HashMap<BatchId, LiveBatch>,
    /// Batches that are not restored, because their plugins cannot be had yet.
    missing: HashMap<BatchId, MissingBatch>,
    refused: RefusedRequests,
    /// The bytes for artifacts.
    artifacts: FairSemaphore,
    artifact_bytes_max: usize,
    /// The bytes of artifacts whose rows are not durable yet.
    uncommitted: Arc<AtomicUsize>,
}

impl LiveBatches {
    pub(super) fn new(artifact_bytes_max: usize) -> Self {
        Self {
            by_id: HashMap::new(),
            missing: HashMap::new(),
            refused: RefusedRequests::default(),
            artifacts: FairSemaphore::new(artifact_bytes_max),
            artifact_bytes_max,
            uncommitted: Arc::default(),
        }
    }

    pub(super) fn insert(&mut self, mut batch: LiveBatch) {
        batch.hold_artifacts(&self.artifacts);
        self.by_id.insert(batch.id(), batch);
    }

    /// The tenant's batch will be restored later. The result tells when it is cancelled.
    pub(super) fn miss(&mut self, id: BatchId, tenant: TenantId) -> Arc<Notify> {
        let cancelled = Arc::<Notify>::default();
        let batch = MissingBatch {
            tenant,
            cancelled: Arc::clone(&cancelled),
            is_cancelled: false,
            cancels: Vec::new(),
        };
        self.missing.insert(id, batch);
        cancelled
    }

    /// Cancels a batch that is not restored. The reply is sent once it is.
    pub(super) fn cancel_missing(&mut self, id: BatchId, reply: Reply<()>) {
        if let Some(batch) = self.missing.get_mut(&id) {
            // Who asked before may have gone away.
            batch.cancels.retain(|reply| !reply.is_closed());
            batch.cancels.push(reply);
            batch.is_cancelled = true;
            batch.cancelled.notify_one();
        }
    }

    /// The batch is being restored. Returns whether it was cancelled before, and the replies to those who asked for it.
    pub(super) fn found(&mut self, id: BatchId) -> (bool, Vec<Reply<()>>) {
        let batch = self.missing.remove(&id);
        batch.map(|batch| (batch.is_cancelled, batch.cancels)).unwrap_or_default()
    }

    pub(super) fn remove(&mut self, id: BatchId) -> Option<LiveBatch> {
        self.by_id.remove(&id)
    }

    /// The batches that wait for their trainers.
    pub(super) fn waiting(&self) -> impl Iterator<Item = WaitingBatch<'_>> {
        self.by_id.values().filter_map(LiveBatch::waiting)
    }

    pub(super) fn get(&self, id: BatchId) -> Option<&LiveBatch> {
        self.by_id.get(&id)
    }

    pub(super) fn get_mut(&mut self, id: BatchId) -> Option<&mut LiveBatch> {
        self.by_id.get_mut(&id)
    }

    /// The tenant's live batch.
    pub(super) fn find(
        &mut self,
        tenant: TenantId,
        id: BatchId,
    ) -> Result<&mut LiveBatch, DispatchError> {
        let is_missing = self.missing.get(&id).is_some_and(|batch| batch.tenant == tenant);
        let reason = if is_missing { DispatchError::NotRestored } else { DispatchError::NotLive };
        let found = self.by_id.get_mut(&id);
        found.filter(|batch| batch.committed.row.tenant == tenant).ok_or(reason)
    }

    /// Notes that an unfinished request reads its tenant's storage.
    pub(super) fn read_storage(&mut self, request: RequestId) -> Option<TenantId> {
        let batch = self.by_id.get_mut(&request.batch)?;
        batch.entry_mut(request.seq)?.stages_mut().read_storage = true;
        Some(batch.committed.row.tenant)
    }

    /// The plugins, compiled for an architecture, of batches that have a stage on this pool; single requests are not
    /// counted, as they are over before a worker could prepare for them.
    pub(super) fn plugins_of(&self, pool: &str, architecture: Architecture) -> Vec<Digest> {
        let batches = self.by_id.values().filter(|batch| !batch.committed.is_single);
        let plugins = batches.map(|batch| &batch.committed.plugin);
        let here = plugins.filter(|plugin| plugin.runs_on(pool));
        let different: BTreeSet<Digest> =
            here.map(|plugin| plugin.compiled_for(architecture)).collect();
        different.into_iter().take(limits::PRELOADED_PLUGINS_MAX).collect()
    }

    /// Takes back an admission that the database refused. Returns the seals that relied on it.
    pub(super) fn take_back(&mut self, id: BatchId, admission: &Admission) -> Vec<Reply<()>> {
        for row in &admission.requests {
            self.refused.add(RequestId { batch: id, seq: row.seq });
        }
        let batch = self.by_id.get_mut(&id);
        batch.map(|batch| batch.take_back(&admission.requests, admission.mark)).unwrap_or_default()
    }

    /// Whether one of the items repeats a request that the database refused after it was repeated.
    pub(super) fn repeats_refused(&self, fates: &[ItemFate]) -> bool {
        let refused = |fate: &ItemFate| match fate {
            ItemFate::Repeated(id) => self.refused.all.contains(id),
            ItemFate::Accepted(_) | ItemFate::Refused => false,
        };
        !self.refused.all.is_empty() && fates.iter().any(refused)
    }

    /// The key under which equal requests find this one; `None` if it must run by itself.
    pub(super) fn dedup_key(&self, request: RequestId) -> Option<DedupKey> {
        let batch = self.by_id.get(&request.batch)?;
        Some((batch.committed.row.tenant, batch.entry(request.seq)?.content?))
    }

    /// Keeps the outcome that an unfinished request takes from a primary.
    pub(super) fn give(&mut self, request: RequestId, known: Arc<SharedOutcome>) {
        let batch = self.by_id.get_mut(&request.batch);
        if let Some(entry) = batch.and_then(|batch| batch.entry_mut(request.seq)) {
            entry.set_shared(known);
        }
    }

    /// The tenant, if there is no memory for the artifact with which a stage ends: what it needs more than the one that it
    /// replaces must be within the tenant's share. First stages leave a part of it to later ones that others follow.
    pub(super) fn refuses_artifact(
        &self,
        request: RequestId,
        stage: usize,
        end: &StageEnd,
    ) -> Option<TenantId> {
        let StageEnd::Next(artifact) = end else { return None };
        let batch = self.by_id.get(&request.batch)?;
        let tenant = batch.committed.row.tenant;
        let more = artifact.bytes.len().saturating_sub(self.replaceable_bytes(request));
        let leaves_part = stage == 0 && batch.committed.plugin.shapes.len() > 2;
        let left = if leaves_part { self.left_to_later_stages(tenant) } else { 0 };
        (more > 0 && !self.artifacts.admits(tenant, more + left)).then_some(tenant)
    }

    /// The bytes of the tenant's share that its first stages may not use: a quarter. Without artifacts of its own there is no
    /// later stage that needs them.
    fn left_to_later_stages(&self, tenant: TenantId) -> usize {
        let (held, share) = self.artifacts.held_of_share(tenant);
        if held == 0 { 0 } else { share / 4 }
    }

    /// Whether the artifact with which a stage ends may fit once the artifacts before it are durable.
    pub(super) fn may_fit_after_commits(&self, request: RequestId, artifact: &Artifact) -> bool {
        let uncommitted = self.uncommitted.load(Ordering::Relaxed);
        let free = self.replaceable_bytes(request) + self.artifacts.free();
        uncommitted > 0 && artifact.bytes.len() <= free + uncommitted
    }

    /// Whether an artifact may fit once the tenant holds no other.
    pub(super) fn may_fit_alone(&self, tenant: TenantId, artifact: &Artifact) -> bool {
        let (_, share) = self.artifacts.held_of_share(tenant);
        artifact.bytes.len() <= share
    }

    /// The bytes that become free when the request's artifact is replaced.
    fn replaceable_bytes(&self, request: RequestId) -> usize {
        let batch = self.by_id.get(&request.batch);
        let entry = batch.and_then(|batch| batch.entry(request.seq));
        entry.map_or(0, Entry::replaceable_bytes)
    }

    /// Whether the memory for the tenant's artifacts is so scarce that no first stage should start that others follow: it
    /// holds half of what it could have, or some while little is free for anybody.
    pub(super) fn is_artifact_memory_scarce(&self, tenant: TenantId) -> bool {
        let (held, share) = self.artifacts.held_of_share(tenant);
        // A tenant that holds nothing may begin, whatever the others do.
        held * 2 > share || held > 0 && self.artifacts.free() < self.artifact_bytes_max / 8
    }

    /// Whether stages of the tenant that are held may start again: it holds a quarter of what it could have, and a quarter of
    /// all memory is free; or it holds nothing, and some artifacts fit.
    pub(super) fn is_artifact_memory_ample(&self, tenant: TenantId) -> bool {
        let (held, share) = self.artifacts.held_of_share(tenant);
        let part = if held == 0 { 64 } else { 4 };
        held * 4 <= share && self.artifacts.free() >= self.artifact_bytes_max / part
    }

    /// Replaces the artifact with which an unfinished request's next stage starts; returns what its row holds until it is
    /// durable.
    pub(super) fn set_input(&mut self, request: RequestId, artifact: Arc<Artifact>) -> RowMemory {
        let mut memory = RowMemory::default();
        if let Some(batch) = self.by_id.get_mut(&request.batch) {
            let tenant = batch.committed.row.tenant;
            let bytes = artifact.bytes.len();
            if let Some(entry) = batch.entry_mut(request.seq) {
                memory.permit = entry.set_input(artifact, tenant, &self.artifacts);
                memory.artifact = Some(UncommittedBytes::of(bytes, &self.uncommitted));
            }
        }
        memory
    }

    /// Takes a request that ends out of its batch.
    pub(super) fn end(
        &mut self,
        request: RequestId,
    ) -> Option<(&mut LiveBatch, Entry, BudgetPermit)> {
        let batch = self.by_id.get_mut(&request.batch)?;
        let (entry, permit) = batch.end(request.seq)?;
        Some((batch, entry, permit))
    }
}

#[cfg(test)]
mod tests {
    use assay_core::plugin::{Description, Stage};

    use super::*;
    use crate::batch::tests::{batch, batch_of};
    use crate::plugin::tests::description;

    fn artifact(bytes: usize) -> Arc<Artifact> {
        Arc::new(Artifact { content_type: "text/plain".into(), bytes: vec![0; bytes] })
    }

    fn request(batch: &LiveBatch, seq: u32) -> RequestId {
        RequestId { batch: batch.id(), seq }
    }

    #[test]
    fn a_batch_is_its_tenants_alone() {
        let (mut batches, batch) = (LiveBatches::new(0), batch(1));
        let (id, tenant, first) = (batch.id(), batch.committed.row.tenant, request(&batch, 0));
        batches.insert(batch);
        assert!(batches.find(tenant, id).is_ok());
        let stranger = TenantId(uuid::Uuid::from_u128(99));
        assert_eq!(batches.find(stranger, id).err(), Some(DispatchError::NotLive));
        assert_eq!(batches.read_storage(first), Some(tenant));
        assert!(batches.remove(id).is_some() && batches.get(id).is_none());
    }

    #[test]
    fn a_missing_batch_keeps_the_replies_of_those_who_still_wait() {
        let (mut batches, batch) = (LiveBatches::new(0), batch(1));
        let (id, tenant) = (batch.id(), batch.committed.row.tenant);
        let _cancelled = batches.miss(id, tenant);
        for _ in 0..100 {
            let (reply, gone) = tokio::sync::oneshot::channel();
            drop(gone);
            batches.cancel_missing(id, reply);
        }
        let (is_cancelled, replies) = batches.found(id);
        assert!(is_cancelled && replies.len() == 1, "the last one is looked at with the next");
    }

    #[test]
    fn artifacts_count_from_their_stage_to_the_next_one() {
        let (mut batches, batch) = (LiveBatches::new(1_000), batch(2));
        let (first, second) = (request(&batch, 0), request(&batch, 1));
        let id = batch.id();
        batches.insert(batch);
        batches.set_input(first, artifact(100));
        batches.set_input(first, artifact(30));
        batches.set_input(second, artifact(5));
        assert_eq!(batches.artifacts.free(), 1_000 - 35);
        assert!(batches.end(first).is_some());
        assert!(batches.end(first).is_none());
        assert_eq!(batches.artifacts.free(), 1_000 - 5);
        // A late artifact of a request that has ended is not kept.
        batches.set_input(first, artifact(7));
        assert_eq!(batches.artifacts.free(), 1_000 - 5);
        batches.remove(id);
        assert_eq!(batches.artifacts.free(), 1_000);
    }

    #[test]
    fn an_artifact_counts_until_its_row_is_durable() {
        let (mut batches, batch) = (LiveBatches::new(1_000), batch(2));
        let first = request(&batch, 0);
        batches.insert(batch);
        let row = batches.set_input(first, artifact(100));
        let may_fit =
            |batches: &LiveBatches, bytes| batches.may_fit_after_commits(first, &artifact(bytes));
        assert!(batches.end(first).is_some());
        assert_eq!(batches.artifacts.free(), 900);
        assert!(may_fit(&batches, 1_000) && !may_fit(&batches, 1_001));
        drop(row);
        assert_eq!(batches.artifacts.free(), 1_000);
        assert!(!may_fit(&batches, 1), "no commit makes room");
    }

    #[test]
    fn later_stages_leave_memory_to_other_tenants() {
        let (mut batches, batch) = (LiveBatches::new(1_000), batch(1));
        let (tenant, first) = (batch.committed.row.tenant, request(&batch, 0));
        batches.insert(batch);
        batches.set_input(first, artifact(100));
        let refuses = |batches: &LiveBatches, bytes| {
            let end = StageEnd::Next(Artifact::clone(&artifact(bytes)));
            batches.refuses_artifact(first, 1, &end).is_some()
        };
        assert!(!refuses(&batches, 750) && refuses(&batches, 751), "a quarter is the others'");
        // What replaces an artifact of its length needs none.
        batches.set_input(first, artifact(990));
        assert!(!refuses(&batches, 990) && refuses(&batches, 991));
        let fits_alone = |bytes| batches.may_fit_alone(tenant, &artifact(bytes));
        assert!(fits_alone(750) && !fits_alone(751));
    }

    #[test]
    fn first_stages_leave_memory_to_later_ones_that_others_follow() {
        let stage = |name: &str| Stage {
            name: name.into(),
            pool: "cpu".into(),
            timeout_ms: 1,
            memory_bytes_max: 1,
            retries_max: 0,
        };
        let stages = ["first", "second", "third"].map(stage).into();
        let batch = batch_of(2, Description { stages, ..description() });
        let (mut batches, requests) =
            (LiveBatches::new(1_000), [0, 1].map(|seq| request(&batch, seq)));
        batches.insert(batch);
        let refuses = |batches: &LiveBatches, stage, bytes| {
            let end = StageEnd::Next(Artifact::clone(&artifact(bytes)));
            batches.refuses_artifact(requests[1], stage, &end).is_some()
        };
        assert!(!refuses(&batches, 0, 1_000), "its tenant holds nothing");
        batches.set_input(requests[0], artifact(400));
        // The share is 750, and first stages may not use 187 of it.
        assert!(!refuses(&batches, 0, 163) && refuses(&batches, 0, 164));
        assert!(!refuses(&batches, 1, 350) && refuses(&batches, 1, 351));
        assert!(!refuses(&batches, 0, 0));
    }

    #[test]
    fn memory_is_scarce_at_half_of_the_share_until_a_quarter() {
        let (mut batches, batch) = (LiveBatches::new(1_000), batch(3));
        let tenant = batch.committed.row.tenant;
        let requests = [0, 1, 2].map(|seq| request(&batch, seq));
        batches.insert(batch);
        let scarce_and_ample = |batches: &LiveBatches| {
            (batches.is_artifact_memory_scarce(tenant), batches.is_artifact_memory_ample(tenant))
        };
        batches.set_input(requests[0], artifact(150));
        assert_eq!(scarce_and_ample(&batches), (false, true));
        batches.set_input(requests[1], artifact(100));
        assert_eq!(scarce_and_ample(&batches), (false, false));
        batches.set_input(requests[2], artifact(200));
        assert_eq!(scarce_and_ample(&batches), (true, false));
        assert!(batches.end(requests[2]).is_some() && batches.end(requests[1]).is_some());
        assert_eq!(scarce_and_ample(&batches), (false, true));
    }

    #[test]
    fn a_tenant_begins_again_while_others_hold_the_memory() {
        let (mut batches, batch) = (LiveBatches::new(1_000), batch(2));
        let other = TenantId(uuid::Uuid::from_u128(99));
        let _others = batches.artifacts.take_free(other, 960).expect("nobody holds anything");
        let tenant = batch.committed.row.tenant;
        let first = request(&batch, 0);
        batches.insert(batch);
        assert!(batches.is_artifact_memory_ample(tenant));
        batches.set_input(first, artifact(10));
        assert!(batches.is_artifact_memory_scarce(tenant));
        assert!(!batches.is_artifact_memory_ample(tenant));
        assert!(batches.end(first).is_some());
        assert!(batches.is_artifact_memory_ample(tenant));
    }
}
