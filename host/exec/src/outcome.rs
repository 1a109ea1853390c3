//! How a program ended and what it used.

use serde::{Deserialize, Serialize};

/// A limit that ended a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LimitKind {
    Cpu,
    /// The safety net: it slept, or waited for what never came.
    Wall,
    Memory,
    Output,
    Processes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ending {
    Exited(i32),
    /// By this signal.
    Signaled(i32),
    Limited(LimitKind),
}

impl Ending {
    #[must_use]
    pub fn is_normal(self) -> bool {
        self == Self::Exited(0)
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Of all processes together.
    pub cpu_us: u64,
    pub wall_us: u64,
    pub memory_peak_bytes: u64,
    /// Ready to run but not running: a busy machine shows here.
    pub wait_us: u64,
}

/// The beginning of what was written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Captured {
    #[serde(with = "serde_bytes")]
    pub data: Vec<u8>,
    pub truncated: bool,
}
