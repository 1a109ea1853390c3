//! Runs all stages of a request in this process, for a plugin's author. The service runs the same stages, each on a
//! worker of its pool.

use std::time::Duration;

use assay_core::outcome::{Artifact, StageEnd};
use assay_core::plugin::{Description, Stage};

use crate::call::capability::Capabilities;
use crate::{Input, LoadedPlugin, Request, Sandbox, StageCall, StageRun};

/// A plugin with everything that its stages need.
#[derive(Clone, Copy)]
pub struct LocalPipeline<'a> {
    pub sandbox: &'a Sandbox,
    pub plugin: &'a LoadedPlugin,
    pub description: &'a Description,
    /// The capabilities, for a plugin that imports one.
    pub capabilities: Option<&'a Capabilities>,
    /// The time that all stages together may use; `None` if each stage's own limit is all there is.
    pub time_max: Option<Duration>,
}

/// A stage that ran.
#[derive(Debug)]
pub struct StageRecord {
    pub stage: String,
    pub run: StageRun,
    /// Whether it was given less time than its own limit.
    pub is_cut_short: bool,
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
            let limit = Duration::from_millis(u64::from(stage.timeout_ms));
            let left = self.time_max.map(|max| max.saturating_sub(used(&ran)));
            let timeout = left.map_or(limit, |left| left.min(limit));
            let last = at + 1 == stages.len();
            let call = StageCall { timeout, last, ..self.call(stage, settings, request, input) };
            let run = self.sandbox.run_stage(self.plugin, call);
            let is_cut_short = timeout < limit;
            ran.push(StageRecord { stage: stage.name.clone(), run, is_cut_short });
        }
        ran
    }

    fn call<'c>(
        &self,
        stage: &'c Stage,
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
            last: false,
            timeout: Duration::ZERO,
            memory_bytes_max: stage.memory_bytes_max,
            capabilities: self.capabilities.cloned(),
        }
    }
}

/// The time that stages used together, as their limits count it.
#[must_use]
pub fn used(ran: &[StageRecord]) -> Duration {
    ran.iter().map(|ran| Duration::from(ran.run.used)).sum()
}

/// How the request ended.
///
/// # Panics
/// When nothing ran: a description has a stage.
#[must_use]
pub fn end(ran: &[StageRecord]) -> &StageEnd {
    &ran.last().expect("a description has a stage, and each that is reached runs").run.end
}
