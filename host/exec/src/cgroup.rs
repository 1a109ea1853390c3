//! Control groups: the limits of all processes of a run together.
//!
//! The supervisor makes one folder in each hierarchy, owned by the boxes' user ([`prepare`]); the zygote
//! makes and removes one below it for each run ([`CgroupFactory`]), and never uses one twice.

mod find;

use std::cell::Cell;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileExt as _, chown};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use nix::fcntl::{OFlag, openat};
use nix::sys::stat::{Mode, mkdirat};
use nix::unistd::{UnlinkatFlags, unlinkat};

use crate::limits::BoxLimits;
use crate::support::Cgroups;
use find::{Hierarchies, HierarchyMount};

/// The beginning of a helper's folder name; the rest is the supervisor's process id.
const PREFIX: &str = "assay-exec-";
/// The group of the zygote itself, in version 2.
const ZYGOTE: &str = "zygote";
/// The tries to remove a folder, and the time between two: it may count as in use for a moment after its last
/// process ended.
const REMOVE_TRIES: u32 = 50;
const REMOVE_AGAIN: Duration = Duration::from_millis(1);
/// The bytes below its memory limit at which a group of version 1 counts as full: the kernel refuses a request
/// that would exceed the limit, and this is the size of one request.
const FULL_WITHIN_BYTES: u64 = 1 << 20;
/// Why there is no report of a box: the memory was short that it shares with others.
pub(crate) const OUT_OF_MEMORY: &str = "this machine is out of memory: the kernel killed a program";
const OUT_OF_PROCESSES: &str =
    "this machine is out of processes: a limit around all boxes was reached";

/// The cgroup folders of one helper.
#[derive(Debug)]
pub(crate) struct HelperCgroups {
    pub(crate) kind: Cgroups,
    folders: Vec<PathBuf>,
}

/// Makes the helper's folders. The error tells an operator why that is impossible.
pub(crate) fn prepare(user: u32) -> Result<HelperCgroups, String> {
    let hierarchies = Hierarchies::read()?;
    sweep(&hierarchies);
    let name = format!("{PREFIX}{}", std::process::id());
    match &hierarchies {
        Hierarchies::V2(unified) => prepare_v2(unified, &name, user),
        Hierarchies::Hybrid { unified, memory, pids } => {
            let folders = [unified, memory, pids].map(|place| place.own.join(&name)).to_vec();
            let prepared = HelperCgroups { kind: Cgroups::Hybrid, folders };
            prepared.filled(|it| it.folders.iter().try_for_each(|folder| make(folder, user)), user)
        }
    }
}

/// A group that contains processes cannot enable controllers for the groups below it. So the parent group is
/// tried as well: a service manager delegates that one and puts the service below it.
fn prepare_v2(unified: &HierarchyMount, name: &str, user: u32) -> Result<HelperCgroups, String> {
    let mut problem = String::new();
    for parent in unified.parents() {
        match enable_controllers(parent) {
            Ok(()) => {}
            Err(error) => {
                problem = format!("{}: {error}", parent.display());
                continue;
            }
        }
        let folder = parent.join(name);
        let prepared = HelperCgroups { kind: Cgroups::V2, folders: vec![folder.clone()] };
        let fill = |_: &HelperCgroups| {
            make(&folder, user)?;
            enable_controllers(&folder).map_err(|error| format!("{}: {error}", folder.display()))
        };
        return prepared.filled(fill, user);
    }
    Err(format!(
        "the memory and pids controllers cannot be handed on ({problem}); run the service in a \
         group of its own that is delegated to it (systemd: Delegate=yes, DelegateSubgroup=main)"
    ))
}

fn enable_controllers(group: &Path) -> Result<(), String> {
    let control = group.join("cgroup.subtree_control");
    let enabled = fs::read_to_string(&control).map_err(|error| error.to_string())?;
    if ["memory", "pids"].iter().all(|name| enabled.split_whitespace().any(|it| it == *name)) {
        return Ok(());
    }
    fs::write(&control, "+memory +pids").map_err(|error| error.to_string())
}

