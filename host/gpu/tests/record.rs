//! Host functions by the whole way: compiled by a real nvcc, recorded in real boxes.
//!
//! Needs a CUDA toolkit: its folder is named by `ASSAY_TEST_CUDA`, and boxes must be able to see it,
//! so that it cannot lie in `/tmp`.

mod hostile;
mod plans;
mod replay;
mod torch;
mod unsupported;

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use assay_core::id::TenantId;
use assay_exec::support::SandboxPart;
use assay_exec::{Exec, ExecOptions, JobContext, ObjectCache};
use assay_gpu::compiler::{
    CompileError, CompileRequest, CudaArtifact, CudaCompiler, CudaCompilerOptions, EntryArgument,
    FrontEnd, RecordedTrace, Recording, Tensor, TextFile, shown,
};
use assay_gpu::types::{BufferAddress, ElementType, KernelArg, KernelLaunch, PlanStep};
use assay_once::Once;

fn toolkit() -> Option<PathBuf> {
    let folder = std::env::var_os("ASSAY_TEST_CUDA").map(PathBuf::from);
    if folder.is_none() {
        // Past the capture of what passing tests print.
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED: no host function is recorded: ASSAY_TEST_CUDA names no CUDA toolkit"
        );
    }
    folder
}

struct Fixture {
    exec: Exec,
    caller: JobContext,
    compiler: CudaCompiler,
    arch: &'static str,
}

impl Fixture {
    /// Compiles for the default architecture; `None` if there is no toolkit.
    fn new() -> Option<Self> {
        Self::of("compute_90")
    }

    fn of(arch: &'static str) -> Option<Self> {
        let toolkit = toolkit()?;
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("record");
        let program = Path::new(env!("CARGO_BIN_EXE_assay-gpu"));
        let helper_program = program.with_file_name("assay-exec");
        assert!(helper_program.exists(), "first: cargo build -p assay-exec");
        let exec = Exec::new(ExecOptions {
            helper_program,
            cache: cache.clone(),
            toolchains: None,
            shown: shown(Some(&toolkit)),
            weaker: SandboxPart::ALL.to_vec(),
            objects: Arc::new(
                ObjectCache::open(&cache.join("objects"), 1 << 30).expect("a folder"),
            ),
        });
        let compiler = CudaCompiler::new(CudaCompilerOptions {
            toolkit: Some(toolkit),
            program: program.to_owned(),
            arch: arch.to_owned(),
            cache,
        });
        let deadline = Instant::now() + Duration::from_secs(300);
        let caller = JobContext { tenant: TenantId::generate(), deadline, latest: deadline };
        Some(Self { exec, caller, compiler, arch })
    }

    fn compile(&mut self, source: &str, entries: &[&str]) -> Result<CudaArtifact, CompileError> {
        let request = CompileRequest {
            front_end: FrontEnd::NvccHost,
            arch: self.arch.to_owned(),
            main: TextFile { path: "main.cu".to_owned(), text: source.to_owned() },
            headers: vec![],
            options: vec![],
            name_expressions: vec![],
            entries: entries.iter().map(ToString::to_string).collect(),
            cpu_ms: 0,
            memory_mib: 0,
        };
        self.compiler.compile(&mut self.exec, &self.caller, &request)
    }

    /// Compiled once for all tests, whichever comes first.
    fn shared(&mut self, source: &Source) -> CudaArtifact {
        let program = std::env::current_exe().expect("a running test has a path");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("recorded-sources");
        let once = Once::new(&folder, &program).expect("a folder");
        let toolkit = std::env::var_os("ASSAY_TEST_CUDA");
        let mut key = DefaultHasher::new();
        (source.text, source.entries, self.arch, toolkit).hash(&mut key);
        let kept = once.get(&format!("{:016x}", key.finish()), || {
            let artifact = self.compile(source.text, source.entries).expect("it compiles");
            postcard::to_stdvec(&artifact).expect("plain data")
        });
        postcard::from_bytes(&kept.expect("a file")).expect("as it was written")
    }

    /// A tensor of floats a buffer, in order, and then the numbers.
    fn record(
        &mut self,
        artifact: &CudaArtifact,
        entry: &str,
        counts: &[u64],
        numbers: &[EntryArgument],
    ) -> Result<RecordedTrace, CompileError> {
        let tensors = counts.iter().zip(0..).map(|(count, buffer)| floats(buffer, &[*count]));
        let arguments = tensors.chain(numbers.iter().cloned()).collect();
        let buffers = counts.iter().map(|count| 4 * count).collect();
        self.record_arguments(artifact, entry, buffers, arguments)
    }

    fn record_arguments(
        &mut self,
        artifact: &CudaArtifact,
        entry: &str,
        buffers: Vec<u64>,
        arguments: Vec<EntryArgument>,
    ) -> Result<RecordedTrace, CompileError> {
        let host_object = artifact.host_object.clone().expect("a host object");
        let entry = entry.to_owned();
        let recording = Recording { host_object, entry, buffers, arguments, cpu_ms: 500 };
        self.compiler.record_plan(&mut self.exec, &self.caller, &recording)
    }
}

struct Source {
    text: &'static str,
    entries: &'static [&'static str],
}

impl Source {
    const fn new(text: &'static str, entries: &'static [&'static str]) -> Self {
        Self { text, entries }
    }
}

fn floats(buffer: u32, shape: &[u64]) -> EntryArgument {
    EntryArgument::Tensor(Tensor {
        buffer,
        offset: 0,
        dtype: ElementType::Fp32,
        shape: shape.to_vec(),
    })
}

fn address(buffer: u32, offset: u64) -> KernelArg {
    KernelArg::Address(BufferAddress { buffer, offset })
}

fn bytes(bytes: &[u8]) -> KernelArg {
    KernelArg::ByValue { bytes: bytes.to_vec(), patches: vec![] }
}

fn int(number: i32) -> KernelArg {
    bytes(&number.to_le_bytes())
}

fn launches(trace: &RecordedTrace) -> Vec<&KernelLaunch> {
    assert_eq!(trace.unsupported, [""; 0], "all of it can be replayed");
    let mut found = Vec::new();
    for step in &trace.steps {
        if let PlanStep::Launch(launch) = step {
            found.push(launch);
        }
    }
    found
}
