//! `assay`: the command line and the server. Each verb has one file, which parses, calls and prints.

// The macros that print are for every module below.
#[macro_use]
mod terminal;

mod audit;
mod batch;
mod capacity;
mod credentials;
mod cuda;
mod dev;
mod doctor;
mod engine;
mod gpu;
mod incident;
mod key;
mod kubernetes;
mod login;
mod logs;
mod manual;
mod member;
mod passes;
mod planning;
mod plugin;
mod progress;
mod request;
mod retention;
mod samples;
mod score;
mod serve;
mod simulate;
mod slurm;
mod table;
mod telemetry;
mod tenant;
mod usage;
mod webhook;
mod worker;
mod workers;

use std::process::ExitCode;

use assay_client::Client;
use clap::{Parser, Subcommand};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

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
    Dev(dev::DevCommand),
    /// Start the server with its workers
    Serve(serve::ServeCommand),
    /// Score a JSON-lines file
    Score(score::ScoreCommand),
    /// List, show and export batches
    Batch(batch::BatchCommand),
    /// Create, build, test and publish plugins; move channels, roll back, withdraw versions
    Plugin(plugin::PluginCommand),
    /// Create, list, show and change tenants: quotas, grants, weight, retention
    Tenant(tenant::TenantCommand),
    /// Show how much of its quotas a tenant uses, and its cost by day and pool
    Usage(usage::UsageCommand),
    /// List administrative actions and what they changed
    Audit(audit::AuditCommand),
    /// Create, list, rotate and revoke API keys
    Key(key::KeyCommand),
    /// Add, list and remove a tenant's members, and set their roles
    Member(member::MemberCommand),
    /// List people, disable them, invite them again
    Person(member::PersonOptions),
    /// Save a server's address and an API key for later calls
    Login(credentials::LoginCommand),
    /// Delete the address and the key that `login` saved
    Logout,
    /// Show the owner and the scopes of the API key
    Whoami(login::WhoamiCommand),
    /// Show the pools with their workers and the planner's reasons; set the number of workers
    Capacity(capacity::CapacityCommand),
    /// List workers and what they run; drain a worker
    Worker(worker::WorkersCommand),
    /// List incidents: late batches, failed requests, worker trouble; acknowledge or mute them
    Incident(incident::IncidentCommand),
    /// Send incidents to an address or a chat; list, test and remove webhooks
    Webhook(webhook::WebhookCommand),
    /// Show a request with its logs and artifacts; run it again, here or on the server, and compare
    Request(request::RequestCommand),
    /// Show the log lines of a run, filtered by verdict and level
    Logs(logs::LogsCommand),
    /// Write the requests of a run with their texts and rewards as JSON lines or CSV
    Samples(samples::SamplesCommand),
    /// Show pass@k of a run by iteration, or the solve rate of one prompt
    Passes(passes::PassesCommand),
    /// Replay a trace under several policies and compare what they cost and delay
    Simulate(Box<simulate::SimulateCommand>),
    /// Make tasks for the plugin `cuda`, of KernelBench
    Cuda(cuda::CudaCommand),
    /// Install the CUDA compiler, and list the GPUs of this machine
    Gpu(gpu::GpuCommand),
    /// Check whether this machine has what Assay needs, and say what to do about what is missing
    Doctor(doctor::DoctorCommand),
    /// Print the OpenAPI document
    Openapi,
    /// Print a script that completes these commands in a shell
    Completions(manual::CompletionsOptions),
    /// Write a manual page for each command
    #[command(hide = true)]
    Manual(manual::ManualOptions),
}

/// The output format: text for people or JSON for programs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    #[default]
    Text,
    Json,
}

impl Format {
    /// Prints a value: as JSON, or as its text for people.
    fn print<T: serde::Serialize>(
        self,
        value: &T,
        text: impl FnOnce(&T) -> String,
    ) -> anyhow::Result<()> {
        match self {
            Self::Json => print_json(value)?,
            Self::Text => print!("{}", text(value)),
        }
        Ok(())
    }
}

