//! Every limit of the plugin's own, and those that a label or a run may set for programs.

use assay_plugin::exec;
use serde::Deserialize;

const TESTS_MAX: usize = 2_000;
/// Names below a package's folder that are looked at.
pub(crate) const PACKAGE_NAMES_MAX: usize = 20_000;
/// A source that is taken from a response.
pub(crate) const SOURCE_BYTES_MAX: usize = 256 << 10;
/// Files of an archive, unpacked, all together: they live in the plugin's memory.
pub(crate) const UNPACKED_BYTES_MAX: u64 = 64 << 20;
pub(crate) const ARCHIVE_FILES_MAX: usize = 10_000;
/// CPU time, or time spent neither working nor waiting for a processor, of all tests together: what
/// comes after it counts as `time_limit`.
pub(crate) const SPENT_SECONDS_MAX: u64 = 300;
/// The same time of a checker, or the CPU time of an interactor, over outputs that it accepts: what comes
/// after it is the problem's fault and no verdict.
pub(crate) const JUDGING_SECONDS_MAX: u64 = 300;
/// The tests that may run into their time limit; after that many, the rest counts as `time_limit` unrun.
pub(crate) const STALLED_TESTS_MAX: usize = 10;
/// More than both of these, the first twice as programs near their limit run again, and one test at its
/// ceiling, run and checked twice: so the timeout of the stage, which is a reward, ends no slow program.
pub(crate) const RUN_TIMEOUT_MS: u32 = 1_800_000;
/// The ceiling of a test's CPU time: at three times this plus two seconds of wall time, and once more this
/// where it talks with a judge, twice.
pub(crate) const CPU_MS_MAX: u32 = 60_000;
/// The least CPU time of a checker, an interactor or a tester, in milliseconds; it gets more if the program
/// has more.
pub(crate) const JUDGE_CPU_MS_MIN: u32 = 10_000;
/// The least memory of a checker, an interactor or a tester, in bytes.
pub(crate) const JUDGE_MEMORY_BYTES_MIN: u64 = 512 << 20;

const MIB: u64 = 1 << 20;
const KIB: u64 = 1 << 10;

/// Names a number of tests that a problem cannot have.
pub(crate) fn check_tests(count: usize) -> Result<(), String> {
    if (1..=TESTS_MAX).contains(&count) {
        return Ok(());
    }
    Err(format!("1 to {TESTS_MAX} tests are needed, not {count}"))
}

/// The limits of one test. An absent limit is the toolchain's default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct TestLimits {
    pub(crate) cpu_ms: Option<u32>,
    pub(crate) memory_mib: Option<u32>,
    pub(crate) output_kib: Option<u32>,
    pub(crate) processes: Option<u32>,
}

impl TestLimits {
    /// Names the first value that makes no sense.
    pub(crate) fn check(&self) -> Result<(), String> {
        let ranges = [
            ("cpu_ms", self.cpu_ms, 1, CPU_MS_MAX),
            ("memory_mib", self.memory_mib, 4, 4_096),
            ("output_kib", self.output_kib, 1, 16_384),
            ("processes", self.processes, 1, 256),
        ];
        for (name, value, least, most) in ranges {
            if value.is_some_and(|value| !(least..=most).contains(&value)) {
                return Err(format!("limits.{name} must be {least} to {most}"));
            }
        }
        Ok(())
    }

    /// Takes each limit from `self`, or from `other` if `self` has none.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            cpu_ms: self.cpu_ms.or(other.cpu_ms),
            memory_mib: self.memory_mib.or(other.memory_mib),
            output_kib: self.output_kib.or(other.output_kib),
            processes: self.processes.or(other.processes),
        }
    }

    /// The complete limits: these over the toolchain's defaults, with CPU time multiplied.
    pub(crate) fn over(&self, defaults: &exec::Limits, time_multiplier: f64) -> exec::Limits {
        let cpu_ms = f64::from(self.cpu_ms.unwrap_or(defaults.cpu_ms)) * time_multiplier;
        // Finite and not negative by the settings' own check; the cast saturates.
        let cpu_ms = (cpu_ms.ceil() as u32).clamp(1, CPU_MS_MAX);
        let memory_bytes = self.memory_mib.map(|mib| u64::from(mib) * MIB);
        let stdout_bytes = self.output_kib.map(|kib| u64::from(kib) * KIB);
        exec::Limits {
            cpu_ms,
            wall_ms: wall_ms(cpu_ms),
            memory_bytes: memory_bytes.unwrap_or(defaults.memory_bytes),
            stdout_bytes: stdout_bytes.unwrap_or(defaults.stdout_bytes),
            processes: self.processes.unwrap_or(defaults.processes),
            ..*defaults
        }
    }
}

/// The least wall time that keeps CPU time the limit that decides.
pub(crate) fn wall_ms(cpu_ms: u32) -> u32 {
    cpu_ms.saturating_mul(3).saturating_add(2_000)
}

/// The limits of a program that talks with a judge: while the judge computes, the program waits.
pub(crate) fn talking_limits(program: &exec::Limits, judge: &exec::Limits) -> exec::Limits {
    exec::Limits { wall_ms: program.wall_ms.saturating_add(judge.cpu_ms), ..*program }
}

/// The limits of a program's judge.
pub(crate) fn judge_limits(defaults: &exec::Limits, program: &exec::Limits) -> exec::Limits {
    let cpu_ms = program.cpu_ms.max(JUDGE_CPU_MS_MIN);
    exec::Limits {
        cpu_ms,
        wall_ms: wall_ms(cpu_ms),
        memory_bytes: defaults.memory_bytes.max(JUDGE_MEMORY_BYTES_MIN),
        ..*defaults
    }
}
