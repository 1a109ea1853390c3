//! A whole server put together: Postgres, dispatcher, workers, REST. Started and stopped in order.

mod launchers;

use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};

use crate::drift;
use crate::lock::HeldLock;
use crate::retention::{Retention, RetentionDefaults};
use crate::sampler;
use crate::samples::Sampling;
use crate::telemetry;
use crate::waiting::Waiting;
use crate::webhooks;
use assay_api::sample::SamplesPrepared;
use assay_core::limits;
use assay_dispatch::fair_semaphore::FairSemaphore;
use assay_dispatch::planning::{self, PlannerPlace, PoolDefaults};
use assay_dispatch::secrets::Secrets;
use assay_dispatch::tenants::Tenants;
use assay_dispatch::{Dispatch, Engines, Parts, PlanConfig, Plugins, ReadyPlugin};
use assay_fleet::{Device, Failures, Fleet, Programs, SlurmFile};
use assay_http::bootstrap::{self, FirstAdmin, FirstKey, Installation};
use assay_http::{App, Front, Inside, SignInConfig};
use assay_kubernetes::KubernetesFile;
use assay_link::{Link, NamedPlugins, RemoteSettings, RemoteWorkers};
use assay_registry::{CaseSettings, Registry, RegistrySettings};
use assay_storage::blob::Blobs;
use assay_storage::{Roots, Storage};
use assay_store::Store;
use assay_store::admissions::BatchRow;
use assay_telemetry::OtlpSettings;
use launchers::fleet;

/// The time for the end of the workers before the server ends: their launcher may be out of reach.
const WORKERS_TIMEOUT: Duration = Duration::from_secs(20);
/// The time for writing finished results before the server ends.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);
const METRICS_PERIOD: Duration = Duration::from_secs(5);
/// Upper bounds of the histograms, from a trivial stage to a long one.
const SECONDS_BUCKETS: &[f64] =
    &[0.0001, 0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0];
/// A Unix socket's path has room for 107 bytes.
const SOCKET_PATH_BYTES_MAX: usize = 100;

/// Folders in the data folder.
const OBJECTS: &str = "objects";
const SCRATCH: &str = "scratch";
const CACHE: &str = "cache";

/// The operator's settings.
#[derive(Debug, Clone)]
pub struct Settings {
    pub listen: SocketAddr,
    pub data: PathBuf,
    /// `None` for a private cluster in the data folder.
    pub database_url: Option<String>,
    pub worker_program: PathBuf,
    pub programs: Programs,
    /// `None` if no worker of another machine may join.
    pub remote: Option<RemoteSettings>,
    /// `None` if no pool's workers are jobs of Slurm.
    pub slurm: Option<SlurmFile>,
    /// `None` if no pool's workers are Pods.
    pub kubernetes: Option<KubernetesFile>,
    pub storage: Roots,
    /// `None` for a folder in the data folder.
    pub objects: Option<Blobs>,
    pub secrets: Arc<Secrets>,
    pub plan: PlanConfig,
    /// The time after which a tenant without a worker takes one from a tenant with several; `None`: never.
    pub preempt_after: Option<Duration>,
    /// The time for which a stage runs before it may run a second time, on an idle worker; `None`: never.
    pub hedge_after: Option<Duration>,
    pub pool_defaults: PoolDefaults,
    pub kept: RetentionDefaults,
    /// The part of each ended batch that is prepared for lists of samples.
    pub samples: SamplesPrepared,
    pub environment: String,
    pub first_key: FirstKey,
    pub sign_in: SignInConfig,
    /// Where traces and metrics are sent, if they are.
    pub otlp: Option<OtlpSettings>,
}

