//! The environment of the process: the ticket is taken out and the rest is deleted before anything else runs.

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
