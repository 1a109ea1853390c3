//! One stage of at most 1 s that spins for as many thousand rounds as the response says. The label is the reward.

use std::hint::black_box;

use assay_guests::{
    Artifact, Description, Error, Guest, Outcome, Request, Stage, bindings, description, scored,
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
        let rounds: u64 = number(&request.response)?;
        for round in 0..rounds * 1_000 {
            black_box(round);
        }
        let reward: f64 = number(&request.label)?;
        Ok(scored(reward, String::new()))
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, Error> {
    text.parse().map_err(|_| Error::BadRequest(format!("`{text}` is no number")))
}

bindings::export!(WorkerSecond with_types_in bindings);
