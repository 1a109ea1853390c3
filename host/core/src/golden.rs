//! Golden cases that travel with an upload: the job that the server gives to a worker process, and the
//! report on each case.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::id::{Digest, TenantId};
use crate::limits;
use crate::plugin::Description;

/// A golden case as its author wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseFile {
    /// The name of its file in the project.
    pub file: String,
    /// The YAML document.
    pub text: String,
}

/// Everything that a worker process needs to run the golden cases of an upload. It holds secrets: it has no
/// `Debug`, and travels on the process's standard input.
#[derive(Serialize, Deserialize)]
pub struct CaseJob {
    /// The tenant whose upload it is.
    pub tenant: TenantId,
    /// The file with the compiled component.
    pub compiled: PathBuf,
    /// The digest of the compiled bytes.
    pub compiled_digest: Digest,
    /// The component's own description.
    pub description: Description,
    /// The toolchains that the tenant was granted; `None` grants all.
    pub toolchains: Option<Vec<String>>,
    /// The hosts that the tenant was granted.
    pub hosts: Vec<String>,
    /// The secrets for the plugin's requests.
    pub secrets: Vec<CaseSecret>,
    /// The folder with one folder for each storage root that the cases may read.
    pub storage: PathBuf,
    /// The granted storage roots that are in no folder of this machine.
    pub distant_roots: Vec<String>,
    /// The time that all cases together may use, in milliseconds.
    pub time_ms_max: u64,
    /// The golden cases, in the order of the upload.
    pub cases: Vec<CaseFile>,
}

/// A secret for the plugin's requests to one host.
#[derive(Serialize, Deserialize)]
pub struct CaseSecret {
    /// The name by which the plugin asks for it.
    pub name: String,
    /// The host pattern that gets it.
    pub host: String,
    /// The header that carries it.
    pub header: String,
    /// The secret itself.
    pub value: String,
}

/// How a golden case ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaseState {
    /// The outcome is the expected one.
    Passed,
    /// The outcome differs from the expected one, or the file is no golden case.
    Failed,
    /// The server does not offer what the case needs.
    NotRun,
    /// The machine failed; the case says nothing about the plugin.
    Broken,
    /// The cases used more time than they may have together.
    TooSlow,
}

/// The report on one golden case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseReport {
    /// The ending of the case.
    pub state: CaseState,
    /// The case's own name; empty if the file is no golden case.
    pub name: String,
    /// The expected outcome in one line; empty if there is none.
    pub expected: String,
    /// The actual outcome in one line; empty if the case did not run.
    pub actual: String,
    /// The reason why the case did not pass.
    pub reason: String,
    /// The run time of all stages, in milliseconds.
    pub ran_ms: f64,
}

impl CaseReport {
    /// The report within its limits and without control characters, as it is kept and shown.
    #[must_use]
    pub fn bounded(self) -> Self {
        let reason_bytes_max = limits::GOLDEN_REASON_BYTES_MAX;
        Self {
            name: shown(&self.name, limits::GOLDEN_NAME_BYTES_MAX),
            expected: shown(&self.expected, reason_bytes_max),
            actual: shown(&self.actual, reason_bytes_max),
            reason: shown(&self.reason, reason_bytes_max),
            ran_ms: if self.ran_ms.is_finite() { self.ran_ms.max(0.0) } else { 0.0 },
            state: self.state,
        }
    }
}

/// A text without control characters, cut to a number of bytes.
fn shown(text: &str, bytes_max: usize) -> String {
    let mut shown = String::new();
    for c in text.chars().map(|c| if c.is_control() { ' ' } else { c }) {
        if shown.len() + c.len_utf8() + '…'.len_utf8() > bytes_max {
            shown.push('…');
            break;
        }
        shown.push(c);
    }
    shown
}

/// Why the golden cases of an upload are refused before they run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CasesRefused {
    /// There are too many cases, or too many bytes; the text says which.
    #[error("{0}")]
    TooLarge(String),
    /// A file's name is no name; the text says why.
    #[error("{0}")]
    BadName(String),
}

