//! The limits of a run.

use std::time::Duration;

use serde::{Deserialize, Serialize};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// The limits of one run, as in `limits` of `assay:exec/types`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoxLimits {
    /// CPU time of all processes, in milliseconds.
    pub cpu_ms: u32,
    /// Wall time in milliseconds, without the time for which the program waited for a core.
    pub wall_ms: u32,
    /// Memory of all processes and of files in the box.
    pub memory_bytes: u64,
    /// Bytes of standard output; more ends the run.
    pub stdout_bytes: u64,
    /// Bytes of standard error that are kept.
    pub stderr_bytes: u64,
    /// Bytes of files in the box.
    pub disk_bytes: u64,
    /// Processes and threads at once.
    pub processes: u32,
    /// Open files of each process.
    pub open_files: u32,
}

impl BoxLimits {
    /// The defaults for compilers.
    pub const COMPILE: Self = Self {
        cpu_ms: 15_000,
        wall_ms: 60_000,
        memory_bytes: 1024 * MIB,
        stdout_bytes: 64 * KIB,
        stderr_bytes: 64 * KIB,
        disk_bytes: 128 * MIB,
        processes: 32,
        open_files: 256,
    };

    /// The defaults for programs.
    pub const RUN: Self = Self {
        cpu_ms: 2_000,
        wall_ms: 8_000,
        memory_bytes: 256 * MIB,
        stdout_bytes: 4 * MIB,
        stderr_bytes: 64 * KIB,
        disk_bytes: 32 * MIB,
        processes: 16,
        open_files: 64,
    };

    /// The largest limits, unless a toolchain's file sets others.
    pub const CEILING: Self = Self {
        cpu_ms: 120_000,
        wall_ms: 480_000,
        memory_bytes: 4096 * MIB,
        stdout_bytes: 64 * MIB,
        stderr_bytes: MIB,
        disk_bytes: 1024 * MIB,
        processes: 256,
        open_files: 1_024,
    };

    /// The longest time for which waiting for a core puts the limit of wall time off.
    pub(crate) fn put_off_max(&self) -> Duration {
        2 * Duration::from_millis(self.wall_ms.into())
    }

    /// Lowers limits that are above the ceiling, and raises the wall time to three times the CPU time and more: it is
    /// a safety net, which must not end a program that computes.
    #[must_use]
    pub fn within(self, ceiling: &Self) -> Self {
        let cpu_ms = self.cpu_ms.clamp(1, ceiling.cpu_ms);
        Self {
            cpu_ms,
            wall_ms: self
                .wall_ms
                .min(ceiling.wall_ms)
                .max(cpu_ms.saturating_mul(3).saturating_add(2_000)),
            memory_bytes: self.memory_bytes.clamp(4 * MIB, ceiling.memory_bytes),
            stdout_bytes: self.stdout_bytes.min(ceiling.stdout_bytes),
            stderr_bytes: self.stderr_bytes.min(ceiling.stderr_bytes),
            disk_bytes: self.disk_bytes.clamp(MIB, ceiling.disk_bytes),
            processes: self.processes.clamp(1, ceiling.processes),
            open_files: self.open_files.clamp(8, ceiling.open_files),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wall_time_stays_a_safety_net() {
        let asked = BoxLimits { cpu_ms: 10_000, wall_ms: 1, ..BoxLimits::RUN };
        assert_eq!(asked.within(&BoxLimits::CEILING).wall_ms, 32_000);
    }

    #[test]
    fn nothing_exceeds_the_ceiling() {
        let greedy = BoxLimits { memory_bytes: u64::MAX, processes: u32::MAX, ..BoxLimits::RUN };
        let limits = greedy.within(&BoxLimits::CEILING);
        assert_eq!(limits.memory_bytes, BoxLimits::CEILING.memory_bytes);
        assert_eq!(limits.processes, BoxLimits::CEILING.processes);
    }
}
