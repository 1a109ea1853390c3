//! Runs recorded requests against a component on this machine: each line of JSON is a request, and is answered by one.

use std::io::{BufRead as _, Write as _};

use anyhow::Context as _;
use assay_core::id::Digest;
use assay_core::outcome::{Outcome, StageEnd};
use assay_sandbox::pipeline::{self, StageRecord};
use assay_sandbox::{Request, digest_of};
use serde::{Deserialize, Serialize};

use crate::local;

#[derive(clap::Args)]
pub(crate) struct ScoreOptions {
    #[command(flatten)]
    local: local::LocalOptions,
}

/// A request as it was recorded. `label`, `metadata` and `settings` are JSON text.
#[derive(Debug, Deserialize)]
struct RecordedRequest {
    id: String,
    #[serde(default)]
    group: Option<String>,
    prompt: String,
    response: String,
    label: String,
    metadata: String,
    settings: String,
    seed: u64,
}

#[derive(Debug, Serialize)]
struct ScoredLine<'a> {
    id: &'a str,
    outcome: Outcome,
    stages: Vec<StageLine<'a>>,
    logs: Vec<LogEntryLine<'a>>,
}

#[derive(Debug, Serialize)]
struct StageLine<'a> {
    stage: &'a str,
    ran_ms: f64,
    /// The artifact for the next stage.
    artifact: Option<ArtifactLine<'a>>,
}

#[derive(Debug, Serialize)]
struct ArtifactLine<'a> {
    content_type: &'a str,
    bytes: usize,
    digest: Digest,
}

#[derive(Debug, Serialize)]
struct LogEntryLine<'a> {
    stage: &'a str,
    level: &'static str,
    message: &'a str,
}

pub(crate) fn run(options: &ScoreOptions) -> anyhow::Result<()> {
    let local = options.local.open()?;
    let timeout_reward = local.compiled.description.timeout_reward;
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line.context("reading requests")?;
        let recorded: RecordedRequest = serde_json::from_str(&line).context("reading a request")?;
        let request = Request {
            id: &recorded.id,
            group: recorded.group.as_deref(),
            prompt: &recorded.prompt,
            response: &recorded.response,
            label: &recorded.label,
            metadata: &recorded.metadata,
            attempt: 1,
            seed: recorded.seed,
        };
        let ran = local.pipeline().run(&recorded.settings, &request);
        let scored = scored(&recorded.id, &ran, timeout_reward);
        serde_json::to_writer(&mut out, &scored).context("writing an outcome")?;
        out.write_all(b"\n").and_then(|()| out.flush()).context("writing an outcome")?;
    }
    Ok(())
}

fn scored<'a>(id: &'a str, ran: &'a [StageRecord], timeout_reward: f64) -> ScoredLine<'a> {
    let stages = ran.iter().map(|ran| StageLine {
        stage: &ran.stage,
        ran_ms: ran.run.ran.as_ms_f64(),
        artifact: match &ran.run.end {
            StageEnd::Next(artifact) => Some(ArtifactLine {
                content_type: &artifact.content_type,
                bytes: artifact.bytes.len(),
                digest: digest_of(&artifact.bytes),
            }),
            _ => None,
        },
    });
    let logs = ran.iter().flat_map(|ran| {
        let line = |line: &'a assay_sandbox::capability::log::LogLine| LogEntryLine {
            stage: &ran.stage,
            level: line.level.as_str(),
            message: &line.message,
        };
        ran.run.logs.iter().map(line)
    });
    ScoredLine {
        id,
        outcome: outcome(ran, timeout_reward),
        stages: stages.collect(),
        logs: logs.collect(),
    }
}

/// The outcome as the service would report it.
fn outcome(ran: &[StageRecord], timeout_reward: f64) -> Outcome {
    let stage = ran.last().map(|ran| ran.stage.clone()).unwrap_or_default();
    match pipeline::end(ran) {
        StageEnd::Scored(scored) => Outcome::Scored(scored.clone()),
        StageEnd::TimedOut => Outcome::TimedOut { stage, reward: timeout_reward },
        StageEnd::Failed(error) => Outcome::Error {
            code: error.code,
            message: error.message.clone(),
            retryable: error.code.retryable(),
            attempts: 1,
        },
        StageEnd::Next(_) => unreachable!("the last stage may not end in `next`"),
    }
}
