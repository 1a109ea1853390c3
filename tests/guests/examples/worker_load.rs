//! Two stages that take as long as they are told, and a reward that proves both of them ran.
//!
//! The response is how many thousand rounds each stage spins; the label is eight times the reward.

use assay_guests::{
    Artifact, Description, Error, Guest, Outcome, Request, Stage, bindings, description, number,
    scored, spin, stage,
};

struct WorkerLoad;

impl Guest for WorkerLoad {
    fn describe() -> Description {
        let patient = |name| Stage { timeout_ms: 120_000, ..stage(name) };
        description("worker-load", vec![patient("prepare"), patient("score")])
    }

    fn run_stage(
        stage: String,
        _settings: String,
        request: Request,
        input: Option<Artifact>,
    ) -> Result<Outcome, Error> {
        spin(&request)?;
        match (stage.as_str(), input) {
            ("prepare", None) => Ok(Outcome::Next(Artifact {
                content_type: "text/plain".into(),
                bytes: request.label.into_bytes(),
            })),
            ("score", Some(artifact)) => {
                let kept = String::from_utf8(artifact.bytes)
                    .map_err(|error| Error::Internal(error.to_string()))?;
                let eighths: f64 = number(&kept)?;
                Ok(scored(eighths / 8.0, String::new()))
            }
            (stage, _) => Err(Error::Internal(format!("{stage} with another's input"))),
        }
    }
}

bindings::export!(WorkerLoad with_types_in bindings);
