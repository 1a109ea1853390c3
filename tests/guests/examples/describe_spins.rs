//! Never says what it is.

use assay_guests::{Artifact, Description, Error, Guest, Outcome, Request, bindings, scored};

struct Spins;

impl Guest for Spins {
    fn describe() -> Description {
        loop {
            std::hint::spin_loop();
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

bindings::export!(Spins with_types_in bindings);
