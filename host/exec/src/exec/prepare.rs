//! What a toolchain does once a machine, such as precompiling a header.
//!
//! The files lie below `toolchains/<id>-<hash>` in the cache, which is `/toolchains` in every box. One
//! worker prepares while the others go on without; a folder has its name once it is whole. Without
//! what is prepared compilations take longer, and nothing else is different.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use sha2::{Digest as _, Sha256};

use super::place::{environment, with_room};
use super::probe::Tool;
use super::{Caller, Error, Exec};
use crate::job::{Job, JobFile, Program, Purpose};
use crate::toolchain::{Spec, Step, Values};

/// How often a caller's time may run out over it until this worker goes on without.
const CUT_SHORT_MAX: u8 = 3;
/// A folder of another version of the tool is removed when it is this old: its workers are gone, or
/// compile more slowly from now on.
const OUTDATED_AGE: Duration = Duration::from_secs(24 * 3_600);
const HASH_DIGITS: usize = 16;
/// What a compiler leaves as {out}.
const OUT: &str = "prepared.out";

/// What this worker knows of a toolchain's prepared files.
#[derive(Debug, Clone)]
pub(super) enum Prepared {
    /// The folder in every box.
    Ready(String),
    Failed,
    CutShort(u8),
}

enum Failure {
    Deadline,
    /// In words.
    Other(String),
}

impl Exec {
    /// Prepares every toolchain of this machine that needs it, which takes some seconds the first
    /// time. Not needed: a compilation prepares its own, with half of its caller's time at most.
    pub fn prepare(&mut self) {
        for (_, found) in self.probe_all() {
            if let Ok(Ok(tool)) = found {
                let limits = tool.spec.prepare.iter().map(Step::limits);
                let wall_ms: u64 = limits.map(|limits| u64::from(limits.wall_ms)).sum();
                self.look_for_prepared(&tool, Instant::now() + Duration::from_millis(wall_ms));
            }
        }
    }

    /// The folder, as boxes see it, of what the toolchain prepares.
    pub(super) fn prepared(
        &mut self,
        caller: &Caller,
        tool: &Tool,
    ) -> Result<Option<String>, Error> {
        let left = caller.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Error::Cancelled);
        }
        Ok(self.look_for_prepared(tool, Instant::now() + left / 2))
    }

    fn look_for_prepared(&mut self, tool: &Tool, deadline: Instant) -> Option<String> {
        let id = &tool.spec.id;
        let cut_short = match self.prepared.get(id) {
            Some(Prepared::Ready(folder)) => return Some(folder.clone()),
            Some(Prepared::Failed) => return None,
            Some(Prepared::CutShort(times)) => *times,
            None => 0,
        };
        if tool.spec.prepare.is_empty() {
            return None;
        }
        let state = match self.have_prepared(tool, deadline) {
            Ok(Some(name)) => Prepared::Ready(format!("/toolchains/{name}")),
            // Another worker is at it.
            Ok(None) => return None,
            Err(Failure::Deadline) if cut_short + 1 < CUT_SHORT_MAX => {
                Prepared::CutShort(cut_short + 1)
            }
            Err(failure) => {
                let reason = match failure {
                    Failure::Deadline => "there was never enough time for it".to_owned(),
                    Failure::Other(reason) => reason,
                };
                tracing::warn!(toolchain.id = id, %reason, "preparing a toolchain failed; compiling without");
                Prepared::Failed
            }
        };
        let ready = match &state {
            Prepared::Ready(folder) => Some(folder.clone()),
            _ => None,
        };
        self.prepared.insert(id.clone(), state);
        ready
    }

    /// The folder's name; none where another process is preparing.
    fn have_prepared(&mut self, tool: &Tool, deadline: Instant) -> Result<Option<String>, Failure> {
        let said = |what: &str, error: io::Error| Failure::Other(format!("{what}: {error}"));
        let name = format!("{}-{}", tool.spec.id, hash(&tool.spec, &tool.version));
        let toolchains = self.options.cache.join("toolchains");
        let folder = toolchains.join(&name);
        if folder.is_dir() {
            return Ok(Some(name));
        }
        let locks = self.options.cache.join("locks");
        fs::create_dir_all(&locks).map_err(|error| said("the folder of locks", error))?;
        let lock =
            File::create(locks.join(&tool.spec.id)).map_err(|error| said("the lock", error))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(said("the lock", error)),
        }
        // By another one, just now.
        if folder.is_dir() {
            return Ok(Some(name));
        }
        let draft = toolchains.join(format!(".{name}"));
        let started = Instant::now();
        self.fill(&draft, &tool.spec, deadline)?;
        fs::rename(&draft, &folder).map_err(|error| said("naming the folder", error))?;
        remove_outdated(&toolchains, &tool.spec.id, &name);
        tracing::info!(
            toolchain.id = tool.spec.id,
            duration_ms = started.elapsed().as_millis() as u64,
            "a toolchain was prepared"
        );
        Ok(Some(name))
    }

    fn fill(&mut self, draft: &Path, spec: &Spec, deadline: Instant) -> Result<(), Failure> {
        let written =
            |error: io::Error| Failure::Other(format!("writing {}: {error}", draft.display()));
        if draft.exists() {
            fs::remove_dir_all(draft).map_err(written)?;
        }
        make_folder(draft, Path::new("")).map_err(written)?;
        for step in &spec.prepare {
            let bytes = self.run_step(step, deadline)?;
            write(draft, Path::new(&step.out), &bytes).map_err(written)?;
        }
        Ok(())
    }

    fn run_step(&mut self, step: &Step, deadline: Instant) -> Result<Vec<u8>, Failure> {
        let failed = |problem: String| {
            Failure::Other(format!("`{}`: {problem}", step.command.words().join(" ")))
        };
        let files: Vec<JobFile<'_>> = step
            .files
            .iter()
            .map(|(path, text)| JobFile { path, bytes: text.as_bytes(), executable: false })
            .collect();
        let limits = with_room(step.limits(), files.iter().map(|file| file.bytes.len()))
            .map_err(|error| failed(error.to_string()))?;
        let job = Job {
            purpose: Purpose::Compile,
            program: Program::Path(step.command.program()),
            args: step.command.expand(&Values { out: OUT, ..Values::default() }),
            env: environment([]),
            files,
            stdin: &[],
            collect: vec![OUT.to_owned()],
            limits,
        };
        let ended = self.run_job(&job, deadline).map_err(|error| match error {
            Error::Cancelled => Failure::Deadline,
            error => failed(error.to_string()),
        })?;
        let said = String::from_utf8_lossy(&ended.stderr.data);
        if !ended.ending.is_normal() {
            let said = said.lines().next().unwrap_or_default();
            return Err(failed(format!("it ended as {:?}: {said}", ended.ending)));
        }
        match ended.files.into_iter().next() {
            Some((_, content)) if !content.truncated => Ok(content.data),
            Some(_) => Err(failed("what it left was too large: raise `disk_bytes`".to_owned())),
            None => Err(failed("it left nothing".to_owned())),
        }
    }
}

