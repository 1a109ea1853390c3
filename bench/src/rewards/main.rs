//! `assay-bench`: measures Assay beside a plain Python reward server, in one run on one machine.
//!
//! Starts both, sends both the same load, and reports medians. It owns what it starts: every
//! child ends with it. It decides nothing: a missed goal is reported, not an error.

mod measure;
mod peer;
mod report;

use std::path::{Path, PathBuf};

use anyhow::Result;
use assay_bench::assay::{self, Assay, Start, component, pinned};
use assay_bench::goal::Goal;
use assay_bench::machine::Machine;
use assay_bench::output::Output;
use assay_bench::rows;
use clap::{Parser, ValueEnum};
use tokio::signal::unix::{SignalKind, signal};

use measure::{Sides, Sizes};
use peer::Peer;
use report::Report;

/// A guest that computes for as long as the response says, here some tenths of a millisecond.
const LOAD: &str = "worker_load";
const ROUNDS: &str = "500";

/// Measure Assay beside a plain Python reward server.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// The server's program; the one beside this program when absent.
    #[arg(long)]
    assay: Option<PathBuf>,
    /// The folder with the built components; found from this program's place when absent.
    #[arg(long)]
    plugins: Option<PathBuf>,
    /// The trivial plugin: name of its component in that folder.
    #[arg(long, default_value = "trivial")]
    trivial: String,
    /// The maths plugin: name of its component in that folder.
    #[arg(long, default_value = "assay_plugin_math")]
    math: String,
    /// The maths sample.
    #[arg(long, default_value = "plugins/math/sample.jsonl")]
    sample: PathBuf,
    /// Real answers with known rewards, scored from end to end where the file is there.
    #[arg(long, default_value = "../shared/data/gsm8k_answers.jsonl")]
    gsm8k: PathBuf,
    /// The peer's folder and its Python.
    #[arg(long, default_value = "bench/peer")]
    peer: PathBuf,
    #[arg(long, default_value = "target/bench-venv/bin/python")]
    python: PathBuf,
    /// Measure one side alone.
    #[arg(long, value_enum, default_value = "both")]
    side: Side,
    /// Parts to measure, separated by commas.
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Part::value_variants().to_vec())]
    parts: Vec<Part>,
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..=99))]
    rounds: u8,
    /// Batches of 2,048 requests in a round.
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    batches: u16,
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=64))]
    connections: u8,
    /// Single requests in a round.
    #[arg(long, default_value_t = 4_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    lone: u32,
    /// Requests queued to measure memory.
    #[arg(long, default_value_t = 200_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    queued: u32,
    #[command(flatten)]
    output: Output,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Side {
    Both,
    Assay,
    Peer,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Batches to the trivial plugin.
    Batches,
    /// Single requests to the trivial plugin.
    Lone,
    /// Equal requests that share a computation.
    Sharing,
    /// The maths plugin: batches of the sample, and real answers.
    Math,
    /// A guest that never ends.
    Runaway,
    /// The server's memory by queued request.
    Memory,
}

/// One thread: the load generator shall take no more of the machine than it must.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let mut terminate = signal(SignalKind::terminate())?;
    let report = tokio::select! {
        report = run(&arguments) => report?,
        // Leaving ends the children.
        _ = tokio::signal::ctrl_c() => anyhow::bail!("interrupted"),
        _ = terminate.recv() => anyhow::bail!("terminated"),
    };
    arguments.output.give(&report)
}

/// Tells a waiting person what is going on; the report alone is on standard output.
fn say(what: &str) {
    eprintln!("bench: {what}");
}

async fn run(arguments: &Arguments) -> Result<Report> {
    let folder = tempfile::Builder::new().prefix("assay-bench-").tempdir()?;
    let has = |part| arguments.parts.contains(&part);
    let sizes = Sizes {
        rounds: arguments.rounds.into(),
        connections: arguments.connections.into(),
        lone_requests: usize::try_from(arguments.lone)?,
        queued_requests: usize::try_from(arguments.queued)?,
        runaways: arguments.rounds.into(),
    };
    let mut report = Report {
        machine: Machine::read(),
        rounds: sizes.rounds,
        measures: Vec::new(),
        notes: Vec::new(),
    };
    let compared = has(Part::Batches) || has(Part::Lone) || has(Part::Math);
    {
        let assay = if arguments.side != Side::Peer
            && (compared || has(Part::Sharing) || has(Part::Runaway))
        {
            say("starting Assay");
            Some(start(arguments, &folder.path().join("assay"), 2).await?)
        } else {
            None
        };
        let peer = if arguments.side != Side::Assay && compared {
            say("starting the peer");
            let log = folder.path().join("peer.log");
            Some(Peer::start(&arguments.python, &arguments.peer, &log).await?)
        } else {
            None
        };
        trivial(arguments, assay.as_ref(), peer.as_ref(), &sizes, &mut report).await?;
        if let Some(assay) = assay.as_ref().filter(|_| has(Part::Sharing)) {
            say("equal requests");
            for (name, response) in [(&*arguments.trivial, None), (LOAD, Some(ROUNDS))] {
                let plugin = assay.publish(&component(&plugins(arguments)?, name)?).await?;
                let batches = usize::from(arguments.batches);
                let plugin = pinned(&plugin);
                let shared = measure::sharing(assay, &plugin, response, batches, &sizes).await?;
                report.measures.extend(shared);
            }
        }
        if has(Part::Math) {
            let (assay, peer) = (assay.as_ref(), peer.as_ref());
            math(arguments, assay, peer, folder.path(), &sizes, &mut report).await?;
        }
        if let Some(assay) = assay.as_ref().filter(|_| has(Part::Runaway)) {
            say("guests that never end");
            let liar = assay.publish(&component(&plugins(arguments)?, "liar")?).await?;
            report.measures.push(measure::runaway(assay, &liar, &sizes).await?);
        }
    }
    if has(Part::Memory) && arguments.side != Side::Peer {
        say("the queue's memory");
        let assay = start(arguments, &folder.path().join("queue"), 0).await?;
        let plugin = assay.publish(&component(&plugins(arguments)?, &arguments.trivial)?).await?;
        report.measures.push(measure::queue_memory(&assay, &pinned(&plugin), &sizes).await?);
    }
    Ok(report)
}

