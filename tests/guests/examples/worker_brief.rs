//! One stage of at most 2 s that spins for as many thousand rounds as the response says. The label is the reward.

use assay_guests::{
    Artifact, Description, Error, Guest, Outcome, Request, Stage, bindings, description, spun,
    stage,
};

struct WorkerBrief;

impl Guest for WorkerBrief {
    fn describe() -> Description {
        description("worker-brief", vec![Stage { timeout_ms: 2_000, ..stage("score") }])
    }

    fn run_stage(
        _stage: String,
        _settings: String,
        request: Request,
        _input: Option<Artifact>,
    ) -> Result<Outcome, Error> {
        spun(&request)
    }
}

bindings::export!(WorkerBrief with_types_in bindings);