const URL_DEFAULT: &str = "http://127.0.0.1:7700";

/// The server's address and the API key; every client of Assay reads the same variables.
#[derive(Debug, Clone, clap::Args)]
struct Connection {
    /// Address of the server
    ///
    /// [default: the address that `assay login` saved, else http://127.0.0.1:7700]
    #[arg(long, env = "ASSAY_URL", global = true)]
    url: Option<String>,
    /// API key
    #[arg(long, env = "ASSAY_API_KEY", global = true, hide_env_values = true)]
    key: Option<String>,
}

impl Connection {
    fn client(&self) -> anyhow::Result<Client> {
        let kept = credentials::kept();
        let url = given(&self.url);
        if let Some(key) = self.key() {
            let kept = kept.as_ref().map_or(URL_DEFAULT, |kept| &kept.url);
            return Ok(Client::new(url.unwrap_or(kept), key)?);
        }
        // A saved key is sent only to the server for which it was saved.
        let kept = kept.filter(|kept| url.is_none_or(|url| *url == kept.url));
        let kept = kept.ok_or_else(|| {
            anyhow::anyhow!(
                "no API key: set ASSAY_API_KEY, give --key, or save one with `assay login`; \
                 `assay dev` prints one"
            )
        })?;
        Ok(Client::new(&kept.url, &kept.key)?)
    }

    /// The given address, or the default; the saved address is ignored.
    fn url(&self) -> &str {
        given(&self.url).unwrap_or(URL_DEFAULT)
    }

    fn key(&self) -> Option<&str> {
        given(&self.key)
    }
}

/// The option, unless it is empty: an empty variable is one that is not set.
fn given(option: &Option<String>) -> Option<&str> {
    option.as_deref().filter(|text| !text.is_empty())
}

/// The options of a verb that calls the server and prints its answer.
#[derive(Debug, Clone, clap::Args)]
struct ClientOptions {
    #[command(flatten)]
    connection: Connection,
    /// Output format
    #[arg(short = 'o', long = "format", value_enum, default_value = "text", global = true)]
    format: Format,
}

impl ClientOptions {
    fn connect(&self) -> anyhow::Result<Client> {
        self.connection.client()
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // For the server in this process: its storage and its OpenID provider.
    assay_client::install_tls_provider();
    // The workers of a server on this machine need the other half of the cores; and on two cores
    // one thread is faster than two that wake each other.
    let threads = std::thread::available_parallelism().map_or(1, |cores| (cores.get() / 2).max(1));
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build();
    let ended = match runtime {
        Ok(runtime) => terminal::guard(|| runtime.block_on(run(arguments.verb))),
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
        Verb::Incident(options) => incident::run(options).await,
        Verb::Webhook(options) => webhook::run(options).await,
        Verb::Request(options) => request::run(options).await,
        Verb::Logs(options) => logs::run(options).await,
        Verb::Samples(options) => samples::run(options).await,
        Verb::Passes(options) => passes::run(options).await,
        Verb::Simulate(options) => simulate::run(*options),
        Verb::Cuda(options) => cuda::run(options).await,
        Verb::Gpu(options) => gpu::run(options).await,
        Verb::Doctor(options) => doctor::run(options).await,
        Verb::Openapi => {
            println!("{}", assay_http::document().to_pretty_json()?);
            Ok(ExitCode::SUCCESS)
        }
        Verb::Completions(options) => manual::complete(&options),
        Verb::Manual(options) => manual::write(&options),
    }
}

fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    println!("{}", serde_json::to_string_pretty(value)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_variable_is_not_set() {
        let empty = Connection { url: Some(String::new()), key: Some(String::new()) };
        assert_eq!((empty.url(), empty.key()), (URL_DEFAULT, None));
        let set = Connection { url: Some("http://a:1".into()), key: Some("k".into()) };
        assert_eq!((set.url(), set.key()), ("http://a:1", Some("k")));
    }
}