async fn start(arguments: &Arguments, folder: &Path, workers: usize) -> Result<Assay> {
    let program = assay::program(arguments.assay.as_deref(), "assay")?;
    Assay::start(&Start { program: &program, folder, workers }).await
}

fn plugins(arguments: &Arguments) -> Result<PathBuf> {
    assay::plugins(arguments.plugins.as_deref())
}

async fn trivial(
    arguments: &Arguments,
    assay: Option<&Assay>,
    peer: Option<&Peer>,
    sizes: &Sizes,
    report: &mut Report,
) -> Result<()> {
    let has = |part| arguments.parts.contains(&part);
    if !has(Part::Batches) && !has(Part::Lone) {
        return Ok(());
    }
    let plugin = publish(arguments, assay, &arguments.trivial).await?;
    let sides = Sides { assay: assay.zip(plugin.as_deref()), peer, task: "trivial" };
    if has(Part::Batches) {
        say("the trivial plugin, batches");
        let count = usize::from(arguments.batches) * rows::BATCH_ROWS;
        let synthetic = (0..count).map(|number| rows::synthetic(number, rows::BODY_BYTES));
        let loads = rows::loads(&synthetic.collect::<Vec<_>>())?;
        let name = "trivial plugin, batches of 2,048 requests of 2 kB";
        let mut measures = measure::batches(name, &sides, &loads, sizes).await?.into_iter();
        report.measures.extend(measures.next().map(|rate| rate.goal(Goal::AtLeast(40_000.0))));
        report.measures.extend(measures);
    }
    if has(Part::Lone) {
        say("the trivial plugin, single requests");
        let row = rows::synthetic(0, rows::BODY_BYTES);
        let [median, slowest, rate] =
            measure::lone("one request at a time", &sides, &row, 1, sizes).await?;
        report.measures.extend([median.goal(Goal::AtMost(1.0)), slowest, rate]);
        let [median, slowest, rate] =
            measure::lone("32 requests at once", &sides, &row, 32, sizes).await?;
        report.measures.extend([median, slowest.goal(Goal::AtMost(5.0)), rate]);
    }
    Ok(())
}

async fn math(
    arguments: &Arguments,
    assay: Option<&Assay>,
    peer: Option<&Peer>,
    folder: &Path,
    sizes: &Sizes,
    report: &mut Report,
) -> Result<()> {
    let plugin = publish(arguments, assay, &arguments.math).await?;
    let sides = Sides { assay: assay.zip(plugin.as_deref()), peer, task: "math" };
    say("the maths plugin, batches of the sample");
    let sample = rows::read(&arguments.sample)?;
    let count = usize::from(arguments.batches) * rows::BATCH_ROWS;
    let repeated: Vec<_> = sample.iter().cloned().cycle().take(count).collect();
    let name = "maths plugin, batches of 2,048 of the sample's requests";
    let loads = rows::loads(&repeated)?;
    report.measures.extend(measure::batches(name, &sides, &loads, sizes).await?);
    if arguments.gsm8k.is_file() {
        say("the maths plugin, real answers from end to end");
        let name = "maths plugin, a file of real answers";
        let measures = measure::file(name, &sides, &arguments.gsm8k, folder, sizes).await?;
        report.measures.extend(measures);
    } else {
        let path = arguments.gsm8k.display();
        report.notes.push(format!("Real answers were left out: there is no {path}."));
    }
    Ok(())
}

async fn publish(
    arguments: &Arguments,
    assay: Option<&Assay>,
    name: &str,
) -> Result<Option<String>> {
    let Some(assay) = assay else { return Ok(None) };
    let plugin = assay.publish(&component(&plugins(arguments)?, name)?).await?;
    Ok(Some(pinned(&plugin)))
}
