//! `assay simulate`: policies compared on a trace, on this machine alone.

mod generate;
mod pictures;
mod report;
mod runs;
mod values;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use assay_model::time::Micros;
use assay_sched::{Order, Share, Weight};
use assay_sim::faults::Fault;
use assay_sim::policy::{ByStage, Hint, QUOTA_DEFAULT, Settings, parse_policies};
use assay_sim::report::Report;
use assay_sim::trace::{Trace, read};
use assay_sim::vectors;
use clap::Subcommand;
use flate2::bufread::MultiGzDecoder;

use super::{Format, print_json};
use runs::{Job, run_all};
use values::{Bound, Policies, bound, by_stage, seconds, weight, whole};

/// The first two bytes of everything that gzip wrote.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Replay a trace of requests under several policies, and compare what they cost and delay.
///
/// Times are virtual, and scheduler and planner are those of the server. The first iteration of
/// each task is history only. Costs are worker-seconds, from when a worker is asked for.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct Options {
    #[command(subcommand)]
    verb: Option<Verb>,
    /// JSON lines of format assay-reward-trace-1, gzipped or plain; `-` for standard input
    #[arg(required = true)]
    trace: Option<PathBuf>,
    /// Policies, between commas: assay, distrs, history, zq, ideal (as distrs, knowing the future),
    /// limit (as assay, knowing it), fixed:STAGE=N,...
    #[arg(long = "policy", default_value = "assay,distrs,zq", value_parser = parse_all)]
    policies: Policies,
    /// In which order a pool's queue is served
    #[arg(long, value_enum, default_value = "ebf")]
    order: OrderArgument,
    /// How much later than without any waiting a batch may end
    #[arg(long, default_value = "2", value_parser = seconds)]
    tolerance_s: Micros,
    /// How long a worker takes to start: one for all stages, or by stage (compile=5,execute=30)
    #[arg(long, value_name = "S|STAGE=S,...", default_value = "0", value_parser = startups)]
    startup_s: ByStage<Micros>,
    /// The most workers of a stage
    #[arg(long, value_name = "N|STAGE=N,...", value_parser = quotas)]
    quota: Option<ByStage<usize>>,
    /// How long an idle worker stays that the plan does not hold
    #[arg(long, default_value = "0", value_parser = seconds)]
    linger_s: Micros,
    /// How often the policy `assay` plans, beside the starts and ends of batches
    #[arg(long, default_value = "10", value_parser = seconds)]
    period_s: Micros,
    /// When trainers announce their batches [default: rollout if workers take time to start, else
    /// request, as there is nothing to have ready]
    #[arg(long, value_enum)]
    hint: Option<HintArgument>,
    /// Something that goes wrong: lose=PER_HOUR, slow=FRACTION:FACTOR or host-restart=SECONDS; may
    /// be repeated
    #[arg(long = "fault", value_name = "FAULT")]
    faults: Vec<Fault>,
    /// How much a tenant of the trace counts beside the others [default: 1]; may be repeated
    #[arg(long = "weight", value_name = "TENANT=W", value_parser = weight)]
    weights: Vec<(String, Weight)>,
    /// The most workers of a stage that serve a tenant at once; may be repeated
    #[arg(long = "bound", value_name = "TENANT:STAGE=N", value_parser = bound)]
    bounds: Vec<Bound>,
    /// Of what is drawn: histories and faults
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Where charts go, as SVG files
    #[arg(long, value_name = "FOLDER")]
    plot: Option<PathBuf>,
    /// How the comparison is printed
    #[arg(short = 'o', long = "format", value_enum, default_value = "text")]
    format: Format,
}

