//! Compiles and runs programs for plugins: what the capability `assay:exec` is bound to.
//!
//! Owns the helper's life, the toolchains that this machine has and the artifacts. Whatever a program
//! does is an [`Outcome`]; whatever goes wrong around it is an [`Error`], and none of these says
//! anything about the program. One job runs at a time.

mod again;
mod budget;
mod compile;
mod judge;
mod life;
mod place;
mod prepare;
mod probe;
mod run;
mod tool;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use assay_model::id::{Digest, TenantId};
use serde::{Deserialize, Serialize};

use crate::artifact::{Artifact, Loaded, Program, Store};
use crate::blob::{Blob, SourceFile, sha256};
use crate::cache::Cache;
use crate::compare::Compare;
use crate::helper::{Helper, Lost, Options, Shown};
use crate::job::{Ended, Job, Party, Talked};
use crate::limits::Limits;
use crate::outcome::Captured;
use crate::support::{Part, Support};
use crate::toolchain::{BadFile, Spec, Toolchain, read_all};
use life::Life;
use prepare::Prepared;
use probe::{Found, Tool};

#[derive(Debug, Clone)]
pub struct ExecOptions {
    /// The program `assay-exec`.
    pub helper_program: PathBuf,
    /// A folder that all workers of a machine share; what lies in it may be lost.
    pub cache: PathBuf,
    /// A folder with the operator's toolchains.
    pub toolchains: Option<PathBuf>,
    /// What programs may read of this machine, beyond the system's own and their toolchains'.
    pub shown: Vec<Shown>,
    /// What boxes may lack.
    pub weaker: Vec<Part>,
    /// Where [`Blob::Stored`] lies.
    pub objects: Arc<Cache>,
}

/// For whom a program runs, and until when at most.
#[derive(Debug, Clone, Copy)]
pub struct Caller {
    pub tenant: TenantId,
    pub deadline: Instant,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    pub toolchain: String,
    pub files: Vec<SourceFile>,
    /// The file among them that is compiled or run.
    pub main: String,
    /// Added to the compiler's.
    pub options: Vec<String>,
}

/// How a program ended, for a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub ended: Ended,
    /// Of what was kept, also where it is not returned.
    pub stdout_sha256: Digest,
    /// What its box lacked.
    pub weakened: Vec<Part>,
}

#[derive(Debug)]
pub enum Compiled {
    Ok(Artifact),
    /// The compiler said no, met a limit or left nothing.
    Rejected(Outcome),
}

#[derive(Debug)]
pub struct CompileResult {
    pub compiled: Compiled,
    /// Nothing was run.
    pub cached: bool,
    /// What the compiler wrote to standard error.
    pub log: Captured,
}

