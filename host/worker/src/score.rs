//! Runs recorded requests against a component on this machine: a line of JSON in, a line of JSON out.

use std::io::{BufRead as _, Write as _};

use anyhow::Context as _;
use assay_model::id::Digest;
use assay_model::outcome::{Outcome, StageEnd};
use assay_sandbox::whole::{self, Ran};
use assay_sandbox::{Request, digest_of};
use serde::{Deserialize, Serialize};

use crate::local;

#[derive(clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    local: local::Options,
}

/// A request as it was recorded. `label`, `metadata` and `settings` are JSON text.
#[derive(Debug, Deserialize)]
struct Recorded {
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
struct Scored<'a> {
    id: &'a str,
    outcome: Outcome,
    stages: Vec<Stage<'a>>,
    logs: Vec<LogLine<'a>>,
}

#[derive(Debug, Serialize)]
struct Stage<'a> {
    stage: &'a str,
    ran_ms: f64,
    /// What it left for the next.
    artifact: Option<Artifact<'a>>,
}

#[derive(Debug, Serialize)]
struct Artifact<'a> {
    content_type: &'a str,
    bytes: usize,
    digest: Digest,
}

#[derive(Debug, Serialize)]
struct LogLine<'a> {
    stage: &'a str,
    level: &'static str,
    message: &'a str,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let local = options.local.open()?;
    let timeout_reward = local.compiled.description.timeout_reward;
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line.context("reading requests")?;
        let recorded: Recorded = serde_json::from_str(&line).context("reading a request")?;
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
        let ran = local.whole().run(&recorded.settings, &request);
        let scored = scored(&recorded.id, &ran, timeout_reward);
        serde_json::to_writer(&mut out, &scored).context("writing an outcome")?;
        out.write_all(b"\n").and_then(|()| out.flush()).context("writing an outcome")?;
    }
    Ok(())
}

fn scored<'a>(id: &'a str, ran: &'a [Ran], timeout_reward: f64) -> Scored<'a> {
    let stages = ran.iter().map(|ran| Stage {
        stage: &ran.stage,
        ran_ms: ran.run.ran.as_ms_f64(),
        artifact: match &ran.run.end {
            StageEnd::Next(artifact) => Some(Artifact {
                content_type: &artifact.content_type,
                bytes: artifact.bytes.len(),
                digest: digest_of(&artifact.bytes),
            }),
            _ => None,
        },
    });
    let logs = ran.iter().flat_map(|ran| {
        let line = |line: &'a assay_sandbox::capability::log::LogLine| LogLine {
            stage: &ran.stage,
            level: line.level.as_str(),
            message: &line.message,
        };
        ran.run.logs.iter().map(line)
    });
    Scored {
        id,
        outcome: outcome(ran, timeout_reward),
        stages: stages.collect(),
        logs: logs.collect(),
    }
}

/// As the service would have ended it.
fn outcome(ran: &[Ran], timeout_reward: f64) -> Outcome {
    let stage = ran.last().map(|ran| ran.stage.clone()).unwrap_or_default();
    match whole::end(ran) {
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
