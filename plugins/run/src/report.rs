//! The report of a program: the stage `run` writes it and `score` reads it.

use std::collections::BTreeMap;

use assay_plugin::{Scored, exec};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// The bytes that are kept of a case's standard output: all that a box allows, as clients compare it.
const STDOUT_BYTES_MAX: usize = 4 << 20;
/// The bytes that are kept of a case's standard error.
const STDERR_BYTES_MAX: usize = 1 << 20;
/// As JSON a text takes at most one and a half times its limit: lines of two digits do. One that would take more, as control
/// characters do, is cut, so that the report fits into an artifact, whatever the program prints.
const fn json_bytes_max(bytes_max: usize) -> usize {
    bytes_max + bytes_max / 2
}
/// The bytes that are kept of all cases' output together, as JSON.
const REPORT_BYTES_MAX: usize = json_bytes_max(STDOUT_BYTES_MAX + STDERR_BYTES_MAX);
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
    /// The bytes of the output that was kept of the cases that were added, as JSON.
    #[serde(skip)]
    output_bytes: usize,
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
    /// [`lines_sha256`] of the whole standard output, whatever is kept of it.
    pub(crate) stdout_lines_sha256: String,
    pub(crate) stderr: String,
    /// True if a part of the output was left out.
    pub(crate) truncated: bool,
    /// True if a part of the standard output was left out.
    pub(crate) stdout_truncated: bool,
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
        let (stdout, stdout_truncated) = text(&outcome.stdout, STDOUT_BYTES_MAX);
        let (stderr, stderr_truncated) = text(&outcome.stderr, STDERR_BYTES_MAX);
        Self {
            ended: ended.into(),
            status,
            wall_ms: outcome.usage.wall_us as f64 / 1e3,
            cpu_ms: outcome.usage.cpu_us as f64 / 1e3,
            stdout,
            stdout_lines_sha256: lines_sha256(&outcome.stdout.data),
            stderr,
            truncated: stdout_truncated || stderr_truncated,
            stdout_truncated,
            passed: outcome.ended == exec::Ending::Exited(0),
        }
    }

    fn bytes(&self) -> usize {
        let bytes = |text: &str| text.chars().map(json_bytes).sum::<usize>();
        bytes(&self.stdout) + bytes(&self.stderr)
    }
}

fn text(captured: &exec::Captured, bytes_max: usize) -> (String, bool) {
    let kept = captured.data.len().min(bytes_max);
    let mut text = String::from_utf8_lossy(&captured.data[..kept]).into_owned();
    let mut left = json_bytes_max(bytes_max);
    let end = text.char_indices().find_map(|(at, c)| {
        let less = left.checked_sub(json_bytes(c));
        left = less.unwrap_or(0);
        less.is_none().then_some(at)
    });
    text.truncate(end.unwrap_or(text.len()));
    (text, captured.truncated || kept < captured.data.len() || end.is_some())
}

/// The bytes of a character in a JSON text.
fn json_bytes(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        c => c.len_utf8(),
    }
}

/// The SHA-256, in hexadecimal, of a text's lines, each without white space around it and with a line feed
/// after it, without empty lines at the beginning and the end.
fn lines_sha256(text: &[u8]) -> String {
    let mut digest = Sha256::new();
    for line in String::from_utf8_lossy(text).trim().lines() {
        digest.update(line.trim());
        digest.update("\n");
    }
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Report {
    /// Adds a case; what all cases printed together has a limit.
    pub(crate) fn add(&mut self, mut ran: ProgramRun) {
        let with = self.output_bytes + ran.bytes();
        if with <= REPORT_BYTES_MAX {
            self.output_bytes = with;
        } else {
            ran.stdout.clear();
            ran.stderr.clear();
            (ran.truncated, ran.stdout_truncated) = (true, true);
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
    fn all_that_is_printed_has_a_digest() {
        // printf '2\n101\n' | sha256sum
        let digest = "79811236107e1bb6d9822e320760881b4c5e57eec5f200602a96549bd7decde9";
        assert_eq!(lines_sha256(b" 2\t\r\n 101\n\n"), digest);
        assert_ne!(lines_sha256(b"2 101"), digest);
        let printed = |data: &[u8]| {
            let captured = |data: &[u8]| exec::Captured { data: data.to_vec(), truncated: false };
            let mut report = Report::default();
            report.add(ProgramRun::of(&exec::Outcome {
                ended: exec::Ending::Exited(0),
                usage: exec::Usage { cpu_us: 0, wall_us: 0, memory_peak_bytes: 0, wait_us: 0 },
                stdout: captured(data),
                stdout_sha256: String::new(),
                stderr: captured(b""),
                files: Vec::new(),
                weakened: Vec::new(),
            }));
            report.cases.remove(0)
        };
        let long = vec![b'x'; STDOUT_BYTES_MAX + 1];
        let (whole, cut) = (printed(&long), printed(&long[1..]));
        assert!(whole.truncated && !cut.truncated && whole.stdout == cut.stdout);
        assert_eq!(whole.stdout_lines_sha256, lines_sha256(&long));
        assert_ne!(whole.stdout_lines_sha256, cut.stdout_lines_sha256);
    }

    #[test]
    fn a_report_fits_into_an_artifact_whatever_is_printed() {
        for text in ["\u{1}", "\"", "\n", "x", "é", "漢", "1\n"] {
            let taken = serde_json::to_string(text).expect("a text").len() - 2;
            assert_eq!(text.chars().map(json_bytes).sum::<usize>(), taken, "{text:?}");
        }
        let printed =
            |byte| exec::Captured { data: vec![byte; STDOUT_BYTES_MAX], truncated: false };
        let kept = |byte| text(&printed(byte), STDOUT_BYTES_MAX);
        assert_eq!(kept(b'x'), ("x".repeat(STDOUT_BYTES_MAX), false));
        let (controls, cut) = kept(1);
        assert_eq!((controls.len(), cut), (STDOUT_BYTES_MAX / 4, true));
        // Each byte that is no text becomes a sign of three bytes.
        assert_eq!(kept(0xff).0.len(), STDOUT_BYTES_MAX / 2 * 3);
    }

    #[test]
    fn what_is_printed_has_a_limit_over_all_cases() {
        let mut report = Report::default();
        for _ in 0..5 {
            report.add(ran(true, REPORT_BYTES_MAX / 4));
        }
        let kept: Vec<bool> = report.cases.iter().map(|ran| !ran.truncated).collect();
        assert_eq!(kept, [true, true, true, true, false]);
        assert!(report.cases[4].stdout_truncated);
    }
}
