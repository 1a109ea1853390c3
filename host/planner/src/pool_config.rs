//! The options of one pool.

use assay_core::time::Micros;
use assay_sched::PoolView;

use crate::search::Supply;

/// The operator's options for a pool.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolConfig {
    /// The number of workers that the pool has even when no batch is live.
    pub min: usize,
    /// The most workers: the quota or the capacity, whichever is less.
    pub max: usize,
    /// The paper's C_j: what a worker costs a second, in any unit that the pools share.
    pub cost: f64,
    /// The assumed duration of a start until one was measured.
    pub startup: Micros,
    /// The time for which an idle worker stays that the plan does not hold.
    pub linger: Micros,
}

impl PoolConfig {
    /// Whether the pool always has the same number of workers.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        self.min == self.max
    }

    /// The workers of the pool over time, each that starts counted from the end of its start. Starts without a place
    /// are expected to wait as long again as they have waited: the longer nothing could be had, the less is counted
    /// on it.
    pub(crate) fn supply(&self, seen: &PoolView) -> Supply {
        let usual = seen.startup.unwrap_or(self.startup);
        let placed = seen.starting.iter().map(|since| usual.since(*since));
        let waited = seen.unplaced.iter().copied().max().unwrap_or_default();
        let startup = Micros(usual.0.saturating_add(waited.0));
        let starting = placed.chain(seen.unplaced.iter().map(|_| startup)).collect();
        Supply { present: seen.workers, starting, startup, unplaced: seen.unplaced.len() }
    }
}
