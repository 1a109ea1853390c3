//! Control groups: what all processes of a run may use together.
//!
//! The keeper makes one folder in each hierarchy, owned by the boxes' user ([`prepare`]); the zygote
//! makes and removes one below it for each run ([`Groups`]), and never uses one twice.

mod find;

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};

use nix::fcntl::{OFlag, openat};
use nix::sys::stat::{Mode, mkdirat};
use nix::unistd::{UnlinkatFlags, unlinkat};

use crate::limits::Limits;
use crate::support::Cgroups;
use find::{Hierarchies, Place};

/// The beginning of our folders' names; the rest is their keeper's process id.
const PREFIX: &str = "assay-exec-";
/// Where the zygote itself is, version 2.
const ZYGOTE: &str = "zygote";
/// A folder whose last process has just ended may still count as in use.
const REMOVE_TRIES: u32 = 50;

/// The folders of one helper.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) kind: Cgroups,
    folders: Vec<PathBuf>,
}

/// Makes the helper's folders; the error says why there are none, for an operator.
pub(crate) fn prepare(user: u32) -> Result<Prepared, String> {
    let hierarchies = Hierarchies::read()?;
    sweep(&hierarchies);
    let name = format!("{PREFIX}{}", std::process::id());
    match &hierarchies {
        Hierarchies::V2(unified) => prepare_v2(unified, &name, user),
        Hierarchies::Hybrid { unified, memory, pids } => {
            let folders = [unified, memory, pids].map(|place| place.own.join(&name)).to_vec();
            let prepared = Prepared { kind: Cgroups::Hybrid, folders };
            prepared.filled(|it| it.folders.iter().try_for_each(|folder| make(folder, user)), user)
        }
    }
}

