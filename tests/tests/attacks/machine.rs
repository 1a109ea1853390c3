//! The traces that boxes leave on a machine, while they run and afterwards.

use std::collections::BTreeSet;
use std::fs;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use assay_tests::{Host, Process, checkout, poll, program};
use tempfile::TempDir;

const GONE_WITHIN: Duration = Duration::from_secs(60);
/// Between two looks at the processes of a host.
const LOOK: Duration = Duration::from_millis(50);

/// The targets of attacks: sockets on which the machine listens, and a file that everybody may read.
pub(crate) struct Targets {
    folder: TempDir,
    tcp: std::net::TcpListener,
    abstract_name: String,
    listeners: Vec<UnixListener>,
}

/// The contents of the file.
pub(crate) const SECRET: &str = "the-secret-of-this-machine";

impl Targets {
    pub(crate) fn new() -> Self {
        let folder = tempfile::Builder::new()
            .prefix("assay-targets-")
            .permissions(fs::Permissions::from_mode(0o755))
            .tempdir()
            .expect("a temporary folder");
        let secret = folder.path().join("secret");
        fs::write(&secret, SECRET).expect("writes");
        // As unique as the folder.
        let abstract_name = folder.path().to_str().expect("a plain path").to_owned();
        let address = SocketAddr::from_abstract_name(&abstract_name).expect("a short name");
        let by_name = UnixListener::bind_addr(&address).expect("listens");
        let path = folder.path().join("socket");
        let by_path = UnixListener::bind(&path).expect("listens");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).expect("sets");
        let tcp = std::net::TcpListener::bind("0.0.0.0:0").expect("listens");
        tcp.set_nonblocking(true).expect("sets");
        for listener in [&by_name, &by_path] {
            listener.set_nonblocking(true).expect("sets");
        }
        Self { folder, tcp, abstract_name, listeners: vec![by_name, by_path] }
    }

    /// The value for `{name}` in an attack's argument.
    pub(crate) fn argument(&self, written: &str, host: &Host) -> String {
        let path = |path: PathBuf| path.to_str().expect("a plain path").to_owned();
        match written {
            "{hostname}" => hostname(),
            "{port}" => self.tcp.local_addr().expect("it listens").port().to_string(),
            "{abstract}" => self.abstract_name.clone(),
            "{socket}" => path(self.folder.path().join("socket")),
            "{secret}" => path(self.folder.path().join("secret")),
            "{data}" => path(host.data().join("cache")),
            "{checkout}" => path(checkout().join("Cargo.toml")),
            "{helper}" => path(program("assay-exec")),
            _ => written.to_owned(),
        }
    }

    /// That nobody has called.
    pub(crate) fn check_untouched(&self) {
        let waiting = self.tcp.accept().err().map(|error| error.kind());
        assert_eq!(waiting, Some(std::io::ErrorKind::WouldBlock), "a box reached the network");
        for listener in &self.listeners {
            let waiting = listener.accept().err().map(|error| error.kind());
            assert_eq!(waiting, Some(std::io::ErrorKind::WouldBlock), "a box reached a socket");
        }
    }
}

fn hostname() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").expect("the kernel tells");
    name.trim().to_owned()
}

/// Mounts, and what lies where all may write, as far as it is an attack's.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Traces {
    mounts: BTreeSet<String>,
    files: BTreeSet<PathBuf>,
    core_pattern: String,
    hostname: String,
}

impl Traces {
    pub(crate) fn of_machine() -> Self {
        let mounts = fs::read_to_string("/proc/self/mountinfo").expect("the kernel tells");
        let core = fs::read_to_string("/proc/sys/kernel/core_pattern").expect("the kernel tells");
        let folders = ["/", "/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run", "/usr/bin"];
        let entries = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten();
        let files = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            name.is_some_and(|name| name.contains("attack") || name.starts_with("core"))
        });
        Self {
            mounts: mounts.lines().map(str::to_owned).collect(),
            files: files.collect(),
            core_pattern: core,
            hostname: hostname(),
        }
    }
}

/// Files of attacks, or cores, anywhere below a folder.
pub(crate) fn files_of_attacks(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.contains("attack") || name.starts_with("core") {
                found.push(entry.path());
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            }
        }
    }
    found
}

/// Everything that was seen below a host while it ran: processes, and groups of them.
#[derive(Default)]
struct Seen {
    processes: Vec<Process>,
    groups: BTreeSet<PathBuf>,
}

/// Watches a host from a thread of its own.
pub(crate) struct Watch {
    stop: Arc<AtomicBool>,
    seen: Arc<Mutex<Seen>>,
    thread: Option<JoinHandle<()>>,
    own_groups: BTreeSet<PathBuf>,
}

impl Watch {
    pub(crate) fn start(host: &Host) -> Self {
        let (stop, seen) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::default()));
        let (stopped, noted, pid) = (Arc::clone(&stop), Arc::clone(&seen), host.pid());
        let own_groups = groups_of("self").into_iter().collect();
        let thread = std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                look(pid, &noted);
                std::thread::park_timeout(LOOK);
            }
        });
        Self { stop, seen, thread: Some(thread), own_groups }
    }

    /// Groups of the boxes and what holds them: not those that the tests themselves are in.
    fn groups(&self) -> BTreeSet<PathBuf> {
        let seen = self.seen.lock().expect("nobody panics with it");
        let with_parents = seen.groups.iter().flat_map(|group| group.ancestors().take(2));
        let own = |group: &Path| self.own_groups.iter().any(|own| own.starts_with(group));
        with_parents.filter(|group| !own(group)).map(Path::to_path_buf).collect()
    }

    pub(crate) fn check_saw(&self, groups: bool) {
        let seen = self.seen.lock().expect("nobody panics with it").processes.len();
        assert!(seen > 5, "only {seen} processes were seen");
        assert_eq!(!self.groups().is_empty(), groups, "{:?}", self.groups());
    }

    /// Waits until nothing is left of all that was seen.
    pub(crate) fn check_gone(mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let thread = self.thread.take().expect("it runs until now");
        thread.join().expect("it does not panic");
        let groups = self.groups();
        let processes = std::mem::take(&mut self.seen.lock().expect("it has ended").processes);
        poll(GONE_WITHIN, "the processes of the boxes are gone", || {
            (!processes.iter().any(Process::lives)).then_some(())
        });
        poll(GONE_WITHIN, &format!("the groups are gone: {groups:?}"), || {
            (!groups.iter().any(|group| group.exists())).then_some(())
        });
    }
}

fn look(pid: u32, seen: &Mutex<Seen>) {
    for process in Process::descendants(pid) {
        let mut seen = seen.lock().expect("nobody panics with it");
        if !seen.processes.contains(&process) {
            seen.groups.extend(groups_of(&process.pid.to_string()));
            seen.processes.push(process);
        }
    }
}

/// Where the groups that a process is in lie, in every hierarchy.
fn groups_of(process: &str) -> Vec<PathBuf> {
    let Ok(text) = fs::read_to_string(format!("/proc/{process}/cgroup")) else { return Vec::new() };
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let folder = |line: &str| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        let mount = mounts.lines().find(|mount| {
            let kind = mount.split(" - ").nth(1).unwrap_or_default();
            match controllers {
                "" => kind.starts_with("cgroup2 "),
                _ => kind.starts_with("cgroup ") && kind.ends_with(&format!(",{controllers}")),
            }
        })?;
        let at = mount.split(' ').nth(4)?;
        Some(Path::new(at).join(path.trim_start_matches('/')))
    };
    text.lines().filter_map(folder).collect()
}
