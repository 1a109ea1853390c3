//! The last batches of each run, and whose to take for a run that has none.

use std::collections::VecDeque;
use std::sync::Arc;

use assay_core::id::{Digest, TenantId};
use assay_core::limits;
use assay_core::time::Micros;
use assay_sched::{BatchView, Ending, LruMap, Profile, StageShape};

use crate::basis::Basis;

/// After a change of the workload this many batches tell what the next one is like.
const SETTLED_FROM: usize = 3;

/// Runs whose last batches are kept, and plugins whose last run is known; those that learned
/// nothing for longest are forgotten.
const ENTRIES_MAX: usize = 1_024;

#[derive(Debug)]
pub(crate) struct RunHistories {
    /// Batches a basis is made of.
    depth: usize,
    /// Bounded by requests too: `HISTORY_REQUESTS_MAX`.
    runs: LruMap<RunKey, RunHistory>,
    /// By tenant as well: nobody plans by another's data unless there is nothing else.
    plugins: LruMap<(TenantId, Digest), PluginHistory>,
    last: Option<RunKey>,
}

type RunKey = (TenantId, Arc<str>);

#[derive(Debug)]
struct PluginHistory {
    /// The run that completed a batch of it last.
    run: RunKey,
    /// The mean time of each stage in the last batch that reached it; `None` if none did.
    stage_means: Vec<Option<Micros>>,
}

#[derive(Debug)]
struct RunHistory {
    profiles: VecDeque<Arc<Profile>>,
    /// Whether the batch before these was of another kind.
    changed: bool,
    basis: Option<Arc<Basis>>,
}

impl RunHistories {
    pub(crate) fn new(depth: usize) -> Self {
        Self {
            depth,
            runs: LruMap::new(ENTRIES_MAX),
            plugins: LruMap::new(ENTRIES_MAX),
            last: None,
        }
    }

    /// A batch of errors alone says nothing, nor does one of which nothing ran.
    pub(crate) fn learn(&mut self, profile: Arc<Profile>) {
        if profile.requests.iter().all(|request| request.ending == Ending::Error)
            || profile.ran.iter().all(|ran| *ran == Micros::ZERO)
        {
            return;
        }
        let empty = || RunHistory { profiles: VecDeque::new(), changed: false, basis: None };
        let run = (profile.tenant, Arc::clone(&profile.run));
        let plugin = (profile.tenant, profile.plugin);
        let unseen =
            || PluginHistory { run: run.clone(), stage_means: vec![None; profile.stages.len()] };
        self.plugins.entry(plugin, unseen).learn(&profile);
        self.last = Some(run.clone());
        self.runs.entry(run, empty).add(profile, self.depth);
        self.forget();
    }

    /// Forgets runs, but for the one that learned last, until there are few enough requests.
    fn forget(&mut self) {
        let requests =
            |runs: &LruMap<RunKey, RunHistory>| runs.values().map(RunHistory::len).sum::<usize>();
        let mut left = requests(&self.runs);
        while left > limits::HISTORY_REQUESTS_MAX as usize && self.runs.values().count() > 1 {
            left -= self.runs.pop_oldest().map_or(0, |kept| kept.len());
        }
    }

    /// The distribution that stands for a batch: that of its own run, of another run of its plugin, or of
    /// any run with the same pools.
    pub(crate) fn basis(&self, batch: &BatchView) -> Option<Arc<Basis>> {
        let own = (batch.tenant, Arc::clone(&batch.run));
        let plugin = self.plugins.get(&(batch.tenant, batch.plugin)).map(|plugin| &plugin.run);
        let runs = [Some(&own), plugin, self.last.as_ref()];
        let mut kept = runs.into_iter().flatten().filter_map(|run| self.runs.get(run));
        kept.find(|kept| kept.fits(&batch.stages))?.basis.clone()
    }

    /// The mean time of each stage of the batch's plugin, as far as any batch of it reached the stage.
    pub(crate) fn stage_means(&self, batch: &BatchView) -> &[Option<Micros>] {
        let plugin = self.plugins.get(&(batch.tenant, batch.plugin));
        plugin.map_or(&[], |plugin| &plugin.stage_means)
    }
}

