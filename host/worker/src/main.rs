//! `assay-worker`: runs plugins for a host, and compiles them for it.
//!
//! Hostile plugins run in this process, hostile programs in boxes of a helper. The process holds no secret but the ticket
//! with which it joins (`join` keeps keys in a process that runs no plugin), keeps no state but a cache that it verifies before use, and dies with its host.

mod cases;
mod compile;
mod compiled_cache;
mod doctor;
mod environment;
mod golden;
mod gpu;
mod join;
mod local;
mod programs;
mod schemas;
mod score;
mod serve;
mod snapshot;

use std::path::PathBuf;
use std::process::ExitCode;

use assay_core::architecture::Architecture;
use assay_core::id::Digest;
use assay_sandbox::CrossCompiler;
use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "assay-worker", version, about = "Runs and compiles plugins for an Assay server")]
struct WorkerArguments {
    #[command(subcommand)]
    command: WorkerCommand,
}

#[derive(Subcommand)]
enum WorkerCommand {
    /// Print the name of the engine; it loads only components that were compiled under the same name.
    Engine {
        /// Architecture of the machines that load them: x86_64 or aarch64
        #[arg(long, default_value_t = Architecture::own())]
        architecture: Architecture,
    },
    /// Compile a component and print, as one line of JSON, what it is or why it is refused.
    Compile {
        /// Component (.wasm)
        component: PathBuf,
        /// File for the compiled plugin
        #[arg(long)]
        out: PathBuf,
        /// Folder of this user alone with compiled code to use again; nothing is kept unless given
        #[arg(long, value_name = "DIR")]
        compiled: Option<PathBuf>,
        /// Code that the component was compiled to before, in a file that only this user can write to
        #[arg(long, value_name = "FILE", requires = "known_digest")]
        known: Option<PathBuf>,
        /// SHA-256 of that code; other code is not loaded, and the component is compiled
        #[arg(long, value_name = "SHA256", requires = "known")]
        known_digest: Option<Digest>,
    },
    /// Compile a component for machines of an architecture, and print, as one line of JSON, the digest of the code or why
    /// it is refused.
    CrossCompile {
        /// Component (.wasm)
        component: PathBuf,
        /// Architecture of the machines that load it: x86_64 or aarch64
        #[arg(long)]
        architecture: Architecture,
        /// File for the compiled plugin
        #[arg(long)]
        out: PathBuf,
    },
    /// Run the golden cases of an upload. Standard input has the job as JSON, standard output gets
    /// a line of JSON for each case.
    Cases(cases::CaseOptions),
    /// Run golden cases against a component.
    Test(golden::GoldenOptions),
    /// Run requests, a line of JSON each on standard input, and print the outcome of each.
    Score(score::ScoreOptions),
    /// Print, as one line of JSON, what this machine gives to programs that plugins run.
    Doctor {
        /// Folder for prepared toolchains [default: none]
        #[arg(long, value_name = "DIR")]
        cache: Option<PathBuf>,
        #[command(flatten)]
        programs: programs::ProgramOptions,
    },
    /// Write a component with the memory that it has after it described itself.
    Snapshot(snapshot::SnapshotOptions),
    /// Connect to a server and run the stages that it grants; the ticket is in ASSAY_WORKER_TICKET.
    Serve(serve::ServeOptions),
    /// Join a server on another machine with a token, and run the stages that it grants.
    Join(join::JoinOptions),
}

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let ticket = environment::take();
    let command = WorkerArguments::parse().command;
    run(command, ticket).unwrap_or_else(|error| {
        eprintln!("assay-worker: {error:#}");
        ExitCode::FAILURE
    })
}

fn run(command: WorkerCommand, ticket: Option<String>) -> anyhow::Result<ExitCode> {
    // Before anything else: `join` must not use up its token on a machine that cannot run plugins.
    assay_sandbox::check_cpu()?;
    match command {
        WorkerCommand::Engine { architecture } => {
            println!("{}", CrossCompiler::reserve(architecture)?.engine_id());
        }
        WorkerCommand::Compile { component, out, compiled, known, known_digest } => {
            let known = known.zip(known_digest);
            let known = known.map(|(file, digest)| compile::KnownCode { file, digest });
            compile::run(&component, &out, compiled.as_deref(), known)?;
        }
        WorkerCommand::CrossCompile { component, architecture, out } => {
            compile::run_cross(&component, &out, architecture)?;
        }
        WorkerCommand::Cases(options) => cases::run(&options)?,
        WorkerCommand::Test(options) => return golden::run(&options),
        WorkerCommand::Score(options) => score::run(&options)?,
        WorkerCommand::Doctor { cache, programs } => doctor::run(&programs, cache.as_deref())?,
        WorkerCommand::Snapshot(options) => snapshot::run(&options)?,
        WorkerCommand::Join(options) => join::run(options, ticket)?,
        WorkerCommand::Serve(options) => serve::run(options, ticket)?,
    }
    Ok(ExitCode::SUCCESS)
}
