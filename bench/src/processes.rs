//! Processor time and context switches of a server and everything that it started: what a machine that others use too
//! measures truthfully.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Sub;

use nix::unistd::{SysconfVar, sysconf};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    pub processor_us: u64,
    /// Voluntary and involuntary ones.
    pub switches: u64,
}

/// The work of processes so far, by the name of their program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TreeWork(BTreeMap<String, Work>);

impl TreeWork {
    /// Reads the work of a process and its living descendants.
    pub fn read(root: u32) -> Self {
        let tick_us = match sysconf(SysconfVar::CLK_TCK) {
            Ok(Some(ticks)) => 1_000_000 / u64::try_from(ticks).unwrap_or(100).max(1),
            _ => 10_000,
        };
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let mut others: Vec<_> = pids.filter_map(Process::read).collect();
        let mut family = vec![root];
        let mut work = Self::default();
        loop {
            let (members, rest): (Vec<_>, Vec<_>) = others
                .into_iter()
                .partition(|it| family.contains(&it.pid) || family.contains(&it.parent));
            if members.is_empty() {
                return work;
            }
            for member in members {
                family.push(member.pid);
                let sum = work.0.entry(member.name).or_default();
                sum.processor_us += member.ticks * tick_us;
                sum.switches += switches(member.pid);
            }
            others = rest;
        }
    }

    pub fn of(&self, name: &str) -> Work {
        self.0.get(name).copied().unwrap_or_default()
    }

    pub fn all(&self) -> Work {
        self.0.values().fold(Work::default(), |sum, work| Work {
            processor_us: sum.processor_us + work.processor_us,
            switches: sum.switches + work.switches,
        })
    }
}

impl Sub<&Self> for TreeWork {
    type Output = Self;

    /// The work since an earlier reading.
    fn sub(self, earlier: &Self) -> Self {
        let since = |(name, work): (String, Work)| {
            let before = earlier.of(&name);
            let work = Work {
                processor_us: work.processor_us.saturating_sub(before.processor_us),
                switches: work.switches.saturating_sub(before.switches),
            };
            (name, work)
        };
        Self(self.0.into_iter().map(since).collect())
    }
}

struct Process {
    pid: u32,
    parent: u32,
    name: String,
    ticks: u64,
}

impl Process {
    /// `None` if it has ended.
    fn read(pid: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (before, after) = stat.rsplit_once(')')?;
        let (_, name) = before.split_once('(')?;
        let mut fields = after.split_whitespace();
        let parent = fields.nth(1)?.parse().ok()?;
        let ticks = fields.skip(9).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
        Some(Self { pid, parent, name: name.to_owned(), ticks })
    }
}

/// The context switches of all threads of a process.
fn switches(pid: u32) -> u64 {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let of_thread = |status: String| -> u64 {
        let lines = status.lines().filter(|line| line.contains("ctxt_switches"));
        let numbers = lines.filter_map(|line| line.rsplit_once(':')?.1.trim().parse::<u64>().ok());
        numbers.sum()
    };
    threads.filter_map(|it| fs::read_to_string(it.path().join("status")).ok()).map(of_thread).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_of_the_process_and_counts_from_a_reading() {
        let own = std::process::id();
        let before = TreeWork::read(own);
        let began = before.all().processor_us;
        let mut sum = 0_u64;
        while TreeWork::read(own).all().processor_us < began + 30_000 {
            sum = std::hint::black_box((0..100_000_u64).sum::<u64>()).wrapping_add(sum);
        }
        let since = TreeWork::read(own) - &before;
        assert!(since.all().processor_us >= 30_000, "{since:?}");
        assert_eq!(since.of("no such program"), Work::default());
        assert_eq!(TreeWork::read(u32::MAX), TreeWork::default());
    }
}
