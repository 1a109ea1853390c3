//! `assay batch`.

use std::process::ExitCode;

use anyhow::Context as _;
use assay_api::batch::Batch;
use assay_api::view::{BatchList, BatchSummary};
use assay_client::Client;
use assay_core::id::BatchId;
use assay_core::limits::{LIST_ITEMS_MAX, RUN_HISTORY_ITEMS_MAX};
use clap::Subcommand;

use super::table::table;
use super::terminal::written;
use super::{ClientOptions, Format, print_json};
use assay_simulation::trace::trace;

#[derive(clap::Args)]
pub(super) struct BatchCommand {
    #[command(flatten)]
    client: ClientOptions,
    #[command(subcommand)]
    verb: BatchVerb,
}

#[derive(Subcommand)]
enum BatchVerb {
    /// List batches, live and ended ones, the newest first
    Ls(List),
    /// Show a batch
    Show {
        /// Id of the batch
        batch: BatchId,
    },
    /// Write completed batches as a trace that `assay simulate` reads
    ///
    /// The batches of a run become consecutive iterations of one task, in the order in which they
    /// were announced; the simulator uses the first of them as history only.
    Export(Export),
}

#[derive(clap::Args)]
struct List {
    /// Only batches of this run
    #[arg(long)]
    run: Option<String>,
    /// Only batches in this state: live, ended, announced, open, sealed, done, cancelled or expired
    #[arg(long)]
    state: Option<String>,
    /// Maximum number of batches
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    last: u32,
}

#[derive(clap::Args)]
struct Export {
    /// Ids of the batches to export
    #[arg(required_unless_present = "run", conflicts_with = "run")]
    batches: Vec<BatchId>,
    /// Run whose completed batches are exported
    #[arg(long)]
    run: Option<String>,
    /// Number of the run's latest batches to export
    #[arg(long, requires = "run", default_value_t = RUN_HISTORY_ITEMS_MAX, value_parser = last())]
    last: u32,
    /// Cost of a worker of a pool per second, such as gpu=10; may be repeated [default: 1]
    #[arg(long, value_parser = cost)]
    cost: Vec<(String, f64)>,
}

fn last() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=i64::from(RUN_HISTORY_ITEMS_MAX))
}

fn cost(text: &str) -> Result<(String, f64), String> {
    let (pool, cost) = text.split_once('=').ok_or("write POOL=COST, such as gpu=10")?;
    let cost = cost.parse().ok().filter(|cost: &f64| cost.is_finite() && *cost >= 0.0);
    Ok((pool.into(), cost.ok_or("the cost must be a number, 0 or more")?))
}

pub(super) async fn run(options: BatchCommand) -> anyhow::Result<ExitCode> {
    let client = options.client.connect()?;
    match options.verb {
        BatchVerb::Ls(list) => {
            let items = list.read(&client).await?;
            match options.client.format {
                Format::Json => print_json(&BatchList { items, next: None })?,
                Format::Text if items.is_empty() => eprintln!("no batch is like that"),
                Format::Text => print!("{}", text(&items)),
            }
        }
        BatchVerb::Show { batch } => {
            let batch = client.batch(batch).await?;
            match options.client.format {
                Format::Json => print_json(&batch)?,
                Format::Text => print_batch(&batch),
            }
        }
        BatchVerb::Export(export) => export.run(&client).await?,
    }
    Ok(ExitCode::SUCCESS)
}

impl List {
    async fn read(self, client: &Client) -> anyhow::Result<Vec<BatchSummary>> {
        let last = self.last as usize;
        let mut items: Vec<BatchSummary> = Vec::new();
        let mut after: Option<String> = None;
        while items.len() < last {
            let limit = (last - items.len()).min(LIST_ITEMS_MAX as usize).to_string();
            let mut filters = vec![("limit", limit.as_str())];
            filters.extend(self.run.as_deref().map(|run| ("run", run)));
            filters.extend(self.state.as_deref().map(|state| ("state", state)));
            filters.extend(after.as_deref().map(|after| ("after", after)));
            let page = client.batches(&filters).await?;
            items.extend(page.items);
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        Ok(items)
    }
}

impl Export {
    async fn run(self, client: &Client) -> anyhow::Result<()> {
        let batches = match &self.run {
            Some(run) => {
                let history = client.run_history(run, self.last).await?;
                history.items.into_iter().map(|batch| batch.id).collect()
            }
            None => self.batches,
        };
        let mut profiles = Vec::with_capacity(batches.len());
        for batch in batches {
            let profile = client.batch_profile(batch).await;
            profiles.push(profile.with_context(|| format!("reading the profile of {batch}"))?);
        }
        let trace = trace(profiles, &self.cost.into_iter().collect())?;
        let to = std::io::BufWriter::new(std::io::stdout().lock());
        written(assay_sim::trace::write(&trace, to)).context("writing the trace")
    }
}

fn text(batches: &[BatchSummary]) -> String {
    const HEAD: [&str; 8] =
        ["ID", "RUN", "ITERATION", "STATE", "PLUGIN", "REQUESTS", "MEAN REWARD", "EXTRA DELAY"];
    let row = |BatchSummary { batch, .. }: &BatchSummary| {
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".into());
        [
            batch.id.to_string(),
            batch.run.escape_debug().to_string(),
            batch.iteration.to_string(),
            batch.state.as_str().into(),
            batch.plugin.clone(),
            batch.counts.submitted.to_string(),
            or_dash(batch.mean_reward.map(|mean| format!("{mean:.4}"))),
            or_dash(batch.extra_delay_ms.map(|delay| format!("{:.3} s", delay / 1e3))),
        ]
    };
    table(HEAD, batches.iter().map(row))
}

fn print_batch(batch: &Batch) {
    let counts = batch.counts;
    println!("{}  {}", batch.id, batch.state.as_str());
    println!("  run {}, iteration {}, {}", batch.run, batch.iteration, batch.plugin);
    println!(
        "  {} requests: {} scored, {} timed out, {} failed",
        counts.submitted, counts.scored, counts.timed_out, counts.error
    );
    if let Some(mean) = batch.mean_reward {
        println!("  mean reward {mean:.4}");
    }
    println!("  announced {}", batch.announced_at);
    match (batch.done_at, batch.estimated_done_at) {
        (Some(at), _) => println!("  ended {at}"),
        (None, Some(at)) => println!("  expected to end {at}"),
        (None, None) => {}
    }
    if let Some(delay) = batch.extra_delay_ms {
        println!("  extra delay {:.3} s", delay / 1e3);
    }
}
