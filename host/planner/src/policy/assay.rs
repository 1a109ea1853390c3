//! The policy `assay`: plans again every few seconds and holds what is used until the next plan.

use assay_core::time::Micros;

use super::{Algorithm, Policy};
use crate::tuning::{Checked, Tuning};

impl Policy {
    /// Plans again every few seconds and holds what is used until the next plan.
    pub const ASSAY: Self = Self {
        name: "assay",
        summary: "By simulating the next minutes every few seconds",
        algorithm: &Assay,
    };
}

struct Assay;

impl Algorithm for Assay {
    fn tuning(&self) -> Tuning {
        Tuning {
            check: Checked::Risk { budget: Micros::from_ms(500) },
            history: 4,
            robust_quantile: 0.9,
            by_size: true,
            follows_drift: true,
            models_startup: true,
            holds_used: true,
            held_plans: 2,
            headroom: 1.0,
            free_startup: 0.02,
            group_wait: Some(Micros::from_secs(10)),
        }
    }

    fn replans(&self) -> bool {
        true
    }
}
