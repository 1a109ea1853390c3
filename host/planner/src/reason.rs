//! The reasons of a plan's numbers.

use std::sync::Arc;

use assay_core::id::BatchId;
use assay_core::time::Micros;

use crate::rule::LateReason;

/// Why a pool's ceiling is what it is.
#[derive(Debug, Clone, PartialEq)]
pub enum Reason {
    /// No live batch needs the pool.
    Idle,
    /// The requests that need the pool are held, and no others do.
    Held,
    /// The policy asks for exactly this many.
    Policy,
    /// The configured minimum.
    Minimum,
    /// The quota, the pool's or its tenants': it would take `wanted`.
    Maximum {
        /// The workers that the plan would take.
        wanted: usize,
    },
    /// A live batch has no history, its own or another's: it starts with few and grows.
    Unknown,
    /// One worker, the least while a live batch needs the pool.
    Needed,
    /// One worker less would break the rule in this way.
    Bound(Bound),
}

/// The first violation with one worker less.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    /// The batch that would be late.
    pub batch: BatchId,
    /// Its run.
    pub run: Arc<str>,
    /// The number of workers that the search found.
    pub workers: usize,
    /// The stage at which its request would queue, from 0.
    pub stage: usize,
    /// The time at which its request is ready for the stage.
    pub ready: Micros,
    /// The time at which the request would start.
    pub start: Micros,
    /// Why that is too late.
    pub because: LateReason,
}
