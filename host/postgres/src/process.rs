//! Finds the processes of the machine that belong to a cluster.
//!
//! A process is known by its command line, which anyone may read: `/proc/*/cwd` and `exe` are closed
//! to root in a container without the ptrace capability. A process id alone proves nothing, since
//! ids are used again, in a restarted container within seconds.

use std::{
    fs,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use crate::folder::Layout;

/// The time between two looks at a process that is not our child.
const POLL: Duration = Duration::from_millis(20);
/// The time that orphans have to end before they are killed.
const ORPHANS_QUIT: Duration = Duration::from_secs(3);
const ORPHANS_KILL: Duration = Duration::from_secs(10);

/// The content of the server's file `postmaster.pid`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PidFile {
    pub(crate) pid: i32,
    pub(crate) socket: PathBuf,
    pub(crate) ready: bool,
}

impl PidFile {
    /// Reads the file; `None` if there is none or PostgreSQL has not written all of it.
    pub(crate) fn read(layout: &Layout) -> Option<Self> {
        Self::parse(&fs::read_to_string(layout.cluster.join("postmaster.pid")).ok()?)
    }

    /// Lines: process id, data directory, start time, port, socket folder, listen address, shared
    /// memory, status.
    fn parse(text: &str) -> Option<Self> {
        let lines: Vec<&str> = text.lines().collect();
        Some(Self {
            pid: lines.first()?.trim().parse().ok()?,
            socket: lines.get(4)?.into(),
            ready: lines.get(7).is_some_and(|status| status.trim() == "ready"),
        })
    }
}

/// Whether `pid` is the postmaster of this cluster; false for a zombie.
pub(crate) fn is_postmaster(pid: i32, layout: &Layout) -> bool {
    command_line(pid).is_some_and(|line| names_postmaster(&line, &layout.cluster))
}

/// Ends what a postmaster that was killed abruptly left: its backends hold the shared memory and
/// would keep a new one from starting. Must not be called while the postmaster lives.
pub(crate) async fn end_orphans(layout: &Layout) {
    let began = Instant::now();
    while began.elapsed() < ORPHANS_KILL {
        let orphans = orphans(&layout.name);
        if orphans.is_empty() {
            return;
        }
        let signal = if began.elapsed() < ORPHANS_QUIT { Signal::SIGQUIT } else { Signal::SIGKILL };
        for pid in &orphans {
            // It may have ended by itself just now.
            let _ = kill(Pid::from_raw(*pid), signal);
        }
        tokio::time::sleep(POLL).await;
    }
}

/// Backends of this name without a postmaster. Those that have one are of a cluster in a container, where the data folder may
/// have the same path.
fn orphans(cluster_name: &str) -> Vec<i32> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| command_line(*pid).is_some_and(|line| names_backend(&line, cluster_name)))
        .filter(|pid| !parent(*pid).and_then(command_line).is_some_and(|line| is_postgres(&line)))
        .collect()
}

fn parent(pid: i32) -> Option<i32> {
    // The name before it, in brackets, may hold anything.
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

fn command_line(pid: i32) -> Option<Vec<u8>> {
    fs::read(format!("/proc/{pid}/cmdline")).ok().filter(|line| !line.is_empty())
}

fn names_postmaster(line: &[u8], cluster: &Path) -> bool {
    let arguments = line.split(|byte| *byte == 0);
    let folder = arguments.skip_while(|argument| *argument != b"-D").nth(1);
    is_postgres(line) && folder == Some(cluster.as_os_str().as_bytes())
}

/// Whether it is a postmaster's command line, of any cluster.
fn is_postgres(line: &[u8]) -> bool {
    let program = line.split(|byte| *byte == 0).next().unwrap_or_default();
    program.ends_with(b"/postgres") || program == b"postgres"
}

/// Backends call themselves `postgres: <cluster name>: <what they do>`.
fn names_backend(line: &[u8], cluster_name: &str) -> bool {
    line.starts_with(format!("postgres: {cluster_name}: ").as_bytes())
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::os::unix::process::CommandExt as _;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn only_this_clusters_processes_are_known() {
        let cluster = Path::new("/data/postgres/cluster");
        for (line, postmaster, backend) in [
            (
                &b"/usr/lib/postgresql/15/bin/postgres\0-D\0/data/postgres/cluster\0"[..],
                true,
                false,
            ),
            (b"postgres\0-D\0/data/postgres/cluster\0", true, false),
            (b"postgres\0-D\0/data/postgres/cluster2\0", false, false),
            (b"vim\0-D\0/data/postgres/cluster\0", false, false),
            (b"postgres\0/data/postgres/cluster\0", false, false),
            (b"postgres: assay-1: checkpointer \0\0\0", false, true),
            (b"postgres: assay-12: checkpointer \0", false, false),
            (b"postgres: checkpointer \0", false, false),
            (b"", false, false),
        ] {
            let shown = String::from_utf8_lossy(line);
            assert_eq!(names_postmaster(line, cluster), postmaster, "{shown}");
            assert_eq!(names_backend(line, "assay-1"), backend, "{shown}");
        }
    }

    #[test]
    fn a_backend_with_a_postmaster_is_no_orphan() {
        let name = format!("assay-of-{}", std::process::id());
        let title = format!("postgres: {name}: walwriter ");
        let mut alone = Command::new("sleep").arg0(&title).arg("60").spawn().expect("it runs");
        let script = format!("(exec -a '{title}' sleep 60) & echo $!; wait");
        let mut postmaster = Command::new("bash");
        postmaster.arg0("postgres").args(["-c", &script]).stdout(Stdio::piped());
        let mut postmaster = postmaster.spawn().expect("it runs");
        let mut said = BufReader::new(postmaster.stdout.take().expect("a pipe")).lines();
        let backend: i32 = said.next().expect("a line").expect("text").parse().expect("a number");
        let began = Instant::now();
        while !command_line(backend).is_some_and(|line| names_backend(&line, &name)) {
            assert!(began.elapsed() < Duration::from_secs(60), "it has not got its name");
            std::thread::yield_now();
        }
        assert_eq!(orphans(&name), [alone.id().cast_signed()]);
        let _ = kill(Pid::from_raw(backend), Signal::SIGKILL);
        let _ = alone.kill();
        let _ = (alone.wait(), postmaster.wait());
    }

    #[test]
    fn pid_files_are_read() {
        let starting = "41\n/c\n1763632000\n5432\n/s\n\n  5432001        12\nstarting\n";
        let ready = starting.replace("starting", "ready   ");
        let read = |ready| Some(PidFile { pid: 41, socket: "/s".into(), ready });
        assert_eq!(PidFile::parse(starting), read(false));
        assert_eq!(PidFile::parse(&ready), read(true));
        assert_eq!(PidFile::parse("41\n/c\n"), None);
        assert_eq!(PidFile::parse("torn"), None);
    }
}
