//! The last batches of each run, and whose to take for a run that has none.

use std::collections::VecDeque;
use std::sync::Arc;

use assay_model::id::{Digest, TenantId};

use super::basis::Basis;
use crate::estimate::Recent;
use crate::event::StageShape;
use crate::profile::{Ending, Profile};
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

    /// A batch of errors alone says nothing.
    pub(super) fn learn(&mut self, profile: Arc<Profile>) {
        if profile.requests.iter().all(|request| request.ending == Ending::Error) {
            return;
        }
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
        let alike = |last: &Arc<Profile>| !differ(last, &profile);
        if !self.fits(&profile.stages) || !self.profiles.front().is_none_or(alike) {
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

/// Means that are farther apart than this factor are no chance.
const DIFFERENT: f64 = 1.2;
/// A batch with fewer requests than this says little about the next.
const REQUESTS_MIN: usize = 100;

/// Whether the workload changed between two batches, so that the earlier one misleads.
fn differ(earlier: &Profile, later: &Profile) -> bool {
    let few = |profile: &Profile| profile.requests.len() < REQUESTS_MIN;
    if few(earlier) || few(later) {
        return false;
    }
    let arrivals = |profile: &Profile| {
        let offsets = profile.requests.iter().map(|request| request.arrived.as_secs_f64());
        offsets.sum::<f64>() / profile.requests.len() as f64
    };
    let stages = 0..later.stages.len();
    apart(arrivals(earlier), arrivals(later))
        || stages.into_iter().any(|stage| apart(mean(earlier, stage), mean(later, stage)))
}

fn apart(a: f64, b: f64) -> bool {
    a > 0.0 && b > 0.0 && (a > b * DIFFERENT || b > a * DIFFERENT)
}

/// Seconds that a stage ran where it was reached; zero if too few did to say.
fn mean(profile: &Profile, stage: usize) -> f64 {
    let times = profile.ran.chunks_exact(profile.stages.len()).map(|ran| ran[stage]);
    let (sum, count) = times
        .filter(|time| time.0 > 0)
        .fold((0.0, 0), |(sum, count), time| (sum + time.as_secs_f64(), count + 1));
    if count < REQUESTS_MIN { 0.0 } else { sum / f64::from(count as u32) }
}
