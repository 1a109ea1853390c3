//! Continues after an earlier call: takes the results that its batches finished meanwhile, and its
//! run.

use assay_api::batch::Batch;
use assay_core::id::{BatchId, Digest};
use assay_core::limits::PAGE_ITEMS_DEFAULT;

use super::output::Output;
use super::{Options, ScoreError};
use crate::call::Client;
use crate::error::Error;

const NOT_FOUND: u16 = 404;

/// The run to continue with.
pub(super) struct Resumed {
    pub(super) run: String,
    /// The iteration of the next batch.
    pub(super) iteration: u64,
    /// The plugin of the results in the output; absent if the server does not know it.
    pub(super) made_by: Option<MadeBy>,
}

pub(super) struct MadeBy {
    pub(super) plugin: String,
    pub(super) digest: Digest,
}

/// Writes what the batches of the output finished since, cancels what is left of them, and says
/// which run to use. The run pins the plugin's digest, so that one file has one plugin's rewards.
pub(super) async fn adopt(
    client: &Client,
    options: &Options,
    output: &mut Output,
) -> Result<Resumed, ScoreError> {
    let mut last: Option<Batch> = None;
    for (batch, after) in output.batches().clone() {
        let Some(found) = find(client, batch).await? else { continue };
        // What it had beyond the file is deleted; those items are computed anew.
        if found.expired_at.is_none() {
            fetch(client, &found, after, output).await?;
        }
        if !found.state.is_final() {
            client.cancel(batch).await?;
        }
        if last.as_ref().is_none_or(|last| last.announced_at <= found.announced_at) {
            last = Some(found);
        }
    }
    output.flush()?;
    let new_run = || options.run.clone().unwrap_or_else(|| run_name(options));
    let Some(last) = last else {
        return Ok(Resumed { run: new_run(), iteration: 0, made_by: None });
    };
    let made_by = MadeBy { plugin: last.plugin.clone(), digest: last.plugin_digest };
    let is_other_version = version(&options.plugin)
        .zip(version(&made_by.plugin))
        .is_some_and(|(asked, before)| asked != before);
    if name(&options.plugin) != name(&made_by.plugin) || is_other_version {
        let path = output.path().to_owned();
        let (before, now) = (made_by.plugin, options.plugin.clone());
        return Err(ScoreError::PluginChanged { path, before, now });
    }
    let same_run = options.run.as_ref().is_none_or(|run| *run == last.run);
    Ok(Resumed {
        run: if same_run { last.run } else { new_run() },
        iteration: if same_run { last.iteration + 1 } else { 0 },
        made_by: Some(made_by),
    })
}

/// The batch, or nothing if the server does not know it: another server, or deleted data.
async fn find(client: &Client, batch: BatchId) -> Result<Option<Batch>, Error> {
    match client.batch(batch).await {
        Ok(batch) => Ok(Some(batch)),
        Err(Error::Problem(problem)) if problem.status == NOT_FOUND => Ok(None),
        Err(error) => Err(error),
    }
}

async fn fetch(
    client: &Client,
    batch: &Batch,
    mut after: u32,
    output: &mut Output,
) -> Result<(), ScoreError> {
    while after < batch.counts.finished() {
        let page = client.results_page(batch.id, after, PAGE_ITEMS_DEFAULT).await?;
        let Some(last) = page.items.last() else { break };
        after = last.cursor;
        for item in &page.items {
            // Its row is not known here.
            if output.note(item, None) {
                output.write(item, None, None)?;
            }
        }
    }
    Ok(())
}

/// The plugin's name: `math` for `team/math@prod` and for `math@1.0.0`.
fn name(plugin: &str) -> &str {
    let plugin = plugin.split_once('@').map_or(plugin, |(name, _)| name);
    plugin.rsplit_once('/').map_or(plugin, |(_, name)| name)
}

/// The version, `1.0.0` of `math@1.0.0`; a channel is none.
fn version(plugin: &str) -> Option<&str> {
    let (_, version) = plugin.split_once('@')?;
    version.starts_with(|first: char| first.is_ascii_digit()).then_some(version)
}

/// A new name that is readable in lists: `score-answers-` with a unique suffix.
fn run_name(options: &Options) -> String {
    let stem = options.input.file_stem().unwrap_or_default().to_string_lossy();
    let stem: String = stem.chars().filter(|c| !c.is_control()).take(40).collect();
    let unique = BatchId::generate().0.simple().to_string();
    format!("score-{stem}-{}", &unique[unique.len() - 12..])
}
