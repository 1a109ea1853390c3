//! The command line: one file a verb. Parses, calls, prints; decides nothing.

mod audit;
mod batch;
mod capacity;
mod credentials;
mod dev;
mod doctor;
mod engine;
mod gpu;
mod key;
mod login;
mod logs;
mod member;
mod planning;
mod plugin;
mod progress;
mod request;
mod retention;
mod score;
mod seed;
mod serve;
mod simulate;
mod tenant;
mod usage;
mod worker;
mod workers;

use std::process::ExitCode;

use assay_client::Client;
use clap::{Parser, Subcommand};

/// A reward service for reinforcement learning with verifiable rewards.
#[derive(Parser)]
#[command(name = "assay", version, about, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Start everything on this machine, with the shipped plugins, and score a first batch
    Dev(dev::Options),
    /// Start the server with its workers
    Serve(serve::Options),
    /// Score a JSON-lines file
    Score(score::Options),
    /// List, show and export batches
    Batch(batch::Options),
    /// Make, build, test and publish plugins; point channels to them, roll back, yank
    Plugin(plugin::Options),
    /// Make, list, show and change tenants: quotas, grants, weight, retention
    Tenant(tenant::Options),
    /// Show what a tenant uses of its quotas, and what it cost by day and pool
    Usage(usage::Options),
    /// List administrative acts, with what they changed
    Audit(audit::Options),
    /// Make, list, rotate and revoke API keys
    Key(key::Options),
    /// Add, list and remove a tenant's members, and set their roles
    Member(member::Options),
    /// List people, disable them, invite them anew
    Person(member::PersonOptions),
    /// Keep an address and a key here, for later calls
    Login(credentials::Options),
    /// Forget the address and the key that `login` kept
    Logout,
    /// Show whose key this is and what it may do
    Whoami(login::Options),
    /// Show the pools with their workers and the planner's reasons, and set their bounds
    Capacity(capacity::Options),
    /// List workers with what they run, and drain them
    Worker(worker::Options),
    /// Show a request with its logs and artifacts; run it again, here or by the server, and compare
    Request(request::Options),
    /// Show what plugins logged in a run, by verdict and level
    Logs(logs::Options),
    /// Replay a trace under several policies and compare what they cost and delay
    Simulate(Box<simulate::Options>),
    /// Install what compiles CUDA, and list the GPUs of this machine
    Gpu(gpu::Options),
    /// Check this machine: what Assay needs here, what is missing and what to do about it
    Doctor(doctor::Options),
    /// Fill a database with ended batches, to try the dashboard with much in it
    #[command(hide = true)]
    Seed(seed::Options),
    /// Print the OpenAPI document
    Openapi,
}

/// How a verb answers: for people, or as JSON for programs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    #[default]
    Text,
    Json,
}

const URL_DEFAULT: &str = "http://127.0.0.1:7700";

/// Where the server is. The same variables serve every client of Assay.
#[derive(Debug, Clone, clap::Args)]
struct Connection {
    /// Address of the server
    ///
    /// [default: that of `assay login`, else http://127.0.0.1:7700]
    #[arg(long, env = "ASSAY_URL", global = true)]
    url: Option<String>,
    /// API key
    #[arg(long, env = "ASSAY_API_KEY", global = true, hide_env_values = true)]
    key: Option<String>,
}

impl Connection {
    fn client(&self) -> anyhow::Result<Client> {
        if let Some(key) = self.key.as_deref() {
            return Ok(Client::new(self.url(), key)?);
        }
        // A key goes to the server that it was kept for, and to no other.
        let kept = credentials::kept();
        let kept = kept.filter(|kept| self.url.as_ref().is_none_or(|url| *url == kept.url));
        let kept = kept.ok_or_else(|| {
            anyhow::anyhow!(
                "no API key: set ASSAY_API_KEY, give --key, or keep one with `assay login`; \
                 `assay dev` prints one"
            )
        })?;
        Ok(Client::new(&kept.url, &kept.key)?)
    }

    /// What was said of the address, whatever `login` kept.
    fn url(&self) -> &str {
        self.url.as_deref().unwrap_or(URL_DEFAULT)
    }
}

pub(crate) fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // The workers beside a server need the other half; and on two cores one thread is faster than
    // two that wake each other.
    let threads = std::thread::available_parallelism().map_or(1, |cores| (cores.get() / 2).max(1));
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build();
    let ended = match runtime {
        Ok(runtime) => runtime.block_on(run(arguments.verb)),
        Err(error) => Err(error.into()),
    };
    match ended {
        Ok(code) => code,
        Err(error) => {
            eprintln!("assay: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(verb: Verb) -> anyhow::Result<ExitCode> {
    match verb {
        Verb::Dev(options) => dev::run(options).await,
        Verb::Serve(options) => serve::run(options).await,
        Verb::Score(options) => score::run(options).await,
        Verb::Batch(options) => batch::run(options).await,
        Verb::Plugin(options) => plugin::run(options).await,
        Verb::Tenant(options) => tenant::run(options).await,
        Verb::Usage(options) => usage::run(options).await,
        Verb::Audit(options) => audit::run(options).await,
        Verb::Key(options) => key::run(options).await,
        Verb::Member(options) => member::run(options).await,
        Verb::Person(options) => member::run_person(options).await,
        Verb::Login(options) => credentials::log_in(options).await,
        Verb::Logout => credentials::log_out(),
        Verb::Whoami(options) => login::run(options).await,
        Verb::Capacity(options) => capacity::run(options).await,
        Verb::Worker(options) => worker::run(options).await,
        Verb::Request(options) => request::run(options).await,
        Verb::Logs(options) => logs::run(options).await,
        Verb::Simulate(options) => simulate::run(*options),
        Verb::Gpu(options) => gpu::run(options).await,
        Verb::Doctor(options) => doctor::run(options).await,
        Verb::Seed(options) => seed::run(options).await,
        Verb::Openapi => {
            println!("{}", crate::http::document().to_pretty_json()?);
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    println!("{}", serde_json::to_string_pretty(value)?);
    Ok(())
}
