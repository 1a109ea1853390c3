//! `assay request replay`: on the server, or on this machine with the same engine.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, ensure};
use assay_api::request::{Replay, ReplayRequest, ReplaySide, Request};
use assay_api::result::ResultItem;
use assay_client::Client;
use assay_core::id::{Digest, RequestId};
use assay_core::outcome::Outcome;
use assay_core::plugin::VersionName;
use assay_core::recorded::{ScoredLogLine, ScoredRequest};
use serde::Serialize;

use super::super::Format;
use super::super::engine::{Described, EngineOptions, recorded};
use super::super::plugin::project::Source;
use super::super::terminal::harmless;
use super::show;

#[derive(clap::Args)]
pub(super) struct ReplayCommand {
    /// Id of the request
    id: RequestId,
    /// Version of the plugin to run [default: the version that scored the request]
    #[arg(long, conflicts_with_all = ["local", "plugin"])]
    version: Option<String>,
    /// Run on this machine instead of the server, and compare each stage
    #[arg(long)]
    local: bool,
    /// Project or component to run instead of the version that scored the request
    #[arg(long, value_name = "PATH", requires = "local")]
    plugin: Option<PathBuf>,
    #[command(flatten)]
    engine: EngineOptions,
}

/// The result of a replay on this machine.
#[derive(Serialize)]
struct LocalReplay {
    request: RequestId,
    /// The `name@version` and digest of both sides.
    recorded_by: String,
    recorded_digest: Digest,
    replayed_by: String,
    replayed_digest: Digest,
    recorded: Outcome,
    replayed: Outcome,
    agrees: bool,
    /// The names of what differs: `kind`, `verdict`, `reward`, and `stage NAME: ...`.
    differences: Vec<String>,
    stages: Vec<StageCompared>,
    logs: Vec<ScoredLogLine>,
    /// Possible differences between this machine and the server.
    notes: Vec<String>,
}

#[derive(Serialize)]
struct StageCompared {
    stage: String,
    recorded_ms: Option<f64>,
    replayed_ms: Option<f64>,
    /// Whether both artifacts have the same bytes; absent if either is missing or deleted.
    same_artifact: Option<bool>,
}

