//! `assay samples`: the requests of a run as a file, or a sorted and filtered list of them.

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use assay_api::sample::{GroupRewards, SampleSummary, SamplesPrepared};
use assay_client::Client;
use assay_core::id::BatchId;
use assay_core::limits;
use clap::ValueEnum;
use futures_util::TryStreamExt as _;

use super::Connection;
use super::terminal::written;

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  assay samples nightly > nightly.jsonl\n  assay samples nightly --csv --no-texts > nightly.csv\n  assay samples nightly --parquet > nightly.parquet\n  assay samples nightly --sort=-response_chars --search \"wait or recheck\" --last 20"
)]
pub(super) struct SamplesCommand {
    #[command(flatten)]
    connection: Connection,
    /// Name of the run
    run: String,
    /// Id of a batch of the run whose samples alone are written
    #[arg(long)]
    batch: Option<BatchId>,
    /// Write comma-separated values instead of one JSON object a line
    #[arg(long)]
    csv: bool,
    /// Write an Apache Parquet file instead of one JSON object a line
    #[arg(long, conflicts_with = "csv")]
    parquet: bool,
    /// Leave prompts, responses, labels and metadata out
    #[arg(long)]
    no_texts: bool,
    #[command(flatten)]
    listed: Listed,
}

/// Options that list samples of ended batches with the beginnings of their texts, instead of a file with
/// everything.
#[derive(clap::Args)]
#[group(multiple = true, conflicts_with_all = ["csv", "parquet", "no_texts"])]
struct Listed {
    /// List samples by a column such as reward or, in descending order, =-reward
    #[arg(long, allow_hyphen_values = true)]
    sort: Option<String>,
    /// List samples whose prompt or response has these words
    #[arg(long)]
    search: Option<String>,
    /// List samples that are scored, timed_out or an error
    #[arg(long)]
    kind: Option<String>,
    /// List samples with a verdict
    #[arg(long)]
    verdict: Option<String>,
    /// List samples of a group
    #[arg(long)]
    group: Option<String>,
    /// List samples of groups whose rewards are all_right, all_wrong or mixed
    #[arg(long, value_parser = group_rewards)]
    group_rewards: Option<GroupRewards>,
    /// List samples with at least this reward
    #[arg(long, allow_negative_numbers = true)]
    reward_min: Option<f64>,
    /// List samples with at most this reward
    #[arg(long, allow_negative_numbers = true)]
    reward_max: Option<f64>,
    /// Maximum number of samples to list
    #[arg(long)]
    last: Option<usize>,
}

/// The part of ended batches that a server prepares for lists of samples.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum Prepared {
    Words,
    Rows,
    Nothing,
}

impl From<Prepared> for SamplesPrepared {
    fn from(prepared: Prepared) -> Self {
        match prepared {
            Prepared::Words => Self::Words,
            Prepared::Rows => Self::Rows,
            Prepared::Nothing => Self::Nothing,
        }
    }
}

fn group_rewards(text: &str) -> Result<GroupRewards, String> {
    let found = GroupRewards::ALL.into_iter().find(|one| one.as_str() == text);
    found.ok_or_else(|| "use all_right, all_wrong or mixed".to_owned())
}

impl Listed {
    fn filters(&self) -> Vec<(&'static str, String)> {
        let text = |name, value: &Option<String>| value.clone().map(|value| (name, value));
        let number = |name, value: Option<f64>| value.map(|value| (name, value.to_string()));
        let filters = [
            text("sort", &self.sort),
            text("q", &self.search),
            text("kind", &self.kind),
            text("verdict", &self.verdict),
            text("group", &self.group),
            self.group_rewards.map(|rewards| ("group_rewards", rewards.as_str().to_owned())),
            number("reward_min", self.reward_min),
            number("reward_max", self.reward_max),
        ];
        filters.into_iter().flatten().collect()
    }
}

pub(super) async fn run(options: SamplesCommand) -> anyhow::Result<ExitCode> {
    let client = options.connection.client()?;
    let listed = options.listed.filters();
    let mut output = std::io::stdout().lock();
    if !listed.is_empty() || options.listed.last.is_some() {
        let samples = list(&client, &options, listed).await?;
        for sample in samples {
            let line = serde_json::to_vec(&sample).context("writing the samples")?;
            written(output.write_all(&line)).context("writing the samples")?;
            written(output.write_all(b"\n")).context("writing the samples")?;
        }
        written(output.flush()).context("writing the samples")?;
        return Ok(ExitCode::SUCCESS);
    }
    let batch = options.batch.map(|batch| batch.to_string());
    let format = match (options.csv, options.parquet) {
        (true, _) => "csv",
        (_, true) => "parquet",
        _ => "jsonl",
    };
    if options.parquet && output.is_terminal() {
        bail!(
            "a Parquet file is no text: write it to a file, as in `assay samples {} --parquet > samples.parquet`",
            options.run
        );
    }
    let mut filters = vec![("format", format)];
    filters.push(("texts", if options.no_texts { "false" } else { "true" }));
    filters.extend(batch.as_deref().map(|batch| ("batch", batch)));
    let mut pieces = client.samples(&options.run, &filters).await?;
    while let Some(piece) = pieces.try_next().await? {
        written(output.write_all(&piece)).context("writing the samples")?;
    }
    written(output.flush()).context("writing the samples")?;
    Ok(ExitCode::SUCCESS)
}

/// Says on standard error how many batches have no samples yet.
pub(super) fn tell_preparing(batches: u32) {
    if batches > 0 {
        eprintln!("samples of {batches} more batches are being prepared");
    }
}

/// Lists samples, and says on standard error if some are still being prepared.
async fn list(
    client: &Client,
    options: &SamplesCommand,
    filters: Vec<(&'static str, String)>,
) -> anyhow::Result<Vec<SampleSummary>> {
    let of = match options.batch {
        Some(batch) => ("batch", batch.to_string()),
        None => ("run", options.run.clone()),
    };
    let wanted = options.listed.last.unwrap_or(limits::LIST_ITEMS_DEFAULT as usize);
    let mut samples = Vec::new();
    let mut after = None;
    loop {
        let rows = (wanted - samples.len()).min(limits::LIST_ITEMS_MAX as usize);
        let page = [("limit", rows.to_string())];
        let after_last = after.map(|after| ("after", after));
        let query: Vec<(&str, String)> =
            [of.clone()].into_iter().chain(filters.clone()).chain(page).chain(after_last).collect();
        let query: Vec<(&str, &str)> =
            query.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let page = client.sample_page(&query).await?;
        if samples.is_empty() {
            tell_preparing(page.preparing);
        }
        if let Some(newest) = page.newest.filter(|_| samples.is_empty()) {
            eprintln!("among the newest {newest} samples; older ones were left out");
        }
        samples.extend(page.items);
        after = page.next;
        if after.is_none() || samples.len() >= wanted {
            return Ok(samples);
        }
    }
}