#[derive(Subcommand)]
enum Verb {
    /// Compare the planner's search with vectors that another implementation computed; exits with 1
    /// if any row differs
    Vectors { file: PathBuf },
    /// Draw a synthetic trace and write it to standard output
    Generate(Box<generate::Options>),
    /// Run the figures of the DistRS paper and more, and write a page with charts about them
    Report(report::Options),
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum OrderArgument {
    /// Earliest batch first
    Ebf,
    /// First come, first served
    Fcfs,
    /// Earliest batch first, inside it the group that is nearest to its end
    EbfGroups,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum HintArgument {
    /// As the rollout starts
    Rollout,
    /// With the first request
    Request,
}

fn parse_all(text: &str) -> Result<Policies, String> {
    parse_policies(text).map(Policies).map_err(|error| error.to_string())
}

fn startups(text: &str) -> Result<ByStage<Micros>, String> {
    by_stage(text, Micros::ZERO, seconds)
}

fn quotas(text: &str) -> Result<ByStage<usize>, String> {
    by_stage(text, QUOTA_DEFAULT, whole)
}

pub(super) fn run(options: Options) -> anyhow::Result<ExitCode> {
    match &options.verb {
        Some(Verb::Vectors { file }) => compare_vectors(file),
        Some(Verb::Generate(generate)) => generate::run(generate),
        Some(Verb::Report(report)) => report::run(report),
        None => compare_policies(&options),
    }
}

fn compare_policies(options: &Options) -> anyhow::Result<ExitCode> {
    let path = options.trace.as_deref().expect("clap asks for it without a verb");
    let (trace, settings) = (read_trace(path)?, options.settings());
    let job = |policy| Job { trace: &trace, policy, settings: &settings };
    let jobs: Vec<Job> = options.policies.0.iter().map(job).collect();
    let runs = run_all(&jobs)?;
    if let Some(folder) = &options.plot {
        pictures::write(folder, &runs)?;
    }
    let report = Report::of(&runs);
    match options.format {
        Format::Json => print_json(&report)?,
        Format::Text => print!("{report}"),
    }
    Ok(ExitCode::SUCCESS)
}

impl Options {
    fn settings(&self) -> Settings {
        Settings {
            order: match self.order {
                OrderArgument::Ebf => Order::Ebf,
                OrderArgument::Fcfs => Order::Fcfs,
                OrderArgument::EbfGroups => Order::EbfGroups,
            },
            tolerance: self.tolerance_s,
            startup: self.startup_s.clone(),
            quota: self.quota.clone().unwrap_or_else(|| ByStage::all(QUOTA_DEFAULT)),
            linger: self.linger_s,
            period: self.period_s,
            hint: match self.hint {
                Some(HintArgument::Rollout) => Hint::RolloutStart,
                Some(HintArgument::Request) => Hint::FirstRequest,
                None if self.startup_s == ByStage::default() => Hint::FirstRequest,
                None => Hint::RolloutStart,
            },
            shares: self.shares(),
            seed: self.seed,
            faults: self.faults.iter().copied().collect(),
            ..Settings::default()
        }
    }

    fn shares(&self) -> BTreeMap<String, Share> {
        let mut shares: BTreeMap<String, Share> = BTreeMap::new();
        for (tenant, weight) in &self.weights {
            shares.entry(tenant.clone()).or_default().weight = *weight;
        }
        for Bound { tenant, stage, workers_max } in &self.bounds {
            let share = shares.entry(tenant.clone()).or_default();
            share.workers_max.insert(stage.as_str().into(), *workers_max);
        }
        shares
    }
}

fn read_trace(path: &Path) -> anyhow::Result<Trace> {
    read(opened(path)?).with_context(|| format!("{} is not a trace", path.display()))
}

/// What the file holds, whether gzip wrote it or not.
fn opened(path: &Path) -> anyhow::Result<Box<dyn BufRead>> {
    let raw: Box<dyn Read> = if path == Path::new("-") {
        Box::new(std::io::stdin())
    } else {
        let name = path.display();
        Box::new(File::open(path).with_context(|| format!("cannot open {name}"))?)
    };
    let mut raw = BufReader::with_capacity(1 << 16, raw);
    let zipped = raw.fill_buf()?.starts_with(&GZIP_MAGIC);
    Ok(if zipped { Box::new(BufReader::new(MultiGzDecoder::new(raw))) } else { Box::new(raw) })
}

fn compare_vectors(file: &Path) -> anyhow::Result<ExitCode> {
    let replay = vectors::replay(opened(file)?)?;
    for difference in &replay.differences {
        println!("{difference}");
    }
    let (differences, rows) = (replay.differences.len(), replay.rows);
    println!("{} vectors, {rows} rows: {differences} differences", replay.vectors);
    Ok(if differences == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
