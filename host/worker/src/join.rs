//! `assay-worker join`: a worker for a server on another machine.
//!
//! ```text
//!   server ◀── TLS ──▶ join (keys, certificates) ◀── Unix socket ──▶ serve (plugins), a child process
//! ```
//!
//! Two processes, so that a plugin which breaks out of its sandbox finds no key: this one joins, renews its
//! certificate, and passes bytes on; it runs nothing of anybody. The child is the worker that runs on the server's
//! machine too, and each connection has a new one. Nothing is kept when this ends but a cache that was asked for.

mod credentials;
mod first_answer;
mod folder;
mod session;

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, bail};
use assay_core::limits;
use assay_tls::Pin;
use nix::sys::prctl;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use credentials::{Credentials, NoCertificate, Server};
use folder::WorkerFolder;
use session::{Session, SessionEnd};

const PAUSE_MIN: Duration = Duration::from_millis(limits::WORKER_RECONNECT_MS_MIN);
const PAUSE_MAX: Duration = Duration::from_millis(limits::WORKER_RECONNECT_MS_MAX);

#[derive(clap::Args)]
pub(crate) struct JoinOptions {
    /// Address of the server for workers; with a standby those of both, separated by commas
    #[arg(long, value_name = "HOST:PORT", value_delimiter = ',', required = true)]
    server: Vec<String>,
    /// SHA-256 of the certificate of the server's authority
    #[arg(long, value_name = "sha256:HEX")]
    ca_pin: Pin,
    /// Pool that the worker serves; the token must be for it
    #[arg(long, default_value = "cpu")]
    pool: String,
    /// The token to join; it works once [default: the ticket in ASSAY_WORKER_TICKET]
    #[arg(long)]
    token: Option<String>,
    /// File with the token that Kubernetes gives to the Pod of this worker. While the server cannot be asked,
    /// or cannot ask Kubernetes, this worker tries again
    #[arg(long, value_name = "FILE", conflicts_with = "token")]
    token_file: Option<PathBuf>,
    /// Seconds after which this worker says that it leaves, finishes its requests and ends, such as
    /// before the end of its time on this machine; SIGTERM has the same effect at any time
    #[arg(long, value_name = "SECONDS")]
    leave_after_seconds: Option<u64>,
    /// Folder for compiled plugins [default: a temporary folder]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// The program that serves, when it is not this one
    #[arg(long, hide = true)]
    serve_program: Option<PathBuf>,
    /// Further options of `assay-worker serve`
    #[arg(last = true)]
    options: Vec<OsString>,
}

/// Runs until the server lets the worker go or refuses it for good. SIGTERM asks the server to let it go; SIGINT ends it
/// at once.
pub(crate) fn run(options: JoinOptions, ticket: Option<String>) -> anyhow::Result<()> {
    // The child runs plugins as the same user, and must not read this process' keys.
    prctl::set_dumpable(false).context("keeping other processes from reading the keys")?;
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false)
        .with_max_level(tracing::Level::INFO)
        .init();
    // One thread: a child ends with the thread that started it.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut interrupt = signal(SignalKind::interrupt()).context("listening for signals")?;
        let mut terminate = signal(SignalKind::terminate()).context("listening for signals")?;
        let leaving = watch::Sender::new(false);
        let leave_after = options.leave_after_seconds.map(Duration::from_secs);
        let asked = async {
            tokio::select! {
                _ = terminate.recv() => tracing::info!("a signal asks this worker to leave"),
                () = after(leave_after) => tracing::info!("the time of this worker ends soon"),
            }
            leaving.send_replace(true);
            // Further signals change nothing.
            loop {
                terminate.recv().await;
            }
        };
        tokio::select! {
            ended = live(options, ticket, leaving.subscribe()) => ended,
            _ = interrupt.recv() => Ok(()),
            () = asked => Ok(()),
        }
    })
}

/// The proof with which this worker joins.
enum Proof {
    Text(String),
    /// A file that is written anew from time to time.
    File(PathBuf),
}

