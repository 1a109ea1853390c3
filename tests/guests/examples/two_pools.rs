//! A stage on each of two pools. It takes no time: where its stages are to run for a while, the tests'
//! own worker program sleeps in its place, for as long as a test wants.

use assay_guests::{
    Artifact, Description, Error, Guest, Outcome, Request, bindings, end_on_two_pools, on_two_pools,
};

struct TwoPools;

impl Guest for TwoPools {
    fn describe() -> Description {
        on_two_pools("two-pools", 120_000)
    }

    fn run_stage(
        stage: String,
        _settings: String,
        _request: Request,
        _input: Option<Artifact>,
    ) -> Result<Outcome, Error> {
        Ok(end_on_two_pools(&stage))
    }
}

bindings::export!(TwoPools with_types_in bindings);
