//! Hosts whose plugins run programs: with as good boxes as whoever runs the tests can have.

use crate::HostOptions;

/// Whether boxes here count the processes of a run together, which takes root or what root handed on.
///
/// # Panics
/// On a machine without /proc.
#[must_use]
pub fn is_root() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").expect("the kernel tells");
    status.lines().any(|line| line.starts_with("Uid:\t0\t"))
}

impl HostOptions {
    /// An ordinary user does without cgroups, as an operator would have to allow.
    #[must_use]
    pub fn with_boxes(workers: &str) -> Self {
        let weaker: &[&str] = if is_root() { &[] } else { &["--weaker-sandbox", "cgroups"] };
        let arguments = weaker.iter().map(|&argument| argument.to_owned()).collect();
        Self { workers: vec![workers.into()], arguments, ..Self::default() }
    }
}