/// Of all that decides over the prepared files.
fn hash(spec: &Spec, version: &str) -> String {
    let mut hash = Sha256::new();
    let mut part = |text: &str| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    };
    part(version);
    for step in &spec.prepare {
        part(&step.command.words().len().to_string());
        step.command.words().iter().for_each(|word| part(word));
        part(&step.files.len().to_string());
        for (path, text) in &step.files {
            part(path);
            part(text);
        }
        part(&step.out);
    }
    let mut digits = hex::encode(hash.finalize());
    digits.truncate(HASH_DIGITS);
    digits
}

/// Readable for everybody, whatever this process's mask is: boxes run as other users.
fn make_folder(root: &Path, below: &Path) -> io::Result<()> {
    let folder = root.join(below);
    fs::create_dir_all(&folder)?;
    for ancestor in below.ancestors() {
        fs::set_permissions(root.join(ancestor), fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

fn write(root: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        make_folder(root, parent)?;
    }
    let mut file = File::create(root.join(path))?;
    file.write_all(bytes)?;
    file.set_permissions(fs::Permissions::from_mode(0o644))?;
    // Nobody verifies it later: it must not have its name before it is whole.
    file.sync_all()
}

/// Folders of the same toolchain, made by another version of it.
fn remove_outdated(toolchains: &Path, id: &str, name: &str) {
    let now = SystemTime::now();
    for entry in fs::read_dir(toolchains).into_iter().flatten().flatten() {
        let other = entry.file_name();
        let Some(digits) = other
            .to_str()
            .filter(|other| *other != name)
            .and_then(|other| other.strip_prefix(id)?.strip_prefix('-'))
        else {
            continue;
        };
        let hex =
            digits.len() == HASH_DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let made = entry.metadata().and_then(|meta| meta.modified());
        let old =
            made.is_ok_and(|made| now.duration_since(made).is_ok_and(|age| age > OUTDATED_AGE));
        if hex && old {
            // What cannot be removed now is tried again by the next one.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outdated_folders_go() {
        let folder = tempfile::tempdir().unwrap();
        let own = "cpp-0123456789abcdef";
        let old =
            ["cpp-0000000000000000", "cpp-x-0000000000000000", "cpp", "cpp-zzzzzzzzzzzzzzzz", own];
        for name in old.iter().chain(&["cpp-1111111111111111"]) {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        for name in old {
            let made = SystemTime::now() - Duration::from_secs(48 * 3_600);
            File::open(folder.path().join(name)).unwrap().set_modified(made).unwrap();
        }
        remove_outdated(folder.path(), "cpp", own);
        let mut left: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(
            left,
            [own, "cpp", "cpp-1111111111111111", "cpp-x-0000000000000000", "cpp-zzzzzzzzzzzzzzzz"]
                .map(str::to_owned)
                .into_iter()
                .collect::<std::collections::BTreeSet<_>>()
                .into_iter()
                .collect::<Vec<_>>()
        );
    }

    #[test]
    fn everybody_may_read_what_is_written() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), Path::new("a/b/c"), b"text").unwrap();
        let mode = |path: &str| {
            fs::metadata(folder.path().join(path)).unwrap().permissions().mode() & 0o777
        };
        assert_eq!((mode("a"), mode("a/b"), mode("a/b/c")), (0o755, 0o755, 0o644));
    }
}
