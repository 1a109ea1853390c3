//! Runs all stages of a request in this process, for a plugin's author. The service runs the same stages, each on a
//! worker of its pool.

use std::time::Duration;

use assay_core::outcome::{Artifact, StageEnd};
use assay_core::plugin::{Description, Stage};

use crate::capability::Capabilities;
use crate::{Input, LoadedPlugin, Request, Sandbox, StageCall, StageRun};

/// A plugin with everything that its stages need.
#[derive(Clone, Copy)]
pub struct LocalPipeline<'a> {
    pub sandbox: &'a Sandbox,
    pub plugin: &'a LoadedPlugin,
    pub description: &'a Description,
    /// The capabilities, for a plugin that imports one.
    pub capabilities: Option<&'a Capabilities>,
}

/// A stage that ran.
#[derive(Debug)]
pub struct StageRecord {
    pub stage: String,
    pub run: StageRun,
}

impl LocalPipeline<'_> {
    /// Runs stage after stage until one ends the request. The last record is that of this stage.
    #[must_use]
    pub fn run(&self, settings: &str, request: &Request<'_>) -> Vec<StageRecord> {
        let mut ran: Vec<StageRecord> = Vec::new();
        let stages = &self.description.stages;
        for (at, stage) in stages.iter().enumerate() {
            let input = match ran.last().map(|before| &before.run.end) {
                None => None,
                Some(StageEnd::Next(artifact)) => Some(artifact),
                Some(_) => break,
            };
            let call = self.call(stage, at + 1 == stages.len(), settings, request, input);
            let run = self.sandbox.run_stage(self.plugin, call);
            ran.push(StageRecord { stage: stage.name.clone(), run });
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
pub fn end(ran: &[StageRecord]) -> &StageEnd {
    &ran.last().expect("a description has a stage, and each that is reached runs").run.end
}
