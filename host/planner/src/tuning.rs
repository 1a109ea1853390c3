//! The settings in which policies differ.

use assay_core::time::Micros;
use assay_sched::Consumes;

/// The settings of a policy. [`crate::Policy::tuning`] returns a policy's own; others are for experiments
/// in simulation, whose results docs/reproduction.md has.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuning {
    /// The check of each request.
    pub check: Checked,
    /// Batches of a run that stand for its next one.
    pub history: usize,
    /// The quantile at which service times are cut to compute T; 1 leaves them as they are.
    pub robust_quantile: f64,
    /// Whether what is still to come follows from the batch's size instead of history.
    pub by_size: bool,
    /// Whether a batch that does not go as history says changes what is expected of it.
    pub follows_drift: bool,
    /// Whether a new worker counts only from the end of its start. The paper counts it at once.
    pub models_startup: bool,
    /// Whether only the workers are held that the simulation uses until the next plan. The paper holds all that were
    /// searched.
    pub holds_used: bool,
    /// Where `holds_used` is set: a worker stays held for this many plans after the one that last needed it, as plans vary
    /// with what they guess and a start costs more than a little waiting.
    pub held_plans: usize,
    /// Workers that demand may start beyond those planned: this many times their square root.
    pub headroom: f64,
    /// The part of a stage's usual time below which a worker's start-up counts as free, so that demand
    /// alone decides.
    pub free_startup: f64,
    /// The mean time that the requests of a batch may queue whose trainer consumes groups; `None` makes no
    /// difference between trainers.
    pub group_wait: Option<Micros>,
}

/// Which of the rule's checks a policy uses; see [`crate::Check`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Checked {
    /// [`crate::Check::Late`].
    Late,
    /// [`crate::Check::Timeouts`].
    Timeouts,
    /// [`crate::Check::Risk`].
    Risk {
        /// The allowed expected delay of a batch.
        budget: Micros,
    },
}

impl Tuning {
    /// See [`crate::ProblemBatch::wait_max`].
    #[must_use]
    pub fn wait_max(&self, consumes: Consumes) -> Option<Micros> {
        self.group_wait.filter(|_| consumes == Consumes::Groups)
    }

    /// The settings of the paper: the last batch stands for the next one, and only the timeout-aware
    /// check is used.
    pub const PUBLISHED: Self = Self {
        check: Checked::Timeouts,
        history: 1,
        robust_quantile: 1.0,
        by_size: false,
        follows_drift: false,
        models_startup: false,
        holds_used: false,
        held_plans: 0,
        headroom: 0.0,
        free_startup: 0.0,
        group_wait: None,
    };
}
