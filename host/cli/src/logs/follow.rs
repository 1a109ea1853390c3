//! `assay logs --follow`: the lines of a run's requests as they end, over all its batches.
//!
//! A batch is read up to the cursor of its last result that was seen, so that no line is printed twice or left out
//! when a connection breaks or the server restarts.

use std::collections::HashMap;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use assay_api::authoring::{BatchLogPage, RunLogLine};
use assay_api::batch::Batch;
use assay_client::{Client, Error};
use assay_core::id::BatchId;
use assay_core::limits::LIST_ITEMS_MAX;

use super::{LogsCommand, text};
use crate::Format;
use crate::terminal::print_lines;

/// The time between two looks at the run's batches.
const PERIOD: Duration = Duration::from_secs(1);
/// The longest pause before a server that cannot be reached is asked again.
const PAUSE_MAX: Duration = Duration::from_secs(15);

pub(super) async fn follow(client: Client, options: LogsCommand) -> anyhow::Result<ExitCode> {
    let mut follower = Follower { client, options, batches: HashMap::new() };
    tokio::select! {
        ended = follower.run() => ended?,
        stopped = tokio::signal::ctrl_c() => stopped.context("waiting for Ctrl-C")?,
    }
    Ok(ExitCode::SUCCESS)
}

struct Follower {
    client: Client,
    options: LogsCommand,
    batches: HashMap<BatchId, Followed>,
}

/// How far a batch was read.
struct Followed {
    /// Number of ended requests whose lines were printed.
    ended: u32,
    cursor: String,
}

impl Follower {
    /// Ends when nobody reads what is printed.
    async fn run(&mut self) -> anyhow::Result<()> {
        // The lines of requests that have ended are the ones that `assay logs` prints without `--follow`.
        for batch in self.list().await? {
            let ended = batch.counts.finished();
            self.batches.insert(batch.id, Followed { ended, cursor: ended.to_string() });
        }
        eprintln!("assay: following the run {}; Ctrl-C ends this", self.options.run);
        let mut pause = PERIOD;
        loop {
            tokio::time::sleep(pause).await;
            match self.look().await {
                Ok(true) => {
                    if pause > PERIOD {
                        eprintln!("assay: the server answers again");
                    }
                    pause = PERIOD;
                }
                Ok(false) => return Ok(()),
                Err(error) if may_pass(&error) => {
                    pause = (pause * 2).min(PAUSE_MAX);
                    eprintln!("assay: {error}. It is asked again in {} s", pause.as_secs());
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Prints what is new; false when nobody reads it.
    async fn look(&mut self) -> Result<bool, Error> {
        for batch in self.list().await? {
            let now_ended = batch.counts.finished();
            let first = Followed { ended: 0, cursor: "0".into() };
            let known = self.batches.entry(batch.id).or_insert(first);
            if now_ended > known.ended && !self.print_new(batch.id, now_ended).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn print_new(&mut self, batch: BatchId, now_ended: u32) -> Result<bool, Error> {
        loop {
            let Some(known) = self.batches.get_mut(&batch) else { return Ok(true) };
            let filters = filters(&self.options, &known.cursor);
            let page = match self.client.batch_logs(batch, &filters).await {
                Ok(page) => page,
                // It was deleted meanwhile.
                Err(Error::Problem(problem)) if matches!(problem.status, 404 | 410) => {
                    known.ended = now_ended;
                    return Ok(true);
                }
                Err(error) => return Err(error),
            };
            let BatchLogPage { items, next, full } = page;
            known.cursor = next;
            if !print(self.options.client.format, &items) {
                return Ok(false);
            }
            if !full {
                known.ended = now_ended;
                return Ok(true);
            }
        }
    }

    /// The run's batches that are live or ended lately, the oldest first.
    async fn list(&self) -> Result<Vec<Batch>, Error> {
        let limit = LIST_ITEMS_MAX.to_string();
        let filters = [("run", self.options.run.as_str()), ("limit", limit.as_str())];
        let page = self.client.batches(&filters).await?;
        Ok(page.items.into_iter().rev().map(|item| item.batch).collect())
    }
}

fn filters<'a>(options: &'a LogsCommand, after: &'a str) -> Vec<(&'static str, &'a str)> {
    let mut filters = vec![("after", after)];
    filters.extend(options.verdict.as_deref().map(|verdict| ("verdict", verdict)));
    filters.extend(options.level.as_deref().map(|level| ("level", level)));
    filters
}

/// Whether the same call may be answered later.
fn may_pass(error: &Error) -> bool {
    match error {
        Error::Problem(problem) => problem.status >= 500 || problem.status == 429,
        // A proxy before a server that restarts answers too.
        Error::Unreachable { .. } | Error::Unexpected { .. } => true,
        Error::NotConfigured { .. } => false,
    }
}

/// Whether somebody reads what is printed.
fn print(format: Format, lines: &[RunLogLine]) -> bool {
    print_lines(lines.iter().map(|line| match format {
        Format::Text => text(line),
        Format::Json => serde_json::to_string(line).expect("plain data"),
    }))
}