/// Makes a folder that belongs to the boxes' user, who may then make folders below it.
fn make(folder: &Path, user: u32) -> Result<(), String> {
    let said = |error: std::io::Error| {
        let advice = match error.kind() {
            std::io::ErrorKind::PermissionDenied => "; run as root, or in a group delegated to you",
            _ => "",
        };
        format!("{}: {error}{advice}", folder.display())
    };
    fs::create_dir(folder).map_err(said)?;
    let own = |path: &Path| chown(path, Some(user), Some(user));
    own(folder).map_err(said)?;
    // `tasks` exists in version 1, the others in version 2.
    for file in ["cgroup.procs", "cgroup.threads", "cgroup.subtree_control", "tasks"] {
        match own(&folder.join(file)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(said(error)),
            _ => {}
        }
    }
    Ok(())
}

impl HelperCgroups {
    /// Makes the helper's folders and the zygote's. If one of them fails, the others are removed.
    ///
    /// In version 2 a process may be moved only by the owner of the common parent of both groups, and a group
    /// with controllers contains no processes. So the zygote's group is beside those of its runs.
    fn filled(
        self,
        fill: impl FnOnce(&Self) -> Result<(), String>,
        user: u32,
    ) -> Result<Self, String> {
        let made = fill(&self).and_then(|()| make(&self.folders[0].join(ZYGOTE), user));
        made.inspect_err(|_| self.remove_own()).map(|()| self)
    }

    /// Moves this process below the helper's folder; its later children start there.
    pub(crate) fn enter(&self) -> Result<(), String> {
        let procs = self.folders[0].join(ZYGOTE).join("cgroup.procs");
        fs::write(&procs, "0").map_err(|error| format!("{}: {error}", procs.display()))
    }

    /// Opens the folders for the zygote, whose file tree does not contain them.
    pub(crate) fn open(&self) -> Result<CgroupFactory, String> {
        let open = |folder: &PathBuf| {
            File::open(folder)
                .map(OwnedFd::from)
                .map_err(|error| format!("{}: {error}", folder.display()))
        };
        let folders = self.folders.iter().map(open).collect::<Result<_, _>>()?;
        let of_pids = self.folders.last().expect("a helper has a folder");
        let events = |group: &Path| File::open(group.join("pids.events.local")).ok();
        let around = of_pids.ancestors().filter_map(events).collect();
        Ok(CgroupFactory { kind: self.kind, folders, around, made: 0, doomed: Vec::new() })
    }

    /// Removes the folders, and those of killed helpers: when this helper took the place of one, that one's processes
    /// may still have been ending. All processes of this helper must have ended.
    pub(crate) fn remove(&self) {
        self.remove_own();
        if let Ok(hierarchies) = Hierarchies::read() {
            sweep(&hierarchies);
        }
    }

    fn remove_own(&self) {
        self.folders.iter().for_each(|folder| remove_tree(folder));
    }
}

/// Removes the groups of killed helpers. The kernel refuses to remove groups that contain processes.
fn sweep(hierarchies: &Hierarchies) {
    for parent in hierarchies.parents() {
        for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let Some(pid) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) else {
                continue;
            };
            if !Path::new("/proc").join(pid).exists() {
                remove_tree(&entry.path());
            }
        }
    }
}

/// Ends what a killed supervisor left and removes its groups; tries until then.
pub(crate) fn remove_of_killed(supervisor: u32, until: Instant) {
    let Ok(hierarchies) = Hierarchies::read() else { return };
    let name = format!("{PREFIX}{supervisor}");
    for folder in hierarchies.parents().map(|parent| parent.join(&name)) {
        // Version 2 alone has it, and every process of the helper is in one of its groups.
        let _ = fs::write(folder.join("cgroup.kill"), "1");
        remove_tree(&folder);
        while folder.exists() && Instant::now() < until {
            std::thread::sleep(REMOVE_AGAIN);
            remove_tree(&folder);
        }
    }
}

