//! Programs by the whole way, from source to outcome: real compilers in real boxes.

mod compile;
mod judge;
mod run;
mod setup;
mod toolchains;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use assay_core::id::TenantId;
use assay_exec::limits::BoxLimits;
use assay_exec::outcome::{Captured, ProgramEnding};
use assay_exec::support::SandboxPart;
use assay_exec::{
    Blob, CompileOutcome, CompileResult, Exec, ExecError, ExecOptions, JobContext, ObjectCache,
    ProgramArtifact, ProgramSource, RunOutcome, SourceFile, StopAt, TestBatch, TestCase,
};

/// A worker's end with a tenant of its own, over the cache that all tests share: what is prepared
/// there takes seconds.
struct Fixture {
    exec: Exec,
    caller: JobContext,
    objects: Arc<ObjectCache>,
}

fn shared_cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs")
}

fn options(cache: &Path) -> ExecOptions {
    ExecOptions {
        helper_program: env!("CARGO_BIN_EXE_assay-exec").into(),
        cache: cache.to_owned(),
        toolchains: None,
        shown: Vec::new(),
        weaker: SandboxPart::ALL.to_vec(),
        objects: Arc::new(ObjectCache::open(&cache.join("objects"), 1 << 30).expect("a folder")),
    }
}

fn caller() -> JobContext {
    let deadline = Instant::now() + Duration::from_secs(120);
    JobContext { tenant: TenantId::generate(), deadline, latest: deadline }
}

impl Fixture {
    fn new() -> Self {
        Self::over(options(&shared_cache()))
    }

    fn over(options: ExecOptions) -> Self {
        let objects = Arc::clone(&options.objects);
        Self { exec: Exec::new(options), caller: caller(), objects }
    }

    fn compile(&mut self, toolchain: &str, text: &str) -> Result<CompileResult, ExecError> {
        self.exec.compile(&self.caller, &source(toolchain, text), None)
    }

    fn program(&mut self, toolchain: &str, text: &str) -> ProgramArtifact {
        accepted(self.compile(toolchain, text).expect("a box"))
    }

    /// One run without expectations.
    fn run_once(&mut self, program: &ProgramArtifact, case: TestCase) -> RunOutcome {
        let mut results = self.exec.run(&self.caller, program, &batch(vec![case])).expect("a box");
        assert_eq!(results.len(), 1);
        results.remove(0).outcome
    }
}

fn accepted(result: CompileResult) -> ProgramArtifact {
    match result.compiled {
        CompileOutcome::Ok(artifact) => artifact,
        CompileOutcome::Rejected(outcome) => panic!("rejected: {}", text(&outcome.ended.stderr)),
    }
}

fn main_file(toolchain: &str) -> &'static str {
    match toolchain {
        "c11-gcc" => "main.c",
        "cpython-3" => "main.py",
        _ => "main.cpp",
    }
}

fn file(path: &str, text: &str) -> SourceFile {
    SourceFile { path: path.into(), content: Blob::Inline(text.into()) }
}

fn source(toolchain: &str, text: &str) -> ProgramSource {
    let main = main_file(toolchain);
    ProgramSource {
        toolchain: toolchain.into(),
        files: vec![file(main, text)],
        main: main.into(),
        options: vec![],
    }
}

fn case(stdin: &str) -> TestCase {
    TestCase {
        stdin: Blob::Inline(stdin.into()),
        args: vec![],
        env: vec![],
        files: vec![],
        collect: vec![],
        limits: None,
        expect: None,
    }
}

fn batch(cases: Vec<TestCase>) -> TestBatch {
    TestBatch {
        cases,
        limits: None,
        stop: StopAt::Never,
        return_stdout: true,
        rerun_near_limit: false,
    }
}

fn text(captured: &Captured) -> String {
    String::from_utf8_lossy(&captured.data).into_owned()
}

fn quick(cpu_ms: u32) -> Option<BoxLimits> {
    Some(BoxLimits { cpu_ms, wall_ms: 0, ..BoxLimits::RUN })
}

const OK: ProgramEnding = ProgramEnding::Exited(0);
