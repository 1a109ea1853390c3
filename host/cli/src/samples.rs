//! `assay samples`: the requests of a run as a file.

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::Context as _;
use assay_core::id::BatchId;
use futures_util::TryStreamExt as _;

use super::Connection;

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  assay samples nightly > nightly.jsonl\n  assay samples nightly --csv --no-texts > nightly.csv"
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
    /// Leave prompts, responses, labels and metadata out
    #[arg(long)]
    no_texts: bool,
}

pub(super) async fn run(options: SamplesCommand) -> anyhow::Result<ExitCode> {
    let client = options.connection.client()?;
    let batch = options.batch.map(|batch| batch.to_string());
    let mut filters = vec![("format", if options.csv { "csv" } else { "jsonl" })];
    filters.push(("texts", if options.no_texts { "false" } else { "true" }));
    filters.extend(batch.as_deref().map(|batch| ("batch", batch)));
    let mut pieces = client.samples(&options.run, &filters).await?;
    let mut output = std::io::stdout().lock();
    while let Some(piece) = pieces.try_next().await? {
        output.write_all(&piece).context("writing the samples")?;
    }
    output.flush().context("writing the samples")?;
    Ok(ExitCode::SUCCESS)
}
