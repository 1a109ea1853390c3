//! The rule that SIMULATE applies to an allocation, and its result.

use assay_core::time::Micros;
use assay_sched::Discipline;

use crate::tail::Tail;

/// A request that starts this much after it was ready has queued.
pub(crate) const QUEUED_MIN: Micros = Micros::from_ms(1);

/// The rule that an allocation must satisfy.
#[derive(Debug, Clone)]
pub struct Rule {
    /// The order of the queues.
    pub discipline: Discipline,
    /// The check of each request.
    pub check: Check,
}

/// The check of one request. Under each check every request must end by max(T, its own t_i) + D.
#[derive(Debug, Clone)]
pub enum Check {
    /// Checks nothing else.
    Late,
    /// Checks also that a request that queued would end by T + D if all its stages timed out (the paper's
    /// LT).
    Timeouts,
    /// Checks also that the delay that long runners are expected to add by queueing stays within `budget`,
    /// summed over a batch. `tails` has, for each flow and stage, the expected excess of the remaining
    /// time; `trusted` says for each batch whether these hold, and `Timeouts` applies where they do not.
    Risk {
        /// The expected excess, by flow and stage.
        tails: Vec<Vec<Tail>>,
        /// Whether the tails hold, by batch.
        trusted: Vec<bool>,
        /// The allowed expected delay of a batch.
        budget: Micros,
    },
}

/// The result of SIMULATE for an allocation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simulated {
    /// Whether the allocation satisfies the rule.
    pub satisfied: bool,
    /// The end of each batch; complete only after [`crate::simulate`].
    pub batch_ends: Vec<Micros>,
}

/// The first thing that broke the rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Violation {
    pub(crate) request: usize,
    pub(crate) stage: usize,
    pub(crate) ready: Micros,
    pub(crate) start: Micros,
    pub(crate) because: LateReason,
}

/// Why a start is too late.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LateReason {
    /// The batch would end later than it may.
    Late {
        /// The end of the batch.
        end: Micros,
        /// The latest allowed end.
        by: Micros,
    },
    /// The request could run into its timeouts and end later than the batch may.
    MayTimeOut {
        /// The end of the request if all its stages time out.
        latest: Micros,
        /// The latest allowed end.
        by: Micros,
    },
    /// The expected delay by long runners, over all requests that queue, would exceed its budget.
    Risk {
        /// The expected delay.
        expected: Micros,
        /// The allowed expected delay.
        budget: Micros,
    },
    /// The requests of the batch, whose trainer consumes groups, would queue for longer than they may.
    Waits {
        /// The mean time that the batch's requests would queue up to this start.
        mean: Micros,
        /// The allowed mean time.
        max: Micros,
    },
}
