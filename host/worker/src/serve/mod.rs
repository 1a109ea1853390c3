//! Serves a host: two threads, one that talks and one that runs what was granted.
//!
//! ```text
//!            grants, revocations, drain          next
//!   host ──▶ conversation (tokio) ──▶ hand ──▶ runner (a plain thread)
//!        ◀── finished, heartbeats ◀────────── outbox ◀────── finished
//!                     ▲   plugins, objects │
//!                     └───── wishes ◀──────┘
//! ```
//!
//! The runner never waits for the conversation while there is something in its hand, except for a
//! plugin that is not in the cache and for what a plugin reads from storage.

mod conversation;
mod hand;
mod outbox;
mod wishes;

mod granted;
mod plugins;
mod runner;
mod storage;

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use anyhow::Context as _;
use assay_sandbox::Sandbox;
use nix::sys::prctl;
use nix::sys::signal::Signal;
use tokio::sync::mpsc;

use crate::programs;
use granted::Granted;
use hand::Hand;
use outbox::Outbox;
use plugins::Plugins;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// The host's Unix socket.
    #[arg(long)]
    connect: PathBuf,
    /// The kind of worker this is.
    #[arg(long, default_value = "cpu")]
    pool: String,
    /// Where compiled plugins are kept, by digest; several workers may share it.
    #[arg(long)]
    cache: PathBuf,
    #[command(flatten)]
    programs: programs::Options,
}

/// Guest stacks live on the runner's.
const RUNNER_STACK_BYTES: usize = 8 << 20;

/// Returns when the host let this worker go; everything else is an error.
pub(crate) fn run(options: Options, token: Option<String>) -> anyhow::Result<()> {
    let token = token.context("ASSAY_WORKER_TOKEN is not set")?;
    prctl::set_pdeathsig(Signal::SIGKILL).context("tying the worker to its host's life")?;
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_max_level(tracing::Level::WARN)
        .init();
    std::fs::create_dir_all(&options.cache)
        .with_context(|| format!("creating {}", options.cache.display()))?;

    let hand = Arc::new(Hand::default());
    let outbox = Arc::new(Outbox::default());
    let (wishes, wished) = mpsc::unbounded_channel();
    let sandbox = Sandbox::new()?;
    let granted =
        Granted::new(options.programs, options.pool.clone(), options.cache.clone(), wishes.clone());
    let plugins = Plugins::new(options.cache, wishes);
    let runner =
        thread::Builder::new().name("runner".into()).stack_size(RUNNER_STACK_BYTES).spawn({
            let (hand, outbox) = (Arc::clone(&hand), Arc::clone(&outbox));
            move || runner::run(&sandbox, plugins, granted, &hand, &outbox)
        })?;

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let hello = conversation::hello(token, options.pool);
    runtime.block_on(conversation::run(&options.connect, hello, &hand, &outbox, wished))?;
    if hand.is_draining() {
        runner.join().map_err(|_| anyhow::anyhow!("the runner panicked"))?;
    }
    Ok(())
}