impl PluginHistory {
    fn learn(&mut self, profile: &Profile) {
        self.run = (profile.tenant, Arc::clone(&profile.run));
        for (stage, known) in self.stage_means.iter_mut().enumerate() {
            let (count, time) = profile.reached(stage);
            *known = time.0.checked_div(count.into()).map(Micros).or(*known);
        }
    }
}

impl RunHistory {
    fn add(&mut self, profile: Arc<Profile>, depth: usize) {
        let change = match self.profiles.front() {
            Some(_) if !self.fits(&profile.stages) => f64::INFINITY,
            Some(last) => factor_between(last, &profile),
            None => 1.0,
        };
        if change > DIFFERENT {
            self.profiles.clear();
            self.changed = change > CHANGED;
        }
        self.profiles.push_front(profile);
        self.profiles.truncate(depth);
        self.changed &= self.profiles.len() < SETTLED_FROM;
        self.basis = Basis::of(self.profiles.iter()).map(|mut basis| {
            basis.is_new = self.changed;
            Arc::new(basis)
        });
    }

    fn len(&self) -> usize {
        self.profiles.iter().map(|profile| profile.requests.len()).sum()
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
/// A change by more than this factor is so sudden that one batch after it says little about the next.
const CHANGED: f64 = 1.4;
/// A batch with fewer requests than this says little about the next.
const REQUESTS_MIN: usize = 100;

/// The factor by which the workload changed most between two batches, in its arrivals or at a stage.
fn factor_between(earlier: &Profile, later: &Profile) -> f64 {
    let few = |profile: &Profile| profile.requests.len() < REQUESTS_MIN;
    if few(earlier) || few(later) {
        return 1.0;
    }
    let arrivals = |profile: &Profile| {
        let offsets = profile.requests.iter().map(|request| request.arrived.as_secs_f64());
        offsets.sum::<f64>() / profile.requests.len() as f64
    };
    let stages = 0..later.stages.len();
    let at_stages = stages.map(|stage| factor(mean(earlier, stage), mean(later, stage)));
    at_stages.fold(factor(arrivals(earlier), arrivals(later)), f64::max)
}

fn factor(a: f64, b: f64) -> f64 {
    if a > 0.0 && b > 0.0 { (a / b).max(b / a) } else { 1.0 }
}

/// Seconds that a stage ran where it was reached; zero if too few did to say.
fn mean(profile: &Profile, stage: usize) -> f64 {
    let (count, sum) = profile.reached(stage);
    if (count as usize) < REQUESTS_MIN { 0.0 } else { sum.as_secs_f64() / f64::from(count) }
}

#[cfg(test)]
mod tests {
    use assay_core::id::BatchId;
    use uuid::Uuid;

    use super::*;
    use assay_sched::ProfileRequest;

    fn profile(run: u32, requests: usize) -> Arc<Profile> {
        let stage = StageShape { pool: "cpu".into(), timeout: Micros(9), retries_max: 0 };
        let request = ProfileRequest { arrived: Micros::ZERO, ending: Ending::Scored };
        Arc::new(Profile {
            batch: BatchId(Uuid::nil()),
            tenant: TenantId(Uuid::nil()),
            run: run.to_string().into(),
            plugin: Digest([0; 32]),
            stages: [stage].into(),
            announced: Micros::ZERO,
            first_arrival: Micros::ZERO,
            earliest_end: Micros(1),
            ended: Micros(1),
            requests: vec![request; requests],
            ran: vec![Micros(1); requests],
        })
    }

    #[test]
    fn many_large_batches_make_room_for_the_latest() {
        let mut history = RunHistories::new(1);
        let each = limits::HISTORY_REQUESTS_MAX as usize / 4;
        (0..6).for_each(|run| history.learn(profile(run, each)));
        assert_eq!(history.runs.values().map(RunHistory::len).sum::<usize>(), 4 * each);
        let run = |run: u32| (TenantId(Uuid::nil()), run.to_string().into());
        assert!(history.runs.get(&run(1)).is_none() && history.runs.get(&run(2)).is_some());
        // One alone is kept whatever its size.
        history.learn(profile(7, 5 * each));
        assert_eq!(history.runs.values().map(RunHistory::len).sum::<usize>(), 5 * each);
    }
}
