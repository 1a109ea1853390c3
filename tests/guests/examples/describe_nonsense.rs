//! Describes itself with a name that no plugin may have, and as many stages as fit in memory.

use assay_guests::{
    Artifact, Description, Error, Guest, Outcome, Request, bindings, description, scored, stage,
};

struct Nonsense;

impl Guest for Nonsense {
    fn describe() -> Description {
        let stages = (0..1_000).map(|_| stage("same")).collect();
        description("Not A Name!", stages)
    }

    fn run_stage(
        _stage: String,
        _settings: String,
        _request: Request,
        _input: Option<Artifact>,
    ) -> Result<Outcome, Error> {
        Ok(scored(1.0, String::new()))
    }
}

bindings::export!(Nonsense with_types_in bindings);
