//! Compiles and runs programs for plugins: the implementation of the capability `assay:exec`.
//!
//! [`Exec`] owns the helper, the list of this machine's toolchains and the compiled programs. Whatever a
//! program does is a [`RunOutcome`]. Whatever else goes wrong is an [`ExecError`], which says nothing about
//! the program. One job runs at a time.

mod budget;
mod compile;
mod helper_life;
mod inputs;
mod judge;
mod prepare;
mod probe;
mod rerun;
mod run;
mod tool;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use assay_core::id::{Digest, TenantId};
use serde::{Deserialize, Serialize};

use crate::artifact::{ArtifactStore, LoadedProgram, ProgramArtifact, ProgramContent};
use crate::blob::{Blob, ProgramSource, SourceFile};
use crate::compare::CompareMode;
use crate::error::ExecError;
use crate::helper::{Helper, HelperError, HelperOptions, Shown};
use crate::job::{BoxJob, DialogueEnd, JobDeadline, JobEnd, Party};
use crate::limits::BoxLimits;
use crate::object_cache::ObjectCache;
use crate::outcome::Captured;
use crate::support::{BoxSupport, Refusal, SandboxPart};
use crate::toolchain::{AvailableToolchain, BadFile, ToolchainSpec, read_all};
use helper_life::HelperLife;
use prepare::PreparedFiles;
use probe::{InstalledToolchain, ProbeResult};

/// The settings of an [`Exec`].
#[derive(Debug, Clone)]
pub struct ExecOptions {
    /// The path of the program `assay-exec`.
    pub helper_program: PathBuf,
    /// The folder of compiled programs, which all workers of a machine share. Its files may be lost.
    pub cache: PathBuf,
    /// The folder with the operator's toolchain files.
    pub toolchains: Option<PathBuf>,
    /// Folders that programs may read, beyond those of the system and of the toolchains.
    pub shown: Vec<Shown>,
    /// The parts of a box that may be missing.
    pub weaker: Vec<SandboxPart>,
    /// The cache in which [`Blob::Stored`] is found.
    pub objects: Arc<ObjectCache>,
}

/// The tenant for whom a program runs, and the time by which it must have ended.
#[derive(Debug, Clone, Copy)]
pub struct JobContext {
    /// The tenant; it sees only programs that were compiled for it.
    pub tenant: TenantId,
    /// The end of the stage.
    pub deadline: Instant,
    /// The latest end of programs that are kept waiting for a core: such time puts the deadline off.
    pub latest: Instant,
}

impl From<&JobContext> for JobDeadline {
    fn from(caller: &JobContext) -> Self {
        Self { at: caller.deadline, latest: caller.latest }
    }
}

/// The end of a program's run, for a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunOutcome {
    /// The ending, usage and output.
    pub ended: JobEnd,
    /// The digest of the standard output that was kept, even if the output is not returned.
    pub stdout_sha256: Digest,
    /// The parts that its box lacked.
    pub weakened: Vec<SandboxPart>,
}

/// The end of a compilation.
#[derive(Debug)]
pub enum CompileOutcome {
    /// The program, ready to run.
    Ok(ProgramArtifact),
    /// The compiler rejected the source, reached a limit or wrote no program.
    Rejected(RunOutcome),
}

/// A compilation's outcome and log.
#[derive(Debug)]
pub struct CompileResult {
    /// The program or the rejection.
    pub compiled: CompileOutcome,
    /// Whether the program came from the cache.
    pub cached: bool,
    /// The compiler's standard error.
    pub log: Captured,
}

/// One run of a program, with the expected output.
#[derive(Debug, Clone, PartialEq)]
pub struct TestCase {
    /// The standard input.
    pub stdin: Blob,
    /// The arguments after the program's name.
    pub args: Vec<String>,
    /// Names and values of environment variables.
    pub env: Vec<(String, String)>,
    /// Files beside the program.
    pub files: Vec<SourceFile>,
    /// Paths of files to return.
    pub collect: Vec<String>,
    /// Limits in place of the batch's.
    pub limits: Option<BoxLimits>,
    /// The expected standard output, and how it is compared.
    pub expect: Option<(Blob, CompareMode)>,
}

