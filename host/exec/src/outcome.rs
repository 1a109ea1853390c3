//! How a program ended and what it used.

use serde::{Deserialize, Serialize};

/// A limit that ended a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LimitKind {
    /// CPU time of all processes.
    Cpu,
    /// Wall time: the program slept or waited.
    Wall,
    /// Memory of all processes.
    Memory,
    /// Bytes of standard output.
    Output,
    /// The number of processes.
    Processes,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProgramEnding {
    /// The program ended with this exit status.
    Exited(i32),
    /// This signal ended the program.
    Signaled(i32),
    /// This limit ended the program.
    Limited(LimitKind),
}

impl ProgramEnding {
    /// Whether the exit status is 0.
    #[must_use]
    pub fn is_normal(self) -> bool {
        self == Self::Exited(0)
    }
}

/// The resources that a run used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// CPU time of all processes together, in microseconds.
    pub cpu_us: u64,
    /// Wall time in microseconds.
    pub wall_us: u64,
    /// The largest amount of memory that all processes had at once, in bytes.
    pub memory_peak_bytes: u64,
    /// The time in which a process was ready to run but had no core, in microseconds.
    pub wait_us: u64,
}

/// The beginning of an output or a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Captured {
    /// The bytes.
    #[serde(with = "serde_bytes")]
    pub data: Vec<u8>,
    /// Whether more bytes followed.
    pub truncated: bool,
}
