//! Opens a session of the device and drops it, over and over, until its time ends.

use assay_guests::bindings::assay::gpu::device::{Limits, Session};
use assay_guests::{
    Artifact, Description, Error, Guest, Outcome, Request, bindings, description, stage,
};

struct GpuOpener;

impl Guest for GpuOpener {
    fn describe() -> Description {
        description("gpu_opener", vec![stage("open")])
    }

    fn run_stage(
        _stage: String,
        _settings: String,
        _request: Request,
        _input: Option<Artifact>,
    ) -> Result<Outcome, Error> {
        let limits = Limits {
            memory_bytes: 1 << 20,
            plan_ms: 1_000,
            total_ms: 1_000,
            steps_max: 1,
            printed_bytes: 0,
        };
        loop {
            let opened = Session::open(limits);
            drop(opened.map_err(|error| Error::Unavailable(format!("{error:?}")))?);
        }
    }
}

bindings::export!(GpuOpener with_types_in bindings);
