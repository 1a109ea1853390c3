//! Compiles a source, or takes it as it is.

use std::sync::Arc;

use assay_model::id::Digest;
use assay_model::limits::EXEC_ARTIFACT_BYTES_MAX;

use super::again::{self, Look};
use super::budget::Budget;
use super::place::{Files, check_source, environment, fetch_source, pairs, with_room};
use super::probe::Tool;
use super::{Caller, CompileResult, Compiled, Error, Exec, Source};
use crate::artifact::{Artifact, Content, Loaded, Recipe};
use crate::job::{Ended, Job, JobFile, Program, Purpose};
use crate::limits::Limits;
use crate::outcome::{Captured, Ending, LimitKind};
use crate::toolchain::{Compile, Leaves, Values};

/// Where a compiler leaves a binary.
const BINARY: &str = "a.out";

impl Exec {
    /// Limits instead of the toolchain's defaults. Rejections are not kept: they are compiled anew.
    pub fn compile(
        &mut self,
        caller: &Caller,
        source: &Source,
        limits: Option<Limits>,
    ) -> Result<CompileResult, Error> {
        check_source(source)?;
        let tool = self.tool(caller, &source.toolchain)?;
        let spec = &tool.spec;
        let takes_options =
            spec.compile.as_ref().is_some_and(|compile| compile.command.names("{options}"));
        if !takes_options && !source.options.is_empty() {
            return Err(Error::BadRequest(format!("`{}` takes no options", spec.id)));
        }
        let limits = limits.unwrap_or(spec.compile_defaults()).within(&spec.ceiling());
        let recipe =
            Recipe { tenant: caller.tenant, spec, version: &tool.version, source, limits: &limits };
        let key = recipe.key();
        if let Some(loaded) = self.load(caller.tenant, key)? {
            let artifact = Artifact::new(caller.tenant, key, &loaded);
            return Ok(accepted(artifact, &loaded, true));
        }
        let files = fetch_source(&source.files, &self.options.objects)?;
        let Some(compile) = &spec.compile else {
            let files = files.iter().map(|(path, bytes)| (*path, &**bytes)).collect();
            let loaded = self.keep(&recipe, key, &Captured::default(), files)?;
            return Ok(accepted(Artifact::new(caller.tenant, key, &loaded), &loaded, false));
        };
        let ended = self.run_compiler(caller, &tool, compile, source, &files, limits)?;
        match left(compile, &ended) {
            Ok(files) => {
                let loaded = self.keep(&recipe, key, &ended.stderr, files)?;
                Ok(accepted(Artifact::new(caller.tenant, key, &loaded), &loaded, false))
            }
            Err(nothing) => Ok(self.rejected(ended, nothing)),
        }
    }

    fn run_compiler(
        &mut self,
        caller: &Caller,
        tool: &Tool,
        compile: &Compile,
        source: &Source,
        files: &Files<'_>,
        limits: Limits,
    ) -> Result<Ended, Error> {
        let prepared = self.prepared(caller, tool)?;
        let collect = leaves(compile);
        let values = Values {
            main: &source.main,
            out: collect[0],
            options: &source.options,
            prepared: prepared.as_deref(),
        };
        let job = Job {
            purpose: Purpose::Compile,
            program: Program::Path(compile.command.program()),
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
        let deadline = caller.deadline;
        let look = |ended: &Ended| match again::look(ended, &job.limits) {
            Look::Disturbed => Look::Disturbed,
            // The limit is far beyond what an honest source takes: twice would only help the others.
            Look::NearLimit | Look::Certain => Look::Certain,
        };
        let settled = again::settle(|| self.run_job(&job, deadline), look, again::better);
        settled.map(|(ended, _)| ended)
    }

    fn keep(
        &mut self,
        recipe: &Recipe<'_>,
        key: Digest,
        log: &Captured,
        files: Vec<(&str, &[u8])>,
    ) -> Result<Arc<Loaded>, Error> {
        let content = Content {
            toolchain: &recipe.spec.id,
            main: &recipe.source.main,
            log,
            binary: recipe.spec.leaves_binary(),
            files,
        };
        let kept = self.store()?.put(recipe.tenant, key, &content);
        kept.map_err(|error| Error::Unavailable(format!("an artifact cannot be kept: {error}")))
    }

    fn rejected(&self, mut ended: Ended, nothing: NothingLeft) -> CompileResult {
        match nothing {
            NothingLeft::Failed => {}
            NothingLeft::Missing(path) => {
                ended.stderr.data.extend_from_slice(
                    format!("\nthe compiler ended well and left no `{path}`\n").as_bytes(),
                );
            }
            NothingLeft::TooLarge => {
                ended.ending = Ending::Limited(LimitKind::Output);
                ended.stderr.data.extend_from_slice(
                    format!("\nthe program has more than {EXEC_ARTIFACT_BYTES_MAX} bytes\n")
                        .as_bytes(),
                );
            }
        }
        ended.files.clear();
        let log = ended.stderr.clone();
        let mut outcome = self.outcome(ended);
        Budget::new().take(&mut outcome.ended);
        CompileResult { compiled: Compiled::Rejected(outcome), cached: false, log }
    }
}

fn accepted(artifact: Artifact, loaded: &Loaded, cached: bool) -> CompileResult {
    CompileResult { compiled: Compiled::Ok(artifact), cached, log: loaded.log.clone() }
}

/// Where the compiler leaves what; never empty.
fn leaves(compile: &Compile) -> Vec<&str> {
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

/// What the compiler left, if all of it is there and whole.
fn left<'a>(compile: &Compile, ended: &'a Ended) -> Result<Vec<(&'a str, &'a [u8])>, NothingLeft> {
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
