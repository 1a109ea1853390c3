//! A request from its first stage to its end, all in this process: what an author runs at a desk. The
//! service runs the same stages, each on a worker of its pool.

use std::time::Duration;

use assay_model::outcome::{Artifact, StageEnd};
use assay_model::plugin::{Description, Stage};

use crate::capability::Capabilities;
use crate::{Input, Loaded, Request, Sandbox, StageCall, StageRun};

/// What is run, and with what.
#[derive(Clone, Copy)]
pub struct Whole<'a> {
    pub sandbox: &'a Sandbox,
    pub plugin: &'a Loaded,
    pub description: &'a Description,
    /// For a plugin that asks for them.
    pub capabilities: Option<&'a Capabilities>,
}

/// One stage as it ran.
#[derive(Debug)]
pub struct Ran {
    pub stage: String,
    pub run: StageRun,
}

impl Whole<'_> {
    /// Runs stage after stage until one ends the request; the last of what is returned did.
    #[must_use]
    pub fn run(&self, settings: &str, request: &Request<'_>) -> Vec<Ran> {
        let mut ran: Vec<Ran> = Vec::new();
        let stages = &self.description.stages;
        for (at, stage) in stages.iter().enumerate() {
            let input = match ran.last().map(|before| &before.run.end) {
                None => None,
                Some(StageEnd::Next(artifact)) => Some(artifact),
                Some(_) => break,
            };
            let call = self.call(stage, at + 1 == stages.len(), settings, request, input);
            let run = self.sandbox.run_stage(self.plugin, call);
            ran.push(Ran { stage: stage.name.clone(), run });
        }
        ran
    }

    fn call<'c>(
        &self,
        stage: &'c Stage,
        last: bool,
        settings: &'c str,
        request: &Request<'c>,
        input: Option<&'c Artifact>,
    ) -> StageCall<'c> {
        StageCall {
            stage: &stage.name,
            settings,
            request: Request { ..*request },
            input: input.map(|artifact| Input {
                content_type: &artifact.content_type,
                bytes: &artifact.bytes,
            }),
            last,
            timeout: Duration::from_millis(u64::from(stage.timeout_ms)),
            memory_bytes_max: stage.memory_bytes_max,
            capabilities: self.capabilities.cloned(),
        }
    }
}

/// How the request ended.
///
/// # Panics
/// When nothing ran: a description has a stage.
#[must_use]
pub fn end(ran: &[Ran]) -> &StageEnd {
    &ran.last().expect("a description has a stage, and each that is reached runs").run.end
}