fn remove_tree(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        remove_tree(&entry.path());
    }
    for _ in 0..REMOVE_TRIES {
        match fs::remove_dir(folder) {
            Err(error) if error.raw_os_error() == Some(nix::libc::EBUSY) => {
                std::thread::sleep(REMOVE_AGAIN);
            }
            _ => return,
        }
    }
}

/// Makes a group for each run; used by the zygote.
pub(crate) struct CgroupFactory {
    kind: Cgroups,
    folders: Vec<OwnedFd>,
    /// The files in which groups around all boxes count the processes that their own limits refused; older kernels than
    /// Linux 6.11, and version 1, have none.
    around: Rc<[File]>,
    made: u64,
    /// Groups that were still in use when they were to be removed.
    doomed: Vec<String>,
}

/// The group of one run.
pub(crate) struct RunCgroup {
    name: String,
    /// Its folder in each hierarchy, in the order of [`HelperCgroups`]: version 2 first.
    folders: Vec<OwnedFd>,
    /// The files of version 1 into which the run's first process writes itself.
    joins: Vec<OwnedFd>,
    kind: Cgroups,
    /// As in [`CgroupFactory`].
    around: Rc<[File]>,
    /// The processes that groups around all boxes had refused when the run began.
    refused_before: Cell<u64>,
}

/// The owner of what was short when the kernel killed or refused a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shortage {
    /// The box reached its own limit.
    OfBox,
    /// The machine, or a group around all boxes, had no more. Processes in boxes are killed first.
    OfMachine,
}

/// The limits of its own at which the kernel killed or refused a box's processes.
#[derive(Debug, Default)]
pub(crate) struct ReachedLimits {
    pub(crate) memory: bool,
    pub(crate) processes: bool,
}

impl CgroupFactory {
    pub(crate) fn make(&mut self) -> Result<RunCgroup, String> {
        let doomed = std::mem::take(&mut self.doomed);
        doomed.into_iter().for_each(|name| self.remove(name));
        self.made += 1;
        let name = format!("run-{}", self.made);
        let mut group = RunCgroup {
            name,
            folders: Vec::new(),
            joins: Vec::new(),
            kind: self.kind,
            around: Rc::clone(&self.around),
            refused_before: Cell::new(0),
        };
        self.fill(&mut group).map_err(|error| {
            self.remove(group.name.clone());
            format!("a cgroup cannot be made: {error}")
        })?;
        Ok(group)
    }

    fn fill(&self, group: &mut RunCgroup) -> std::io::Result<()> {
        for folder in &self.folders {
            mkdirat(folder, group.name.as_str(), Mode::from_bits_truncate(0o755))?;
            let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
            group.folders.push(openat(folder, group.name.as_str(), flags, Mode::empty())?);
        }
        for folder in &group.folders[1..] {
            let flags = OFlag::O_WRONLY | OFlag::O_CLOEXEC;
            group.joins.push(openat(folder, "cgroup.procs", flags, Mode::empty())?);
        }
        Ok(())
    }

    /// Removes a group. All of its processes must have ended.
    pub(crate) fn end(&mut self, group: RunCgroup) {
        let name = group.name.clone();
        drop(group);
        self.remove(name);
    }

    fn remove(&mut self, name: String) {
        let mut busy = false;
        for folder in &self.folders {
            let removed = unlinkat(folder, name.as_str(), UnlinkatFlags::RemoveDir);
            busy |= removed == Err(nix::Error::EBUSY);
        }
        if busy {
            self.doomed.push(name);
        }
    }
}

impl RunCgroup {
    pub(crate) fn limit(&self, limits: &BoxLimits) -> std::io::Result<()> {
        self.refused_before.set(refused_by(&self.around));
        let memory = limits.memory_bytes.to_string();
        // The box's init counts as well.
        let processes = (limits.processes + 1).to_string();
        match (self.kind, &self.folders[..]) {
            (Cgroups::V2, [unified]) => {
                write(unified, "memory.max", &memory)?;
                // The file is absent if the kernel has no swap.
                absent_is_fine(write(unified, "memory.swap.max", "0"))?;
                write(unified, "pids.max", &processes)
            }
            (Cgroups::Hybrid, [_, of_memory, of_pids]) => {
                write(of_memory, "memory.limit_in_bytes", &memory)?;
                absent_is_fine(write(of_memory, "memory.memsw.limit_in_bytes", &memory))?;
                write(of_pids, "pids.max", &processes)
            }
            _ => unreachable!("each kind has its hierarchies"),
        }
    }

