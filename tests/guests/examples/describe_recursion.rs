//! Describes its labels by a schema that leads back to itself.

use assay_guests::{
    Artifact, Description, Error, Guest, Outcome, Request, bindings, description, scored, stage,
};

struct Recursion;

impl Guest for Recursion {
    fn describe() -> Description {
        let label_schema = r##"{"anyOf": [{"type": "string"}, {"items": {"$ref": "#"}}]}"##;
        Description {
            label_schema: label_schema.into(),
            ..description("recursion", vec![stage("score")])
        }
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

bindings::export!(Recursion with_types_in bindings);
