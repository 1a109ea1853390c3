//! `assay request show`, `logs` and `artifacts`.

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Context as _;
use assay_api::request::{LogLine, Request};
use assay_api::view::ArtifactSummary;
use assay_client::Client;
use assay_core::id::RequestId;
use assay_core::outcome::Outcome;

use super::super::Format;
use super::super::terminal::harmless;

/// Maximum number of characters shown of a prompt or a response.
const SHOWN_CHARS_MAX: usize = 2_000;

pub(super) async fn request(client: &Client, id: RequestId, format: Format) -> anyhow::Result<()> {
    format.print(&client.stored_request(id).await?, text)
}

fn text(request: &Request) -> String {
    let mut text = format!("{}  key {}", request.id, request.key);
    if let Some(group) = &request.group {
        text.push_str(&format!(", group {group}"));
    }
    text.push('\n');
    if let Some(context) = &request.context {
        text.push_str(&format!(
            "  run {}, iteration {}, {}, settings {}\n",
            context.run, context.iteration, context.plugin, context.settings
        ));
    }
    text.push_str(&format!("  arrived {}\n", request.arrived_at));
    match &request.result {
        None => text.push_str("  not ended yet\n"),
        Some(result) => {
            text.push_str(&format!("  {}\n", outcome(&result.outcome)));
            for stage in &result.stages {
                text.push_str(&format!(
                    "  stage {}: waited {:.1} ms, ran {:.1} ms, {} attempts\n",
                    stage.stage, stage.queued_ms, stage.ran_ms, stage.attempts
                ));
            }
        }
    }
    for (what, whole) in [("prompt", &request.prompt), ("response", &request.response)] {
        text.push_str(&format!("{what}:\n{}\n", cut(whole)));
    }
    if let Some(label) = &request.label {
        text.push_str(&format!("label:\n{}\n", cut(label.get())));
    }
    text
}

pub(super) fn outcome(outcome: &Outcome) -> String {
    let reward = outcome.reward().map_or("no reward".into(), |reward| format!("reward {reward}"));
    let said = match outcome {
        Outcome::Scored(scored) => scored.explanation.as_str(),
        Outcome::Error { message, .. } => message.as_str(),
        Outcome::TimedOut { stage, .. } => stage.as_str(),
    };
    let said = if said.is_empty() { String::new() } else { format!(": {}", harmless(said)) };
    format!("{}, {}, {reward}{said}", outcome.kind(), outcome.verdict())
}

fn cut(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN_CHARS_MAX).collect();
    if shown.len() < text.len() {
        shown.push_str("... (-o json shows all)");
    }
    harmless(&shown)
}

pub(super) async fn logs(client: &Client, id: RequestId, format: Format) -> anyhow::Result<()> {
    let lines = client.request_logs(id).await?;
    format.print(&lines, |lines| lines.iter().map(line).collect())
}

fn line(line: &LogLine) -> String {
    format!("{} {:5} {}\n", line.stage, line.level, cut(&line.message))
}

pub(super) async fn artifacts(
    client: &Client,
    id: RequestId,
    to: Option<PathBuf>,
    format: Format,
) -> anyhow::Result<()> {
    let request = client.stored_request(id).await?;
    let artifacts = request.context.map(|context| context.artifacts).unwrap_or_default();
    if let Some(folder) = &to {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("creating {}", folder.display()))?;
        for artifact in &artifacts {
            let bytes = client.artifact(id, &artifact.stage).await?;
            // A stage's name has neither dots nor slashes.
            let path = folder.join(&artifact.stage);
            File::create_new(&path)
                .and_then(|mut file| file.write_all(&bytes))
                .with_context(|| format!("writing {}", path.display()))?;
        }
    }
    format.print(&artifacts, |artifacts| artifacts.iter().map(artifact).collect())
}

fn artifact(artifact: &ArtifactSummary) -> String {
    format!("{}  {} bytes  {}\n", artifact.stage, artifact.bytes, artifact.content_type)
}
