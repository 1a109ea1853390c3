//! The policy `fixed`: every pool always has its maximum.

use super::{Algorithm, Policy};
use crate::tuning::Tuning;

impl Policy {
    /// Every pool always has its maximum; nothing is simulated.
    pub const FIXED: Self =
        Self { name: "fixed", summary: "Always the maximum", algorithm: &Fixed };
}

struct Fixed;

impl Algorithm for Fixed {
    fn tuning(&self) -> Tuning {
        Tuning::PUBLISHED
    }

    fn is_static(&self) -> bool {
        true
    }
}
