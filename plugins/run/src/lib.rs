//! Runs one program as it is and keeps what it printed: what `/run_code` and `/test_program` are asked
//! for. README.md says what goes in and what comes out.
//!
//! The stage `run` leaves a [`report::Report`] as its artifact; `score` makes a reward of it. It owns no
//! state, and must never make a report of a failure of the platform.

mod job;
mod program;
mod report;

use assay_plugin::{Artifact, Description, Error, Outcome, Plugin, Request, Stage, export};

use job::Job;
use report::Report;

pub struct Run;

export!(Run);

impl Plugin for Run {
    fn describe() -> Description {
        Description::new("run", env!("CARGO_PKG_VERSION"))
            .summary("Runs one program as it is, in a box, and keeps what it printed")
            .stage(Stage::cpu("run").timeout_ms(900_000).memory_mib_max(512).retries_max(2))
            .stage(Stage::cpu("score").timeout_ms(10_000).memory_mib_max(128))
            .label_schema(include_str!("schema.json"))
            // A program may print the time.
            .nondeterministic()
    }

    fn run_stage(
        stage: &str,
        _settings: &str,
        request: &Request,
        input: Option<Artifact>,
    ) -> Result<Outcome, Error> {
        match (stage, input) {
            ("run", None) => {
                let job: Job = request.label_as()?;
                job.check()?;
                let report = program::run(&request.response, &job, request.seed)?;
                Ok(Artifact::json(&report)?.into())
            }
            ("score", Some(report)) => Ok(report.as_json::<Report>()?.scored().into()),
            _ => Err(Error::unknown_stage(stage)),
        }
    }
}
