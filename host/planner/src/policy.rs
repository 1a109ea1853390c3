//! The planner's policies: one table, from which the server, the simulator and the command line take their
//! names and help texts.
//!
//! A policy has a file of its own: its row of the table, its tuning, and the decisions in which it differs
//! from the search of algorithm 1. A new policy is that file and a line in [`Policy::ALL`].

mod assay;
mod distrs;
mod fixed;
mod history;
mod zq;

use std::fmt;

use crate::decision::{Decision, PoolTask, search_pool};
use crate::search::Search;
use crate::tuning::Tuning;

/// A row of the table of policies. Two policies are equal if they have the same name.
#[derive(Clone, Copy)]
pub struct Policy {
    /// The name in options, reports and the REST interface.
    pub name: &'static str,
    /// The way in which it chooses the number of workers, for help texts.
    pub summary: &'static str,
    algorithm: &'static dyn Algorithm,
}

impl Policy {
    /// All policies, the default one first.
    pub const ALL: [Self; 5] = [Self::ASSAY, Self::DISTRS, Self::HISTORY, Self::ZQ, Self::FIXED];

    /// The policy of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|policy| policy.name == name)
    }

    /// The policy's own settings.
    #[must_use]
    pub fn tuning(self) -> Tuning {
        self.algorithm.tuning()
    }

    /// Whether each run has workers of its own. Only the simulator can arrange that.
    #[must_use]
    pub fn has_pools_by_run(self) -> bool {
        self.algorithm.has_pools_by_run()
    }

    pub(crate) fn algorithm(self) -> &'static dyn Algorithm {
        self.algorithm
    }
}

impl PartialEq for Policy {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Policy {}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Policy").field(&self.name).finish()
    }
}

/// The decisions in which policies differ. The defaults are those of `distrs`.
pub(crate) trait Algorithm: Send + Sync {
    fn tuning(&self) -> Tuning;

    /// Decides one pool; pools come in the order of the search, expensive ones first.
    fn allocate(&self, search: &mut Search<'_>, task: &PoolTask<'_>) -> Decision {
        search_pool(search, task)
    }

    /// Whether every pool always has its maximum, so that nothing is simulated.
    fn is_static(&self) -> bool {
        false
    }

    /// Whether it plans again after each period, also between the edges of batches.
    fn replans(&self) -> bool {
        false
    }

    fn has_pools_by_run(&self) -> bool {
        false
    }
}
