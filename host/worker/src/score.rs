//! Runs recorded requests against a component on this machine: each line of JSON is a request, and is answered by one.

use std::io::{BufRead as _, Write as _};

use anyhow::Context as _;
use assay_core::id::Digest;
use assay_core::outcome::{Outcome, StageEnd};
use assay_core::recorded::{
    RecordedRequest, ScoredArtifact, ScoredLogLine, ScoredRequest, ScoredStage,
};
use assay_sandbox::Request;
use assay_sandbox::pipeline::{self, StageRecord};

use crate::local;

#[derive(clap::Args)]
pub(crate) struct ScoreOptions {
    #[command(flatten)]
    local: local::LocalOptions,
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
        let scored = scored(recorded.id.clone(), &ran, timeout_reward);
        serde_json::to_writer(&mut out, &scored).context("writing an outcome")?;
        out.write_all(b"\n").and_then(|()| out.flush()).context("writing an outcome")?;
    }
    Ok(())
}

fn scored(id: String, ran: &[StageRecord], timeout_reward: f64) -> ScoredRequest {
    let stages = ran.iter().map(|ran| ScoredStage {
        stage: ran.stage.clone(),
        ran_ms: ran.run.ran.as_ms_f64(),
        artifact: match &ran.run.end {
            StageEnd::Next(artifact) => Some(ScoredArtifact {
                content_type: artifact.content_type.clone(),
                bytes: artifact.bytes.len() as u64,
                digest: Digest::of(&artifact.bytes),
            }),
            _ => None,
        },
    });
    let logs = ran.iter().flat_map(|ran| {
        ran.run.logs.iter().map(|line| ScoredLogLine {
            stage: ran.stage.clone(),
            level: line.level.as_str().to_owned(),
            message: line.message.clone(),
        })
    });
    let (stages, logs) = (stages.collect(), logs.collect());
    ScoredRequest { id, outcome: outcome(ran, timeout_reward), stages, logs }
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
