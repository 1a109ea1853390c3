//! The usage of a box that has no cgroup, read from `/proc` now and then.

use std::fs;
use std::path::Path;

use nix::unistd::{Pid, SysconfVar, sysconf};

/// The largest usage that was read; usage after the last reading is missing.
#[derive(Debug, Default)]
pub(super) struct ProcUsage {
    pub(super) cpu_us: u64,
    pub(super) wait_us: u64,
}

impl ProcUsage {
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
        let (mut cpu_us, mut wait_us) = (0, 0);
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
                // The maximum, not the sum: processes of one box wait for each other.
                wait_us = wait_us.max(member.wait_us);
            }
            others = rest;
        }
        self.cpu_us = self.cpu_us.max(cpu_us);
        self.wait_us = self.wait_us.max(wait_us);
    }
}

struct Process {
    pid: i32,
    parent: i32,
    ticks: u64,
    wait_us: u64,
}

impl Process {
    /// `None` if the folder is not that of a running process.
    fn read(folder: &Path) -> Option<Self> {
        let pid = folder.file_name()?.to_str()?.parse().ok()?;
        let (parent, ticks) = parse_stat(&fs::read_to_string(folder.join("stat")).ok()?)?;
        let schedstat = fs::read_to_string(folder.join("schedstat")).unwrap_or_default();
        Some(Self { pid, parent, ticks, wait_us: waited_ns(&schedstat) / 1_000 })
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

fn waited_ns(schedstat: &str) -> u64 {
    schedstat.split_whitespace().nth(1).and_then(|field| field.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_pose_as_fields() {
        let stat = "7 (a) 9 9 9) S 1 7 7 0 -1 4194560 100 0 0 0 30 5 2 1 20 0 1 0 100 0 0";
        assert_eq!(parse_stat(stat), Some((1, 38)));
        assert_eq!(parse_stat(""), None);
        assert_eq!(waited_ns("100 2500 3"), 2_500);
    }
}
