//! The policy `distrs`: the planner as published.

use super::{Algorithm, Policy};
use crate::tuning::Tuning;

impl Policy {
    /// Algorithms 1 and 2 of the paper with the timeout-aware check, at the edges of batches.
    pub const DISTRS: Self = Self {
        name: "distrs",
        summary: "As published: by simulation when a batch starts or ends",
        algorithm: &Distrs,
    };
}

struct Distrs;

impl Algorithm for Distrs {
    fn tuning(&self) -> Tuning {
        Tuning::PUBLISHED
    }
}
