//! The last batches of each run, and whose to take for a run that has none.

use std::collections::VecDeque;
use std::sync::Arc;

use assay_model::id::{Digest, TenantId};

use super::basis::Basis;
use crate::estimate::Recent;
use crate::event::StageShape;
use crate::profile::Profile;
use crate::seen::BatchSeen;

/// Runs, and plugins, whose last batches are kept; those not used for longest are forgotten.
const ENTRIES_MAX: usize = 1_024;

#[derive(Debug)]
pub(super) struct History {
    /// Batches a basis is made of.
    depth: usize,
    runs: Recent<(TenantId, Arc<str>), Kept>,
    /// By tenant as well: nobody plans by another's data unless there is nothing else.
    plugins: Recent<(TenantId, Digest), Kept>,
    last: Option<Kept>,
}

#[derive(Debug, Clone)]
struct Kept {
    profiles: VecDeque<Arc<Profile>>,
    basis: Option<Arc<Basis>>,
}

impl History {
    pub(super) fn new(depth: usize) -> Self {
        Self {
            depth,
            runs: Recent::new(ENTRIES_MAX),
            plugins: Recent::new(ENTRIES_MAX),
            last: None,
        }
    }

    pub(super) fn learn(&mut self, profile: Arc<Profile>) {
        let empty = || Kept { profiles: VecDeque::new(), basis: None };
        let run = (profile.tenant, Arc::clone(&profile.run));
        let kept = self.runs.entry(run, empty);
        kept.add(Arc::clone(&profile), self.depth);
        let kept = kept.clone();
        *self.plugins.entry((profile.tenant, profile.plugin), empty) = kept.clone();
        self.last = Some(kept);
    }

    /// What to expect of a batch: by its own run, another of its plugin, or any of the same pools.
    pub(super) fn basis(&self, batch: &BatchSeen) -> Option<Arc<Basis>> {
        let run = self.runs.get(&(batch.tenant, Arc::clone(&batch.run)));
        let plugin = || self.plugins.get(&(batch.tenant, batch.plugin));
        let last = || self.last.as_ref();
        let fits = |kept: &&Kept| kept.fits(&batch.stages);
        let kept = run.filter(fits).or_else(|| plugin().filter(fits));
        kept.or_else(|| last().filter(fits))?.basis.clone()
    }
}

impl Kept {
    fn add(&mut self, profile: Arc<Profile>, depth: usize) {
        if !self.fits(&profile.stages) {
            self.profiles.clear();
        }
        self.profiles.push_front(profile);
        self.profiles.truncate(depth);
        self.basis = Basis::of(self.profiles.iter()).map(Arc::new);
    }

    fn fits(&self, stages: &[StageShape]) -> bool {
        self.profiles.front().is_none_or(|profile| {
            let pools = |stages: &[StageShape]| -> Vec<Arc<str>> {
                stages.iter().map(|stage| Arc::clone(&stage.pool)).collect()
            };
            pools(&profile.stages) == pools(stages)
        })
    }
}
