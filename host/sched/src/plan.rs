//! The planner's plan of a pool.

use std::sync::Arc;

use assay_core::time::Micros;

/// The planner's wishes for a pool until it plans again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolPlan {
    /// The pool.
    pub pool: Arc<str>,
    /// Started workers that are there whether or not anything waits for them, those that start included.
    pub hold: usize,
    /// Started workers that demand may raise this to; never less than `hold`.
    pub ceiling: usize,
    /// How long a worker above `hold` stays without work.
    pub linger: Micros,
}