/// Runs of one program.
#[derive(Debug, Clone, PartialEq)]
pub struct TestBatch {
    /// The runs, in order.
    pub cases: Vec<TestCase>,
    /// Limits in place of the toolchain's defaults.
    pub limits: Option<BoxLimits>,
    /// The event after which the remaining runs are skipped.
    pub stop: StopAt,
    /// Whether results contain the standard output.
    pub return_stdout: bool,
    /// Whether a run that came near its CPU limit, or exceeded it on a busy machine, is repeated once.
    pub rerun_near_limit: bool,
}

/// The run after which a batch stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum StopAt {
    /// None: every run is made.
    Never,
    /// The first that does not end with exit status 0.
    FirstAbnormal,
    /// The first that does not end with exit status 0, or whose output differs.
    FirstMismatch,
}

/// The result of the comparison with the expected output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Matched {
    /// Nothing was expected, or the program did not end with exit status 0.
    NotCompared,
    /// The output is the expected one.
    Equal,
    /// The output differs from the expected one.
    Different,
}

/// The result of one run of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseResult {
    /// The run's number in its batch, from 0.
    pub index: u32,
    /// Whether the output was the expected one.
    pub matched: Matched,
    /// The end of the run.
    pub outcome: RunOutcome,
    /// The number of times it was run: 1 or 2.
    pub attempts: u8,
}

/// The input of a program that judges another one: a checker or an interactor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgeInput {
    /// The test's input, which the program finds as the file `input`.
    pub input: Blob,
    /// The expected answer, which the program finds as the file `answer`.
    pub answer: Blob,
    /// Further files.
    pub files: Vec<SourceFile>,
    /// The arguments after the program's name.
    pub args: Vec<String>,
    /// Paths of files to return.
    pub collect: Vec<String>,
    /// Limits in place of the toolchain's defaults.
    pub limits: Option<BoxLimits>,
}

/// The ends of two programs that talked with each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dialogue {
    /// The end of the judged program.
    pub program: RunOutcome,
    /// The end of the interactor.
    pub interactor: RunOutcome,
    /// The one that ended first.
    pub first_to_end: Party,
}

/// The sandbox and toolchains of this machine, for its operator.
#[derive(Debug)]
pub struct MachineReport {
    /// The parts of the sandbox, or the reason why there is none.
    pub support: Result<BoxSupport, String>,
    /// Each toolchain's id with its version, or with the reason why it is missing. An invalid toolchain file
    /// is listed by its path.
    pub toolchains: Vec<(String, Result<String, String>)>,
}

/// Compiles and runs programs, one job at a time.
pub struct Exec {
    options: ExecOptions,
    life: HelperLife<Helper>,
    specs: BTreeMap<String, Arc<ToolchainSpec>>,
    bad_files: Vec<BadFile>,
    /// The results of looking for toolchains on this machine.
    tools: BTreeMap<String, ProbeResult>,
    prepared: BTreeMap<String, PreparedFiles>,
    store: Option<ArtifactStore>,
    /// The parts that the last job's box lacked.
    weakened: Vec<SandboxPart>,
    /// The time for which programs were held up, since it was last taken.
    held_up: HeldUp,
}

/// The time for which programs were held up, which is no fault of theirs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HeldUp {
    /// The time for which they were ready and had no core.
    pub starved: Duration,
    /// The time of Assay itself: the helper was started or failed, toolchains were looked for and prepared, stored objects
    /// and compiled programs were read and written, a GPU worked for the judge.
    pub setup: Duration,
}

impl HeldUp {
    fn total(&self) -> Duration {
        self.starved + self.setup
    }
}

impl Exec {
    /// Reads the toolchain files; starts no process.
    #[must_use]
    pub fn new(options: ExecOptions) -> Self {
        let (specs, bad_files) = read_all(options.toolchains.as_deref());
        for bad in &bad_files {
            tracing::error!(error = %bad, "a toolchain file is invalid; the toolchain is left out");
        }
        Self {
            options,
            life: HelperLife::default(),
            specs: specs.into_iter().map(|(id, spec)| (id, Arc::new(spec))).collect(),
            bad_files,
            tools: BTreeMap::new(),
            prepared: BTreeMap::new(),
            store: None,
            weakened: Vec::new(),
            held_up: HeldUp::default(),
        }
    }

