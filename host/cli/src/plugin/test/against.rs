//! Replays recorded requests of another version with a component on this machine, and lists the
//! changes.

use anyhow::{Context as _, ensure};
use assay_api::plugin::Plugin;
use assay_api::request::Request;
use assay_client::Client;
use assay_core::id::{BatchId, RequestId};
use assay_core::outcome::{ErrorCode, Outcome};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use serde::Serialize;

use super::super::super::engine::{Described, EngineOptions, recorded};

/// Number of requests that are read concurrently.
const READ_AT_ONCE: usize = 8;
/// The number of items on a page of a list.
const PAGE: &str = "500";
/// Maximum number of differences in the text.
const SHOWN_MAX: usize = 50;

/// The requests to replay.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReplaySelection<'a> {
    pub against: &'a str,
    pub run: Option<&'a str>,
    pub limit: u32,
}

#[derive(Serialize)]
pub(super) struct Report {
    plugin: String,
    against: String,
    pub compared: usize,
    pub changed: Vec<Change>,
    /// Requests that cannot be compared, and why.
    left_out: Vec<LeftOut>,
    /// Possible differences between this machine and the server.
    notes: Vec<String>,
}

#[derive(Serialize)]
pub(super) struct Change {
    id: RequestId,
    run: String,
    differences: Vec<&'static str>,
    recorded: Outcome,
    replayed: Outcome,
}

#[derive(Serialize)]
struct LeftOut {
    id: RequestId,
    why: String,
}

pub(super) async fn replay(
    client: &Client,
    engine: &EngineOptions,
    plugin: &Described,
    wanted: ReplaySelection<'_>,
) -> anyhow::Result<Report> {
    let name = &plugin.description.name;
    let version = version(client, name, wanted.against).await?;
    let runs = match wanted.run {
        Some(run) => vec![run.to_owned()],
        None => {
            let stats = client.plugin_stats(name, &version.version).await?;
            stats.runs.into_iter().map(|run| run.run).collect()
        }
    };
    let against = version.version_name().to_string();
    let batches = batches(client, &against, &runs).await?;
    let ids = requests(client, &batches, wanted.limit).await?;
    ensure!(
        !ids.is_empty(),
        "no requests of {against} are stored{}; only ended batches count",
        wanted.run.map_or_else(String::new, |run| format!(" of the run `{run}`"))
    );
    let read = stream::iter(ids.into_iter().map(|id| client.stored_request(id)));
    let requests: Vec<Request> =
        read.buffered(READ_AT_ONCE).try_collect().await.context("reading recorded requests")?;
    compare(engine, plugin, against, requests).await
}

async fn version(client: &Client, name: &str, against: &str) -> anyhow::Result<Plugin> {
    let versions = client.plugin_versions(name).await;
    let versions = versions.with_context(|| format!("looking for {name} at {}", client.url()))?;
    let is_it = |plugin: &Plugin| {
        plugin.version == against || plugin.channels.iter().any(|channel| channel == against)
    };
    let known: Vec<_> = versions.items.iter().map(|plugin| plugin.version.clone()).collect();
    versions.items.into_iter().find(is_it).with_context(|| {
        format!(
            "{name} has neither a version nor a channel `{against}`; versions are {}",
            known.join(", ")
        )
    })
}

/// Batches of runs that were scored by this version and are kept, the newest first of each run.
async fn batches(client: &Client, against: &str, runs: &[String]) -> anyhow::Result<Vec<BatchId>> {
    let mut ids = Vec::new();
    for run in runs {
        let list = client.batches(&[("run", run), ("state", "ended"), ("limit", PAGE)]).await?;
        let kept = list.items.into_iter().map(|item| item.batch);
        let kept = kept.filter(|batch| batch.plugin == against && batch.expired_at.is_none());
        ids.extend(kept.map(|batch| batch.id));
    }
    Ok(ids)
}

