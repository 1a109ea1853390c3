//! `assay simulate`: policies compared on a trace, on this machine alone.

mod charts;
mod generate;
mod values;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

use assay_core::time::Micros;
use assay_sched::{Consumes, Discipline, Entitlement, Weight};
use assay_sim::faults::Fault;
use assay_sim::policy::{ByPool, Hint, QUOTA_DEFAULT, Settings, parse_policies};
use assay_sim::report::Report;
use assay_sim::{Run, cells};
use assay_simulation::file::read_trace;
use assay_simulation::runs::{Job, run_all};
use clap::Subcommand;

use super::Format;
use super::planning::discipline;
use values::{Bound, Policies, bound, by_pool, fraction, seconds, weight, whole};

const CELLS_DEFAULT: NonZeroUsize = NonZeroUsize::MIN;

/// Replay a trace of requests under several policies, and compare what they cost and delay.
///
/// Times are virtual; the scheduler and the planner are those of the server. The first iteration of
/// each task is history only. Costs are worker-seconds and include the start of workers.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct SimulateCommand {
    #[command(subcommand)]
    verb: Option<SimulateVerb>,
    /// Trace file in JSON lines (assay-reward-trace-1), gzipped or plain; `-` for standard input
    #[arg(required = true)]
    trace: Option<PathBuf>,
    /// Policies, separated by commas: assay, distrs, history, zq, ideal (distrs with knowledge of
    /// the future), limit (assay with that knowledge), fixed:POOL=N,...
    #[arg(long = "policy", default_value = "assay,distrs,zq", value_parser = parse_all)]
    policies: Policies,
    /// Queue discipline: the rule by which a pool chooses the next request
    #[arg(
        long,
        alias = "order",
        value_name = "DISCIPLINE",
        default_value = "ebf",
        value_parser = discipline()
    )]
    discipline: Discipline,
    /// Unit for which trainers wait
    #[arg(long, value_enum, default_value = "batch")]
    consumes: ConsumesArgument,
    /// Trainers tell how long each request will take, as `expected_ms` of its item, and are right
    #[arg(long)]
    expected_times: bool,
    /// Extra delay that a batch may have, in seconds
    #[arg(long, default_value = "2", value_parser = seconds)]
    tolerance_s: Micros,
    /// Seconds that a worker takes to start, for all pools or by pool (compile=5,execute=30); a
    /// pool has the name of its stage unless the trace says otherwise
    #[arg(long, value_name = "S|POOL=S,...", default_value = "0", value_parser = startups)]
    startup_s: ByPool<Micros>,
    /// The most by which a start is faster or slower than that, as a fraction from 0 to 1
    #[arg(long, value_name = "FRACTION", default_value = "0", value_parser = fraction)]
    startup_spread: f64,
    /// Maximum number of workers, for all pools or by pool
    #[arg(long, value_name = "N|POOL=N,...", value_parser = quotas)]
    quota: Option<ByPool<usize>>,
    /// Seconds after which an idle worker is stopped if the plan does not hold it
    #[arg(long, default_value = "0", value_parser = seconds)]
    linger_s: Micros,
    /// Seconds between two plans of the policy `assay`; the start and the end of a batch cause
    /// plans as well
    #[arg(long, default_value = "10", value_parser = seconds)]
    period_s: Micros,
    /// Time at which trainers announce their batches [default: rollout if workers take time to
    /// start, else request]
    #[arg(long, value_enum)]
    hint: Option<HintArgument>,
    /// Fault to simulate: lose=PER_HOUR, slow=FRACTION:FACTOR,
    /// capacity=POOL:WORKERS:FROM:UNTIL (in seconds) or host-restart=SECONDS; may be
    /// repeated
    #[arg(long = "fault", value_name = "FAULT")]
    faults: Vec<Fault>,
    /// Weight of a tenant of the trace, relative to the others [default: 1]; may be repeated
    #[arg(long = "weight", value_name = "TENANT=W", value_parser = weight)]
    weights: Vec<(String, Weight)>,
    /// Maximum number of a pool's workers that serve a tenant at once; may be repeated
    #[arg(long = "bound", value_name = "TENANT:POOL=N", value_parser = bound)]
    bounds: Vec<Bound>,
    /// Number of cells: installations with tenants, a dispatcher and a planner of their own, on the same
    /// machines. Each tenant is placed into the cell with the fewest requests, and so is each task without
    /// a tenant; each cell may have as many workers as --quota says
    #[arg(long, value_name = "N", default_value_t = CELLS_DEFAULT, conflicts_with_all = ["weights", "bounds"])]
    cells: NonZeroUsize,
    /// Seed of the random numbers for histories and faults
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Folder for charts, as SVG files
    #[arg(long, value_name = "FOLDER")]
    plot: Option<PathBuf>,
    /// Output format
    #[arg(short = 'o', long = "format", value_enum, default_value = "text")]
    format: Format,
}

