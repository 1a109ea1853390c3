//! The policy `history`: the paper's ablation.

use super::{Algorithm, Policy};
use crate::tuning::{Checked, Tuning};

impl Policy {
    /// `distrs` without the timeout-aware check.
    pub const HISTORY: Self = Self {
        name: "history",
        summary: "As `distrs`, without its check of timeouts",
        algorithm: &History,
    };
}

struct History;

impl Algorithm for History {
    fn tuning(&self) -> Tuning {
        Tuning { check: Checked::Late, ..Tuning::PUBLISHED }
    }
}
