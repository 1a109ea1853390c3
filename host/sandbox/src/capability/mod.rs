//! What a plugin may ask for beyond the empty system interface, a file or a folder each.
//!
//! A component that imports none of it costs nothing here; one that does is given [`Capabilities`]
//! for each call, and finds everything unavailable in a call without (while it describes itself).

pub mod exec;
pub mod folder;
pub mod gpu;
pub mod http;
pub mod log;
pub mod storage;

use std::sync::{Arc, Mutex};
use std::time::Instant;

use assay_exec::Exec;
use assay_gpu::compiler::Compiler;
use assay_model::id::TenantId;
use assay_model::outbound::SENDS_REQUESTS;

use gpu::Device;
use http::{Network, Outbound};
use storage::Storage;

/// What one stage may use, and in whose name.
#[derive(Clone)]
pub struct Capabilities {
    pub tenant: TenantId,
    /// One call at a time: a stage that finds it in use waits.
    pub exec: Arc<Mutex<Exec>>,
    /// Those that the tenant was granted; `None`: all that there are.
    pub toolchains: Option<Arc<[String]>>,
    pub storage: Arc<dyn Storage>,
    /// As `exec`, which it uses.
    pub compiler: Arc<Mutex<Compiler>>,
    pub device: Device,
    pub network: Arc<Network>,
    /// Where requests may go.
    pub outbound: Arc<Outbound>,
}

/// Whether the interface, by its name without a version, is one of those in [`Capabilities`].
pub(crate) fn is_granted(interface: &str) -> bool {
    matches!(
        interface,
        "assay:exec/exec"
            | "assay:exec/types"
            | "assay:gpu/compiler"
            | "assay:gpu/device"
            | "assay:gpu/types"
            | "assay:reward/storage"
            | SENDS_REQUESTS
    )
}

/// Whether the call's time is over.
///
/// A host function that took until then ends the guest itself: the epoch would do so some
/// instructions later, in which a guest might still return something.
pub(crate) fn is_over(deadline: Instant) -> bool {
    Instant::now() >= deadline
}

/// The text with `…` for each path of this machine, which are its operator's to know: they stand in
/// the log.
pub(crate) fn without_paths(text: &str) -> String {
    let word = |word: &str| {
        let starts = |&(at, _): &(usize, &str)| {
            !word[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_'))
        };
        match word.match_indices('/').find(starts) {
            None => word.to_owned(),
            Some((at, _)) => {
                let inside = |c: char| !matches!(c, ':' | ',' | ';' | ')' | '`' | '"' | '\'');
                let path = word[at..].trim_end().trim_end_matches(|c| !inside(c));
                format!("{}…{}", &word[..at], &word[at + path.len()..])
            }
        }
    };
    text.split_inclusive(char::is_whitespace).map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_path_of_the_machine_is_told() {
        for (text, told) in [
            ("no cgroups and/or landlock", "no cgroups and/or landlock"),
            ("/a/b/assay-exec: No such file", "…: No such file"),
            ("the folder `/srv/x`, (/tmp) path=/a\n/b", "the folder `…`, (…) path=…\n…"),
            ("1 / 2", "1 … 2"),
        ] {
            assert_eq!(without_paths(text), told);
        }
    }
}
