//! The machine of the tests: folders that a server's user can reach, psql, signals.

use std::{
    fs::Permissions,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use assay_postgres::{Cluster, Options};
use nix::{
    sys::signal::{Signal, kill},
    unistd::{Pid, geteuid},
};
use tempfile::TempDir;
use tokio::process::Command;

pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) fn is_root() -> bool {
    geteuid().is_root()
}

/// A folder that any user may pass through, as root's server runs as another user.
pub(crate) fn folder() -> TempDir {
    let made =
        tempfile::Builder::new().permissions(Permissions::from_mode(0o711)).tempdir_in("/tmp");
    made.unwrap()
}

pub(crate) async fn start(data: &Path) -> Cluster {
    Cluster::start(Options { data: data.to_owned() }).await.unwrap()
}

pub(crate) async fn refusal(data: &Path) -> String {
    Cluster::start(Options { data: data.to_owned() }).await.unwrap_err().to_string()
}

pub(crate) fn psql(cluster: &Cluster) -> Command {
    let beside = cluster.programs().join("psql");
    let program = if beside.exists() { beside } else { PathBuf::from("psql") };
    let mut command = Command::new(program);
    command.args(["--no-psqlrc", "--tuples-only", "--no-align", "--dbname", cluster.url()]);
    command.kill_on_drop(true);
    command
}

pub(crate) async fn query(cluster: &Cluster, sql: &str) -> String {
    let output = psql(cluster).args(["--command", sql]).output().await.unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{sql}: {error}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

pub(crate) fn send(pid: u32, signal: Signal) {
    kill(Pid::from_raw(pid.cast_signed()), signal).unwrap();
}

/// Whether the process runs; a zombie does not.
pub(crate) fn runs(pid: u32) -> bool {
    std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| !line.is_empty())
}

/// Polls until `seen` gives something, or fails with `what` after a minute.
pub(crate) async fn wait_for<T>(what: &str, mut seen: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(value) = seen() {
            return value;
        }
        assert!(began.elapsed() < PATIENCE, "waited in vain for {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// A small disk of its own in the memory, unmounted when it is dropped.
pub(crate) struct Disk(PathBuf);

impl Disk {
    /// None without the right to mount.
    pub(crate) fn mount(at: &Path, options: &str) -> Option<Self> {
        let mount = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "assay-test"])
            .arg(at)
            .output();
        mount.is_ok_and(|mounted| mounted.status.success()).then(|| Self(at.to_owned()))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}
