//! `assay simulate`: policies compared on a trace, on this machine alone.

mod pictures;
mod values;

use std::fs::File;
use std::io::{BufRead, BufReader, IsTerminal as _, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{Context as _, bail};
use assay_model::time::Micros;
use assay_sched::Order;
use assay_sim::faults::Fault;
use assay_sim::policy::{ByStage, Hint, Policy, QUOTA_DEFAULT, Settings, parse_policies};
use assay_sim::report::Report;
use assay_sim::trace::{Trace, read};
use assay_sim::{Run, Watch, simulate, vectors};
use clap::Subcommand;
use flate2::bufread::MultiGzDecoder;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{Format, print_json};
use values::{Policies, by_stage, seconds, whole};

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
    /// How long an idle worker stays that the plan does not hold [default: as long as one starts]
    #[arg(long, value_parser = seconds)]
    linger_s: Option<Micros>,
    /// How often the policy `assay` plans, beside the starts and ends of batches
    #[arg(long, default_value = "10", value_parser = seconds)]
    period_s: Micros,
    /// When trainers announce their batches
    #[arg(long, value_enum, default_value = "rollout")]
    hint: HintArgument,
    /// Something that goes wrong: lose=PER_HOUR, slow=FRACTION:FACTOR or host-restart=SECONDS; may
    /// be repeated
    #[arg(long = "fault", value_name = "FAULT")]
    faults: Vec<Fault>,
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
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum OrderArgument {
    /// Earliest batch first
    Ebf,
    /// First come, first served
    Fcfs,
    /// Earliest batch first, inside it the group that is nearest to its end
    Groups,
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
    if let Some(Verb::Vectors { file }) = &options.verb {
        return compare_vectors(file);
    }
    let path = options.trace.as_deref().expect("clap asks for it without a verb");
    let name = path.display();
    let trace = read(opened(path)?).with_context(|| format!("{name} is not a trace"))?;
    let runs = run_all(&trace, &options.policies.0, &options.settings())?;
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
                OrderArgument::Groups => Order::EbfGroups,
            },
            tolerance: self.tolerance_s,
            startup: self.startup_s.clone(),
            quota: self.quota.clone().unwrap_or_else(|| ByStage::all(QUOTA_DEFAULT)),
            linger: self.linger_s,
            period: self.period_s,
            hint: match self.hint {
                HintArgument::Rollout => Hint::RolloutStart,
                HintArgument::Request => Hint::FirstRequest,
            },
            seed: self.seed,
            faults: self.faults.iter().copied().collect(),
            ..Settings::default()
        }
    }
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

/// One thread a policy, no more at once than there are cores; the runs in the order asked for.
fn run_all(trace: &Trace, policies: &[Policy], settings: &Settings) -> anyhow::Result<Vec<Run>> {
    let next = AtomicUsize::new(0);
    let runs = Mutex::new(vec![None; policies.len()]);
    let bars = bars();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores.min(policies.len()) {
            scope.spawn(|| {
                while let Some((place, policy)) = {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    policies.get(place).map(|policy| (place, policy))
                } {
                    let run = run_one(trace, policy, settings, &bars);
                    runs.lock().expect("no run panics with it")[place] = Some(run);
                }
            });
        }
    });
    let runs = runs.into_inner().expect("no run panics with it");
    let mut all = Vec::with_capacity(policies.len());
    for (run, policy) in runs.into_iter().zip(policies) {
        match run.expect("every policy was run") {
            Ok(run) => all.push(run),
            Err(error) => bail!("{policy}: {error}"),
        }
    }
    Ok(all)
}

fn run_one(
    trace: &Trace,
    policy: &Policy,
    settings: &Settings,
    bars: &MultiProgress,
) -> Result<Run, assay_sim::SimulateError> {
    let bar = bars.add(ProgressBar::new(1));
    let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} batches  {msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_message(policy.to_string());
    let started = Instant::now();
    let mut elapsed = || started.elapsed();
    let mut completed = |done: usize, all: usize| {
        bar.set_length(all as u64);
        bar.set_position(done as u64);
    };
    let watch = Watch { elapsed: &mut elapsed, completed: &mut completed };
    let run = simulate(trace, policy, settings, watch);
    bar.finish_and_clear();
    run
}

fn bars() -> MultiProgress {
    MultiProgress::with_draw_target(if std::io::stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    })
}
