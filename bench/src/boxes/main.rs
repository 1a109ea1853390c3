//! `assay-bench-boxes`: measures programs in Assay's boxes beside plain ones and other boxes.
//!
//! It owns what it starts: helpers, boxes, servers and the load end with it. It decides nothing: a
//! missed goal is reported, not an error.

mod burner;
mod contender;
mod humaneval;
mod judge;
mod overhead;
mod rate;
mod soak;
mod submission;

use std::path::{Path, PathBuf};

use anyhow::Result;
use assay_bench::assay::{component, plugins, program};
use assay_bench::machine::Machine;
use assay_bench::output::{Output, say};
use clap::{Parser, ValueEnum};
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::spawn_blocking;

use assay_bench::sections::{Report, Section, leave_out};
use contender::{Kind, Workshop};

/// Measure programs in Assay's boxes beside plain ones and other boxes.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// The server's program; the one beside this program when absent.
    #[arg(long)]
    assay: Option<PathBuf>,
    /// The helper's program; the one beside this program when absent.
    #[arg(long)]
    exec: Option<PathBuf>,
    /// The folder with the built components; found from this program's place when absent.
    #[arg(long)]
    plugins: Option<PathBuf>,
    /// HumanEval's problems, judged where the file is there.
    #[arg(long, default_value = "../shared/data/HumanEval.jsonl.gz")]
    humaneval: PathBuf,
    /// The Python of plain processes.
    #[arg(long, default_value = "/usr/bin/python3")]
    python: PathBuf,
    /// Parts to measure, separated by commas. All but the soak takes about three minutes on two
    /// cores, the soak another five.
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Part::value_variants().to_vec())]
    parts: Vec<Part>,
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..=99))]
    rounds: u8,
    /// Runs of the soak.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    soak: u32,
    #[command(flatten)]
    output: Output,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// A program that does nothing, one run at a time.
    Overhead,
    /// The same, by two threads.
    Rate,
    /// A C++ submission with three tests.
    Submission,
    /// HumanEval's solutions through a server.
    Humaneval,
    /// Thousands of runs near their CPU limit on a busy machine.
    Soak,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let folder = tempfile::Builder::new().prefix("assay-bench-boxes-").tempdir()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let report = runtime.block_on(unless_told(run(&arguments, folder.path())));
    // An interrupted part does not end by itself; what it started ends with this process.
    runtime.shutdown_background();
    arguments.output.give(&report?)
}

/// Until it ends, or a signal comes.
async fn unless_told(run: impl Future<Output = Result<Report>>) -> Result<Report> {
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        report = run => report,
        _ = tokio::signal::ctrl_c() => anyhow::bail!("interrupted"),
        _ = terminate.recv() => anyhow::bail!("terminated"),
    }
}

async fn run(arguments: &Arguments, folder: &Path) -> Result<Report> {
    let has = |part| arguments.parts.contains(&part);
    let rounds = usize::from(arguments.rounds);
    let helper = program(arguments.exec.as_deref(), "assay-exec")?;
    let mut report = Report::new("Benchmark of boxes", Machine::read(), rounds);
    if has(Part::Overhead) || has(Part::Rate) {
        let folder = folder.join("nothing");
        let (helper, parts) = (helper.clone(), arguments.parts.clone());
        let measure = move || nothing(&helper, &folder, &parts, rounds);
        let (sections, left_out) = spawn_blocking(measure).await??;
        report.sections.extend(sections);
        report.left_out.extend(left_out);
    }
    if has(Part::Submission) {
        say("a C++ submission");
        let (helper, folder) = (helper.clone(), folder.join("submission"));
        let measure = move || submission::measure(&helper, &folder, rounds);
        report.sections.push(spawn_blocking(measure).await??);
    }
    if has(Part::Humaneval) {
        match humaneval(arguments, folder, rounds).await? {
            Some(section) => report.sections.push(section),
            None => {
                let path = arguments.humaneval.display();
                leave_out(&mut report.left_out, format!("HumanEval: there is no {path}."));
            }
        }
    }
    if has(Part::Soak) {
        let runs = usize::try_from(arguments.soak)?;
        say(&format!("{runs} runs on a busy machine"));
        let folder = folder.join("soak");
        let measure = move || soak::measure(&helper, &folder, runs);
        report.sections.push(spawn_blocking(measure).await??);
    }
    Ok(report)
}

/// Those of the parts that are about the program that does nothing.
fn nothing(
    helper: &Path,
    folder: &Path,
    parts: &[Part],
    rounds: usize,
) -> Result<(Vec<Section>, Vec<String>)> {
    let mut workshop = Workshop::new(helper, folder)?;
    let mut kinds = vec![Kind::Plain, Kind::Assay];
    let mut left_out = Vec::new();
    for kind in [Kind::Bubblewrap, Kind::Hakoniwa] {
        match workshop.contender(kind) {
            Ok(_) => kinds.push(kind),
            Err(error) => {
                leave_out(&mut left_out, format!("{error:#}. `scripts/setup.sh bench` helps."))
            }
        }
    }
    let mut sections = Vec::new();
    if parts.contains(&Part::Overhead) {
        say("a program that does nothing");
        sections.push(overhead::measure(&mut workshop, &kinds, rounds)?);
    }
    if parts.contains(&Part::Rate) {
        say("the same by two threads");
        sections.push(rate::measure(&mut workshop, &kinds, rounds)?);
    }
    Ok((sections, left_out))
}

/// Nothing where there are no problems.
async fn humaneval(arguments: &Arguments, folder: &Path, rounds: usize) -> Result<Option<Section>> {
    if !arguments.humaneval.is_file() {
        return Ok(None);
    }
    say("HumanEval through a server");
    let problems = humaneval::read(&arguments.humaneval)?;
    let assay = program(arguments.assay.as_deref(), "assay")?;
    let plugin = component(&plugins(arguments.plugins.as_deref())?, "assay_plugin_code")?;
    let places = humaneval::Places {
        assay: &assay,
        plugin: &plugin,
        python: &arguments.python,
        folder: &folder.join("humaneval"),
    };
    humaneval::measure(&places, &problems, rounds).await.map(Some)
}