#[derive(Subcommand)]
enum SimulateVerb {
    /// Generate a synthetic trace and write it to standard output
    Generate(Box<generate::GenerateCommand>),
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum HintArgument {
    /// When the rollout starts
    Rollout,
    /// With the first request
    Request,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum ConsumesArgument {
    /// The whole batch
    Batch,
    /// Each group, as with streamed mini-batches
    Groups,
}

fn parse_all(text: &str) -> Result<Policies, String> {
    parse_policies(text).map(Policies).map_err(|error| error.to_string())
}

fn startups(text: &str) -> Result<ByPool<Micros>, String> {
    by_pool(text, Micros::ZERO, seconds)
}

fn quotas(text: &str) -> Result<ByPool<usize>, String> {
    by_pool(text, QUOTA_DEFAULT, whole)
}

pub(super) fn run(options: SimulateCommand) -> anyhow::Result<ExitCode> {
    match &options.verb {
        Some(SimulateVerb::Generate(generate)) => generate::run(generate),
        None => compare_policies(&options),
    }
}

fn compare_policies(options: &SimulateCommand) -> anyhow::Result<ExitCode> {
    let path = options.trace.as_deref().expect("clap asks for it without a verb");
    let (trace, settings) = (read_trace(path)?, options.settings());
    let traces = match options.cells {
        CELLS_DEFAULT => vec![trace],
        cells => cells::split(&trace, cells.get()),
    };
    let job = |policy| traces.iter().map(move |trace| (trace, policy));
    let jobs = options.policies.0.iter().flat_map(job);
    let jobs: Vec<_> =
        jobs.map(|(trace, policy)| Job { trace, policy, settings: &settings }).collect();
    let of_cells: Vec<_> = run_all(&jobs)?.chunks(traces.len()).map(<[Run]>::to_vec).collect();
    let runs: Vec<_> = of_cells.iter().map(|cells| cells::together(cells)).collect();
    if let Some(folder) = &options.plot {
        charts::write(folder, &runs)?;
    }
    let mut report = Report::of(&runs);
    if traces.len() > 1 {
        report = report.with_cells(&of_cells);
    }
    options.format.print(&report, ToString::to_string)?;
    Ok(ExitCode::SUCCESS)
}

impl SimulateCommand {
    fn settings(&self) -> Settings {
        Settings {
            discipline: self.discipline,
            consumes: match self.consumes {
                ConsumesArgument::Batch => Consumes::Batch,
                ConsumesArgument::Groups => Consumes::Groups,
            },
            expected_times: self.expected_times,
            tolerance: self.tolerance_s,
            startup: self.startup_s.clone(),
            startup_spread: self.startup_spread,
            quota: self.quota.clone().unwrap_or_else(|| ByPool::all(QUOTA_DEFAULT)),
            linger: self.linger_s,
            period: self.period_s,
            hint: match self.hint {
                Some(HintArgument::Rollout) => Hint::RolloutStart,
                Some(HintArgument::Request) => Hint::FirstRequest,
                None if self.startup_s == ByPool::default() => Hint::FirstRequest,
                None => Hint::RolloutStart,
            },
            entitlements: self.entitlements(),
            seed: self.seed,
            faults: self.faults.iter().cloned().collect(),
            ..Settings::default()
        }
    }

    fn entitlements(&self) -> BTreeMap<String, Entitlement> {
        let mut entitlements: BTreeMap<String, Entitlement> = BTreeMap::new();
        for (tenant, weight) in &self.weights {
            entitlements.entry(tenant.clone()).or_default().weight = *weight;
        }
        for Bound { tenant, pool, workers_max } in &self.bounds {
            let entitlement = entitlements.entry(tenant.clone()).or_default();
            entitlement.workers_max.insert(pool.as_str().into(), *workers_max);
        }
        entitlements
    }
}