    /// The folder of the group in which a process can be started.
    pub(crate) fn birthplace(&self) -> BorrowedFd<'_> {
        self.folders[0].as_fd()
    }

    /// Moves the calling process, the first of the run, into the hierarchies in which it was not started.
    pub(crate) fn join(&self) -> std::io::Result<()> {
        self.joins.iter().try_for_each(|join| Ok(nix::unistd::write(join, b"0").map(|_| ())?))
    }

    pub(crate) fn cpu_us(&self) -> std::io::Result<u64> {
        let text = read(&self.folders[0], "cpu.stat")?;
        value_of(&text, "usage_usec").ok_or_else(|| std::io::Error::other("no usage in cpu.stat"))
    }

    /// The time in which processes were ready and none of them had a core, in microseconds; `None` if the kernel does
    /// not measure it, as it was started without pressure stall information.
    pub(crate) fn wait_us(&self) -> Option<u64> {
        read(&self.folders[0], "cpu.pressure").ok().map(|text| wait_us(&text))
    }

    pub(crate) fn memory_peak_bytes(&self) -> u64 {
        let peak = match self.kind {
            Cgroups::Hybrid => read(&self.folders[1], "memory.max_usage_in_bytes"),
            _ => read(&self.folders[0], "memory.peak"),
        };
        peak.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
    }

    /// The limits that the box reached; the error says what the machine was short of.
    pub(crate) fn reached_limits(&self) -> Result<ReachedLimits, String> {
        let failed = |error: std::io::Error| format!("a box's cgroup cannot be read: {error}");
        let of_memory = self.memory_kill().map_err(failed)?;
        let of_processes = self.process_refusal().map_err(failed)?;
        if of_memory == Some(Shortage::OfMachine) {
            return Err(OUT_OF_MEMORY.into());
        }
        if of_processes == Some(Shortage::OfMachine) {
            return Err(OUT_OF_PROCESSES.into());
        }
        Ok(ReachedLimits { memory: of_memory.is_some(), processes: of_processes.is_some() })
    }

    /// Whether the kernel killed a process for lack of memory, and whose memory was short.
    fn memory_kill(&self) -> std::io::Result<Option<Shortage>> {
        let (kills, of_box) = match (self.kind, &self.folders[..]) {
            (Cgroups::Hybrid, [_, memory, ..]) => {
                let events = read(memory, "memory.oom_control")?;
                // Some kernels do not count in `memory.failcnt`.
                let most = number(&read(memory, "memory.max_usage_in_bytes")?)
                    .max(number(&read_if_there(memory, "memory.memsw.max_usage_in_bytes")?));
                let limit = number(&read(memory, "memory.limit_in_bytes")?);
                (value_of(&events, "oom_kill"), most.saturating_add(FULL_WITHIN_BYTES) >= limit)
            }
            (_, folders) => {
                let events = read(&folders[0], "memory.events")?;
                (value_of(&events, "oom_kill"), value_of(&events, "oom") > Some(0))
            }
        };
        Ok(match (kills.unwrap_or(0), of_box) {
            (0, _) => None,
            (_, false) => Some(Shortage::OfMachine),
            (_, true) => Some(Shortage::OfBox),
        })
    }

    /// Whether the kernel refused a process, and whose limit on processes was reached.
    fn process_refusal(&self) -> std::io::Result<Option<Shortage>> {
        if refused_by(&self.around) > self.refused_before.get() {
            return Ok(Some(Shortage::OfMachine));
        }
        let folder = self.folders.last().expect("a group has a folder");
        if value_of(&read(folder, "pids.events")?, "max").unwrap_or(0) == 0 {
            return Ok(None);
        }
        // Where the groups around it do not count what they refuse, its own does. The peak counts that too, so that at the
        // last process that the box may have nothing tells whose limit it was.
        let peak = read_if_there(folder, "pids.peak")?;
        let reached = number(&peak) >= number(&read(folder, "pids.max")?);
        // There is no peak before Linux 6.1.
        let of_box = reached || peak.is_empty();
        Ok(Some(if of_box { Shortage::OfBox } else { Shortage::OfMachine }))
    }
}