pub(super) async fn run(
    client: &Client,
    options: ReplayCommand,
    format: Format,
) -> anyhow::Result<ExitCode> {
    let agrees = if options.local {
        let replay = local(client, &options).await?;
        format.print(&replay, local_text)?;
        replay.agrees
    } else {
        let call = ReplayRequest { version: options.version };
        let replay = client.replay(options.id, &call).await?;
        format.print(&replay, text)?;
        replay.agrees
    };
    Ok(if agrees { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn local(client: &Client, options: &ReplayCommand) -> anyhow::Result<LocalReplay> {
    let id = options.id;
    let request = client.stored_request(id).await?;
    let result = request.result.as_ref();
    let result = result.with_context(|| {
        format!("request {id} has not ended, so there is nothing to compare with")
    })?;
    let context = request.context.as_ref().context("the server is older than this program")?;
    let folder = tempfile::tempdir().context("creating a folder for the component")?;
    let component = match &options.plugin {
        Some(path) => Source::at(path)?.component(&options.engine).await?,
        None => {
            let published = (context.plugin.as_str(), context.plugin_digest);
            download(client, published, folder.path()).await?
        }
    };
    let engine = &options.engine;
    let plugin = engine.describe(&component).await?;
    let mut scored = engine.score(&plugin, vec![recorded(&request)?], |_| ()).await?;
    let scored = scored.pop().context("the worker program left the request out")?;
    let stages = stages(client, &request, result, &scored).await?;
    Ok(compared(engine, &plugin, &request, result, scored, stages))
}

fn compared(
    engine: &EngineOptions,
    plugin: &Described,
    request: &Request,
    result: &ResultItem,
    scored: ScoredRequest,
    stages: Vec<StageCompared>,
) -> LocalReplay {
    let context = request.context.as_ref().expect("was there before");
    let mut differences: Vec<String> =
        result.outcome.differences(&scored.outcome).into_iter().map(str::to_owned).collect();
    let agrees = differences.is_empty();
    let other = stages.iter().filter(|stage| stage.same_artifact == Some(false));
    differences.extend(other.map(|stage| format!("stage {}: its artifact differs", stage.stage)));
    LocalReplay {
        request: request.id,
        recorded_by: context.plugin.clone(),
        recorded_digest: context.plugin_digest,
        replayed_by: plugin.reference(),
        replayed_digest: plugin.digest,
        recorded: result.outcome.clone(),
        replayed: scored.outcome,
        agrees,
        differences,
        stages,
        logs: scored.logs,
        notes: engine.differences(plugin),
    }
}

/// The component that scored it, checked against its digest.
async fn download(
    client: &Client,
    (plugin, digest): (&str, Digest),
    folder: &Path,
) -> anyhow::Result<PathBuf> {
    let VersionName { name, version } =
        VersionName::parse(plugin).context("the server names no version")?;
    let bytes = client.component(name, version).await.with_context(|| {
        format!("downloading {plugin}: the key needs the scope plugins:publish; or give --plugin")
    })?;
    let found = Digest::of(&bytes);
    ensure!(found == digest, "the server sent a component with the digest {found}, not {digest}");
    let path = folder.join("component.wasm");
    tokio::fs::write(&path, bytes).await.context("writing the component")?;
    Ok(path)
}

async fn stages(
    client: &Client,
    request: &Request,
    result: &ResultItem,
    scored: &ScoredRequest,
) -> anyhow::Result<Vec<StageCompared>> {
    let mut names: Vec<&str> = result.stages.iter().map(|it| it.stage.as_str()).collect();
    for stage in &scored.stages {
        if !names.contains(&stage.stage.as_str()) {
            names.push(&stage.stage);
        }
    }
    let kept = request.context.as_ref().map_or(&[][..], |context| &context.artifacts);
    let mut stages = Vec::with_capacity(names.len());
    for name in names {
        let recorded = result.stages.iter().find(|stage| stage.stage == name);
        let replayed = scored.stages.iter().find(|stage| stage.stage == name);
        let left = replayed.and_then(|stage| stage.artifact.as_ref());
        let is_kept = kept.iter().any(|artifact| artifact.stage == name);
        let same_artifact = match left.filter(|_| is_kept) {
            None => None,
            Some(left) => {
                let bytes = client.artifact(request.id, name).await?;
                Some(Digest::of(&bytes) == left.digest)
            }
        };
        stages.push(StageCompared {
            stage: name.to_owned(),
            recorded_ms: recorded.map(|stage| stage.ran_ms),
            replayed_ms: replayed.map(|stage| stage.ran_ms),
            same_artifact,
        });
    }
    Ok(stages)
}

fn local_text(replay: &LocalReplay) -> String {
    let mut text = format!(
        "recorded  {}: {}\nhere      {}: {}\n",
        replay.recorded_by,
        show::outcome(&replay.recorded),
        replay.replayed_by,
        show::outcome(&replay.replayed)
    );
    for stage in &replay.stages {
        let ms = |ms: Option<f64>| ms.map_or_else(|| "not run".into(), |ms| format!("{ms:.1} ms"));
        let artifact = match stage.same_artifact {
            Some(true) => ", same artifact",
            Some(false) => ", DIFFERENT ARTIFACT",
            None => "",
        };
        let (recorded, here) = (ms(stage.recorded_ms), ms(stage.replayed_ms));
        text.push_str(&format!("  stage {}: {recorded}, here {here}{artifact}\n", stage.stage));
    }
    for line in &replay.logs {
        text.push_str(&format!(
            "  log {} {}: {}\n",
            line.stage,
            line.level,
            harmless(&line.message)
        ));
    }
    if replay.recorded_digest != replay.replayed_digest {
        text.push_str("note: this component is not the one that scored the request\n");
    }
    for note in &replay.notes {
        text.push_str(&format!("note: {note}\n"));
    }
    text.push_str(&verdict(replay.agrees, &replay.differences));
    text
}

fn verdict(agrees: bool, differences: &[String]) -> String {
    let differing = differences.join(", ");
    match (agrees, differences.is_empty()) {
        (true, true) => "the outcomes agree\n".to_owned(),
        (true, false) => format!("the outcomes agree; {differing}\n"),
        (false, _) => format!("the outcomes differ: {differing}\n"),
    }
}

fn text(replay: &Replay) -> String {
    let (recorded, replayed) = (side(&replay.recorded), side(&replay.replayed));
    let verdict = verdict(replay.agrees, &replay.differences);
    format!("recorded  {recorded}\nreplayed  {replayed}\n{verdict}")
}

fn side(side: &ReplaySide) -> String {
    let outcome = &side.outcome;
    let reward = outcome.reward().map_or("no reward".into(), |reward| format!("reward {reward}"));
    // A reward without a stage comes from an equal request; an error is never shared.
    let ran = match (side.stages.is_empty(), outcome.reward()) {
        (true, Some(_)) => "did not run: it shares the outcome of an equal request".to_owned(),
        (true, None) => "did not run".to_owned(),
        (false, _) => {
            let ran_ms: f64 = side.stages.iter().map(|stage| stage.ran_ms).sum();
            format!("ran {ran_ms:.1} ms")
        }
    };
    format!("{}: {}, {}, {reward}, {ran}", side.plugin, outcome.kind(), outcome.verdict())
}

#[cfg(test)]
mod tests {
    use assay_api::result::StageTime;
    use assay_core::id::BatchId;

    use super::*;

    #[test]
    fn a_side_that_did_not_run_says_so() {
        let stage = StageTime { stage: "score".into(), queued_ms: 1.0, ran_ms: 2.25, attempts: 1 };
        let of = |stages: Vec<StageTime>| {
            side(&ReplaySide {
                id: RequestId { batch: BatchId::generate(), seq: 0 },
                plugin: "math@1.0.0".into(),
                plugin_digest: Digest([0; 32]),
                outcome: Outcome::TimedOut { stage: "score".into(), reward: 0.0 },
                stages,
            })
        };
        assert!(of(vec![stage]).ends_with("reward 0, ran 2.2 ms"));
        assert!(of(Vec::new()).ends_with("did not run: it shares the outcome of an equal request"));
    }
}