/// A server that runs.
pub struct Server {
    pub url: String,
    /// The key that was made at the first start.
    pub key: String,
    cluster: Option<assay_postgres::Cluster>,
    store: Store,
    fleet: Fleet,
    tasks: JoinSet<()>,
    dispatch: Dispatch,
    dispatching: JoinSet<()>,
    stop: watch::Sender<bool>,
    lock: HeldLock,
    /// A folder for the socket, if the data folder's path is too long for one.
    _socket_folder: Option<tempfile::TempDir>,
}

impl Server {
    pub async fn start(settings: Settings) -> anyhow::Result<Self> {
        let data = &settings.data;
        make_folders(data)?;
        let listener = listen(settings.listen).await?;
        let url = format!("http://{}", listener.local_addr().context("reading the port")?);
        let waiting = Waiting::start(listener)?;
        let (cluster, database_url) = database(&settings).await?;
        let store = waiting.connect(&database_url).await.with_context(|| {
            format!("connecting to the database {}", without_secrets(&database_url))
        })?;
        let lock = waiting.take_lock(&store).await?;
        // At once: a server that is silent for long, as while it reads back many batches, is taken for one that hangs.
        let lock = HeldLock::keep(store.clone(), lock);
        let set_up = Installation {
            data,
            first_key: &settings.first_key,
            environment: &settings.environment,
        };
        let key = bootstrap::first_key(&store, &set_up).await?;
        let first_admin = FirstAdmin::wanted(&store, &set_up).await?;

        let blobs = match &settings.objects {
            Some(objects) => objects.clone(),
            None => {
                private_folder(&data.join(OBJECTS))?;
                Blobs::in_folder(&data.join(OBJECTS))?
            }
        };
        let registry = Arc::new(registry(&settings, &store, &blobs).await?);
        let metrics = start_metrics()?;
        let (remote, remote_listener) =
            remote(&settings, &store, registry.engines()).await?.unzip();
        let (socket, socket_folder) = socket_path(data)?;
        // Bound before the dispatcher starts the first worker.
        let workers = assay_link::bind(&socket)?;
        let tenure = lock.tenure.clone();
        let (fleet, failures) = fleet(&settings, remote.as_ref(), socket, tenure).await?;
        fleet.find().await;
        let (exporter, traces) = telemetry::start(settings.otlp.clone(), &url)?;
        let parts = Parts { traces, ..parts(&settings, &store, fleet.clone(), failures).await? };
        let plugins = PinnedPlugins(Arc::clone(&registry));
        let (dispatch, dispatching) = Dispatch::start(parts, plugins).await?;

        let stop = watch::Sender::new(false);
        let mut tasks = JoinSet::new();
        let link = Link {
            dispatch: dispatch.clone(),
            fleet: fleet.clone(),
            blobs,
            storage: Storage::new(settings.storage.clone(), store.clone()),
            reads: FairSemaphore::new(limits::OBJECT_READS_MAX),
            remote: remote.clone(),
            engines: registry.engines().clone(),
            named: NamedPlugins::default(),
        };
        serve_links(link, workers, remote_listener, &stop, &mut tasks);
        tasks.spawn(until_stopped(&stop, keep_metrics(metrics.clone())));
        let retention = Retention {
            store: store.clone(),
            dispatch: dispatch.clone(),
            kept: settings.kept,
            changed: Arc::default(),
        };
        let looked_at = watch::Sender::default();
        let inside = Inside {
            store: store.clone(),
            dispatch: dispatch.clone(),
            registry,
            remote_workers: remote,
            roots: settings.storage.clone(),
            metrics,
            retention_changed: retention.changed.clone(),
            looked_at: looked_at.clone(),
            samples: settings.samples,
            first_admin,
            traced_part: settings.otlp.as_ref().map(|otlp| otlp.traced_part),
        };
        tasks.spawn(until_stopped(&stop, retention.run()));
        let sampling =
            Sampling::new(store.clone(), dispatch.clone(), looked_at.subscribe(), settings.samples);
        tasks.spawn(until_stopped(&stop, sampling.run()));
        tasks.spawn(until_stopped(&stop, drift::run(store.clone(), dispatch.clone())));
        tasks.spawn(until_stopped(&stop, sampler::run(store.clone(), dispatch.clone())));
        let front = Front {
            url: url.parse().context("reading the server's own address")?,
            environment: settings.environment.clone(),
            sign_in: settings.sign_in.clone(),
        };
        let dashboard = front.sign_in.public_url.as_ref().unwrap_or(&front.url).to_string();
        tasks.spawn(until_stopped(&stop, webhooks::run(store.clone(), dashboard)));
        let app = App::new(inside, front, stop.subscribe())?;
        app.restore().await.context("reading the open batches of trainers' protocols")?;
        let (listener, refused) = waiting.end()?;
        let app = Arc::new(app);
        if let Some(exporter) = exporter {
            tasks.spawn(exporter.run(Arc::clone(&app), stop.subscribe()));
        }
        tasks.spawn(refused.record(Arc::clone(&app)));
        tasks.spawn(assay_http::serve(listener, assay_http::router(app), stopped(&stop)));
        Ok(Self {
            url,
            key,
            cluster,
            store,
            fleet,
            tasks,
            dispatch,
            dispatching,
            stop,
            lock,
            _socket_folder: socket_folder,
        })
    }

