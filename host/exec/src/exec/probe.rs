//! Whether a toolchain is on this machine, found out in a box.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::place::environment;
use super::{Caller, Error, Exec};
use crate::job::{Ended, Job, Program, Purpose};
use crate::limits::Limits;
use crate::outcome::{Captured, Ending, LimitKind};
use crate::toolchain::{Spec, Toolchain, Values};

const VERSION_BYTES_MAX: usize = 200;
/// What a tool gets to say its version where no caller's time bounds it.
const PROBE_MAX: Duration = Duration::from_secs(30);

/// A toolchain that is here.
pub(super) struct Tool {
    pub spec: Arc<Spec>,
    pub version: String,
}

/// A toolchain, or why it is not here.
pub(super) type Found = Result<Arc<Tool>, String>;

impl Tool {
    pub fn described(&self) -> Toolchain {
        let spec = &self.spec;
        Toolchain {
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
    /// Every toolchain that was read, with what was found out about it.
    pub(super) fn probe_all(&mut self) -> Vec<(String, Result<Found, Error>)> {
        let ids: Vec<String> = self.specs.keys().cloned().collect();
        let probe = |id: String| {
            let found = self.probe(&id, Instant::now() + PROBE_MAX);
            (id, found)
        };
        ids.into_iter().map(probe).collect()
    }

    pub(super) fn tool(&mut self, caller: &Caller, id: &str) -> Result<Arc<Tool>, Error> {
        if Instant::now() >= caller.deadline {
            return Err(Error::Cancelled);
        }
        if !self.specs.contains_key(id) {
            let known: Vec<&str> = self.specs.keys().map(String::as_str).collect();
            let id: String = id.chars().take(80).collect();
            let problem = format!("`{}`; there are {}", id.escape_debug(), known.join(", "));
            return Err(Error::UnknownToolchain(problem));
        }
        self.probe(id, caller.deadline)?
            .map_err(|reason| Error::UnknownToolchain(format!("`{id}`: {reason}")))
    }

    /// The toolchain, or why it is not here. Asked once: a tool that comes or goes is seen by the next
    /// worker. `id` must be one of those that were read.
    fn probe(&mut self, id: &str, deadline: Instant) -> Result<Found, Error> {
        if let Some(known) = self.tools.get(id) {
            return Ok(known.clone());
        }
        let spec = Arc::clone(&self.specs[id]);
        let found = self.version(&spec, deadline)?.map(|version| Arc::new(Tool { spec, version }));
        if let Err(reason) = &found {
            tracing::info!(toolchain.id = id, %reason, "a toolchain is not on this machine");
        }
        self.tools.insert(id.to_owned(), found.clone());
        Ok(found)
    }

    fn version(&mut self, spec: &Spec, deadline: Instant) -> Result<Result<String, String>, Error> {
        if let Some(path) = spec.paths.iter().find(|path| !path.exists()) {
            return Ok(Err(format!("the path {} does not exist", path.display())));
        }
        let job = Job {
            purpose: Purpose::Compile,
            program: Program::Path(spec.version.program()),
            args: spec.version.expand(&Values::default()),
            env: environment([]),
            files: vec![],
            stdin: &[],
            collect: vec![],
            limits: Limits::COMPILE,
        };
        let ended = self.run_job(&job, deadline)?;
        if ended.ending == Ending::Limited(LimitKind::Wall) {
            // Says more of the machine than of the tool.
            return Err(Error::Unavailable(format!(
                "`{}` did not say its version in time",
                spec.id
            )));
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

fn first_line(ended: &Ended) -> Option<String> {
    if !ended.ending.is_normal() {
        return None;
    }
    // Java's goes to standard error.
    line(&ended.stdout).or_else(|| line(&ended.stderr))
}

/// The first line that is not empty.
fn line(captured: &Captured) -> Option<String> {
    let text = String::from_utf8_lossy(&captured.data[..captured.data.len().min(4_096)]);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let mut end = line.len().min(VERSION_BYTES_MAX);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    Some(line[..end].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Usage;

    #[test]
    fn the_first_line_is_the_version() {
        let said = |ending, stdout: &str, stderr: &str| {
            let captured = |text: &str| Captured { data: text.into(), truncated: false };
            first_line(&Ended {
                ending,
                usage: Usage::default(),
                stdout: captured(stdout),
                stderr: captured(stderr),
                files: vec![],
            })
        };
        let ok = Ending::Exited(0);
        assert_eq!(said(ok, "\n gcc 12 \nmore", "x").as_deref(), Some("gcc 12"));
        assert_eq!(said(ok, "", "java 17\n").as_deref(), Some("java 17"));
        assert_eq!(said(ok, "", ""), None);
        assert_eq!(said(Ending::Exited(1), "gcc 12", ""), None);
        assert_eq!(said(ok, &"ä".repeat(200), ""), Some("ä".repeat(100)));
    }
}
