//! The next version of `trivial`, which rewards the opposite.

use assay_guests::{
    Artifact, Description, Error, Guest, Outcome, Request, bindings, description, scored, stage,
};

struct TrivialNext;

impl Guest for TrivialNext {
    fn describe() -> Description {
        let version = "1.1.0".into();
        Description { version, ..description("trivial", vec![stage("score")]) }
    }

    fn run_stage(
        _stage: String,
        _settings: String,
        request: Request,
        _input: Option<Artifact>,
    ) -> Result<Outcome, Error> {
        let even = request.response.len().is_multiple_of(2);
        Ok(scored(if even { 0.0 } else { 1.0 }, String::new()))
    }
}

bindings::export!(TrivialNext with_types_in bindings);
