//! A judge of submissions as a worker has it: compiles and runs in boxes, with a cache.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use assay_core::id::TenantId;
use assay_exec::{
    Blob, CaseResult, CompileOutcome, Exec, ExecError, ExecOptions, JobContext, ObjectCache,
    ProgramArtifact, ProgramSource, SourceFile, TestBatch,
};

/// The time limit of one call; far beyond the time that it takes on the busiest machine.
const CALL_MAX: Duration = Duration::from_secs(120);
const OBJECTS_BYTES_MAX: u64 = 64 << 20;

pub(crate) struct Judge {
    exec: Exec,
    tenant: TenantId,
}

/// A source of one file.
pub(crate) struct Submission<'a> {
    pub(crate) toolchain: &'a str,
    pub(crate) file: &'a str,
    pub(crate) text: &'a str,
}

pub(crate) struct CompiledProgram {
    pub(crate) artifact: ProgramArtifact,
    /// Whether nothing had to be compiled.
    pub(crate) cached: bool,
}

impl Judge {
    /// Judges with the same folder share what they compile, for the same tenant.
    pub(crate) fn new(helper_program: &Path, folder: &Path, tenant: TenantId) -> Result<Self> {
        let objects = folder.join("objects");
        fs::create_dir_all(&objects)?;
        let exec = Exec::new(ExecOptions {
            helper_program: helper_program.to_owned(),
            cache: folder.to_owned(),
            toolchains: None,
            shown: Vec::new(),
            weaker: Vec::new(),
            objects: Arc::new(ObjectCache::open(&objects, OBJECTS_BYTES_MAX)?),
        });
        Ok(Self { exec, tenant })
    }

    /// The toolchains that this machine has; the helper is started to see.
    pub(crate) fn toolchains(&mut self) -> Result<Vec<String>> {
        let report = self.exec.report();
        if let Err(reason) = report.support {
            bail!("this machine boxes nothing: {reason}");
        }
        let found = report.toolchains.into_iter().filter(|(_, found)| found.is_ok());
        Ok(found.map(|(id, _)| id).collect())
    }

    /// An error where the compiler says no: the benchmark's submissions are good.
    pub(crate) fn compile(&mut self, submission: &Submission<'_>) -> Result<CompiledProgram> {
        let content = Blob::Inline(submission.text.as_bytes().to_vec());
        let source = ProgramSource {
            toolchain: submission.toolchain.to_owned(),
            files: vec![SourceFile { path: submission.file.to_owned(), content }],
            main: submission.file.to_owned(),
            options: Vec::new(),
        };
        let result = self.exec.compile(&self.caller(), &source, None)?;
        match result.compiled {
            CompileOutcome::Ok(artifact) => Ok(CompiledProgram { artifact, cached: result.cached }),
            CompileOutcome::Rejected(_) => bail!("{}", String::from_utf8_lossy(&result.log.data)),
        }
    }

    pub(crate) fn run(
        &mut self,
        program: &ProgramArtifact,
        batch: &TestBatch,
    ) -> Result<Vec<CaseResult>, ExecError> {
        self.exec.run(&self.caller(), program, batch)
    }

    fn caller(&self) -> JobContext {
        let deadline = Instant::now() + CALL_MAX;
        JobContext { tenant: self.tenant, deadline, latest: deadline }
    }
}