async fn requests(
    client: &Client,
    batches: &[BatchId],
    limit: u32,
) -> anyhow::Result<Vec<RequestId>> {
    let limit = limit as usize;
    let mut ids = Vec::new();
    for &batch in batches {
        let mut after = None;
        while ids.len() < limit {
            let from = after.map(|after: u32| after.to_string());
            let mut filters = vec![("limit", PAGE)];
            filters.extend(from.as_deref().map(|after| ("after", after)));
            let page = client.requests(batch, &filters).await?;
            ids.extend(page.items.into_iter().filter(|item| item.kind.is_some()).map(|it| it.id));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
    }
    ids.truncate(limit);
    Ok(ids)
}

async fn compare(
    engine: &EngineOptions,
    plugin: &Described,
    against: String,
    requests: Vec<Request>,
) -> anyhow::Result<Report> {
    let (mut kept, mut left_out) = (Vec::new(), Vec::new());
    for request in requests {
        match comparable(&request) {
            Ok(()) => kept.push(request),
            Err(why) => left_out.push(LeftOut { id: request.id, why }),
        }
    }
    let lines = kept.iter().map(recorded).collect::<anyhow::Result<Vec<_>>>()?;
    let replayed = engine.score(plugin, lines, |_| ()).await?;
    let (mut compared, mut changed) = (0, Vec::new());
    for (request, scored) in kept.into_iter().zip(replayed) {
        let result = request.result.expect("what is comparable has one");
        if let Outcome::Error {
            code: ErrorCode::Unavailable | ErrorCode::LeaseExpired,
            message,
            ..
        } = &scored.outcome
        {
            left_out.push(LeftOut {
                id: request.id,
                why: format!("cannot run on this machine: {message}"),
            });
            continue;
        }
        compared += 1;
        let differences = result.outcome.differences(&scored.outcome);
        if !differences.is_empty() {
            let run = request.context.map(|context| context.run).unwrap_or_default();
            let (recorded, replayed) = (result.outcome, scored.outcome);
            changed.push(Change { id: request.id, run, differences, recorded, replayed });
        }
    }
    let notes = engine.differences(plugin);
    Ok(Report { plugin: plugin.reference(), against, compared, changed, left_out, notes })
}

/// Whether the plugin, and not the platform, made the recorded outcome.
fn comparable(request: &Request) -> Result<(), String> {
    let result = request.result.as_ref().ok_or("it has not ended")?;
    match &result.outcome {
        Outcome::Error { code, .. } => match code {
            ErrorCode::Cancelled
            | ErrorCode::WorkerLost
            | ErrorCode::LeaseExpired
            | ErrorCode::PluginUnloadable
            | ErrorCode::Unavailable => {
                Err(format!("it was recorded as `{code}`, which the plugin did not cause"))
            }
            _ => Ok(()),
        },
        Outcome::Scored(_) | Outcome::TimedOut { .. } => Ok(()),
    }
}

pub(super) fn text(report: &Report) -> String {
    let Report { plugin, against, compared, changed, left_out, notes } = report;
    let mut text = String::new();
    for change in changed.iter().take(SHOWN_MAX) {
        let (recorded, replayed) = (told(&change.recorded), told(&change.replayed));
        text.push_str(&format!("{}  {}: {recorded} -> {replayed}\n", change.id, change.run));
    }
    if changed.len() > SHOWN_MAX {
        text.push_str(&format!("and {} more; -o json shows all\n", changed.len() - SHOWN_MAX));
    }
    for note in notes {
        text.push_str(&format!("note: {note}\n"));
    }
    text.push_str(&format!(
        "{plugin} against {against}: {compared} compared, {} changed\n",
        changed.len()
    ));
    if let Some(first) = left_out.first() {
        let (count, id, why) = (left_out.len(), first.id, &first.why);
        text.push_str(&format!("{count} cannot be compared, such as {id}: {why}\n"));
    }
    text
}

/// An outcome in a few words.
fn told(outcome: &Outcome) -> String {
    let reward = outcome.reward().map_or_else(|| "no reward".into(), |reward| reward.to_string());
    format!("{reward} ({})", outcome.verdict())
}
