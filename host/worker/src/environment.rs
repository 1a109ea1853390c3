//! The environment of the process: the ticket is taken out and the rest is deleted before anything else runs; the
//! process ends with the host that started it.

use anyhow::Context as _;
use nix::sys::prctl;
use nix::sys::signal::Signal;

const TICKET: &str = "ASSAY_WORKER_TICKET";

/// Empties the environment; returns the ticket if there was one. Must be called first in `main`.
pub(crate) fn take() -> Option<String> {
    let ticket = std::env::var(TICKET).ok();
    let names: Vec<_> = std::env::vars_os().map(|(name, _)| name).collect();
    for name in names {
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