    /// Returns when the server cannot go on, with the reason.
    pub async fn failed(&mut self) -> anyhow::Error {
        let cluster_failed = async {
            match &self.cluster {
                Some(cluster) => cluster.failed().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            error = cluster_failed => error.into(),
            lost = &mut self.lock.lost => match lost {
                Ok(error) => anyhow::Error::from(error).context("the dispatcher's lock is lost"),
                Err(_) => anyhow::anyhow!("a part of the server ended by itself"),
            },
            error = panicked(&mut self.dispatching) => {
                anyhow::Error::from(error).context("a part of the dispatcher ended by itself")
            }
            error = panicked(&mut self.tasks) => {
                anyhow::Error::from(error).context("a part of the server ended by itself")
            }
        }
    }

    /// Stops in order: workers, then calls, the dispatcher, and the database.
    pub async fn stop(mut self) {
        if tokio::time::timeout(WORKERS_TIMEOUT, self.fleet.stop_all()).await.is_err() {
            tracing::warn!("not all workers have ended in time; the next server looks for them");
        }
        self.stop.send_replace(true);
        while self.tasks.join_next().await.is_some() {}
        self.dispatch.stop().await;
        let written = async { while self.dispatching.join_next().await.is_some() {} };
        if tokio::time::timeout(WRITE_TIMEOUT, written).await.is_err() {
            tracing::warn!("the database takes too long; what is not written is computed again");
        }
        // Last: nothing is committed without the lock. The task may have ended because the lock was lost.
        let _ = self.lock.unlock.send(());
        let _ = self.lock.keeping.await;
        self.store.close().await;
        if let Some(cluster) = self.cluster {
            cluster.stop().await;
        }
    }
}

/// Returns when a task has panicked. Some end by themselves in normal life, such as those that have nothing to restore.
async fn panicked(tasks: &mut JoinSet<()>) -> JoinError {
    while let Some(ended) = tasks.join_next().await {
        if let Err(error) = ended {
            return error;
        }
    }
    std::future::pending().await
}

/// The plugins of restored batches.
struct PinnedPlugins(Arc<Registry>);

impl Plugins for PinnedPlugins {
    async fn of(&self, row: &BatchRow) -> anyhow::Result<Arc<ReadyPlugin>> {
        let pinned = self.0.pinned(row.tenant, &row.plugin, &row.version).await;
        pinned.with_context(|| restoring(row))
    }

