//! `assay serve`, and the parts that it shares with `assay dev`.

use std::io::IsTerminal as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use assay_core::limits;
use assay_core::plugin::check_name;
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer as _, fmt, registry};

use super::gpu::Settled;
use super::kubernetes::KubernetesOptions;
use super::login::SignInOptions;
use super::planning::{PlanOptions, Pools, Unsaid, discipline};
use super::retention::RetentionOptions;
use super::samples::Prepared;
use super::slurm::SlurmOptions;
use super::telemetry::TelemetryOptions;
use super::workers::{RemoteWorkerOptions, SecretOptions, StorageOptions, WorkerOptions};
use assay_dispatch::Discipline;
use assay_http::bootstrap::FirstKey;
use assay_http::has_dashboard;
use assay_server::{Server, Settings};
use assay_storage::StorageFile;

pub(super) const NO_DASHBOARD: &str =
    "the dashboard is not part of this build: run `make web`, then build the server again";

#[derive(clap::Args)]
pub(super) struct ServeCommand {
    #[command(flatten)]
    pub host: HostOptions,
    /// Address to listen on; port 0 takes a free port
    #[arg(long, env = "ASSAY_LISTEN", default_value = "127.0.0.1:7700")]
    listen: SocketAddr,
    /// Write {"url", "key"} to this file when the server is ready
    #[arg(long)]
    ready_file: Option<PathBuf>,
    /// Name of this deployment, or of this cell among several, which becomes a part of its API keys
    #[arg(long, default_value = "live")]
    environment: String,
}

/// The options that `serve` and `dev` share.
#[derive(clap::Args)]
pub(super) struct HostOptions {
    /// Data folder [default: $ASSAY_DATA, else /var/lib/assay for root, else ~/.local/share/assay]
    #[arg(long)]
    data: Option<PathBuf>,
    /// URL of a PostgreSQL 14 or newer [default: a private cluster in the data folder]
    #[arg(long, env = "DATABASE_URL", hide_env_values = true)]
    database_url: Option<String>,
    #[command(flatten)]
    plan: PlanOptions,
    /// Queue discipline: the rule by which a pool chooses the next request
    #[arg(
        long,
        alias = "order",
        value_name = "DISCIPLINE",
        default_value = "ebf",
        value_parser = discipline()
    )]
    discipline: Discipline,
    #[command(flatten)]
    retention: RetentionOptions,
    /// Part of ended batches that is prepared for lists of samples: rows to sort and filter by, with the words of
    /// prompts and responses to search in; rows alone; or nothing
    #[arg(long, env = "ASSAY_SAMPLES", value_enum, default_value = "words")]
    samples: Prepared,
    #[command(flatten)]
    pub(super) workers: WorkerOptions,
    #[command(flatten)]
    remote_workers: RemoteWorkerOptions,
    #[command(flatten)]
    slurm: SlurmOptions,
    #[command(flatten)]
    kubernetes: KubernetesOptions,
    #[command(flatten)]
    storage: StorageOptions,
    #[command(flatten)]
    secrets: SecretOptions,
    #[command(flatten)]
    sign_in: SignInOptions,
    #[command(flatten)]
    telemetry: TelemetryOptions,
    /// Write log lines as JSON
    #[arg(long)]
    log_json: bool,
}

impl HostOptions {
    /// `cpu_min` is the minimum of the cpu pool if no option sets it.
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
        let data = std::path::absolute(&data).context("finding the data folder")?;
        let worker_program = self.workers.program()?;
        let Settled { mut gpu, workers_max } =
            self.workers.gpu.settle(&worker_program, &data).await?;
        let unsaid = Unsaid { cpu_min, gpu_max: workers_max };
        let Pools { plan, preempt_after, hedge_after, defaults, with_gpus } =
            self.plan.config(unsaid, self.discipline)?;
        gpu.pools = with_gpus;
        let StorageFile { roots: storage, objects } = self.storage.read()?;
        Ok(Settings {
            listen,
            data,
            database_url: self.database_url.filter(|url| !url.is_empty()),
            worker_program,
            programs: self.workers.programs(gpu)?,
            remote: self.remote_workers.settings(),
            slurm: self.slurm.read()?,
            kubernetes: self.kubernetes.read()?,
            storage,
            objects,
            secrets: self.secrets.read()?.into(),
            plan,
            preempt_after,
            hedge_after,
            pool_defaults: defaults,
            kept: self.retention.kept(),
            samples: self.samples.into(),
            environment: environment.into(),
            first_key,
            sign_in: self.sign_in.config()?,
            otlp: self.telemetry.settings()?,
        })
    }

    /// Starts logging to standard error; `RUST_LOG` overrides the default filter.
    pub(super) fn start_logging(&self, default: &str) {
        let named = std::env::var("RUST_LOG").ok().and_then(|filter| filter.parse().ok());
        let filter: Targets = named.unwrap_or_else(|| {
            let filter: Targets = default.parse().expect("the default is a level");
            // Its failures are said by who asked.
            filter.with_target("kube_client", LevelFilter::OFF)
        });
        let logs =
            fmt::layer().with_writer(std::io::stderr).with_ansi(std::io::stderr().is_terminal());
        if self.log_json {
            registry().with(logs.json().with_filter(filter)).init();
        } else {
            registry().with(logs.with_target(false).with_filter(filter)).init();
        }
    }
}

/// Secrets may stand in the environment of this process. Workers of the same user get none of it, and cannot read it in
/// `/proc` either.
pub(super) fn hide_environment() {
    if let Err(error) = nix::sys::prctl::set_dumpable(false) {
        tracing::warn!(%error, "other processes of this user can read the server's environment");
    }
}

pub(super) async fn run(options: ServeCommand) -> anyhow::Result<ExitCode> {
    options.host.start_logging("info");
    hide_environment();
    let first_key = FirstKey { tenant: "platform".into(), file: "admin.key" };
    let settings =
        options.host.settings(options.listen, &options.environment, first_key, 0).await?;
    settings.storage.iter().for_each(|root| tracing::info!("{root}"));
    if let Some(objects) = &settings.objects {
        tracing::info!("components and compiled code are in {}", objects.place());
    }
    // Before anything is started, so that a signal ends all of it.
    let mut interruption = Interruption::listen()?;
    let server = tokio::select! {
        server = Server::start(settings) => server?,
        () = interruption.came() => return Ok(ExitCode::SUCCESS),
    };
    if let Some(file) = &options.ready_file
        && let Err(error) = write_ready_file(file, &server)
    {
        server.stop().await;
        return Err(error);
    }
    tracing::info!("ready on {}", server.url);
    if !has_dashboard() {
        tracing::info!("{NO_DASHBOARD}");
    }
    wait(server, &mut interruption).await
}

/// Writes the file atomically, so that a reader never sees a part of it.
fn write_ready_file(file: &std::path::Path, server: &Server) -> anyhow::Result<()> {
    let ready = serde_json::json!({ "url": server.url, "key": server.key });
    let write = || -> std::io::Result<()> {
        // Readable to nobody else, whatever lies there.
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut part =
            tempfile::NamedTempFile::new_in(folder.unwrap_or(std::path::Path::new(".")))?;
        std::io::Write::write_all(&mut part, ready.to_string().as_bytes())?;
        part.persist(file)?;
        Ok(())
    };
    write().with_context(|| format!("writing {}", file.display()))
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
