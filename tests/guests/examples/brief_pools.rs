//! The same as `two_pools`, but no stage may run for longer than 3 s.

use assay_guests::{
    Artifact, Description, Error, Guest, Outcome, Request, bindings, end_on_two_pools, on_two_pools,
};

struct BriefPools;

impl Guest for BriefPools {
    fn describe() -> Description {
        on_two_pools("brief-pools", 3_000)
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

bindings::export!(BriefPools with_types_in bindings);
