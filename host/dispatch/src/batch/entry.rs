//! One unfinished request of a live batch: its payload, and what its stages left.

use std::sync::Arc;

use assay_api::result::StageTime;
use assay_core::id::TenantId;
use assay_core::outcome::Artifact;
use assay_core::time::Micros;
use bytes::Bytes;

use crate::dedup::{ContentHash, SharedOutcome};
use crate::fair_semaphore::{FairPermit, FairSemaphore};
use crate::handle::NewItem;

/// A request that has not ended.
pub(crate) struct Entry {
    pub(crate) group: Option<u32>,
    pub(crate) body: Bytes,
    /// The hash by which equal requests find it, if it may be deduplicated.
    pub(crate) content: Option<ContentHash>,
    /// The number of the last line of its log; lines of a later try come after it.
    pub(crate) log_lines: u32,
    rare: Option<Box<RareFields>>,
}

/// A million queued requests have one each.
const _: () = assert!(size_of::<Option<Entry>>() <= 72);

/// The fields that few queued requests have. They are allocated apart, so that a million of them stay small.
#[derive(Default)]
struct RareFields {
    /// The deadline of the client that waits for it, if it named one.
    due: Option<Micros>,
    /// The outcome that it takes from a primary.
    shared: Option<Arc<SharedOutcome>>,
    stages: EndedStages,
}

/// The stages of a request that have ended.
#[derive(Default)]
pub(crate) struct EndedStages {
    /// The artifact of the last one.
    pub(crate) input: Option<Arc<Artifact>>,
    /// The artifact's share of the memory, also held until its row is durable; none where more was restored than there is.
    input_place: Option<Arc<FairPermit>>,
    /// Times of the stages that ended in `next`, including those before a restart.
    pub(crate) times: Vec<StageTime>,
    /// The number of those stages that the scheduler knows of.
    pub(crate) advanced: usize,
    /// Whether one of its stages has read storage, or may have before a restart. An equal request that comes later may find
    /// other objects there.
    pub(crate) read_storage: bool,
}

impl Entry {
    pub(super) fn new(item: NewItem, group: Option<u32>, content: Option<ContentHash>) -> Self {
        let NewItem { body, due, .. } = item;
        let mut entry = Self { group, body, content, log_lines: 0, rare: None };
        if due.is_some() {
            entry.rare().due = due;
        }
        entry
    }

    fn rare(&mut self) -> &mut RareFields {
        self.rare.get_or_insert_default()
    }

    pub(crate) fn due(&self) -> Option<Micros> {
        self.rare.as_ref()?.due
    }

    pub(super) fn set_due(&mut self, due: Micros) {
        self.rare().due = Some(due);
    }

    pub(crate) fn shared(&self) -> Option<&Arc<SharedOutcome>> {
        self.rare.as_ref()?.shared.as_ref()
    }

    pub(crate) fn set_shared(&mut self, known: Arc<SharedOutcome>) {
        self.rare().shared = Some(known);
    }

    pub(crate) fn take_shared(&mut self) -> Option<Arc<SharedOutcome>> {
        self.rare.as_mut()?.shared.take()
    }

    /// The artifact with which the next stage starts.
    pub(crate) fn input(&self) -> Option<&Artifact> {
        self.rare.as_ref()?.stages.input.as_deref()
    }

    /// The bytes of memory that become free when the input is replaced: none while its row is not durable.
    pub(crate) fn replaceable_bytes(&self) -> usize {
        let place = self.rare.as_ref().and_then(|rare| rare.stages.input_place.as_ref());
        place.filter(|place| Arc::strong_count(place) == 1).map_or(0, |place| place.count())
    }

    /// Replaces the artifact with which the next stage starts; returns its share of the memory.
    pub(crate) fn set_input(
        &mut self,
        artifact: Arc<Artifact>,
        tenant: TenantId,
        places: &FairSemaphore,
    ) -> Option<Arc<FairPermit>> {
        let stages = self.stages_mut();
        // The artifact that it replaces makes room for it.
        stages.input_place = None;
        stages.input_place = places.take_free(tenant, artifact.bytes.len()).map(Arc::new);
        stages.input = Some(artifact);
        stages.input_place.clone()
    }

    /// Takes the memory for an artifact that was restored.
    pub(super) fn hold_input(&mut self, tenant: TenantId, places: &FairSemaphore) {
        if let Some(rare) = &mut self.rare
            && let Some(input) = &rare.stages.input
        {
            rare.stages.input_place = places.take_free(tenant, input.bytes.len()).map(Arc::new);
        }
    }

    pub(crate) fn stages_mut(&mut self) -> &mut EndedStages {
        &mut self.rare().stages
    }

    /// The stages that ended, of a request that ends as well.
    pub(crate) fn take_stages(&mut self) -> EndedStages {
        self.rare.take().map_or_else(EndedStages::default, |rare| rare.stages)
    }
}
