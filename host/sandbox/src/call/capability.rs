//! The capabilities that a plugin may import beyond the empty system interface, one file or folder each.
//!
//! A component that imports none costs nothing here. One that does gets [`Capabilities`] for each call; in
//! a call without them, such as `describe`, every function answers that it is unavailable.
//!
//! To add one: its row in [`assay_core::capability`], its folder here with a function `link`, which [`link()`] calls,
//! and its interface in `sdk/wit`.

pub(crate) mod absent;
pub mod exec;
pub mod folder;
pub mod gpu;
pub mod http;
pub mod log;
pub mod storage;

use std::sync::Arc;

use assay_core::capability::{CAPABILITIES, Grant};
use assay_core::id::TenantId;
use assay_exec::{Exec, JobContext};
use assay_gpu::compiler::CudaCompiler;
use parking_lot::Mutex;
use wasmtime::component::Linker;

use crate::call::GuestCall;
use crate::clock::CallClock;

use absent::Absences;
use gpu::StageDevice;
use http::{Network, Outbound};
use storage::Storage;

/// The capabilities of one stage, and the tenant in whose name it uses them.
#[derive(Clone)]
pub struct Capabilities {
    pub tenant: TenantId,
    /// Shared by all stages of the process; a stage that finds it locked waits.
    pub exec: Arc<Mutex<Exec>>,
    /// The toolchains that the tenant was granted; `None` grants all.
    pub toolchains: Option<Arc<[String]>>,
    pub storage: Arc<dyn Storage>,
    /// Compiles CUDA by means of `exec`. Shared in the same way.
    pub compiler: Arc<Mutex<CudaCompiler>>,
    pub device: StageDevice,
    pub network: Arc<Network>,
    /// The hosts that requests may go to, and the secrets for them.
    pub outbound: Arc<Outbound>,
}

/// Links the interfaces of every capability.
pub(crate) fn link(linker: &mut Linker<GuestCall>) -> wasmtime::Result<()> {
    for capability in CAPABILITIES {
        match capability.grant {
            Grant::Toolchains => exec::link(linker)?,
            Grant::Gpu => gpu::link(linker)?,
            Grant::StorageRoots => storage::link(linker)?,
            // Linked with the rest of the system interface, where what waits is replaced.
            Grant::Hosts => {}
        }
    }
    Ok(())
}

/// Runs programs in boxes for the time that the call has left; `None` if it was over before.
fn in_boxes<R>(
    granted: &Capabilities,
    clock: &mut CallClock,
    absences: &mut Absences,
    name: &'static str,
    run: impl FnOnce(&mut Exec, &JobContext) -> R,
) -> Option<R> {
    let mut exec = granted.exec.lock();
    if clock.is_over() {
        return None;
    }
    let came = clock.wait_for_programs(name, |until| {
        let (deadline, latest) = (until.at, until.latest);
        let came = run(&mut exec, &JobContext { tenant: granted.tenant, deadline, latest });
        (came, exec.take_held_up())
    });
    absences.note_boxes(&exec);
    Some(came)
}

/// The text with `…` in place of each path of this machine: tenants must not see them. The full text is in
/// the operator's log.
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