    async fn described(&self, row: &BatchRow) -> anyhow::Result<Arc<ReadyPlugin>> {
        let described = self.0.described(row.tenant, &row.plugin, &row.version).await;
        described.map(Arc::new).with_context(|| restoring(row))
    }
}

fn restoring(row: &BatchRow) -> String {
    format!("restoring batch {}: {}", row.id, row.version_name())
}

async fn parts(
    settings: &Settings,
    store: &Store,
    fleet: Fleet,
    failures: Failures,
) -> anyhow::Result<Parts<Store>> {
    let pool_defaults = settings.pool_defaults.clone();
    let mut plan = settings.plan.clone();
    planning::override_bounds(store, &mut plan, &pool_defaults).await?;
    let history = assay_dispatch::history::read(store).await?;
    let tenants = Arc::new(Tenants::new(store.tenants().await?, Arc::clone(&settings.secrets)));
    let store = store.clone();
    let (preempt_after, hedge_after) = (settings.preempt_after, settings.hedge_after);
    Ok(Parts {
        store,
        fleet,
        failures,
        plan,
        planner: PlannerPlace::Thread,
        preempt_after,
        hedge_after,
        artifact_bytes_max: limits::ARTIFACT_LIVE_BYTES_MAX,
        pool_defaults,
        tenants,
        history,
        traces: None,
    })
}

async fn registry(settings: &Settings, store: &Store, blobs: &Blobs) -> anyhow::Result<Registry> {
    let (worker_program, scratch) = (settings.worker_program.clone(), settings.data.join(SCRATCH));
    let architectures = settings.remote.as_ref().map(|remote| remote.architectures.clone());
    let architectures = architectures.unwrap_or_default();
    let cases = case_settings(settings);
    let settings = RegistrySettings { worker_program, scratch, architectures, cases };
    Registry::open(store.clone(), blobs.clone(), settings).await
}

/// Golden cases of uploads run as requests do, but on no GPU: the machine's GPUs belong to its workers.
fn case_settings(settings: &Settings) -> CaseSettings {
    let mut programs = settings.programs.clone();
    programs.gpu.device = programs.gpu.device.filter(|device| *device == Device::Simulated);
    CaseSettings {
        arguments: programs.arguments(),
        cache: settings.data.join(CACHE),
        roots: settings.storage.clone(),
    }
}

fn make_folders(data: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(data)
        .with_context(|| format!("making the data folder {}", data.display()))?;
    [SCRATCH, CACHE].iter().try_for_each(|folder| private_folder(&data.join(folder)))
}

/// Binds the address for workers of other machines.
async fn remote(
    settings: &Settings,
    store: &Store,
    engines: &Engines,
) -> anyhow::Result<Option<(RemoteWorkers, TcpListener)>> {
    let Some(remote) = &settings.remote else { return Ok(None) };
    let listener = TcpListener::bind(remote.listen)
        .await
        .with_context(|| format!("listening on {} for workers (--worker-listen)", remote.listen))?;
    let address = listener.local_addr().context("reading the port for workers")?;
    let workers = RemoteWorkers::open(store.clone(), engines.clone(), remote, address).await?;
    Ok(Some((workers, listener)))
}

/// Serves the workers of this machine, and those of other machines if a listener waits for them.
fn serve_links(
    link: Link,
    workers: UnixListener,
    remote_listener: Option<TcpListener>,
    stop: &watch::Sender<bool>,
    tasks: &mut JoinSet<()>,
) {
    let link = Arc::new(link);
    tasks.spawn(serve_link(Arc::clone(&link), workers, stopped(stop)));
    if let Some((remote, listener)) = link.remote.clone().zip(remote_listener) {
        tracing::info!("workers join on {} with --ca-pin {}", remote.listen(), remote.pin());
        link.fleet.listens();
        tasks.spawn(serve_remote(link, remote, listener, stop.subscribe()));
    }
}

async fn serve_remote(
    link: Arc<Link>,
    workers: RemoteWorkers,
    listener: TcpListener,
    stop: watch::Receiver<bool>,
) {
    if let Err(error) = assay_link::serve_remote(link, workers, listener, stop).await {
        tracing::error!("{error:#}");
    }
}

async fn serve_link(link: Arc<Link>, listener: UnixListener, stop: impl Future<Output = ()>) {
    if let Err(error) = assay_link::serve(link, listener, stop).await {
        tracing::error!("{error:#}");
    }
}

fn stopped(stop: &watch::Sender<bool>) -> impl Future<Output = ()> + use<> {
    let mut stop = stop.subscribe();
    async move {
        // A dropped sender means that everything is stopping as well.
        let _ = stop.wait_for(|stopped| *stopped).await;
    }
}

/// A job that works until it ends or the server stops.
fn until_stopped<J: Future<Output = ()>>(
    stop: &watch::Sender<bool>,
    job: J,
) -> impl Future<Output = ()> + use<J> {
    let stopped = stopped(stop);
    async move {
        tokio::select! {
            () = job => {}
            () = stopped => {}
        }
    }
}

fn start_metrics() -> anyhow::Result<PrometheusHandle> {
    PrometheusBuilder::new()
        .set_buckets(SECONDS_BUCKETS)
        .context("choosing the metrics' buckets")?
        .install_recorder()
        .context("starting the metrics")
}

/// Folds recorded values into the buckets, so that they do not pile up between scrapes.
async fn keep_metrics(metrics: PrometheusHandle) {
    loop {
        tokio::time::sleep(METRICS_PERIOD).await;
        metrics.run_upkeep();
    }
}

async fn listen(address: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).await.with_context(|| {
        format!("listening on {address}; another port can be given with --listen 127.0.0.1:PORT")
    })
}

