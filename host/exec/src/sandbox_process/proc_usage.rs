//! The usage of a box, read from `/proc` now and then where there is no cgroup that measures it.

use std::fs;
use std::path::Path;

use nix::unistd::{Pid, SysconfVar, sysconf};

/// The largest usage that was read; usage after the last reading is missing.
#[derive(Debug)]
pub(super) struct ProcUsage {
    pub(super) cpu_us: u64,
    pub(super) wait_us: u64,
    /// The processes that the machine had killed for want of memory when a box without a cgroup began.
    kills_before: Option<u64>,
}

impl ProcUsage {
    pub(super) fn begin(without_cgroup: bool) -> Self {
        let kills_before = without_cgroup.then(machine_kills).flatten();
        Self { cpu_us: 0, wait_us: 0, kills_before }
    }

    /// Whether the machine, or some container on it, killed a process for want of memory since the box began. Programs in
    /// boxes are the first to be killed; without a cgroup nothing says whether it was one of this box.
    pub(super) fn machine_killed(&self) -> bool {
        self.kills_before.is_some_and(|before| machine_kills().is_some_and(|now| now > before))
    }

    /// Adds up the box's init and its descendants. The init adopts orphans; a parent's numbers include
    /// its reaped children.
    pub(super) fn update(&mut self, init: Pid) {
        let tick_us = 1_000_000 / sysconf(SysconfVar::CLK_TCK).ok().flatten().map_or(100, u64_of);
        let mut others: Vec<Process> = fs::read_dir("/proc")
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| Process::read(&entry.path()))
            .collect();
        let mut family = vec![init.as_raw()];
        let (mut cpu_us, mut threads) = (0, Vec::new());
        loop {
            let (members, rest): (Vec<_>, Vec<_>) = others
                .into_iter()
                .partition(|it| family.contains(&it.pid) || family.contains(&it.parent));
            if members.is_empty() {
                break;
            }
            for member in members {
                family.push(member.pid);
                cpu_us += member.ticks * tick_us;
                threads.push(member.first);
            }
            others = rest;
        }
        self.cpu_us = self.cpu_us.max(cpu_us);
        self.wait_us = self.wait_us.max(foreign_wait_us(&threads, cpu_us));
    }
}

/// The processes that the machine killed for want of memory since it started; `None` where the kernel does not count them.
fn machine_kills() -> Option<u64> {
    parse_vmstat(&fs::read_to_string("/proc/vmstat").ok()?)
}

fn parse_vmstat(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix("oom_kill "))?.parse().ok()
}

/// The CPU time of a process with one thread, without its children, until it is reaped; 0 if the kernel does not measure
/// it.
pub(super) fn own_cpu_us(process: Pid) -> u64 {
    let schedstat = fs::read_to_string(format!("/proc/{process}/schedstat")).unwrap_or_default();
    parse_schedstat(&schedstat).ran_us
}

/// The longest time for which a thread was ready and others than the box's had its core. The box's threads wait for each
/// other for as long as the others of them run, at most: a program must not cause waits by its own doing.
fn foreign_wait_us(threads: &[FirstThread], cpu_us: u64) -> u64 {
    let foreign =
        |thread: &FirstThread| thread.wait_us.saturating_sub(cpu_us.saturating_sub(thread.ran_us));
    threads.iter().map(foreign).max().unwrap_or(0)
}

struct Process {
    pid: i32,
    parent: i32,
    ticks: u64,
    first: FirstThread,
}

/// The times of a process's first thread, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FirstThread {
    ran_us: u64,
    wait_us: u64,
}

impl Process {
    /// `None` if the folder is not that of a running process.
    fn read(folder: &Path) -> Option<Self> {
        let pid = folder.file_name()?.to_str()?.parse().ok()?;
        // The process chooses its name, which may be no UTF-8.
        let stat = fs::read(folder.join("stat")).ok()?;
        let (parent, ticks) = parse_stat(&String::from_utf8_lossy(&stat))?;
        let schedstat = fs::read_to_string(folder.join("schedstat")).unwrap_or_default();
        Some(Self { pid, parent, ticks, first: parse_schedstat(&schedstat) })
    }
}

fn u64_of(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(1).max(1)
}

/// The parent's process id, and the CPU time of the process and its reaped children in clock ticks:
/// fields 4 and 14 to 17 of `/proc/<pid>/stat`. The second field may contain anything between its
/// brackets.
fn parse_stat(stat: &str) -> Option<(i32, u64)> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace();
    let parent = fields.nth(1)?.parse().ok()?;
    let ticks = fields.skip(9).take(4).filter_map(|field| field.parse::<u64>().ok()).sum();
    Some((parent, ticks))
}

/// Zeros if the kernel does not measure it.
fn parse_schedstat(schedstat: &str) -> FirstThread {
    let mut fields = schedstat.split_whitespace().map(|field| field.parse::<u64>().unwrap_or(0));
    let mut next_us = || fields.next().unwrap_or(0) / 1_000;
    FirstThread { ran_us: next_us(), wait_us: next_us() }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn a_name_cannot_pose_as_fields() {
        let stat = "7 (a) 9 9 9) S 1 7 7 0 -1 4194560 100 0 0 0 30 5 2 1 20 0 1 0 100 0 0";
        assert_eq!(parse_stat(stat), Some((1, 38)));
        assert_eq!(parse_stat(""), None);
    }

    #[test]
    fn a_process_of_any_name_is_read() {
        let folder = PathBuf::from(format!("/proc/{}", std::process::id()));
        fs::write(folder.join("comm"), b"\xff) \xfe").expect("a process names itself");
        assert!(Process::read(&folder).is_some());
    }

    #[test]
    fn kills_of_the_machine_are_counted() {
        assert_eq!(parse_vmstat("drop_slab 0\noom_kill 37\nnuma_pte_updates 1\n"), Some(37));
        assert_eq!(parse_vmstat("drop_slab 0\n"), None);
        let usage = |kills_before| ProcUsage { cpu_us: 0, wait_us: 0, kills_before };
        // With a cgroup, which knows better.
        assert!(!usage(None).machine_killed());
        assert!(!usage(Some(u64::MAX)).machine_killed());
    }

    #[test]
    fn threads_that_wait_for_each_other_do_not_count() {
        let thread = |ran_us, wait_us| FirstThread { ran_us, wait_us };
        assert_eq!(parse_schedstat("1000 2500000 3"), thread(1, 2_500));
        assert_eq!(parse_schedstat(""), thread(0, 0));
        // One that computes on a busy machine.
        assert_eq!(foreign_wait_us(&[thread(20, 0), thread(1_000, 6_000)], 1_020), 5_980);
        // Four that share a core.
        assert_eq!(foreign_wait_us(&[thread(500, 1_500); 4], 2_000), 0);
        // One whose other threads have the core.
        assert_eq!(foreign_wait_us(&[thread(100, 1_900)], 2_000), 0);
        assert_eq!(foreign_wait_us(&[], 10), 0);
    }
}