/// The processes that groups around all boxes refused so far, to anybody below them.
fn refused_by(around: &[File]) -> u64 {
    let mut text = [0; 64];
    let refused = |events: &File| {
        let length = events.read_at(&mut text, 0).ok()?;
        value_of(std::str::from_utf8(&text[..length]).ok()?, "max")
    };
    around.iter().filter_map(refused).sum()
}

/// The number that is a whole file; 0 if there is none.
fn number(text: &str) -> u64 {
    text.trim().parse().unwrap_or(0)
}

fn read_if_there(folder: &OwnedFd, file: &str) -> std::io::Result<String> {
    match read(folder, file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        text => text,
    }
}

/// The total of the line `full`, in which processes that wait for each other do not count. Older kernels have the line
/// `some` alone.
fn wait_us(pressure: &str) -> u64 {
    let line = |word| pressure.lines().find(|line| line.starts_with(word));
    let total = line("full").or_else(|| line("some")).and_then(|line| line.rsplit_once("total="));
    total.and_then(|(_, micros)| micros.trim().parse().ok()).unwrap_or(0)
}

fn write(folder: &OwnedFd, file: &str, value: &str) -> std::io::Result<()> {
    let fd = openat(folder, file, OFlag::O_WRONLY | OFlag::O_CLOEXEC, Mode::empty())?;
    File::from(fd).write_all(value.as_bytes())
}

fn read(folder: &OwnedFd, file: &str) -> std::io::Result<String> {
    let fd = openat(folder, file, OFlag::O_RDONLY | OFlag::O_CLOEXEC, Mode::empty())?;
    let mut text = String::new();
    File::from(fd).read_to_string(&mut text)?;
    Ok(text)
}

