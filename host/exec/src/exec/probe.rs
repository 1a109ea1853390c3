//! Finds out in a box whether this machine has a toolchain.

use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::libc;

use super::inputs::environment;
use super::{Exec, ExecError, JobContext};
use crate::job::{BoxJob, JobEnd, JobProgram, Purpose};
use crate::limits::BoxLimits;
use crate::outcome::{Captured, LimitKind, ProgramEnding};
use crate::toolchain::{AvailableToolchain, ToolchainSpec, Values};

const VERSION_BYTES_MAX: usize = 200;
/// The time in which a tool must print its version if no caller waits for it.
const PROBE_MAX: Duration = Duration::from_secs(30);

/// A toolchain that this machine has.
pub(super) struct InstalledToolchain {
    pub spec: Arc<ToolchainSpec>,
    pub version: String,
}

/// A toolchain, or the reason why this machine does not have it.
pub(super) type ProbeResult = Result<Arc<InstalledToolchain>, String>;

impl InstalledToolchain {
    pub fn described(&self) -> AvailableToolchain {
        let spec = &self.spec;
        AvailableToolchain {
            id: spec.id.clone(),
            version: self.version.clone(),
            languages: spec.languages.clone(),
            main: spec.main.clone(),
            compiled: spec.compile.is_some(),
            compile_defaults: spec.compile_defaults(),
            run_defaults: spec.run_defaults(),
            ceiling: spec.ceiling(),
        }
    }
}

impl Exec {
    /// Every toolchain of which a file was read, with the result of looking for it.
    pub(super) fn probe_all(&mut self) -> Vec<(String, Result<ProbeResult, ExecError>)> {
        let ids = self.ids();
        let probe = |id: String| {
            let found = self.probe_soon(&id);
            (id, found)
        };
        ids.into_iter().map(probe).collect()
    }

    /// The toolchains of which a file was read.
    pub(super) fn ids(&self) -> Vec<String> {
        self.specs.keys().cloned().collect()
    }

    /// Looks for a toolchain, for some time at most.
    pub(super) fn probe_soon(&mut self, id: &str) -> Result<ProbeResult, ExecError> {
        self.probe(id, Instant::now() + PROBE_MAX)
    }

    pub(super) fn tool(
        &mut self,
        caller: &JobContext,
        id: &str,
    ) -> Result<Arc<InstalledToolchain>, ExecError> {
        if Instant::now() >= self.deadline(caller) {
            return Err(ExecError::Cancelled);
        }
        if !self.specs.contains_key(id) {
            let known: Vec<&str> = self.specs.keys().map(String::as_str).collect();
            let id: String = id.chars().take(80).collect();
            let problem = format!("`{}`; there are {}", id.escape_debug(), known.join(", "));
            return Err(ExecError::UnknownToolchain(problem));
        }
        self.probe(id, caller.latest.max(caller.deadline))?
            .map_err(|reason| ExecError::UnknownToolchain(format!("`{id}`: {reason}")))
    }

    /// Looks for a toolchain, once in a worker's life: a tool that is installed or removed meanwhile is seen
    /// by the next worker. `id` must name a toolchain whose file was read.
    fn probe(&mut self, id: &str, deadline: Instant) -> Result<ProbeResult, ExecError> {
        if let Some(known) = self.tools.get(id) {
            return Ok(known.clone());
        }
        let spec = Arc::clone(&self.specs[id]);
        let found = self
            .set_up(|exec| exec.version(&spec, deadline))?
            .map(|version| Arc::new(InstalledToolchain { spec, version }));
        if let Err(reason) = &found {
            tracing::info!(toolchain.id = id, %reason, "a toolchain is not on this machine");
        }
        self.tools.insert(id.to_owned(), found.clone());
        Ok(found)
    }

    fn version(
        &mut self,
        spec: &ToolchainSpec,
        deadline: Instant,
    ) -> Result<Result<String, String>, ExecError> {
        for path in &spec.paths {
            let there = path.try_exists().map_err(|error| {
                ExecError::Unavailable(format!("the path {}: {error}", path.display()))
            })?;
            if !there {
                return Ok(Err(format!("the path {} does not exist", path.display())));
            }
        }
        let job = BoxJob {
            purpose: Purpose::Compile,
            program: JobProgram::Path(spec.version.program()),
            args: spec.version.expand(&Values::default()),
            env: environment([]),
            files: vec![],
            stdin: &[],
            collect: vec![],
            limits: BoxLimits::COMPILE,
        };
        let ended = match self.try_job(&job, deadline)? {
            Ok(ended) => ended,
            Err(problem) => {
                return Ok(Err(format!("`{}`: {problem}", spec.version.words().join(" "))));
            }
        };
        if may_be_the_machines_doing(ended.ending) {
            return Err(too_slow(&spec.id));
        }
        Ok(first_line(&ended).ok_or_else(|| {
            format!(
                "`{}` ended as {:?}: {}",
                spec.version.words().join(" "),
                ended.ending,
                line(&ended.stderr).unwrap_or_default()
            )
        }))
    }
}

/// The error of a probe that says nothing about the tool.
pub(super) fn too_slow(id: &str) -> ExecError {
    ExecError::Unavailable(format!("`{id}` did not print its version in time"))
}

/// Whether a tool may have ended so because the machine is slow, or because somebody killed it. A tool that ends by
/// itself in any other way does so every time.
fn may_be_the_machines_doing(ending: ProgramEnding) -> bool {
    matches!(
        ending,
        ProgramEnding::Limited(LimitKind::Wall | LimitKind::Cpu)
            | ProgramEnding::Signaled(libc::SIGKILL)
    )
}

fn first_line(ended: &JobEnd) -> Option<String> {
    if !ended.ending.is_normal() {
        return None;
    }
    // Java prints its version to standard error.
    line(&ended.stdout).or_else(|| line(&ended.stderr))
}

/// The first line that is not empty.
fn line(captured: &Captured) -> Option<String> {
    let text = String::from_utf8_lossy(&captured.data[..captured.data.len().min(4_096)]);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line[..line.floor_char_boundary(VERSION_BYTES_MAX)].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Usage;

    #[test]
    fn a_tool_lacks_only_by_its_own_doing() {
        let limited = ProgramEnding::Limited;
        for ending in
            [limited(LimitKind::Wall), limited(LimitKind::Cpu), ProgramEnding::Signaled(9)]
        {
            assert!(may_be_the_machines_doing(ending), "{ending:?}");
        }
        for ending in
            [ProgramEnding::Exited(127), ProgramEnding::Signaled(11), limited(LimitKind::Memory)]
        {
            assert!(!may_be_the_machines_doing(ending), "{ending:?}");
        }
    }

    #[test]
    fn the_first_line_is_the_version() {
        let said = |ending, stdout: &str, stderr: &str| {
            let captured = |text: &str| Captured { data: text.into(), truncated: false };
            first_line(&JobEnd {
                ending,
                usage: Usage::default(),
                stdout: captured(stdout),
                stderr: captured(stderr),
                files: vec![],
            })
        };
        let ok = ProgramEnding::Exited(0);
        assert_eq!(said(ok, "\n gcc 12 \nmore", "x").as_deref(), Some("gcc 12"));
        assert_eq!(said(ok, "", "java 17\n").as_deref(), Some("java 17"));
        assert_eq!(said(ok, "", ""), None);
        assert_eq!(said(ProgramEnding::Exited(1), "gcc 12", ""), None);
        assert_eq!(said(ok, &"ä".repeat(200), ""), Some("ä".repeat(100)));
    }
}
