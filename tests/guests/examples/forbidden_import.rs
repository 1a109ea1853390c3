//! Asks for something that nobody grants.

use assay_guests::{
    Artifact, Description, Error, Guest, Outcome, Request, bindings, description, scored, stage,
};

mod forbidden {
    wit_bindgen::generate!({
        inline: "
            package assay:forbidden@0.1.0;
            interface vault { open: func() -> u32; }
            world thief { import vault; }
        ",
    });
}

struct Thief;

impl Guest for Thief {
    fn describe() -> Description {
        description("thief", vec![stage("score")])
    }

    fn run_stage(
        _stage: String,
        _settings: String,
        _request: Request,
        _input: Option<Artifact>,
    ) -> Result<Outcome, Error> {
        Ok(scored(f64::from(forbidden::assay::forbidden::vault::open()), String::new()))
    }
}

bindings::export!(Thief with_types_in bindings);
