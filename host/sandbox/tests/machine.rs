//! A machine that has no boxes for programs, no CUDA and no network.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use assay_core::id::TenantId;
use assay_exec::{Exec, ExecOptions, ObjectCache};
use assay_gpu::compiler::{CudaCompiler, CudaCompilerOptions};
use assay_sandbox::capability::Capabilities;
use assay_sandbox::capability::folder::FolderStorage;
use assay_sandbox::capability::gpu::StageDevice;
use parking_lot::Mutex;

/// As [`bare`], on a machine that is known to lack every toolchain.
pub(crate) fn without_toolchains(folder: &Path) -> Capabilities {
    let files = folder.join("toolchains");
    std::fs::create_dir(&files).expect("a folder");
    for id in ["c11-gcc", "cpp17-gcc", "cpp20-gcc", "cpython-3"] {
        let text = format!(
            "id = \"{id}\"\nlanguages = [\"x\"]\nmain = \"x\"\nversion = [\"/bin/x\"]\n\
             paths = [\"/no/such/path\"]\n[run]\ncommand = [\"/bin/x\"]"
        );
        std::fs::write(files.join(format!("{id}.toml")), text).expect("written");
    }
    let bare = bare(folder);
    let objects = Arc::new(ObjectCache::open(&folder.join("objects"), 1 << 30).expect("a cache"));
    let exec = Exec::new(ExecOptions {
        helper_program: folder.join("missing"),
        cache: folder.join("programs"),
        toolchains: Some(files),
        shown: Vec::new(),
        weaker: Vec::new(),
        objects,
    });
    Capabilities { exec: Arc::new(Mutex::new(exec)), ..bare }
}

/// The capabilities of a tenant on this machine; storage has its roots in the folder's `roots`.
pub(crate) fn bare(folder: &Path) -> Capabilities {
    with_helper(folder, folder.join("missing"))
}

/// The same with a program in place of the helper that makes boxes.
pub(crate) fn with_helper(folder: &Path, helper_program: PathBuf) -> Capabilities {
    let objects = Arc::new(ObjectCache::open(&folder.join("objects"), 1 << 30).expect("a cache"));
    let exec = Exec::new(ExecOptions {
        helper_program,
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
        storage: Arc::new(FolderStorage::new(folder.join("roots"), objects)),
        compiler: Arc::new(Mutex::new(CudaCompiler::new(CudaCompilerOptions {
            toolkit: None,
            program: folder.join("missing"),
            arch: "compute_90".into(),
            cache: folder.join("kernels"),
        }))),
        device: StageDevice::None("no kernels are run here"),
        network: Arc::default(),
        outbound: Arc::default(),
    }
}
