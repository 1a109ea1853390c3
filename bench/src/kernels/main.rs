//! `assay-bench-kernels`: measures CUDA compiled in boxes and checked in sessions beside plain scripts.
//!
//! It owns what it starts: helpers, boxes and executors end with it. It decides nothing: it only says
//! what isolation and checking cost.

mod bench;
mod compile;
mod evaluate;

use std::path::PathBuf;

use anyhow::Result;
use assay_bench::assay::program;
use assay_bench::machine::Machine;
use assay_bench::output::{Output, say};
use assay_bench::sections::{Report, leave_out};
use assay_gpu::session::DeviceKind;
use clap::{Parser, ValueEnum};

use bench::KernelBenchmark;

/// Measure CUDA compiled in boxes and checked in sessions beside plain scripts.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// The CUDA toolkit's folder, as `assay gpu install-toolchain` makes it.
    #[arg(long)]
    cuda: PathBuf,
    /// The program of boxes' helper; the one beside this program when absent.
    #[arg(long)]
    exec: Option<PathBuf>,
    /// The program of executors; the one beside this program when absent.
    #[arg(long)]
    gpu: Option<PathBuf>,
    /// The folder of the plain scripts.
    #[arg(long, default_value = "bench/peer")]
    peer: PathBuf,
    /// Device that runs kernels.
    #[arg(long, value_enum, default_value = "simulated")]
    device: DeviceArgument,
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..=99))]
    rounds: u8,
    #[command(flatten)]
    output: Output,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DeviceArgument {
    Simulated,
    Cuda,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let rounds = usize::from(arguments.rounds);
    let folder = tempfile::Builder::new().prefix("assay-bench-kernels-").tempdir()?;
    let kind = match arguments.device {
        DeviceArgument::Simulated => DeviceKind::Simulated,
        DeviceArgument::Cuda => DeviceKind::Cuda,
    };
    let programs = bench::Programs {
        exec: program(arguments.exec.as_deref(), "assay-exec")?,
        gpu: program(arguments.gpu.as_deref(), "assay-gpu")?,
    };
    let mut bench = KernelBenchmark::new(programs, &arguments.cuda, kind, folder.path())?;
    let mut report = Report::new("Benchmark of kernels", Machine::read(), rounds);
    say("compilations");
    report.sections.push(compile::measure(&mut bench, &arguments.peer, rounds)?);
    say("checks of a kernel");
    report.sections.push(evaluate::measure(&mut bench, &arguments.peer, rounds)?);
    if kind == DeviceKind::Simulated {
        let what = "a real GPU: kernels ran in the interpreter, and nothing here is their speed.";
        leave_out(&mut report.left_out, what.into());
    }
    arguments.output.give(&report)
}
