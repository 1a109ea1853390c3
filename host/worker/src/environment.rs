//! The environment of the process: the token is taken out and the rest is deleted before anything else runs.

const TOKEN: &str = "ASSAY_WORKER_TOKEN";

/// Empties the environment; returns the token if there was one. Must be called first in `main`.
pub(crate) fn take() -> Option<String> {
    let token = std::env::var(TOKEN).ok();
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
    token
}