/// Checks the number and the sizes of an upload's cases and the names of their files.
pub fn check_cases(cases: &[CaseFile]) -> Result<(), CasesRefused> {
    let max = limits::GOLDEN_CASES_MAX;
    if cases.len() > max {
        let count = cases.len();
        return refuse_size(format!("there are {count} golden cases, the limit is {max}"));
    }
    for (at, case) in cases.iter().enumerate() {
        check_file_name(&case.file)?;
        let (bytes, max) = (case.text.len(), limits::GOLDEN_CASE_BYTES_MAX);
        if bytes > max {
            let file = &case.file;
            return refuse_size(format!(
                "the golden case `{file}` has {bytes} bytes, the limit is {max}"
            ));
        }
        if cases[..at].iter().any(|other| other.file == case.file) {
            let file = &case.file;
            let what = format!("two golden cases have the file name `{file}`");
            return Err(CasesRefused::BadName(what));
        }
    }
    let bytes: usize = cases.iter().map(|case| case.text.len()).sum();
    let max = limits::GOLDEN_CASES_BYTES_MAX;
    if bytes > max {
        return refuse_size(format!(
            "the golden cases have {bytes} bytes in all, the limit is {max}"
        ));
    }
    Ok(())
}

fn refuse_size(what: String) -> Result<(), CasesRefused> {
    Err(CasesRefused::TooLarge(what))
}

fn check_file_name(file: &str) -> Result<(), CasesRefused> {
    let max = limits::GOLDEN_NAME_BYTES_MAX;
    let plain = !file.is_empty() && file.len() <= max && !file.chars().any(char::is_control);
    if plain {
        return Ok(());
    }
    let shown = shown(file, 80);
    Err(CasesRefused::BadName(format!(
        "the file name `{shown}` of a golden case must have 1 to {max} bytes and no control characters"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(file: &str, bytes: usize) -> CaseFile {
        CaseFile { file: file.into(), text: "x".repeat(bytes) }
    }

    #[test]
    fn uploads_of_cases_are_bounded() {
        let many = |count: usize, bytes| (0..count).map(move |at| case(&at.to_string(), bytes));
        let check = |cases: Vec<CaseFile>| check_cases(&cases);
        assert_eq!(check(Vec::new()), Ok(()));
        assert_eq!(check(many(limits::GOLDEN_CASES_MAX, 1).collect()), Ok(()));
        for (cases, what) in [
            (many(limits::GOLDEN_CASES_MAX + 1, 1).collect(), "257 golden cases"),
            (vec![case("a", limits::GOLDEN_CASE_BYTES_MAX + 1)], "`a` has 262145 bytes"),
            (many(17, limits::GOLDEN_CASE_BYTES_MAX).collect(), "bytes in all"),
            (vec![case("a", 1), case("b", 1), case("a", 2)], "file name `a`"),
            (vec![case("", 1)], "1 to 256 bytes"),
            (vec![case("a\nb", 1)], "`a b`"),
            (vec![case(&"a".repeat(257), 1)], "1 to 256 bytes"),
        ] {
            let refused = check(cases).expect_err(what).to_string();
            assert!(refused.contains(what), "{refused}");
        }
    }

    #[test]
    fn reports_are_cut_and_plain() {
        let report = CaseReport {
            state: CaseState::Failed,
            name: "ä".repeat(limits::GOLDEN_NAME_BYTES_MAX),
            expected: "a\0b\u{1b}[31m".into(),
            actual: String::new(),
            reason: "x".repeat(1 << 20),
            ran_ms: f64::NAN,
        };
        let bounded = report.bounded();
        assert!(bounded.name.len() <= limits::GOLDEN_NAME_BYTES_MAX && bounded.name.ends_with('…'));
        assert_eq!(bounded.expected, "a b [31m");
        assert!(bounded.reason.len() <= limits::GOLDEN_REASON_BYTES_MAX);
        assert_eq!(bounded.ran_ms.to_bits(), 0.0_f64.to_bits());
    }
}