#[derive(Debug, Clone, PartialEq)]
pub struct TestCase {
    pub stdin: Blob,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    pub files: Vec<SourceFile>,
    /// Files to return.
    pub collect: Vec<String>,
    /// Instead of the batch's.
    pub limits: Option<Limits>,
    pub expect: Option<(Blob, Compare)>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    pub cases: Vec<TestCase>,
    /// Instead of the toolchain's defaults.
    pub limits: Option<Limits>,
    pub stop: StopAt,
    pub return_stdout: bool,
    /// Run again, once, what came near its CPU limit, or over it on a busy machine.
    pub rerun_near_limit: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum StopAt {
    Never,
    /// After the first end that is not exit status 0.
    FirstAbnormal,
    /// After that, or the first output that differs.
    FirstMismatch,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Matched {
    /// Nothing was expected, or the program did not end with exit status 0.
    NotCompared,
    Equal,
    Different,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseResult {
    pub index: u32,
    pub matched: Matched,
    pub outcome: Outcome,
    pub attempts: u8,
}

/// What a program gets that judges another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judging {
    /// As the file `input`.
    pub input: Blob,
    /// As the file `answer`.
    pub answer: Blob,
    pub files: Vec<SourceFile>,
    pub args: Vec<String>,
    pub collect: Vec<String>,
    pub limits: Option<Limits>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dialogue {
    pub program: Outcome,
    pub interactor: Outcome,
    pub first_to_end: Party,
}

/// Nothing was learnt about a program; none of these is a verdict.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("no such toolchain: {0}")]
    UnknownToolchain(String),
    /// Not here (any more), or another tenant's: to be compiled again.
    #[error("no such artifact: {0}")]
    UnknownArtifact(String),
    #[error("no such object: {0}")]
    MissingBlob(String),
    #[error("bad request: {0}")]
    BadRequest(String),
    #[error("the stage's time is over")]
    Cancelled,
    #[error("programs cannot be run: {0}")]
    Unavailable(String),
}

/// What this machine has, for its operator.
#[derive(Debug)]
pub struct Report {
    pub support: Result<Support, String>,
    /// Each with its version, or why it is not there. A file that makes no sense stands here by its
    /// path.
    pub toolchains: Vec<(String, Result<String, String>)>,
}

pub struct Exec {
    options: ExecOptions,
    life: Life<Helper>,
    specs: BTreeMap<String, Arc<Spec>>,
    bad_files: Vec<BadFile>,
    /// Those that were looked for.
    tools: BTreeMap<String, Found>,
    prepared: BTreeMap<String, Prepared>,
    store: Option<Store>,
    /// What the box of the last job lacked.
    weakened: Vec<Part>,
}

impl Exec {
    /// Reads the toolchains' files and starts nothing.
    #[must_use]
    pub fn new(options: ExecOptions) -> Self {
        let (specs, bad_files) = read_all(options.toolchains.as_deref());
        for bad in &bad_files {
            tracing::error!(error = %bad, "a toolchain's file makes no sense; it is left out");
        }
        Self {
            options,
            life: Life::default(),
            specs: specs.into_iter().map(|(id, spec)| (id, Arc::new(spec))).collect(),
            bad_files,
            tools: BTreeMap::new(),
            prepared: BTreeMap::new(),
            store: None,
            weakened: Vec::new(),
        }
    }

    /// Starts the helper if need be and looks for every toolchain.
    pub fn report(&mut self) -> Report {
        let support = self.support().map_err(|error| match error {
            Error::Unavailable(reason) => reason,
            other => other.to_string(),
        });
        let mut toolchains: Vec<_> =
            self.bad_files.iter().map(|bad| (bad.file.clone(), Err(bad.problem.clone()))).collect();
        for (id, found) in self.probe_all() {
            let version = match found {
                Ok(found) => found.map(|tool| tool.version.clone()),
                Err(error) => Err(error.to_string()),
            };
            toolchains.push((id, version));
        }
        Report { support, toolchains }
    }

    /// Those that this machine has; none where no box can be had.
    pub fn toolchains(&mut self) -> Vec<Toolchain> {
        let found = self.probe_all().into_iter().filter_map(|(_, found)| found.ok()?.ok());
        found.map(|tool| tool.described()).collect()
    }

    /// Opens again what was compiled before, by this worker or another one of its machine.
    pub fn open(&mut self, caller: &Caller, key: &str) -> Result<Artifact, Error> {
        let unknown = || Error::UnknownArtifact(key.chars().take(80).collect());
        let digest = key.parse().map_err(|_| unknown())?;
        let loaded = self.load(caller.tenant, digest)?.ok_or_else(unknown)?;
        Ok(Artifact::new(caller.tenant, digest, &loaded))
    }

    /// An artifact with all that is needed to run it.
    fn ready(
        &mut self,
        caller: &Caller,
        artifact: &Artifact,
    ) -> Result<(Arc<Tool>, Arc<Loaded>), Error> {
        let unknown = || Error::UnknownArtifact(artifact.key().to_string());
        if artifact.tenant() != caller.tenant {
            return Err(unknown());
        }
        let loaded = self.load(caller.tenant, artifact.key())?.ok_or_else(unknown)?;
        let tool = self.tool(caller, &loaded.toolchain)?;
        // Made by a toolchain whose file has been changed since.
        if tool.spec.leaves_binary() != matches!(loaded.program, Program::Binary(_)) {
            return Err(unknown());
        }
        Ok((tool, loaded))
    }

    fn load(&mut self, tenant: TenantId, key: Digest) -> Result<Option<Arc<Loaded>>, Error> {
        let found = self.store()?.get(tenant, key);
        found.map_err(|error| Error::Unavailable(format!("an artifact cannot be read: {error}")))
    }

    fn store(&mut self) -> Result<&mut Store, Error> {
        if self.store.is_none() {
            let folder = self.options.cache.join("artifacts");
            let store = Store::open(&folder).map_err(|error| {
                Error::Unavailable(format!("the folder {}: {error}", folder.display()))
            })?;
            self.store = Some(store);
        }
        Ok(self.store.as_mut().expect("it was just opened"))
    }

    fn support(&mut self) -> Result<Support, Error> {
        self.with_helper(|helper| Ok(helper.support().clone()))
    }

    /// Runs a job to its end, or to the deadline.
    fn run_job(&mut self, job: &Job<'_>, deadline: Instant) -> Result<Ended, Error> {
        self.with_helper(|helper| helper.run(job, deadline))
    }

    fn talk(
        &mut self,
        program: &Job<'_>,
        interactor: &Job<'_>,
        deadline: Instant,
    ) -> Result<Talked, Error> {
        self.with_helper(|helper| helper.talk(program, interactor, deadline))
    }

    fn with_helper<T>(
        &mut self,
        mut job: impl FnMut(&mut Helper) -> Result<T, Lost>,
    ) -> Result<T, Error> {
        let Self { life, options, specs, weakened, .. } = self;
        life.with(
            || start(options, specs),
            |helper| {
                *weakened = helper.support().weakened().into_iter().collect();
                job(helper)
            },
        )
    }

    fn outcome(&self, ended: Ended) -> Outcome {
        let stdout_sha256 = sha256(&ended.stdout.data);
        Outcome { ended, stdout_sha256, weakened: self.weakened.clone() }
    }
}

fn start(options: &ExecOptions, specs: &BTreeMap<String, Arc<Spec>>) -> Result<Helper, Lost> {
    let folders = [options.cache.join("boxes"), options.cache.join("toolchains")];
    for folder in &folders {
        std::fs::create_dir_all(folder)
            .map_err(|error| Lost::Refused(format!("the folder {}: {error}", folder.display())))?;
    }
    let [scratch, toolchains] = folders;
    let mut paths: Vec<PathBuf> = specs.values().flat_map(|spec| spec.paths.clone()).collect();
    paths.sort_unstable();
    paths.dedup();
    Helper::start(&Options {
        program: options.helper_program.clone(),
        // All helpers build their worlds over the same folder: each sees its own mounts alone.
        scratch,
        paths,
        shown: options.shown.clone(),
        toolchains,
        weaker: options.weaker.clone(),
    })
}
