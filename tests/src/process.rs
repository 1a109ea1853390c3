//! Processes of a server under test, as the kernel tells of them.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use assay_api::operations::Worker;
use assay_client::Client;
use assay_core::id::RequestId;

/// The time within which a process must stop.
const STOPS_WITHIN: Duration = Duration::from_secs(120);

/// A process; never another one that got its id later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    pub pid: u32,
    pub parent: u32,
    pub name: String,
    /// Ticks since the machine started.
    started: u64,
    zombie: bool,
}

impl Process {
    /// The process with this id; `None` if there is none.
    #[must_use]
    pub fn find(pid: u32) -> Option<Self> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (name, fields) = named_fields(&stat)?;
        Some(Self {
            pid,
            name,
            zombie: matches!(fields.first(), Some(&"Z" | &"X")),
            parent: fields.get(1)?.parse().ok()?,
            started: fields.get(19)?.parse().ok()?,
        })
    }

    fn all() -> Vec<Self> {
        let entries = std::fs::read_dir("/proc").expect("the kernel tells of processes");
        let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        pids.filter_map(Self::find).collect()
    }

    /// The children of a process whose name starts so.
    #[must_use]
    pub fn children(parent: u32, name: &str) -> Vec<Self> {
        let mut children = Self::all();
        children.retain(|process| {
            process.parent == parent && !process.zombie && process.name.starts_with(name)
        });
        children.sort_by_key(|process| process.pid);
        children
    }

    /// The workers that run a stage of some request of which this is true, as the server knows them.
    pub async fn running(client: &Client, of: impl Fn(RequestId) -> bool) -> Vec<Self> {
        let listed = client.workers().await.expect("answers").items;
        let runs = |worker: &Worker| worker.running.as_ref().is_some_and(|it| of(it.request));
        let pids = listed.iter().filter(|worker| runs(worker)).filter_map(|worker| worker.pid);
        pids.filter_map(Self::find).filter(Self::lives).collect()
    }

    /// Every process below this one.
    #[must_use]
    pub fn descendants(ancestor: u32) -> Vec<Self> {
        let all = Self::all();
        let mut found: Vec<Self> = Vec::new();
        let mut parents = vec![ancestor];
        while let Some(parent) = parents.pop() {
            for process in all.iter().filter(|process| process.parent == parent) {
                parents.push(process.pid);
                found.push(process.clone());
            }
        }
        found
    }

    /// The postmaster of the private PostgreSQL of a data folder, and what it started.
    #[must_use]
    pub fn postgres(data: &Path) -> Vec<Self> {
        let pid = postmaster_line(data, 0).and_then(|line| line.parse().ok());
        let Some(postmaster) = pid.and_then(Self::find) else { return Vec::new() };
        let mut processes = Self::descendants(postmaster.pid);
        processes.insert(0, postmaster);
        processes
    }

    #[must_use]
    pub fn lives(&self) -> bool {
        Self::find(self.pid).is_some_and(|now| now.started == self.started && !now.zombie)
    }

    /// `kill -9`, and waits until it is gone.
    ///
    /// # Panics
    /// When it does not go.
    pub fn kill(&self) {
        signal(self.pid, "KILL");
        poll(Duration::from_secs(60), "a killed process is gone", || (!self.lives()).then_some(()));
    }

    /// Processor time that all of its threads took in user mode, in ticks of 10 ms.
    #[must_use]
    pub fn user_ticks(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid)).unwrap_or_default();
        let fields = named_fields(&stat).map(|(_, fields)| fields).unwrap_or_default();
        fields.get(11).and_then(|ticks| ticks.parse().ok()).unwrap_or(0)
    }

    /// Processor time that its threads of this name took, in ticks of 10 ms.
    #[must_use]
    pub fn thread_ticks(&self, thread: &str) -> u64 {
        let Ok(threads) = std::fs::read_dir(format!("/proc/{}/task", self.pid)) else { return 0 };
        let ticks = threads.filter_map(|entry| {
            let stat = std::fs::read_to_string(entry.ok()?.path().join("stat")).ok()?;
            let (name, fields) = named_fields(&stat)?;
            let user: u64 = fields.get(11)?.parse().ok()?;
            (name == thread).then_some(user)
        });
        ticks.sum()
    }

    /// The most memory it ever held, in bytes.
    #[must_use]
    pub fn memory_bytes_peak(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid)).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        let kib: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
        Some(kib << 10)
    }
}

/// The name and what follows it, the state first. A name may hold spaces and parentheses.
fn named_fields(stat: &str) -> Option<(String, Vec<&str>)> {
    let (start, end) = (stat.find('(')?, stat.rfind(')')?);
    Some((stat[start + 1..end].to_owned(), stat[end + 1..].split_whitespace().collect()))
}

pub(crate) fn postmaster_line(data: &Path, line: usize) -> Option<String> {
    let text = std::fs::read_to_string(data.join("postgres/cluster/postmaster.pid")).ok()?;
    text.lines().nth(line).map(|line| line.trim().to_owned())
}

/// Sends a signal by its name, such as `INT`; a process that is gone is none's loss. After `STOP` it stands still.
///
/// # Panics
/// On a machine without `kill`, and when the process does not stop.
pub fn signal(pid: u32, name: &str) {
    Command::new("kill").args([format!("-{name}"), pid.to_string()]).output().expect("kill runs");
    if name == "STOP" {
        // The kernel stops one thread after the other; until then the others go on.
        poll(STOPS_WITHIN, "the process stands still", || stands_still(pid).then_some(()));
    }
}

/// Whether all threads of a process are stopped, or it is gone.
fn stands_still(pid: u32) -> bool {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return true };
    threads.flatten().all(|thread| {
        let stat = std::fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        // The state follows the name, which is in brackets.
        stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with(['T', 't', 'Z', 'X']))
    })
}

/// Asks again until there is an answer.
///
/// # Panics
/// When there is none in time.
pub fn poll<T>(within: Duration, what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(started.elapsed() < within, "not within {within:?}: {what}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}
