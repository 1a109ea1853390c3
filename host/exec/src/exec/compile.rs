//! Compiles a source; a source of an interpreted language is kept as it is.

use std::sync::Arc;

use assay_core::id::Digest;
use assay_core::limits::EXEC_ARTIFACT_BYTES_MAX;

use super::budget::ReturnBudget;
use super::inputs::{Files, check_source, environment, fetch_source, pairs, with_room};
use super::probe::InstalledToolchain;
use super::{CompileOutcome, CompileResult, Exec, ExecError, JobContext, ProgramSource};
use crate::artifact::{ArtifactContent, LoadedProgram, ProgramArtifact, Recipe};
use crate::job::{BoxJob, JobEnd, JobFile, JobProgram, Purpose};
use crate::limits::BoxLimits;
use crate::outcome::{Captured, LimitKind, ProgramEnding};
use crate::toolchain::{CompileSpec, Leaves, Values};

/// The file that a compiler writes a binary to.
const BINARY: &str = "a.out";

impl Exec {
    /// Compiles a source, or takes the program from the cache. `limits` replace the toolchain's defaults.
    /// Rejections are not cached.
    pub fn compile(
        &mut self,
        caller: &JobContext,
        source: &ProgramSource,
        limits: Option<BoxLimits>,
    ) -> Result<CompileResult, ExecError> {
        check_source(source)?;
        let tool = self.tool(caller, &source.toolchain)?;
        let spec = &tool.spec;
        let takes_options =
            spec.compile.as_ref().is_some_and(|compile| compile.command.names("{options}"));
        if !takes_options && !source.options.is_empty() {
            return Err(ExecError::BadRequest(format!("`{}` takes no options", spec.id)));
        }
        let limits = limits.unwrap_or(spec.compile_defaults()).within(&spec.ceiling());
        let recipe =
            Recipe { tenant: caller.tenant, spec, version: &tool.version, source, limits: &limits };
        let key = recipe.key();
        if let Some(loaded) = self.load(caller.tenant, key)? {
            let artifact = ProgramArtifact::new(caller.tenant, key, &loaded);
            return Ok(accepted(artifact, &loaded, true));
        }
        let files = self.set_up(|exec| fetch_source(&source.files, &exec.options.objects))?;
        let Some(compile) = &spec.compile else {
            let files = files.iter().map(|(path, bytes)| (*path, &**bytes)).collect();
            let loaded = self.keep(&recipe, key, &Captured::default(), files)?;
            return Ok(accepted(ProgramArtifact::new(caller.tenant, key, &loaded), &loaded, false));
        };
        let ended = self.run_compiler(caller, &tool, compile, source, &files, limits)?;
        match left(compile, &ended) {
            Ok(files) => {
                let loaded = self.keep(&recipe, key, &ended.stderr, files)?;
                Ok(accepted(ProgramArtifact::new(caller.tenant, key, &loaded), &loaded, false))
            }
            Err(nothing) => Ok(self.rejected(ended, nothing)),
        }
    }

    fn run_compiler(
        &mut self,
        caller: &JobContext,
        tool: &InstalledToolchain,
        compile: &CompileSpec,
        source: &ProgramSource,
        files: &Files<'_>,
        limits: BoxLimits,
    ) -> Result<JobEnd, ExecError> {
        let prepared = self.prepared(caller, tool)?;
        let collect = leaves(compile);
        let values = Values {
            main: &source.main,
            out: collect[0],
            options: &source.options,
            prepared: prepared.as_deref(),
        };
        let job = BoxJob {
            purpose: Purpose::Compile,
            program: JobProgram::Path(compile.command.program()),
            args: compile.command.expand(&values),
            env: environment(pairs(&compile.env)),
            files: files
                .iter()
                .map(|(path, bytes)| JobFile { path, bytes, executable: false })
                .collect(),
            stdin: &[],
            collect: collect.iter().map(ToString::to_string).collect(),
            limits: with_room(limits, files.iter().map(|(_, bytes)| bytes.len()))?,
        };
        // The CPU limit is far beyond what an honest source takes: a second run near it would not help it.
        self.run_undisturbed(&job, caller)
    }

    fn keep(
        &mut self,
        recipe: &Recipe<'_>,
        key: Digest,
        log: &Captured,
        files: Vec<(&str, &[u8])>,
    ) -> Result<Arc<LoadedProgram>, ExecError> {
        let content = ArtifactContent {
            toolchain: &recipe.spec.id,
            main: &recipe.source.main,
            log,
            binary: recipe.spec.leaves_binary(),
            files,
        };
        let kept =
            self.set_up(|exec| exec.store().map(|store| store.put(recipe.tenant, key, &content)))?;
        kept.map_err(|error| {
            ExecError::Unavailable(format!("a compiled program cannot be stored: {error}"))
        })
    }

    fn rejected(&self, mut ended: JobEnd, nothing: NothingLeft) -> CompileResult {
        match nothing {
            NothingLeft::Failed => {}
            NothingLeft::Missing(path) => {
                ended.stderr.data.extend_from_slice(
                    format!("\nthe compiler succeeded and left no `{path}`\n").as_bytes(),
                );
            }
            NothingLeft::TooLarge => {
                ended.ending = ProgramEnding::Limited(LimitKind::Output);
                ended.stderr.data.extend_from_slice(
                    format!("\nthe program has more than {EXEC_ARTIFACT_BYTES_MAX} bytes\n")
                        .as_bytes(),
                );
            }
        }
        ended.files.clear();
        let log = ended.stderr.clone();
        let mut outcome = self.outcome(ended);
        ReturnBudget::new().take(&mut outcome.ended);
        CompileResult { compiled: CompileOutcome::Rejected(outcome), cached: false, log }
    }
}

fn accepted(artifact: ProgramArtifact, loaded: &LoadedProgram, cached: bool) -> CompileResult {
    CompileResult { compiled: CompileOutcome::Ok(artifact), cached, log: loaded.log.clone() }
}

/// The files that the compiler writes; never empty.
fn leaves(compile: &CompileSpec) -> Vec<&str> {
    match compile.leaves() {
        Leaves::Binary => vec![BINARY],
        Leaves::Files(files) => files.iter().map(String::as_str).collect(),
    }
}

#[derive(Debug, PartialEq, Eq)]
enum NothingLeft {
    Failed,
    Missing(String),
    TooLarge,
}

/// The files that the compiler wrote, if all of them are there and whole.
fn left<'a>(
    compile: &CompileSpec,
    ended: &'a JobEnd,
) -> Result<Vec<(&'a str, &'a [u8])>, NothingLeft> {
    if !ended.ending.is_normal() {
        return Err(NothingLeft::Failed);
    }
    let mut bytes_left = EXEC_ARTIFACT_BYTES_MAX;
    let mut found = Vec::new();
    for wanted in leaves(compile) {
        let file = ended.files.iter().find(|(path, _)| path == wanted);
        let (path, content) = file.ok_or_else(|| NothingLeft::Missing(wanted.to_owned()))?;
        let bytes = content.data.len() as u64;
        if content.truncated || bytes > bytes_left {
            return Err(NothingLeft::TooLarge);
        }
        bytes_left -= bytes;
        found.push((path.as_str(), content.data.as_slice()));
    }
    Ok(found)
}