/// Exchanges the proof for a certificate. A text may be used up by a try whose answer was lost; a file is read and tried
/// until there is an answer.
async fn join(server: &Server, proof: &Proof, pool: &str) -> anyhow::Result<Credentials> {
    let file = match proof {
        Proof::Text(token) => return Ok(server.join(token.clone(), pool).await?),
        Proof::File(file) => file,
    };
    let mut pause = PAUSE_MIN;
    loop {
        let token = std::fs::read_to_string(file)
            .with_context(|| format!("reading the token in {}", file.display()))?;
        match server.join(token.trim().to_owned(), pool).await {
            Err(NoCertificate::Unreachable(why)) => {
                tracing::warn!("there is no answer yet: {why:#}");
            }
            answered => return Ok(answered?),
        }
        sleep(pause).await;
        pause = (pause * 2).min(PAUSE_MAX);
    }
}

async fn after(span: Option<Duration>) {
    match span {
        Some(span) => sleep(span).await,
        None => std::future::pending().await,
    }
}

/// A worker's life: join, then one session after the other.
async fn live(
    options: JoinOptions,
    ticket: Option<String>,
    mut leaving: watch::Receiver<bool>,
) -> anyhow::Result<()> {
    let JoinOptions {
        server, ca_pin, pool, token, token_file, cache, serve_program, options, ..
    } = options;
    let proof = match token_file {
        Some(file) => Proof::File(file),
        None => Proof::Text(
            token
                .or(ticket)
                .context("--token (or --token-file, or ASSAY_WORKER_TICKET) is missing")?,
        ),
    };
    if server.len() > limits::WORKER_SERVERS_MAX {
        bail!("--server has more than {} addresses", limits::WORKER_SERVERS_MAX);
    }
    let server = Server { addresses: server, pin: ca_pin };
    let folder = WorkerFolder::make(&std::env::temp_dir()).context("making a folder")?;
    let cache = cache.unwrap_or_else(|| folder.path().join("cache"));
    let program = serve_program.map_or_else(std::env::current_exe, Ok);
    let program = program.context("finding this program")?;
    let session = Session { program, socket: folder.path().join("server"), pool, cache, options };
    let joining = join(&server, &proof, &session.pool);
    let Some(joined) = unless(&mut leaving, joining).await else { return Ok(()) };
    let mut credentials = joined.context("joining")?;
    tracing::info!("joined the pool {} as {}", session.pool, credentials.worker);
    let mut pause = PAUSE_MIN;
    loop {
        let started = Instant::now();
        match session.run(&server, &mut credentials, leaving.clone()).await {
            Ok(SessionEnd::Drained) => {
                tracing::info!("the server lets this worker go");
                return Ok(());
            }
            Ok(SessionEnd::Broken(why)) => tracing::warn!("the session ended: {why}"),
            Err(error) => tracing::warn!("no session: {error:#}"),
        }
        if *leaving.borrow() {
            return Ok(());
        }
        pause = if started.elapsed() > PAUSE_MAX { PAUSE_MIN } else { (pause * 2).min(PAUSE_MAX) };
        let coming = come_again(&server, credentials, pause);
        let Some(came) = unless(&mut leaving, coming).await else { return Ok(()) };
        credentials = came?;
    }
}

/// The result of `act`, unless the worker is asked to leave before.
async fn unless<T>(leaving: &mut watch::Receiver<bool>, act: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        done = act => Some(done),
        // The sender lives as long as the worker.
        _ = leaving.wait_for(|leaving| *leaving) => None,
    }
}

/// Tries until the server answers. A new certificate is asked for each time, because the answer says whether this worker
/// may still connect.
async fn come_again(
    server: &Server,
    credentials: Credentials,
    mut pause: Duration,
) -> anyhow::Result<Credentials> {
    loop {
        sleep(pause).await;
        match server.renew(&credentials).await {
            Ok(new) => return Ok(new),
            Err(NoCertificate::Refused(why)) => bail!("the server refuses this worker: {why}"),
            Err(NoCertificate::Unreachable(_)) if credentials.have_expired() => {
                bail!("the certificate has expired: join again with a new token")
            }
            Err(NoCertificate::Unreachable(why)) => {
                tracing::warn!("the server cannot be reached: {why:#}");
            }
        }
        pause = (pause * 2).min(PAUSE_MAX);
    }
}
