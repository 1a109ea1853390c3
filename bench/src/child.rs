//! A server started for the benchmark, in a process group of its own that never outlives it.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

const STOP_SECONDS_MAX: u64 = 15;
const POLL: Duration = Duration::from_millis(20);
const LOG_LINES_SHOWN: usize = 20;

pub struct Server {
    name: &'static str,
    child: Child,
    log: PathBuf,
}

impl Server {
    /// Starts the command with its output in `log`.
    pub fn start(name: &'static str, command: &mut Command, log: &Path) -> Result<Self> {
        let output =
            File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
        let child = command
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output)
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start {}", command.get_program().display()))?;
        Ok(Self { name, child, log: log.to_owned() })
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until `ready` gives something, unless the server ends first.
    pub async fn wait<T>(
        &mut self,
        most: Duration,
        ready: impl AsyncFn() -> Option<T>,
    ) -> Result<T> {
        let started = Instant::now();
        loop {
            if let Some(value) = ready().await {
                return Ok(value);
            }
            if let Some(status) = self.child.try_wait()? {
                anyhow::bail!("{} ended with {status}:\n{}", self.name, self.log_tail());
            }
            if started.elapsed() > most {
                anyhow::bail!("{} is not ready after {most:?}:\n{}", self.name, self.log_tail());
            }
            tokio::time::sleep(POLL).await;
        }
    }

    fn log_tail(&self) -> String {
        let text = fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<_> = text.lines().collect();
        lines[lines.len().saturating_sub(LOG_LINES_SHOWN)..].join("\n")
    }

    fn signal(&self, signal: Signal) {
        let group = i32::try_from(self.child.id()).expect("a process id is small");
        // The group may have ended by itself.
        let _ = killpg(Pid::from_raw(group), signal);
    }

    fn ended_within(&mut self, most: Duration) -> Option<ExitStatus> {
        let started = Instant::now();
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if started.elapsed() < most => std::thread::sleep(POLL),
                _ => return None,
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.signal(Signal::SIGTERM);
        if self.ended_within(Duration::from_secs(STOP_SECONDS_MAX)).is_none() {
            eprintln!("{} does not stop; it is killed", self.name);
        }
        // Also for what the server may have left in its group.
        self.signal(Signal::SIGKILL);
        drop(self.child.wait());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, log: &Path) -> Server {
        Server::start("the test's", Command::new("sh").args(["-c", script]), log).expect("sh")
    }

    #[tokio::test]
    async fn a_server_that_ends_early_shows_its_last_words() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let log = folder.path().join("log");
        let mut server = shell("echo no port left; exit 3", &log);
        let error = server.wait(Duration::from_secs(10), async || None::<()>).await;
        let text = error.expect_err("it ended").to_string();
        assert!(text.contains("exit status: 3") && text.contains("no port left"), "{text}");
    }

    #[tokio::test]
    async fn a_whole_group_ends_with_its_server() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let (log, told) = (folder.path().join("log"), folder.path().join("pid"));
        let script = format!("sleep 1000 & echo $! > '{}'; wait", told.display());
        let mut server = shell(&script, &log);
        let ready = async || fs::read_to_string(&told).ok()?.trim().parse::<i32>().ok();
        let grandchild = server.wait(Duration::from_secs(10), ready).await.expect("told");
        drop(server);
        let gone = || {
            // A process without a parent may stay as a zombie until somebody reaps it.
            let stat = fs::read_to_string(format!("/proc/{grandchild}/stat")).unwrap_or_default();
            stat.is_empty() || stat.contains(") Z ") || stat.contains(") X ")
        };
        let started = Instant::now();
        while !gone() {
            assert!(started.elapsed() < Duration::from_secs(10), "{grandchild} is still there");
            tokio::time::sleep(POLL).await;
        }
    }
}