/// A group that holds processes cannot have controllers for those below it, so that the next one up
/// is tried as well: a service manager delegates that one and puts the service below it.
fn prepare_v2(unified: &Place, name: &str, user: u32) -> Result<Prepared, String> {
    let mut problem = String::new();
    for parent in unified.own.ancestors().take(2).filter(|it| it.starts_with(&unified.mount)) {
        match enable_controllers(parent) {
            Ok(()) => {}
            Err(error) => {
                problem = format!("{}: {error}", parent.display());
                continue;
            }
        }
        let folder = parent.join(name);
        let prepared = Prepared { kind: Cgroups::V2, folders: vec![folder.clone()] };
        let fill = |_: &Prepared| {
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

/// A folder that belongs to the boxes' user, who may then make others below it.
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
    // Those of version 2 only; `tasks` is version 1's.
    for file in ["cgroup.procs", "cgroup.threads", "cgroup.subtree_control", "tasks"] {
        match own(&folder.join(file)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(said(error)),
            _ => {}
        }
    }
    Ok(())
}

impl Prepared {
    /// Makes the folders and the zygote's; where one cannot be made, none is left.
    ///
    /// Version 2: whoever moves a process must own both ends' common parent; so the zygote lives
    /// below the same folder as its runs, and beside them, as a group with controllers holds none.
    fn filled(
        self,
        fill: impl FnOnce(&Self) -> Result<(), String>,
        user: u32,
    ) -> Result<Self, String> {
        let made = fill(&self).and_then(|()| make(&self.folders[0].join(ZYGOTE), user));
        made.inspect_err(|_| self.remove()).map(|()| self)
    }

    /// Moves this process, and so its later children, below the helper's folder.
    pub(crate) fn enter(&self) -> Result<(), String> {
        let procs = self.folders[0].join(ZYGOTE).join("cgroup.procs");
        fs::write(&procs, "0").map_err(|error| format!("{}: {error}", procs.display()))
    }

    /// Opens the folders, for a process that will not find them by name any more.
    pub(crate) fn open(&self) -> Result<Groups, String> {
        let open = |folder: &PathBuf| {
            File::open(folder)
                .map(OwnedFd::from)
                .map_err(|error| format!("{}: {error}", folder.display()))
        };
        let folders = self.folders.iter().map(open).collect::<Result<_, _>>()?;
        Ok(Groups { kind: self.kind, folders, made: 0, doomed: Vec::new() })
    }

    /// Removes everything, once all processes of the helper are gone.
    pub(crate) fn remove(&self) {
        self.folders.iter().for_each(|folder| remove_tree(folder));
    }
}

/// Removes what helpers left that were killed. Only empty groups can be removed.
fn sweep(hierarchies: &Hierarchies) {
    for place in hierarchies.places() {
        for parent in place.own.ancestors().take(2).filter(|it| it.starts_with(&place.mount)) {
            let entries = fs::read_dir(parent).into_iter().flatten().flatten();
            for entry in entries {
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
}

fn remove_tree(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        remove_tree(&entry.path());
    }
    for _ in 0..REMOVE_TRIES {
        match fs::remove_dir(folder) {
            Err(error) if error.raw_os_error() == Some(nix::libc::EBUSY) => {
                std::thread::yield_now();
            }
            _ => return,
        }
    }
}

/// The zygote's end: makes a group for each run.
pub(crate) struct Groups {
    kind: Cgroups,
    folders: Vec<OwnedFd>,
    made: u64,
    /// Those that were still in use when they should have gone.
    doomed: Vec<String>,
}

/// The group of one run.
pub(crate) struct Group {
    name: String,
    /// In each hierarchy, as in [`Prepared`]: version 2 first.
    folders: Vec<OwnedFd>,
    /// Version 1: where the run's first process writes itself in.
    joins: Vec<OwnedFd>,
    kind: Cgroups,
}

impl Groups {
    pub(crate) fn make(&mut self) -> Result<Group, String> {
        let doomed = std::mem::take(&mut self.doomed);
        doomed.into_iter().for_each(|name| self.remove(name));
        self.made += 1;
        let name = format!("run-{}", self.made);
        let mut group = Group { name, folders: Vec::new(), joins: Vec::new(), kind: self.kind };
        self.fill(&mut group).map_err(|error| {
            self.remove(group.name.clone());
            format!("a cgroup cannot be made: {error}")
        })?;
        Ok(group)
    }

    fn fill(&self, group: &mut Group) -> std::io::Result<()> {
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

    /// To be called when all processes of the group are gone.
    pub(crate) fn end(&mut self, group: Group) {
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

impl Group {
    pub(crate) fn limit(&self, limits: &Limits) -> std::io::Result<()> {
        let memory = limits.memory_bytes.to_string();
        // The box's init is one of them.
        let processes = (limits.processes + 1).to_string();
        match (self.kind, &self.folders[..]) {
            (Cgroups::V2, [unified]) => {
                write(unified, "memory.max", &memory)?;
                // Absent where the kernel has no swap.
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

    /// In which a process can be born.
    pub(crate) fn birthplace(&self) -> BorrowedFd<'_> {
        self.folders[0].as_fd()
    }

    /// Called by the run's first process: it joins the hierarchies in which it was not born.
    pub(crate) fn join(&self) -> std::io::Result<()> {
        self.joins.iter().try_for_each(|join| Ok(nix::unistd::write(join, b"0").map(|_| ())?))
    }

    pub(crate) fn cpu_us(&self) -> std::io::Result<u64> {
        let text = read(&self.folders[0], "cpu.stat")?;
        value_of(&text, "usage_usec").ok_or_else(|| std::io::Error::other("no usage in cpu.stat"))
    }

    /// How long some process was ready but had no core; 0 where the kernel does not measure it.
    pub(crate) fn wait_us(&self) -> u64 {
        let text = read(&self.folders[0], "cpu.pressure").unwrap_or_default();
        let total = text.lines().next().and_then(|some| some.rsplit_once("total="));
        total.and_then(|(_, micros)| micros.trim().parse().ok()).unwrap_or(0)
    }

    pub(crate) fn memory_peak_bytes(&self) -> u64 {
        let peak = match self.kind {
            Cgroups::Hybrid => read(&self.folders[1], "memory.max_usage_in_bytes"),
            _ => read(&self.folders[0], "memory.peak"),
        };
        peak.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
    }

    /// Whether the kernel killed a process for the memory limit.
    pub(crate) fn out_of_memory(&self) -> bool {
        let events = match self.kind {
            Cgroups::Hybrid => read(&self.folders[1], "memory.oom_control"),
            _ => read(&self.folders[0], "memory.events"),
        };
        events.ok().and_then(|text| value_of(&text, "oom_kill")).is_some_and(|kills| kills > 0)
    }

    /// Whether a process was refused for the limit on their number.
    pub(crate) fn out_of_processes(&self) -> bool {
        let folder = self.folders.last().expect("a group has a folder");
        let events = read(folder, "pids.events");
        events.ok().and_then(|text| value_of(&text, "max")).is_some_and(|times| times > 0)
    }
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

/// The number on the line that starts with a word.
fn value_of(text: &str, word: &str) -> Option<u64> {
    text.lines()
        .filter_map(|line| line.split_once(' '))
        .find(|(name, _)| *name == word)
        .and_then(|(_, value)| value.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::value_of;

    #[test]
    fn a_value_is_that_of_its_whole_word() {
        let text = "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n";
        assert_eq!(value_of(text, "oom_kill"), Some(3));
        assert_eq!(value_of(text, "oom"), None);
    }
}