async fn database(
    settings: &Settings,
) -> anyhow::Result<(Option<assay_postgres::Cluster>, String)> {
    if let Some(url) = &settings.database_url {
        anyhow::ensure!(
            url.starts_with("postgres://") || url.starts_with("postgresql://"),
            "DATABASE_URL (or --database-url) names no PostgreSQL; it should look like \
             postgres://user:password@host:5432/name"
        );
        return Ok((None, url.clone()));
    }
    let options = assay_postgres::Options { data: settings.data.clone() };
    let cluster = assay_postgres::Cluster::start(options).await?;
    let url = cluster.url().to_owned();
    Ok((Some(cluster), url))
}

/// The host and the name of a database, because the rest of its address may hold a password.
fn without_secrets(url: &str) -> &str {
    let address = url.split_once("://").map_or(url, |(_, address)| address);
    let address = address.split('?').next().unwrap_or(address);
    address.rsplit_once('@').map_or(address, |(_, place)| place)
}

/// The workers' socket: in the data folder unless its path is too long for one.
fn socket_path(data: &Path) -> anyhow::Result<(PathBuf, Option<tempfile::TempDir>)> {
    let folder = data.join("workers");
    let socket = folder.join("socket");
    if socket.as_os_str().len() <= SOCKET_PATH_BYTES_MAX {
        private_folder(&folder)?;
        return Ok((socket, None));
    }
    // Made with mode 0700.
    let folder = tempfile::Builder::new().prefix("assay-").tempdir().context("making a folder")?;
    Ok((folder.path().join("socket"), Some(folder)))
}

/// Makes a folder that only this user may read, because it holds tenants' data.
fn private_folder(folder: &Path) -> anyhow::Result<()> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .with_context(|| format!("making {}", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn broken() {
        panic!("on purpose")
    }

    #[tokio::test]
    async fn a_task_that_panics_is_a_failure_and_one_that_ends_is_none() {
        let mut tasks = JoinSet::new();
        tasks.spawn(async {});
        tasks.spawn(broken());
        assert!(panicked(&mut tasks).await.is_panic());
        tasks.spawn(async {});
        while !tasks.is_empty() {
            tokio::select! {
                biased;
                error = panicked(&mut tasks) => panic!("none has panicked: {error}"),
                () = tokio::task::yield_now() => {}
            }
        }
    }
}
