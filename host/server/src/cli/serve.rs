//! `assay serve`, and what it shares with `assay dev`.

use std::io::IsTerminal as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use assay_model::limits;
use assay_model::plugin::check_name;
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;

use super::gpu::Settled;
use super::login::SignInOptions;
use super::planning::{PlanOptions, Unsaid};
use super::retention::RetentionOptions;
use super::workers::{SecretOptions, StorageOptions, WorkerOptions};
use crate::bootstrap::FirstKey;
use crate::dispatch::Order;
use crate::http::has_dashboard;
use crate::server::{Server, Settings};

pub(super) const NO_DASHBOARD: &str =
    "the dashboard is not part of this build: run `make web`, then build the server again";

#[derive(clap::Args)]
pub(super) struct Options {
    #[command(flatten)]
    pub host: HostOptions,
    /// Address to listen on; port 0 takes any free one
    #[arg(long, env = "ASSAY_LISTEN", default_value = "127.0.0.1:7700")]
    listen: SocketAddr,
    /// Write {"url", "key"} to this file once the server is ready
    #[arg(long)]
    ready_file: Option<PathBuf>,
    /// Part of the keys made here, to tell deployments apart
    #[arg(long, default_value = "live")]
    environment: String,
}

/// What `serve` and `dev` have in common.
#[derive(clap::Args)]
pub(super) struct HostOptions {
    /// Folder for everything that is kept [default: $ASSAY_DATA, else /var/lib/assay for root,
    /// else ~/.local/share/assay]
    #[arg(long)]
    data: Option<PathBuf>,
    /// PostgreSQL 14 or newer; without it a private cluster in the data folder
    #[arg(long, env = "DATABASE_URL", hide_env_values = true)]
    database_url: Option<String>,
    #[command(flatten)]
    plan: PlanOptions,
    /// Which request of a pool is next: of the earliest batch (in it first come, first served, or of
    /// the group with the fewest left), or first come, first served over all batches
    #[arg(long, value_enum, default_value = "ebf")]
    order: OrderArgument,
    #[command(flatten)]
    retention: RetentionOptions,
    #[command(flatten)]
    pub(super) workers: WorkerOptions,
    #[command(flatten)]
    storage: StorageOptions,
    #[command(flatten)]
    secrets: SecretOptions,
    #[command(flatten)]
    sign_in: SignInOptions,
    /// Log lines as JSON
    #[arg(long)]
    log_json: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum OrderArgument {
    Ebf,
    Fcfs,
    EbfGroups,
}

impl HostOptions {
    /// `cpu_min` workers are kept where nothing is said about workers.
    pub(super) async fn settings(
        self,
        listen: SocketAddr,
        environment: &str,
        first_key: FirstKey,
        cpu_min: usize,
    ) -> anyhow::Result<Settings> {
        // Keys are cut at `_`.
        let plain = check_name("environment", environment, limits::PLUGIN_NAME_BYTES_MAX).is_ok();
        anyhow::ensure!(
            plain && !environment.contains('_'),
            "--environment must be lower-case letters, digits or `-`"
        );
        let data = match self.data {
            Some(data) => data,
            None => assay_postgres::default_data_folder()?,
        };
        let order = match self.order {
            OrderArgument::Ebf => Order::Ebf,
            OrderArgument::Fcfs => Order::Fcfs,
            OrderArgument::EbfGroups => Order::EbfGroups,
        };
        let data = std::path::absolute(&data).context("finding the data folder")?;
        let worker_program = self.workers.program()?;
        let Settled { gpu, workers_max } = self.workers.gpu.settle(&worker_program, &data).await?;
        let unsaid = Unsaid { cpu_min, gpu_max: workers_max };
        let (plan, pool_defaults) = self.plan.config(unsaid, order)?;
        Ok(Settings {
            listen,
            data,
            database_url: self.database_url.filter(|url| !url.is_empty()),
            worker_program,
            programs: self.workers.programs(gpu)?,
            storage: self.storage.read()?,
            secrets: self.secrets.read()?.into(),
            plan,
            pool_defaults,
            kept: self.retention.kept(),
            environment: environment.into(),
            first_key,
            sign_in: self.sign_in.config()?,
        })
    }

    /// Logs go to standard error; `RUST_LOG` chooses what.
    pub(super) fn start_logging(&self, default: &str) {
        let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default));
        let logs = tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(std::io::stderr)
            .with_ansi(std::io::stderr().is_terminal());
        if self.log_json {
            logs.json().init();
        } else {
            logs.with_target(false).init();
        }
    }
}

pub(super) async fn run(options: Options) -> anyhow::Result<ExitCode> {
    options.host.start_logging("info");
    let first_key = FirstKey { tenant: "platform".into(), file: "admin.key" };
    let settings =
        options.host.settings(options.listen, &options.environment, first_key, 0).await?;
    settings.storage.iter().for_each(|root| tracing::info!("{root}"));
    // Taken first, so that nothing started below outlives a signal.
    let mut interruption = Interruption::listen()?;
    let server = tokio::select! {
        server = Server::start(settings) => server?,
        () = interruption.came() => return Ok(ExitCode::SUCCESS),
    };
    if let Some(file) = &options.ready_file {
        write_ready_file(file, &server)?;
    }
    tracing::info!("ready on {}", server.url);
    if !has_dashboard() {
        tracing::info!("{NO_DASHBOARD}");
    }
    wait(server, &mut interruption).await
}

/// Whole or not at all, so that whoever waits for it never reads half.
fn write_ready_file(file: &std::path::Path, server: &Server) -> anyhow::Result<()> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let ready = serde_json::json!({ "url": server.url, "key": server.key });
    let part = file.with_extension("part");
    let mut open = std::fs::OpenOptions::new();
    let mut opened = open
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&part)
        .with_context(|| format!("writing {}", part.display()))?;
    std::io::Write::write_all(&mut opened, ready.to_string().as_bytes())?;
    std::fs::rename(&part, file).with_context(|| format!("writing {}", file.display()))
}

/// Serves until a signal comes or the server fails.
pub(super) async fn wait(
    mut server: Server,
    interruption: &mut Interruption,
) -> anyhow::Result<ExitCode> {
    let failed = tokio::select! {
        () = interruption.came() => None,
        error = server.failed() => Some(error),
    };
    tracing::info!("stopping");
    server.stop().await;
    match failed {
        None => Ok(ExitCode::SUCCESS),
        Some(error) => Err(error),
    }
}

/// Ctrl-C or a request to end.
pub(super) struct Interruption {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

impl Interruption {
    pub(super) fn listen() -> anyhow::Result<Self> {
        let interrupt = signal(SignalKind::interrupt()).context("listening for signals")?;
        let terminate = signal(SignalKind::terminate()).context("listening for signals")?;
        Ok(Self { interrupt, terminate })
    }

    pub(super) async fn came(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
