//! `assay simulate generate`: a synthetic trace on standard output.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, IsTerminal as _, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use assay_sim::trace::{STALE_MAX, Trace, TrainerMode, write};
use assay_sim::workload::{Agent, Cuda, Judge, Mixture, Rewards, Shift, Spec, generate};
use flate2::Compression;
use flate2::write::GzEncoder;

use super::super::terminal::written;
use super::values::shift;

/// A limit above the size of any specification.
const SPEC_BYTES_MAX: u64 = 1 << 20;

/// Generate a synthetic trace and write it to standard output, as JSON lines.
///
/// The same settings and seed give the same trace. Each iteration of each task has its own random
/// numbers, so more tasks or iterations do not change the others. The first line of a trace holds
/// all its settings as `spec`, which `--spec` reads back.
#[derive(clap::Args)]
pub(super) struct GenerateCommand {
    /// Specification as a JSON file, `-` for standard input; other options override it
    #[arg(long, value_name = "FILE")]
    spec: Option<PathBuf>,
    /// Kind of reward computation [default: cuda]
    #[arg(long, value_enum, conflicts_with = "spec")]
    workload: Option<Workload>,
    /// Number of training runs [default: 1]
    #[arg(long)]
    tasks: Option<u32>,
    /// Iterations of each run; the first is history only [default: 50]
    #[arg(long)]
    iterations: Option<u32>,
    /// Requests in an iteration [default: 2048]
    #[arg(long)]
    batch: Option<u32>,
    /// Requests for each prompt [default: 16]
    #[arg(long)]
    group_size: Option<u32>,
    /// Seconds between the starts of two training runs [default: 60]
    #[arg(long, value_name = "S")]
    stagger_s: Option<f64>,
    /// Whether rollouts wait for the training before them [default: colocated]
    #[arg(long, value_enum)]
    mode: Option<Mode>,
    /// With `--mode disaggregated`: steps of training that the weights of a rollout may lack [default: 1]
    #[arg(long, value_name = "STEPS", requires = "mode", value_parser = clap::value_parser!(u32).range(1..=i64::from(STALE_MAX)))]
    stale: Option<u32>,
    /// Sudden change of the workload: at=ITERATION with any of length=FACTOR, execute=FACTOR,
    /// compile=FACTOR, timeouts=FRACTION, separated by commas; may be repeated
    #[arg(long = "shift", value_name = "AT,CHANGE...", value_parser = shift)]
    shifts: Vec<Shift>,
    /// Seed of the random numbers [default: 0]
    #[arg(long)]
    seed: Option<u64>,
    /// Compress the trace with gzip
    #[arg(short = 'z', long)]
    gzip: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Workload {
    /// Compile on CPUs, execute on a GPU: the task of the DistRS paper
    Cuda,
    /// Extract a program, compile it, run it on tests
    Judge,
    /// Task types with the lengths that PolyTrace publishes
    Mixture,
    /// A judge model that calls tools and is asked again, on two pools in turn
    Agent,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Mode {
    /// A rollout starts after the training on the previous batch
    Colocated,
    /// Rollouts continue with weights that are one step old, or as many as --stale says
    Disaggregated,
}

pub(super) fn run(options: &GenerateCommand) -> anyhow::Result<ExitCode> {
    let stdout = io::stdout();
    if options.gzip && stdout.is_terminal() {
        bail!("gzip output needs a file, not a terminal: write `-z > trace.jsonl.gz`");
    }
    let trace = generate(&options.specification()?)?;
    let out = BufWriter::with_capacity(1 << 16, stdout.lock());
    written(send(&trace, out, options.gzip)).context("cannot write the trace")?;
    Ok(ExitCode::SUCCESS)
}

fn send(trace: &Trace, mut out: impl Write, gzip: bool) -> io::Result<()> {
    if !gzip {
        return write(trace, out);
    }
    let mut zipped = GzEncoder::new(&mut out, Compression::default());
    write(trace, &mut zipped)?;
    zipped.finish()?.flush()
}

impl GenerateCommand {
    fn specification(&self) -> anyhow::Result<Spec> {
        let mut spec = match &self.spec {
            Some(path) => read(path)?,
            None => Spec::default(),
        };
        if let Some(workload) = self.workload {
            spec.rewards = match workload {
                Workload::Cuda => Rewards::Cuda(Cuda::default()),
                Workload::Judge => Rewards::Judge(Judge::default()),
                Workload::Mixture => Rewards::Mixture(Mixture::default()),
                Workload::Agent => Rewards::Agent(Agent::default()),
            };
        }
        let trainer = &mut spec.trainer;
        trainer.tasks = self.tasks.unwrap_or(trainer.tasks);
        trainer.iterations = self.iterations.unwrap_or(trainer.iterations);
        trainer.batch = self.batch.unwrap_or(trainer.batch);
        // A small batch belongs to one prompt by default.
        let group_size = self.group_size.unwrap_or(trainer.group_size.min(trainer.batch));
        trainer.group_size = group_size;
        trainer.stagger_s = self.stagger_s.unwrap_or(trainer.stagger_s);
        trainer.mode = match self.mode {
            Some(Mode::Colocated) if self.stale.is_some() => {
                bail!(
                    "--stale needs `--mode disaggregated`: colocated rollouts wait for the training before them"
                )
            }
            Some(Mode::Colocated) => TrainerMode::Colocated,
            Some(Mode::Disaggregated) => {
                TrainerMode::Disaggregated { stale: self.stale.unwrap_or(1) }
            }
            None => trainer.mode,
        };
        spec.seed = self.seed.unwrap_or(spec.seed);
        spec.shifts.extend(&self.shifts);
        Ok(spec)
    }
}

fn read(path: &Path) -> anyhow::Result<Spec> {
    let name = path.display();
    let from: Box<dyn Read> = if path == Path::new("-") {
        Box::new(io::stdin())
    } else {
        Box::new(File::open(path).with_context(|| format!("cannot open {name}"))?)
    };
    let from = BufReader::new(from.take(SPEC_BYTES_MAX));
    serde_json::from_reader(from).with_context(|| format!("{name} is not a specification"))
}
