//! Work that a toolchain does once per machine, such as precompiling a header.
//!
//! The files are in the folder `toolchains/<id>-<hash>` of the cache, which is `/toolchains` in every box. One
//! worker prepares them while the others compile without them; a folder gets its name when it is complete.
//! Without prepared files compilations take longer; nothing else changes.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use assay_core::limits::EXEC_COLLECTED_BYTES_MAX;
use sha2::{Digest as _, Sha256};

use super::inputs::{environment, with_room};
use super::probe::InstalledToolchain;
use super::{Exec, ExecError, JobContext};
use crate::job::{BoxJob, JobFile, JobProgram, Purpose};
use crate::toolchain::{PrepareStep, ToolchainSpec, Values};

/// The number of callers whose time may run out during preparation; then this worker compiles without.
const CUT_SHORT_MAX: u8 = 3;
/// The age at which a folder of another version of the tool is removed. Workers that still use it compile
/// more slowly from then on.
const OUTDATED_AGE: Duration = Duration::from_secs(24 * 3_600);
const HASH_DIGITS: usize = 16;
/// The file that `{out}` stands for.
const OUT: &str = "prepared.out";

/// The state of a toolchain's prepared files in this worker.
#[derive(Debug, Clone)]
pub(super) enum PreparedFiles {
    /// They are in this folder of every box.
    Ready(String),
    Failed,
    CutShort(u8),
}

enum PrepareFailure {
    Deadline,
    /// The reason in words.
    Other(String),
}

impl Exec {
    /// Prepares every toolchain of this machine that needs it, which takes some seconds the first time.
    ///
    /// A compilation prepares its own toolchain if nobody called this, in at most half of its caller's time.
    pub fn prepare(&mut self) {
        for (_, found) in self.probe_all() {
            if let Ok(Ok(tool)) = found {
                let limits = tool.spec.prepare.iter().map(PrepareStep::limits);
                let wall_ms: u64 = limits.map(|limits| u64::from(limits.wall_ms)).sum();
                self.look_for_prepared(&tool, Instant::now() + Duration::from_millis(wall_ms));
            }
        }
    }

    /// The folder of the toolchain's prepared files, as boxes see it.
    pub(super) fn prepared(
        &mut self,
        caller: &JobContext,
        tool: &InstalledToolchain,
    ) -> Result<Option<String>, ExecError> {
        let left = self.deadline(caller).saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ExecError::Cancelled);
        }
        Ok(self.set_up(|exec| exec.look_for_prepared(tool, Instant::now() + left / 2)))
    }

    fn look_for_prepared(
        &mut self,
        tool: &InstalledToolchain,
        deadline: Instant,
    ) -> Option<String> {
        let id = &tool.spec.id;
        let cut_short = match self.prepared.get(id) {
            Some(PreparedFiles::Ready(folder)) => return Some(folder.clone()),
            Some(PreparedFiles::Failed) => return None,
            Some(PreparedFiles::CutShort(times)) => *times,
            None => 0,
        };
        if tool.spec.prepare.is_empty() {
            return None;
        }
        let state = match self.have_prepared(tool, deadline) {
            Ok(Some(name)) => PreparedFiles::Ready(format!("/toolchains/{name}")),
            // Another worker is preparing.
            Ok(None) => return None,
            Err(PrepareFailure::Deadline) if cut_short + 1 < CUT_SHORT_MAX => {
                PreparedFiles::CutShort(cut_short + 1)
            }
            Err(failure) => {
                let reason = match failure {
                    PrepareFailure::Deadline => "no caller had enough time for it".to_owned(),
                    PrepareFailure::Other(reason) => reason,
                };
                tracing::warn!(toolchain.id = id, %reason, "a toolchain could not be prepared; compilations will take longer");
                PreparedFiles::Failed
            }
        };
        let ready = match &state {
            PreparedFiles::Ready(folder) => Some(folder.clone()),
            _ => None,
        };
        self.prepared.insert(id.clone(), state);
        ready
    }

    /// The folder's name; `None` while another process is preparing.
    fn have_prepared(
        &mut self,
        tool: &InstalledToolchain,
        deadline: Instant,
    ) -> Result<Option<String>, PrepareFailure> {
        let said = |what: &str, error: io::Error| PrepareFailure::Other(format!("{what}: {error}"));
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
        // Another process may have finished before this one got the lock.
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

    fn fill(
        &mut self,
        draft: &Path,
        spec: &ToolchainSpec,
        deadline: Instant,
    ) -> Result<(), PrepareFailure> {
        let written = |error: io::Error| {
            PrepareFailure::Other(format!("writing {}: {error}", draft.display()))
        };
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

    fn run_step(
        &mut self,
        step: &PrepareStep,
        deadline: Instant,
    ) -> Result<Vec<u8>, PrepareFailure> {
        let failed = |problem: String| {
            PrepareFailure::Other(format!("`{}`: {problem}", step.command.words().join(" ")))
        };
        let files: Vec<JobFile<'_>> = step
            .files
            .iter()
            .map(|(path, text)| JobFile { path, bytes: text.as_bytes(), executable: false })
            .collect();
        let limits = with_room(step.limits(), files.iter().map(|file| file.bytes.len()))
            .map_err(|error| failed(error.to_string()))?;
        let job = BoxJob {
            purpose: Purpose::Compile,
            program: JobProgram::Path(step.command.program()),
            args: step.command.expand(&Values { out: OUT, ..Values::default() }),
            env: environment([]),
            files,
            stdin: &[],
            collect: vec![OUT.to_owned()],
            limits,
        };
        let ended = self.run_job(&job, deadline).map_err(|error| match error {
            ExecError::Cancelled => PrepareFailure::Deadline,
            error => failed(error.to_string()),
        })?;
        let stderr = String::from_utf8_lossy(&ended.stderr.data);
        if !ended.ending.is_normal() {
            let line = stderr.lines().next().unwrap_or_default();
            return Err(failed(format!("it ended as {:?}: {line}", ended.ending)));
        }
        match ended.files.into_iter().next() {
            Some((_, content)) if !content.truncated => Ok(content.data),
            Some(_) => Err(failed(format!(
                "its output file is too large: raise `disk_bytes`, up to {EXEC_COLLECTED_BYTES_MAX}"
            ))),
            None => Err(failed("it wrote no output file".to_owned())),
        }
    }
}

/// The hash of everything that the prepared files depend on.
fn hash(spec: &ToolchainSpec, version: &str) -> String {
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

/// Makes a folder that every user can read, whatever this process's umask is: boxes run as other users.
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
    // The file is never verified later, so it must be complete before the folder gets its name.
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
            // The next preparation tries again.
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
