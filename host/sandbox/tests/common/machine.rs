//! A machine that has no boxes for programs, no CUDA and no network.

use std::path::Path;
use std::sync::{Arc, Mutex};

use assay_exec::{Cache, Exec, ExecOptions};
use assay_gpu::compiler::{Compiler, CompilerOptions};
use assay_model::id::TenantId;
use assay_sandbox::capability::Capabilities;
use assay_sandbox::capability::folder::Folder;
use assay_sandbox::capability::gpu::Device;

/// What a tenant is given there; storage has its roots in the folder's `roots`.
pub(crate) fn bare(folder: &Path) -> Capabilities {
    let objects = Arc::new(Cache::open(&folder.join("objects"), 1 << 30).expect("a cache"));
    let exec = Exec::new(ExecOptions {
        helper_program: folder.join("missing"),
        cache: folder.join("programs"),
        toolchains: None,
        shown: Vec::new(),
        weaker: Vec::new(),
        objects: Arc::clone(&objects),
    });
    Capabilities {
        tenant: TenantId::generate(),
        exec: Arc::new(Mutex::new(exec)),
        toolchains: None,
        storage: Arc::new(Folder::new(folder.join("roots"), objects)),
        compiler: Arc::new(Mutex::new(Compiler::new(CompilerOptions {
            toolkit: None,
            program: folder.join("missing"),
            arch: "compute_90".into(),
            cache: folder.join("kernels"),
        }))),
        device: Device::None("no kernels are run here"),
        network: Arc::default(),
        outbound: Arc::default(),
    }
}
