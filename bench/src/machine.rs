//! The machine on which the numbers were measured.

use std::fmt;
use std::fs;

use serde::Serialize;

#[derive(Debug, Clone, Serialize)]
pub struct Machine {
    pub cores: usize,
    pub cpu: String,
    pub memory_gib: f64,
    pub kernel: String,
}

impl Machine {
    pub fn read() -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let cpu = field(&read("/proc/cpuinfo"), "model name");
        let memory_kib = field(&read("/proc/meminfo"), "MemTotal");
        let memory_kib = memory_kib.trim_end_matches(" kB").parse().unwrap_or(0.0);
        Self {
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            cpu,
            memory_gib: memory_kib / f64::from(1 << 20),
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cores, cpu, memory_gib, kernel } = self;
        write!(f, "{cores} cores, {cpu}, {memory_gib:.1} GiB of memory, Linux {kernel}")
    }
}

/// The resident memory of a process; absent when it is gone.
pub fn resident_bytes(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let kib: u64 = field(&status, "VmRSS").trim_end_matches(" kB").parse().ok()?;
    Some(kib * 1_024)
}

/// The value of the first line `name : value`.
fn field(text: &str, name: &str) -> String {
    let lines = text.lines().filter_map(|line| line.split_once(':'));
    let value = lines.filter(|(key, _)| key.trim() == name).map(|(_, value)| value.trim()).next();
    value.unwrap_or("unknown").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_memory_and_no_other_machine() {
        let bytes = resident_bytes(std::process::id()).expect("it runs");
        assert!(bytes > 100_000, "{bytes}");
        assert_eq!(resident_bytes(u32::MAX), None);
        assert!(Machine::read().cores >= 1);
        assert_eq!(field("a : b\nmodel name\t: X 9\nmodel name : Y", "model name"), "X 9");
    }
}
