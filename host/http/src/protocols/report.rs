//! The report of a program that the plugin `run` leaves as an artifact, for the protocols that run
//! programs.

use std::collections::BTreeMap;

use assay_core::id::Digest;
use assay_core::outcome::Outcome;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use sha2::{Digest as _, Sha256};

use super::call::{Call, Failure, Rewarded, ScoreCall};
use crate::problem::ApiError;

/// The stage whose artifact it is.
const STAGE: &str = "run";

#[derive(Debug, Default, Deserialize)]
pub(super) struct Report {
    /// The compilation; absent where the language is not compiled.
    pub compile: Option<ProgramRun>,
    /// The results of the cases; empty if the program did not compile.
    pub cases: Vec<ProgramRun>,
    pub files: BTreeMap<String, Vec<u8>>,
}

#[derive(Debug, Default, Clone, Deserialize)]
pub(super) struct ProgramRun {
    /// `exited`, `signaled`, `time`, `memory`, `output` or `processes`.
    pub ended: String,
    /// The exit status, or the signal.
    pub status: i32,
    pub wall_ms: f64,
    /// The beginning of what it printed, or nothing.
    pub stdout: String,
    /// [`lines_sha256`] of all that it printed; absent where the plugin was published by an earlier release.
    pub stdout_lines_sha256: Option<String>,
    pub stderr: String,
    /// True if a part of the output was left out.
    #[serde(default)]
    pub truncated: bool,
    /// True if a part of the standard output was left out; absent where the plugin was published by an earlier release.
    pub stdout_truncated: Option<bool>,
    /// True if the program ended by itself with status 0 and reached the code that was put after it.
    pub passed: bool,
}

impl Call {
    /// Runs a program, whose label is the plugin's job ([`job_label`]).
    pub(super) async fn report(&self, asked: ScoreCall) -> Result<Report, Failure> {
        let (guard, results) = self.results(asked).await?;
        let item = results.into_iter().next().ok_or_else(no_report)?;
        let id = item.id;
        if let Outcome::TimedOut { .. } = item.outcome {
            guard.answered();
            let ran = ProgramRun { ended: "time".into(), ..ProgramRun::default() };
            return Ok(Report { cases: vec![ran], ..Report::default() });
        }
        Rewarded::of(item)?;
        let stages = &guard.auto_batch.committed.plugin.description.stages;
        let stage = stages.iter().position(|stage| stage.name == STAGE).ok_or_else(no_report)?;
        let artifact = self.app.store.artifact(self.caller.tenant, id, stage).await;
        let artifact = artifact.map_err(ApiError::from)?;
        let report = serde_json::from_slice(&artifact.bytes).map_err(|_| no_report())?;
        guard.answered();
        Ok(report)
    }
}

impl ProgramRun {
    /// Whether `stdout` is all that it printed.
    pub(super) fn tells_all(&self) -> bool {
        !self.stdout_truncated.unwrap_or(self.truncated)
    }

    /// Whether it printed the lines with this digest ([`lines_sha256`]). Where the plugin does not tell, what is kept of
    /// the output counts.
    pub(super) fn printed(&self, expected: Digest) -> bool {
        match &self.stdout_lines_sha256 {
            Some(printed) => *printed == expected.to_string(),
            None => lines_sha256(&self.stdout) == expected,
        }
    }
}

/// The SHA-256 of a text's lines, each without white space around it and with a line feed after it, without empty lines
/// at the beginning and the end; as the plugin has it, in hexadecimal.
pub(super) fn lines_sha256(text: &str) -> Digest {
    let mut digest = Sha256::new();
    for line in text.trim().lines() {
        digest.update(line.trim());
        digest.update("\n");
    }
    Digest(digest.finalize().into())
}

/// The plugin's job as the label of a sample.
pub(super) fn job_label<T: Serialize>(job: &T) -> Box<RawValue> {
    to_raw_value(job).expect("plain data")
}

fn no_report() -> ApiError {
    let detail =
        "the plugin returns no report about a program; this protocol needs the plugin `run`";
    ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "no_report", detail)
}
