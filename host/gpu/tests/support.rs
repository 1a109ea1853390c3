//! The setting of tests that compile CUDA: a toolkit, boxes, a folder for the results.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use assay_core::id::TenantId;
use assay_exec::support::SandboxPart;
use assay_exec::{Exec, ExecOptions, JobContext, ObjectCache};
use assay_gpu::compiler::{
    CompileError, CompileRequest, CudaArtifact, CudaCompiler, CudaCompilerOptions, FrontEnd,
    TextFile, shown,
};

/// One worker's compiler and boxes.
pub struct CompilerFixture {
    pub compiler: CudaCompiler,
    pub exec: Exec,
    pub caller: JobContext,
    folder: Arc<tempfile::TempDir>,
}

/// The toolkit to test with; says loudly that a test was skipped where there is none.
pub fn toolkit(test: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("ASSAY_TEST_CUDA").map(PathBuf::from);
    let has_library = |folder: &PathBuf| {
        ["lib", "lib64"].iter().any(|lib| folder.join(lib).join("libnvrtc.so.13").exists())
    };
    let found = folder.filter(has_library);
    if found.is_none() {
        // Past the capture of what passing tests print.
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED: {test}: ASSAY_TEST_CUDA names no folder with a CUDA 13 toolkit"
        );
    }
    found
}

impl CompilerFixture {
    /// `None`, loudly, where there is no toolkit.
    pub fn new(test: &str) -> Option<Self> {
        Self::over(test, Arc::new(tempfile::tempdir().expect("a folder")))
    }

    /// Another worker of the same machine, for the same tenant.
    pub fn beside(&self, test: &str) -> Option<Self> {
        let other = Self::over(test, Arc::clone(&self.folder))?;
        Some(Self { caller: self.caller, ..other })
    }

    fn over(test: &str, folder: Arc<tempfile::TempDir>) -> Option<Self> {
        Some(Self::with_toolkit(toolkit(test)?, folder))
    }

    /// With a toolkit of the test's own.
    pub fn with_toolkit(toolkit: PathBuf, folder: Arc<tempfile::TempDir>) -> Self {
        let program = PathBuf::from(env!("CARGO_BIN_EXE_assay-gpu"));
        let objects = ObjectCache::open(&folder.path().join("objects"), 1 << 30).expect("a folder");
        let options = ExecOptions {
            helper_program: helper(&program),
            cache: folder.path().join("exec"),
            toolchains: None,
            shown: shown(Some(&toolkit)),
            weaker: SandboxPart::ALL.to_vec(),
            objects: Arc::new(objects),
        };
        let compiler = CudaCompilerOptions {
            toolkit: Some(toolkit),
            program,
            arch: "sm_90".to_owned(),
            cache: folder.path().to_owned(),
        };
        let deadline = Instant::now() + Duration::from_secs(1_000);
        Self {
            compiler: CudaCompiler::new(compiler),
            exec: Exec::new(options),
            caller: JobContext { tenant: TenantId::generate(), deadline, latest: deadline },
            folder,
        }
    }

    /// Tried again where the machine was too busy to tell, as a scheduler would.
    pub fn compile(&mut self, request: &CompileRequest) -> Result<CudaArtifact, CompileError> {
        for _ in 0..4 {
            let came = self.compiler.compile(&mut self.exec, &self.caller, request);
            if !matches!(&came, Err(CompileError::Unavailable(reason)) if reason.contains("too busy"))
            {
                return came;
            }
        }
        self.compiler.compile(&mut self.exec, &self.caller, request)
    }
}

/// `assay-exec` lies beside `assay-gpu` once both were built.
fn helper(program: &Path) -> PathBuf {
    let helper = program.with_file_name("assay-exec");
    assert!(helper.exists(), "{} is missing: cargo build -p assay-exec", helper.display());
    helper
}

pub fn file(path: &str, text: &str) -> TextFile {
    TextFile { path: path.into(), text: text.into() }
}

pub fn request(front_end: FrontEnd, arch: &str, text: &str) -> CompileRequest {
    CompileRequest {
        front_end,
        arch: arch.into(),
        main: file("main.cu", text),
        headers: vec![],
        options: vec![],
        name_expressions: vec![],
        entries: vec![],
        cpu_ms: 0,
        memory_mib: 0,
    }
}
