//! One stage of at most 1 s that spins for as many thousand rounds as the response says. The label is the reward.

use assay_guests::{
    Artifact, Description, Error, Guest, Outcome, Request, Stage, bindings, description, spun,
    stage,
};

struct WorkerSecond;

impl Guest for WorkerSecond {
    fn describe() -> Description {
        description("worker-second", vec![Stage { timeout_ms: 1_000, ..stage("score") }])
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

bindings::export!(WorkerSecond with_types_in bindings);
