//! What SIMULATE holds an allocation to, and what it says of one.

use assay_model::time::Micros;

use super::tail::Tail;
use crate::config::Order;

/// A request that starts this much after it was ready has queued.
pub(super) const QUEUED_MIN: Micros = Micros::from_ms(1);

/// When an allocation is good enough.
#[derive(Debug, Clone)]
pub struct Rule {
    pub order: Order,
    pub check: Check,
}

/// In each case every request is to end by max(T, its own t_i) + D.
#[derive(Debug, Clone)]
pub enum Check {
    /// And nothing more.
    Late,
    /// And one that queued, should it run into all its timeouts, by T + D (the paper's LT).
    Timeouts,
    /// And the delay that queueing is expected to add by long runners stays within a budget, over
    /// all requests of a batch. By flow and stage: the tail of what is left to run. By batch:
    /// whether that can be trusted; `Timeouts` holds for those of which it cannot.
    Risk { tails: Vec<Vec<Tail>>, trusted: Vec<bool>, budget: Micros },
}

/// What SIMULATE says of an allocation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simulated {
    pub satisfied: bool,
    /// By batch; complete only for [`super::simulate`].
    pub batch_ends: Vec<Micros>,
}

/// The first thing that broke the rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Violation {
    pub(super) request: usize,
    pub(super) stage: usize,
    pub(super) ready: Micros,
    pub(super) start: Micros,
    pub(super) because: super::Because,
}
