//! What the plugin `run` leaves of a program: read by the protocols that run programs.

use std::collections::BTreeMap;

use assay_model::outcome::Outcome;
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};

use super::super::problem::ApiError;
use super::call::{Asked, Call, Failure, Rewarded, Sample};

/// The stage whose artifact it is.
const STAGE: &str = "run";

#[derive(Debug, Default, Deserialize)]
pub(super) struct Report {
    /// Absent where the language is not compiled.
    pub compile: Option<Ran>,
    /// Empty where it did not compile.
    pub cases: Vec<Ran>,
    pub files: BTreeMap<String, Vec<u8>>,
}

#[derive(Debug, Default, Clone, Deserialize)]
pub(super) struct Ran {
    /// `exited`, `signaled`, `time`, `memory`, `output` or `processes`.
    pub ended: String,
    /// The exit status, or the signal.
    pub status: i32,
    pub wall_ms: f64,
    pub stdout: String,
    pub stderr: String,
    /// It ended by itself, with status 0, and what was put behind it was reached.
    pub passed: bool,
}

impl Call {
    /// Runs a program; `job` is the plugin's label.
    pub(super) async fn report(
        &self,
        asked: Asked<'_>,
        job: &serde_json::Value,
    ) -> Result<Report, Failure> {
        let label = Some(label(job));
        let samples = asked.samples.into_iter().map(|it| Sample { label: label.clone(), ..it });
        let asked = Asked { samples: samples.collect(), ..asked };
        let (seat, results) = self.results(asked).await?;
        let item = results.into_iter().next().ok_or_else(no_report)?;
        let id = item.id;
        if let Outcome::TimedOut { .. } = item.outcome {
            seat.told();
            let ran = Ran { ended: "time".into(), ..Ran::default() };
            return Ok(Report { cases: vec![ran], ..Report::default() });
        }
        Rewarded::of(item)?;
        let stages = &seat.burst.published.plugin.description.stages;
        let stage = stages.iter().position(|stage| stage.name == STAGE).ok_or_else(no_report)?;
        let artifact = self.app.store.artifact(self.caller.tenant, id, stage).await;
        let artifact = artifact.map_err(ApiError::from)?;
        let report = serde_json::from_slice(&artifact.bytes).map_err(|_| no_report())?;
        seat.told();
        Ok(report)
    }
}

fn label(job: &serde_json::Value) -> Box<RawValue> {
    to_raw_value(job).expect("plain data")
}

fn no_report() -> ApiError {
    let detail = "the plugin leaves no report of a program; this protocol needs the plugin `run`";
    ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "no_report", detail)
}