    /// Looks for every toolchain; starts the helper if it is not running.
    pub fn report(&mut self) -> MachineReport {
        let support = self.support().map_err(|error| match error {
            ExecError::Unavailable(reason) => reason,
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
        MachineReport { support, toolchains }
    }

    /// The part that this machine lacks for boxes, known after the first request for a program; `None` if it lacks
    /// nothing or failed otherwise.
    #[must_use]
    pub fn lacking(&self) -> Option<&str> {
        self.life.lacking()
    }

    /// Each toolchain of which a file was read, and whether this machine is known to lack it. A toolchain whose state
    /// could not be found out is not lacking.
    pub fn known_toolchains(&self) -> impl Iterator<Item = (&str, bool)> {
        let lacks = |id: &str| matches!(self.tools.get(id), Some(Err(_)));
        self.specs.keys().map(move |id| (id.as_str(), lacks(id)))
    }

    /// Takes the time for which programs were held up since the last call.
    pub fn take_held_up(&mut self) -> HeldUp {
        std::mem::take(&mut self.held_up)
    }

    /// Those of the wanted toolchains that this machine has. An error if that could not be found out of one of them:
    /// whoever finds a toolchain missing in the list takes the request or the response for wrong.
    pub fn toolchains(
        &mut self,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Vec<AvailableToolchain>, ExecError> {
        let mut found = Vec::new();
        for id in self.ids().into_iter().filter(|id| is_wanted(id)) {
            match self.probe_soon(&id) {
                Ok(tool) => found.extend(tool.ok().map(|tool| tool.described())),
                Err(ExecError::Cancelled) => return Err(probe::too_slow(&id)),
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    /// Opens a program that a worker of this machine compiled before.
    pub fn open(&mut self, caller: &JobContext, key: &str) -> Result<ProgramArtifact, ExecError> {
        let unknown = || ExecError::UnknownArtifact(key.chars().take(80).collect());
        let digest = key.parse().map_err(|_| unknown())?;
        let loaded = self.load(caller.tenant, digest)?.ok_or_else(unknown)?;
        Ok(ProgramArtifact::new(caller.tenant, digest, &loaded))
    }

    /// A program with its toolchain and its files.
    fn ready(
        &mut self,
        caller: &JobContext,
        artifact: &ProgramArtifact,
    ) -> Result<(Arc<InstalledToolchain>, Arc<LoadedProgram>), ExecError> {
        let unknown = || ExecError::UnknownArtifact(artifact.key().to_string());
        if artifact.tenant() != caller.tenant {
            return Err(unknown());
        }
        let loaded = self.load(caller.tenant, artifact.key())?.ok_or_else(unknown)?;
        let tool = self.tool(caller, &loaded.toolchain)?;
        // The operator changed the toolchain's file since the program was compiled.
        if tool.spec.leaves_binary() != matches!(loaded.program, ProgramContent::Binary(_)) {
            return Err(unknown());
        }
        Ok((tool, loaded))
    }

    fn load(
        &mut self,
        tenant: TenantId,
        key: Digest,
    ) -> Result<Option<Arc<LoadedProgram>>, ExecError> {
        let found = self.set_up(|exec| exec.store().map(|store| store.get(tenant, key)))?;
        found.map_err(|error| {
            ExecError::Unavailable(format!("a compiled program cannot be read: {error}"))
        })
    }

    fn store(&mut self) -> Result<&mut ArtifactStore, ExecError> {
        if self.store.is_none() {
            let folder = self.options.cache.join("artifacts");
            let store = ArtifactStore::open(&folder).map_err(|error| {
                ExecError::Unavailable(format!(
                    "the folder {} cannot be used: {error}",
                    folder.display()
                ))
            })?;
            self.store = Some(store);
        }
        Ok(self.store.as_mut().expect("it was just opened"))
    }

    fn support(&mut self) -> Result<BoxSupport, ExecError> {
        self.with_helper(|helper, _| Ok(helper.support().clone()))
    }

    /// Runs a job to its end, or to the deadline.
    fn run_job(
        &mut self,
        job: &BoxJob<'_>,
        until: impl Into<JobDeadline>,
    ) -> Result<JobEnd, ExecError> {
        let until = until.into();
        self.with_helper(|helper, held_up| helper.run(job, until.put_off(held_up)))
    }

    /// As [`Exec::run_job`]; the inner error says that this machine lacks the job's program.
    fn try_job(
        &mut self,
        job: &BoxJob<'_>,
        until: Instant,
    ) -> Result<Result<JobEnd, String>, ExecError> {
        let until = JobDeadline::from(until);
        self.with_helper(|helper, held_up| match helper.run(job, until.put_off(held_up)) {
            Err(HelperError::NoProgram(problem)) => Ok(Err(problem)),
            ended => ended.map(Ok),
        })
    }

    fn talk(
        &mut self,
        program: &BoxJob<'_>,
        interactor: &BoxJob<'_>,
        until: impl Into<JobDeadline>,
    ) -> Result<DialogueEnd, ExecError> {
        let until = until.into();
        self.with_helper(|helper, held_up| helper.talk(program, interactor, until.put_off(held_up)))
    }

    /// Gives the helper a job, with the time that puts its deadline off. Only the time of a job that the helper carried
    /// out, or that reached its deadline, is the caller's.
    fn with_helper<T>(
        &mut self,
        mut job: impl FnMut(&mut Helper, Duration) -> Result<T, HelperError>,
    ) -> Result<T, ExecError> {
        let (began, before) = (Instant::now(), self.held_up);
        let (mut ran, mut starved) = (Duration::ZERO, Duration::ZERO);
        let Self { life, options, specs, weakened, .. } = self;
        life.end_if(Helper::is_orphan);
        let done = life.with(
            || start(options, specs),
            |helper| {
                *weakened = helper.support().weakened().into_iter().collect();
                let from = Instant::now();
                let done = job(helper, before.total() + from.duration_since(began));
                if matches!(done, Ok(_) | Err(HelperError::Deadline)) {
                    (ran, starved) = (from.elapsed(), helper.take_starved());
                }
                done
            },
        );
        life.end_if(Helper::is_orphan);
        self.held_up.starved += starved;
        self.held_up.setup += began.elapsed().saturating_sub(ran);
        done
    }

    /// Does what a worker does once for all callers, or waits for the disk of the caches. None of its time is the
    /// caller's.
    pub fn set_up<R>(&mut self, run: impl FnOnce(&mut Self) -> R) -> R {
        let (began, before) = (Instant::now(), self.held_up);
        let done = run(self);
        self.held_up = HeldUp { setup: before.setup + began.elapsed(), ..before };
        done
    }

    /// The caller's deadline, put off by the time for which its programs were held up.
    fn deadline(&self, caller: &JobContext) -> Instant {
        JobDeadline::from(caller).put_off(self.held_up.total()).at
    }

    fn outcome(&self, ended: JobEnd) -> RunOutcome {
        let stdout_sha256 = Digest::of(&ended.stdout.data);
        RunOutcome { ended, stdout_sha256, weakened: self.weakened.clone() }
    }
}

fn start(
    options: &ExecOptions,
    specs: &BTreeMap<String, Arc<ToolchainSpec>>,
) -> Result<Helper, HelperError> {
    let folders = [options.cache.join("boxes"), options.cache.join("toolchains")];
    for folder in &folders {
        std::fs::create_dir_all(folder).map_err(|error| {
            let problem = format!("the folder {} cannot be used: {error}", folder.display());
            HelperError::Refused(Refusal::Failed(problem))
        })?;
    }
    let [scratch, toolchains] = folders;
    let mut paths: Vec<PathBuf> = specs.values().flat_map(|spec| spec.paths.clone()).collect();
    paths.sort_unstable();
    paths.dedup();
    Helper::start(&HelperOptions {
        program: options.helper_program.clone(),
        // All helpers mount over the same folder: each sees its own mounts alone.
        scratch,
        paths,
        shown: options.shown.clone(),
        toolchains,
        weaker: options.weaker.clone(),
    })
}
