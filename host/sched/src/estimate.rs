//! What history says: how long a stage runs, and how long a run's batches take.
//!
//! Owned by the scheduler; bounded: the entries not used for longest make room for new ones. It
//! decides the order of service and nothing else, so a lost entry costs no correctness.

use std::collections::BTreeMap;
use std::sync::Arc;

use assay_model::id::{Digest, TenantId};
use assay_model::time::Micros;

use crate::event::StageShape;

/// Plugins whose service times are kept, and runs whose last batch is.
const ENTRIES_MAX: usize = 4_096;

/// A stage that was never seen to run is expected to take its timeout, but no more than this.
const UNSEEN_MAX: Micros = Micros::from_secs(1);

/// Each observation weighs one part in this many.
const DECAY: u64 = 8;

/// A decaying mean of service times, kept `DECAY` times too large to round well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mean(u64);

impl Mean {
    pub(crate) fn first(ran: Micros) -> Self {
        Self(ran.0.saturating_mul(DECAY))
    }

    pub(crate) fn observe(&mut self, ran: Micros) {
        self.0 = (self.0 - self.0 / DECAY).saturating_add(ran.0);
    }

    pub(crate) fn value(self) -> Micros {
        Micros(self.0 / DECAY)
    }
}

type RunKey = (TenantId, Arc<str>);

#[derive(Debug)]
pub(crate) struct Estimates {
    plugins: Recent<Digest, Vec<Option<Mean>>>,
    /// From the first arrival to T of the run's last completed batch.
    spans: Recent<RunKey, Micros>,
}

impl Estimates {
    pub(crate) fn new() -> Self {
        Self { plugins: Recent::new(ENTRIES_MAX), spans: Recent::new(ENTRIES_MAX) }
    }

    /// A batch of this plugin is about to come.
    pub(crate) fn plugin_used(&mut self, plugin: Digest, stages: usize) {
        self.plugins.entry(plugin, || vec![None; stages]);
    }

    /// `ran` is the worker's word: it counts up to the stage's timeout.
    pub(crate) fn stage_ran(
        &mut self,
        plugin: Digest,
        stage: usize,
        shape: &StageShape,
        ran: Micros,
    ) {
        let ran = ran.min(shape.timeout);
        let means = self.plugins.get_mut(&plugin);
        match means.and_then(|means| means.get_mut(stage)) {
            Some(Some(mean)) => mean.observe(ran),
            Some(unseen) => *unseen = Some(Mean::first(ran)),
            None => {}
        }
    }

    /// Service times of a plugin's stages; empty or `None` where nothing was seen yet.
    pub(crate) fn stages(&self, plugin: &Digest) -> &[Option<Mean>] {
        self.plugins.get(plugin).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn batch_completed(&mut self, tenant: TenantId, run: Arc<str>, span: Micros) {
        *self.spans.entry((tenant, run), || span) = span;
    }

    pub(crate) fn span(&self, tenant: TenantId, run: &Arc<str>) -> Option<Micros> {
        self.spans.get(&(tenant, Arc::clone(run))).copied()
    }
}

/// How long a stage is expected to run.
pub(crate) fn expected(mean: Option<Mean>, shape: &StageShape) -> Micros {
    mean.map_or_else(|| shape.timeout.min(UNSEEN_MAX), Mean::value)
}

/// An ordered map with a limit: the entry whose `entry` call lies back farthest is dropped.
#[derive(Debug)]
struct Recent<K, V> {
    limit: usize,
    values: BTreeMap<K, (u64, V)>,
    ages: BTreeMap<u64, K>,
    uses: u64,
}

impl<K: Ord + Clone, V> Recent<K, V> {
    fn new(limit: usize) -> Self {
        Self { limit, values: BTreeMap::new(), ages: BTreeMap::new(), uses: 0 }
    }

    fn get(&self, key: &K) -> Option<&V> {
        self.values.get(key).map(|(_, value)| value)
    }

    fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.values.get_mut(key).map(|(_, value)| value)
    }

    fn entry(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        self.uses += 1;
        if let Some((used, _)) = self.values.get(&key) {
            self.ages.remove(used);
        } else if self.values.len() == self.limit {
            let oldest = self.ages.pop_first();
            oldest.and_then(|(_, key)| self.values.remove(&key));
        }
        self.ages.insert(self.uses, key.clone());
        let (used, value) = self.values.entry(key).or_insert_with(|| (0, make()));
        *used = self.uses;
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE_TIMEOUT: Micros = Micros::from_secs(5);

    fn shape() -> StageShape {
        StageShape { pool: "cpu".into(), timeout: SHAPE_TIMEOUT, retries_max: 0 }
    }

    fn seen(observations: &[u64]) -> Micros {
        let plugin = Digest([7; 32]);
        let mut estimates = Estimates::new();
        estimates.plugin_used(plugin, 1);
        for ran in observations {
            estimates.stage_ran(plugin, 0, &shape(), Micros(*ran));
        }
        expected(estimates.stages(&plugin)[0], &shape())
    }

    #[test]
    fn the_mean_follows_what_ran() {
        assert_eq!(seen(&[]), Micros::from_secs(1));
        assert_eq!(seen(&[100]), Micros(100));
        assert_eq!(seen(&[100, 900]), Micros(200));
        assert_eq!(seen(&[3; 100]), Micros(3));
        assert_eq!(seen(&[u64::MAX; 9]), SHAPE_TIMEOUT);
        let settled = seen(&[&[100][..], &[900; 64][..]].concat());
        assert!((895..=900).contains(&settled.0), "{settled:?}");
    }

    #[test]
    fn the_longest_unused_makes_room() {
        let mut recent = Recent::new(2);
        *recent.entry("a", || 1) += 10;
        recent.entry("b", || 2);
        recent.entry("a", || 0);
        recent.entry("c", || 3);
        assert_eq!(recent.get(&"a"), Some(&11));
        assert_eq!(recent.get(&"b"), None);
        assert_eq!(recent.get(&"c"), Some(&3));
        assert_eq!(recent.ages.len(), recent.values.len());
    }
}
