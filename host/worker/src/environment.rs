//! The environment of the process: the ticket is taken out, and all but what a GPU's driver needs is deleted before
//! anything else runs; the process ends with the host that started it.

use std::ffi::OsString;

use anyhow::Context as _;
use nix::sys::prctl;
use nix::sys::signal::Signal;

const TICKET: &str = "ASSAY_WORKER_TICKET";

/// Empties the environment but for what executors of kernels get; returns the ticket if there was one. Must be called
/// first in `main`.
pub(crate) fn take() -> Option<String> {
    let ticket = std::env::var(TICKET).ok();
    let names: Vec<_> = std::env::vars_os().map(|(name, _)| name).collect();
    let is_kept = |name: &OsString| assay_gpu::cuda::VARIABLES.iter().any(|kept| name == kept);
    for name in names.into_iter().filter(|name| !is_kept(name)) {
        // SAFETY: called first in `main`, when there is one thread only.
        #[expect(unsafe_code, reason = "the environment belongs to the whole process")]
        unsafe {
            std::env::remove_var(name);
        }
    }
    // SAFETY: as above. A backtrace of the host's frames at each trap would take time.
    #[expect(unsafe_code, reason = "the environment belongs to the whole process")]
    unsafe {
        std::env::set_var("RUST_BACKTRACE", "0");
    }
    ticket
}

/// Has the kernel kill this process when its host ends, even if the host is killed.
pub(crate) fn end_with_host() -> anyhow::Result<()> {
    prctl::set_pdeathsig(Signal::SIGKILL).context("tying the worker to its host's life")
}
