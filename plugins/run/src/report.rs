//! The report of a program: the stage `run` writes it and `score` reads it.

use std::collections::BTreeMap;

use assay_plugin::{Scored, exec};
use serde::{Deserialize, Serialize};

/// The bytes that are kept of a program's output, for each stream of each case.
const OUTPUT_BYTES_MAX: usize = 1 << 20;
/// The bytes that are kept of all cases' output together, so that the report fits into an artifact.
const REPORT_BYTES_MAX: usize = 4 << 20;
/// The bytes of all returned files; one byte takes up to four in the report.
const FILES_BYTES_MAX: usize = 2 << 20;

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Report {
    /// The compilation; absent where the language is not compiled.
    pub(crate) compile: Option<ProgramRun>,
    /// The cases' results; empty if the program did not compile.
    pub(crate) cases: Vec<ProgramRun>,
    /// The files of the last case, without those that were too large.
    pub(crate) files: BTreeMap<String, Vec<u8>>,
}

#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ProgramRun {
    /// `exited`, `signaled`, `time`, `memory`, `output` or `processes`.
    pub(crate) ended: String,
    /// The exit status, or the signal.
    pub(crate) status: i32,
    pub(crate) wall_ms: f64,
    pub(crate) cpu_ms: f64,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// True if a part of the output was left out.
    pub(crate) truncated: bool,
    /// True if the program ended by itself with status 0 and reached the code that was put after it.
    pub(crate) passed: bool,
}

impl ProgramRun {
    pub(crate) fn of(outcome: &exec::Outcome) -> Self {
        let (ended, status) = match outcome.ended {
            exec::Ending::Exited(status) => ("exited", status),
            exec::Ending::Signaled(signal) => ("signaled", signal),
            exec::Ending::Limited(exec::LimitKind::Cpu | exec::LimitKind::Wall) => ("time", 0),
            exec::Ending::Limited(exec::LimitKind::Memory) => ("memory", 0),
            exec::Ending::Limited(exec::LimitKind::Output) => ("output", 0),
            exec::Ending::Limited(exec::LimitKind::Processes) => ("processes", 0),
        };
        let (stdout, cut_stdout) = text(&outcome.stdout);
        let (stderr, cut_stderr) = text(&outcome.stderr);
        Self {
            ended: ended.into(),
            status,
            wall_ms: outcome.usage.wall_us as f64 / 1e3,
            cpu_ms: outcome.usage.cpu_us as f64 / 1e3,
            stdout,
            stderr,
            truncated: cut_stdout || cut_stderr,
            passed: outcome.ended == exec::Ending::Exited(0),
        }
    }

    fn bytes(&self) -> usize {
        self.stdout.len() + self.stderr.len()
    }
}

fn text(captured: &exec::Captured) -> (String, bool) {
    let kept = captured.data.len().min(OUTPUT_BYTES_MAX);
    let text = String::from_utf8_lossy(&captured.data[..kept]).into_owned();
    (text, captured.truncated || kept < captured.data.len())
}

impl Report {
    /// Adds a case; what all cases printed together has a limit.
    pub(crate) fn add(&mut self, mut ran: ProgramRun) {
        let before: usize = self.cases.iter().map(ProgramRun::bytes).sum();
        if before + ran.bytes() > REPORT_BYTES_MAX {
            ran.stdout.clear();
            ran.stderr.clear();
            ran.truncated = true;
        }
        self.cases.push(ran);
    }

    /// Keeps these files; a file that does not fit any more is left out.
    pub(crate) fn keep(&mut self, files: impl Iterator<Item = (String, Vec<u8>)>) {
        self.files.clear();
        let mut left = FILES_BYTES_MAX;
        for (path, bytes) in files {
            if let Some(less) = left.checked_sub(bytes.len()) {
                left = less;
                self.files.insert(path, bytes);
            }
        }
    }

    /// The share of cases that passed, for lists and curves: who runs programs reads the report.
    pub(crate) fn scored(&self) -> Scored {
        let total = self.cases.len();
        let passed = self.cases.iter().filter(|ran| ran.passed).count();
        let verdict = match (total, passed) {
            (0, _) => "compile_failed",
            (_, passed) if passed == total => "success",
            _ => "failed",
        };
        let slowest = self.cases.iter().map(|ran| ran.cpu_ms).fold(0.0, f64::max);
        let reward = if total == 0 { 0.0 } else { passed as f64 / total as f64 };
        Scored::new(reward, verdict)
            .component("passed", passed as f64)
            .component("total", total as f64)
            .component("slowest_cpu_ms", slowest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(passed: bool, bytes: usize) -> ProgramRun {
        ProgramRun { passed, stdout: "x".repeat(bytes), ..ProgramRun::default() }
    }

    #[test]
    fn a_report_is_worth_the_share_that_passed() {
        let scored = |cases| {
            let scored = Report { cases, ..Report::default() }.scored();
            (scored.reward, scored.verdict)
        };
        assert_eq!(scored(vec![]), (0.0, "compile_failed".into()));
        assert_eq!(scored(vec![ran(true, 0)]), (1.0, "success".into()));
        assert_eq!(scored(vec![ran(true, 0), ran(false, 0)]), (0.5, "failed".into()));
    }

    #[test]
    fn what_is_printed_has_a_limit_over_all_cases() {
        let mut report = Report::default();
        for _ in 0..5 {
            report.add(ran(true, OUTPUT_BYTES_MAX));
        }
        let kept: Vec<bool> = report.cases.iter().map(|ran| !ran.truncated).collect();
        assert_eq!(kept, [true, true, true, true, false]);
    }
}
