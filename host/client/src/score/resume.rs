//! Continues after an earlier call: ends what is left of its batches, and takes its run.
//!
//! Results that the server has and the output has not are computed again: their rows may have been
//! corrected since, and the server keeps no hash of a row.

use assay_api::batch::Batch;
use assay_core::id::BatchId;

use super::output::{MadeBy, Output};
use super::{Options, ScoreError};
use crate::call::Client;
use crate::error::Error;

const NOT_FOUND: u16 = 404;

/// The run to continue with.
pub(super) struct Resumed {
    pub(super) run: String,
    /// The iteration of the next batch.
    pub(super) iteration: u64,
    /// The plugin of the results in the output; absent if it has none.
    pub(super) made_by: Option<MadeBy>,
}

/// Cancels what is left of the output's batches, and says which run to use. The run pins the
/// plugin's digest, so that one file has one plugin's rewards.
pub(super) async fn resume(
    client: &Client,
    options: &Options,
    output: &Output,
) -> Result<Resumed, ScoreError> {
    let mut last: Option<Batch> = None;
    for batch in output.batches() {
        let Some(found) = find(client, *batch).await? else { continue };
        if !found.state.is_final() {
            client.cancel(*batch).await?;
        }
        if last.as_ref().is_none_or(|last| last.announced_at <= found.announced_at) {
            last = Some(found);
        }
    }
    let of_last = || {
        let last = last.as_ref()?;
        Some(MadeBy { plugin: last.plugin.clone(), digest: last.plugin_digest })
    };
    let made_by = output.made_by().cloned().or_else(of_last);
    match &made_by {
        Some(made_by) => check_name(options, output, made_by)?,
        None if output.has_rewards() => {
            return Err(ScoreError::PluginUnknown { path: output.path().to_owned() });
        }
        None => {}
    }
    let asked = options.run.as_ref();
    let continued = last.filter(|last| asked.is_none_or(|run| *run == last.run));
    Ok(match continued {
        Some(last) => Resumed { run: last.run, iteration: last.iteration + 1, made_by },
        None => {
            let run = asked.cloned().unwrap_or_else(|| run_name(options));
            Resumed { run, iteration: 0, made_by }
        }
    })
}

/// Refuses an output of a plugin that is another one by its name or version; the digest is compared
/// when a batch is announced.
fn check_name(options: &Options, output: &Output, made_by: &MadeBy) -> Result<(), ScoreError> {
    let is_other_version = version(&options.plugin)
        .zip(version(&made_by.plugin))
        .is_some_and(|(asked, before)| asked != before);
    if name(&options.plugin) == name(&made_by.plugin) && !is_other_version {
        return Ok(());
    }
    let path = output.path().to_owned();
    Err(ScoreError::PluginChanged {
        path,
        before: made_by.plugin.clone(),
        now: options.plugin.clone(),
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
