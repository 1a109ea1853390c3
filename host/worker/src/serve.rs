//! Serves a host with three threads: one holds the conversation, one runs the granted leases, and one loads plugins.
//!
//! ```text
//!            grants, revocations, drain          next
//!   host ──▶ conversation (tokio) ──▶ prefetch queue ──▶ runner (a plain thread)
//!        ◀── finished, heartbeats ◀──────── outbox ◀──────── finished
//!                     ▲          objects          │ plugins
//!                     ├───── host requests ◀──────┤
//!                     └───── host requests ◀── loader ◀── announced plugins
//! ```
//!
//! The runner never waits while its queue holds a lease, except for a plugin that is not loaded, which it tells the
//! host, and for an object that a plugin reads from storage.

mod conversation;
mod host_request;
mod outbox;
mod prefetch_queue;
mod run_delay;

mod capabilities;
mod plugins;
mod runner;
mod storage;

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use anyhow::Context as _;
use assay_sandbox::Sandbox;
use tokio::sync::mpsc;

use crate::{environment, programs};
use capabilities::CapabilityFactory;
use outbox::Outbox;
use plugins::{PluginSource, Plugins};
use prefetch_queue::PrefetchQueue;
use run_delay::RunDelay;

#[derive(clap::Args)]
pub(crate) struct ServeOptions {
    /// Unix socket of the server
    #[arg(long)]
    connect: PathBuf,
    /// Pool that the worker serves
    #[arg(long, default_value = "cpu")]
    pool: String,
    /// Number of GPUs of this worker
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u8).range(..=1))]
    gpus: u8,
    /// Folder for compiled plugins; several workers may share it
    #[arg(long)]
    cache: PathBuf,
    #[command(flatten)]
    programs: programs::ProgramOptions,
}

/// The stack of the runner's thread, on which guests run too.
const RUNNER_STACK_BYTES: usize = 8 << 20;

/// Runs until the host ends the stream after a drain; any other end is an error.
pub(crate) fn run(options: ServeOptions, ticket: Option<String>) -> anyhow::Result<()> {
    let ticket = ticket.context("ASSAY_WORKER_TICKET is not set")?;
    environment::end_with_host()?;
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_max_level(tracing::Level::WARN)
        .init();
    std::fs::create_dir_all(&options.cache)
        .with_context(|| format!("creating {}", options.cache.display()))?;

    let queue = Arc::new(PrefetchQueue::default());
    let outbox = Arc::new(Outbox::default());
    let run_delay = Arc::new(RunDelay::default());
    let (host_requests, incoming_requests) = mpsc::unbounded_channel();
    let sandbox = Arc::new(Sandbox::new()?);
    let granted = CapabilityFactory::new(
        options.programs,
        options.gpus,
        options.cache.clone(),
        host_requests.clone(),
    );
    let source = PluginSource::open(&options.cache, host_requests)
        .context("opening the cache of plugins")?;
    let plugins = Arc::new(Plugins::default());
    thread::Builder::new().name("loader".into()).spawn({
        let (sandbox, plugins) = (Arc::clone(&sandbox), Arc::clone(&plugins));
        move || plugins.run(&sandbox, &source)
    })?;
    let runner =
        thread::Builder::new().name("runner".into()).stack_size(RUNNER_STACK_BYTES).spawn({
            let (queue, outbox) = (Arc::clone(&queue), Arc::clone(&outbox));
            let (run_delay, plugins) = (Arc::clone(&run_delay), Arc::clone(&plugins));
            move || {
                run_delay.watch_this_thread();
                runner::run(&sandbox, &plugins, granted, &queue, &outbox);
            }
        })?;

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let hello = conversation::hello(ticket, options.pool);
    runtime.block_on(conversation::run(
        &options.connect,
        hello,
        &queue,
        &plugins,
        &outbox,
        &run_delay,
        incoming_requests,
    ))?;
    if queue.is_draining() {
        runner.join().map_err(|_| anyhow::anyhow!("the runner panicked"))?;
    }
    Ok(())
}
