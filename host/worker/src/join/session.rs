//! One session: a connection to the server, and a child process that serves through it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail};
use assay_core::limits;
use nix::sys::signal;
use nix::unistd::Pid;
use tokio::io::copy_bidirectional;
use tokio::net::UnixListener;
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::time::{sleep, sleep_until, timeout};

use super::credentials::{Credentials, NoCertificate, Server};

/// The time in which a child must end whose connection has ended.
const END_MAX: Duration = Duration::from_secs(limits::WORKER_STOP_SECONDS_MAX);
/// The pause after a renewal that failed.
const RENEW_PAUSE: Duration = Duration::from_millis(limits::WORKER_RECONNECT_MS_MAX);

/// The settings that all sessions of a worker share.
pub(super) struct Session {
    pub(super) program: PathBuf,
    /// The socket to which the child connects; in a folder of this user alone.
    pub(super) socket: PathBuf,
    pub(super) pool: String,
    pub(super) cache: PathBuf,
    pub(super) options: Vec<OsString>,
}

pub(super) enum SessionEnd {
    /// The server asked the worker to leave, and it finished its leases.
    Drained,
    Broken(String),
}

impl Session {
    pub(super) async fn run(
        &self,
        server: &Server,
        credentials: &mut Credentials,
        mut leaving: watch::Receiver<bool>,
    ) -> anyhow::Result<SessionEnd> {
        let mut remote = server.connect(credentials).await?;
        let listener = self.bind()?;
        let mut child = self.spawn()?;
        let pid = child.id();
        let tunnel = async {
            let (mut local, _) = listener.accept().await.context("waiting for the worker")?;
            let peer = local.peer_cred().context("looking at the worker")?.pid();
            if peer.and_then(|peer| u32::try_from(peer).ok()) != pid {
                bail!("another process came in the place of the worker");
            }
            copy_bidirectional(&mut local, &mut remote).await.context("the connection broke")
        };
        let leave = async {
            // The sender lives as long as the worker.
            let _ = leaving.wait_for(|leaving| *leaving).await;
            if let Some(pid) = pid.and_then(|pid| i32::try_from(pid).ok()) {
                // It may have ended already.
                let _ = signal::kill(Pid::from_raw(pid), signal::SIGUSR1);
            }
            std::future::pending::<std::convert::Infallible>().await
        };
        let passed = tokio::select! {
            passed = tunnel => passed.map(|_| ()),
            ended = child.wait() => return Ok(of_child(ended?)),
            refused = keep_renewed(server, credentials) => Err(anyhow::anyhow!(refused)),
            never = leave => match never {},
        };
        // Its connection has ended, so that it ends by itself.
        let ended = timeout(END_MAX, child.wait()).await;
        Ok(match (ended, passed) {
            (Ok(ended), Ok(())) => of_child(ended?),
            (_, Err(error)) => SessionEnd::Broken(format!("{error:#}")),
            (Err(_), Ok(())) => {
                SessionEnd::Broken("the worker did not end with its connection".into())
            }
        })
    }

    fn bind(&self) -> anyhow::Result<UnixListener> {
        // There is one after the first session.
        let _ = std::fs::remove_file(&self.socket);
        UnixListener::bind(&self.socket)
            .with_context(|| format!("listening on {}", self.socket.display()))
    }

    fn spawn(&self) -> anyhow::Result<Child> {
        Command::new(&self.program)
            .arg("serve")
            .arg("--connect")
            .arg(&self.socket)
            .arg("--pool")
            .arg(&self.pool)
            .arg("--cache")
            .arg(&self.cache)
            .args(&self.options)
            .env_clear()
            .envs(assay_gpu::cuda::environment())
            // The server knows this worker by its certificate.
            .env("ASSAY_WORKER_TICKET", "")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .context("starting the worker")
    }
}

/// Renews the certificate in time, again and again; returns why the server refuses to.
async fn keep_renewed(server: &Server, credentials: &mut Credentials) -> String {
    loop {
        sleep_until(credentials.renew_at()).await;
        match server.renew(credentials).await {
            Ok(new) => *credentials = new,
            Err(NoCertificate::Refused(why)) => return why,
            Err(NoCertificate::Unreachable(why)) => {
                tracing::warn!("the certificate is not renewed: {why:#}");
                sleep(RENEW_PAUSE).await;
            }
        }
    }
}

fn of_child(ended: ExitStatus) -> SessionEnd {
    if ended.success() {
        SessionEnd::Drained
    } else {
        SessionEnd::Broken(format!("the worker: {ended}"))
    }
}
