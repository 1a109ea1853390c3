//! A stage on each of two pools. It takes no time: where its stages are to run for a while, the tests'
//! own worker program sleeps in its place.

use assay_guests::{
    Artifact, Description, Error, Guest, Outcome, Request, Stage, bindings, description, scored,
    stage,
};

struct TwoPools;

impl Guest for TwoPools {
    fn describe() -> Description {
        let compile = Stage { timeout_ms: 3_000, ..stage("compile") };
        let execute = Stage { pool: "gpu".into(), timeout_ms: 3_000, ..stage("execute") };
        description("two-pools", vec![compile, execute])
    }

    fn run_stage(
        stage: String,
        _settings: String,
        _request: Request,
        _input: Option<Artifact>,
    ) -> Result<Outcome, Error> {
        if stage == "compile" {
            return Ok(Outcome::Next(Artifact {
                content_type: "text/plain".into(),
                bytes: Vec::new(),
            }));
        }
        Ok(scored(1.0, String::new()))
    }
}

bindings::export!(TwoPools with_types_in bindings);