fn absent_is_fine(result: std::io::Result<()>) -> std::io::Result<()> {
    match result {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

/// The number on the line whose first word is `word`.
fn value_of(text: &str, word: &str) -> Option<u64> {
    text.lines()
        .filter_map(|line| line.split_once(' '))
        .find(|(name, _)| *name == word)
        .and_then(|(_, value)| value.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answer of a group whose folder in each hierarchy has these files.
    fn with_files<T>(
        kind: Cgroups,
        files: &[(&str, &str)],
        ask: impl FnOnce(&RunCgroup) -> T,
    ) -> T {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let open = |_| OwnedFd::from(File::open(folder.path()).unwrap());
        let folders = (0..if kind == Cgroups::Hybrid { 3 } else { 1 }).map(open).collect();
        ask(&RunCgroup {
            name: String::new(),
            folders,
            joins: Vec::new(),
            kind,
            around: Rc::new([]),
            refused_before: Cell::new(0),
        })
    }

    #[test]
    fn a_kill_for_lack_of_memory_is_the_boxs_own_only_at_its_own_limit() {
        let v2 = |oom, kills| {
            let events = format!("low 0\nhigh 0\nmax 9\noom {oom}\noom_kill {kills}\n");
            with_files(Cgroups::V2, &[("memory.events", &events)], RunCgroup::memory_kill).unwrap()
        };
        assert_eq!(v2(0, 0), None);
        assert_eq!(v2(2, 0), None);
        assert_eq!(v2(1, 1), Some(Shortage::OfBox));
        assert_eq!(v2(0, 1), Some(Shortage::OfMachine));
        let v1 = |kills: u32, most: &str, with_swap: Option<&str>| {
            let control = format!("oom_kill_disable 0\nunder_oom 0\noom_kill {kills}\n");
            let mut files = vec![
                ("memory.oom_control", &*control),
                ("memory.limit_in_bytes", "268435456\n"),
                ("memory.max_usage_in_bytes", most),
            ];
            files.extend(with_swap.map(|swap| ("memory.memsw.max_usage_in_bytes", swap)));
            with_files(Cgroups::Hybrid, &files, RunCgroup::memory_kill).unwrap()
        };
        let (full, half) = ("268427264\n", "134217728\n");
        assert_eq!(v1(0, full, Some(full)), None);
        assert_eq!(v1(1, full, None), Some(Shortage::OfBox));
        assert_eq!(v1(1, half, Some(full)), Some(Shortage::OfBox));
        assert_eq!(v1(1, half, Some(half)), Some(Shortage::OfMachine));
        assert_eq!(v1(1, half, None), Some(Shortage::OfMachine));
        assert!(with_files(Cgroups::V2, &[], RunCgroup::memory_kill).is_err(), "it is not known");
    }

    #[test]
    fn a_refused_process_is_the_boxs_own_shortage_only_at_its_own_limit() {
        let refusal = |events: &str, peak: Option<&str>| {
            let mut files = vec![("pids.events", events), ("pids.max", "17\n")];
            files.extend(peak.map(|peak| ("pids.peak", peak)));
            with_files(Cgroups::V2, &files, RunCgroup::process_refusal).unwrap()
        };
        assert_eq!(refusal("max 0\n", Some("17\n")), None);
        assert_eq!(refusal("max 3\n", Some("17\n")), Some(Shortage::OfBox));
        assert_eq!(refusal("max 3\n", Some("9\n")), Some(Shortage::OfMachine));
        assert_eq!(refusal("max 3\n", None), Some(Shortage::OfBox));
        let unknown = with_files(Cgroups::V2, &[], RunCgroup::process_refusal);
        assert!(unknown.is_err(), "it is not known");
    }

    #[test]
    fn what_a_group_around_a_box_refuses_is_no_shortage_of_the_box() {
        let around = tempfile::tempdir().unwrap();
        let own = around.path().join("helper");
        fs::create_dir(&own).unwrap();
        let count = around.path().join("pids.events.local");
        fs::write(&count, "max 3\n").unwrap();
        let helper = HelperCgroups { kind: Cgroups::V2, folders: vec![own.clone()] };
        let group = helper.open().unwrap().make().unwrap();
        for (file, text) in [("memory.max", ""), ("pids.max", ""), ("pids.events", "max 0\n")] {
            fs::write(own.join("run-1").join(file), text).unwrap();
        }
        group.limit(&BoxLimits::RUN).unwrap();
        assert_eq!(group.process_refusal().unwrap(), None, "it was before");
        fs::write(&count, "max 4\n").unwrap();
        assert_eq!(group.process_refusal().unwrap(), Some(Shortage::OfMachine));
    }

    #[test]
    fn a_kernel_that_does_not_measure_waits_does_not_say_that_there_were_none() {
        let pressure = "some avg10=0.00 avg60=0.00 avg300=0.00 total=900\n";
        let wait_us = |files: &[_]| with_files(Cgroups::V2, files, RunCgroup::wait_us);
        assert_eq!(wait_us(&[("cpu.pressure", pressure)]), Some(900));
        assert_eq!(wait_us(&[]), None);
    }

    #[test]
    fn a_value_is_that_of_its_whole_word() {
        let text = "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n";
        assert_eq!(value_of(text, "oom_kill"), Some(3));
        assert_eq!(value_of(text, "oom"), None);
    }
    #[test]
    fn processes_that_wait_for_each_other_do_not_count() {
        let some = "some avg10=0.00 avg60=0.00 avg300=0.00 total=900\n";
        assert_eq!(wait_us(some), 900);
        let full = "full avg10=0.00 avg60=0.00 avg300=0.00 total=70\n";
        assert_eq!(wait_us(&format!("{some}{full}")), 70);
        assert_eq!(wait_us(""), 0);
    }
}
