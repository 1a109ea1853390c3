//! A plugin project: a folder with `plugin.toml`, which says how its component is built and tested.

use std::collections::BTreeMap;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::SystemTime;

use anyhow::{Context as _, bail, ensure};
use assay_core::golden::{CaseFile, check_cases};
use serde::Deserialize;
use tokio::process::Command;

use super::super::engine::EngineOptions;

pub(super) const MANIFEST: &str = "plugin.toml";
/// Limit of cases and watched files; a project with more has a mistake in `watch`.
const FILES_MAX: usize = 20_000;
/// Folders within folders of golden cases.
const DEPTH_MAX: usize = 16;
/// Folders that builds write to.
const NEVER_WATCHED: [&str; 5] = ["target", ".git", "node_modules", "__pycache__", "vendor"];

/// The contents of `plugin.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    /// The build program and its arguments; it runs in the project's folder.
    build: Vec<String>,
    component: PathBuf,
    #[serde(default)]
    cases: Option<PathBuf>,
    /// Watched paths; if empty, the whole project without the folders that builds write.
    #[serde(default)]
    watch: Vec<PathBuf>,
}

/// The project or component that a verb was given.
#[derive(Debug)]
pub(crate) enum Source {
    Project(Project),
    /// A component that was built otherwise.
    Component(PathBuf),
}

#[derive(Debug)]
pub(crate) struct Project {
    folder: PathBuf,
    manifest: Manifest,
}

/// The modification time of each watched file.
pub(super) type ModificationTimes = BTreeMap<PathBuf, Option<SystemTime>>;

impl Source {
    pub(crate) fn at(path: &Path) -> anyhow::Result<Self> {
        if path.try_exists().is_ok_and(|exists| !exists) {
            bail!(
                "there is no file or folder {}: give a project's folder or a component (.wasm)",
                path.display()
            );
        }
        if path.is_file() && path.file_name().is_none_or(|name| name != MANIFEST) {
            return Ok(Self::Component(path.to_owned()));
        }
        Project::at(path).map(Self::Project)
    }

    /// Builds the component if it is a project's.
    pub(crate) async fn component(&self, engine: &EngineOptions) -> anyhow::Result<PathBuf> {
        match self {
            Self::Component(component) => Ok(component.clone()),
            Self::Project(project) => project.build(engine).await,
        }
    }

    pub(super) fn project(&self) -> Option<&Project> {
        match self {
            Self::Project(project) => Some(project),
            Self::Component(_) => None,
        }
    }
}

impl Project {
    fn at(path: &Path) -> anyhow::Result<Self> {
        let folder = if path.is_file() { path.parent().unwrap_or(path) } else { path };
        let file = folder.join(MANIFEST);
        if !file.is_file() {
            let shown = folder.display();
            bail!(
                "{shown} is not a plugin project: it has no {MANIFEST}. Give a project or a component \
                 (.wasm); `assay plugin new NAME --template rust` creates a project"
            );
        }
        let shown = file.display();
        let text = std::fs::read_to_string(&file).with_context(|| format!("reading {shown}"))?;
        let manifest: Manifest = toml::from_str(&text).with_context(|| format!("in {shown}"))?;
        ensure!(!manifest.build.is_empty(), "{shown}: `build` names no program");
        let folder = std::path::absolute(folder).context("finding the project")?;
        Ok(Self { folder, manifest })
    }

    /// Runs the build; what it prints is shown as it comes.
    pub(super) async fn build(&self, engine: &EngineOptions) -> anyhow::Result<PathBuf> {
        let [program, arguments @ ..] = &self.manifest.build[..] else {
            unreachable!("was checked as it was read")
        };
        // Standard output is the verb's own.
        let shown = std::io::stderr().as_fd().try_clone_to_owned().context("standard error")?;
        let status = Command::new(program)
            .args(arguments)
            .envs(engine.builder_environment()?)
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(shown)
            .kill_on_drop(true)
            .status()
            .await
            .with_context(|| {
                format!(
                    "cannot run `{program}`, the build program of {MANIFEST}; `assay doctor` \
                     shows what is missing on this machine"
                )
            })?;
        ensure!(status.success(), "`{}` ended with {status}", self.manifest.build.join(" "));
        let component = self.folder.join(&self.manifest.component);
        ensure!(
            component.is_file(),
            "`{}` did not create {}, the component that {MANIFEST} names",
            self.manifest.build.join(" "),
            component.display()
        );
        Ok(component)
    }

    /// The golden cases, sorted.
    pub(super) fn cases(&self) -> anyhow::Result<Vec<PathBuf>> {
        let Some(folder) = &self.manifest.cases else { return Ok(Vec::new()) };
        let folder = self.folder.join(folder);
        let mut files = Vec::new();
        let listed = find_all(&folder, 0, &mut files);
        listed.with_context(|| {
            format!("no golden cases: reading {}, which {MANIFEST} names", folder.display())
        })?;
        let is_case = |file: &PathBuf| {
            file.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
        };
        files.retain(is_case);
        files.sort();
        Ok(files)
    }

    /// The golden cases as they travel with an upload, named by their paths in the folder of cases.
    pub(super) fn case_files(&self) -> anyhow::Result<Vec<CaseFile>> {
        let folder = self.manifest.cases.as_ref().map(|cases| self.folder.join(cases));
        let read = |path: PathBuf| {
            let text = std::fs::read_to_string(&path);
            let text = text.with_context(|| format!("reading {}", path.display()))?;
            let name = folder.as_ref().and_then(|folder| path.strip_prefix(folder).ok());
            // `cases` may name one file.
            let name = name.filter(|name| !name.as_os_str().is_empty());
            let name = name.or_else(|| path.file_name().map(Path::new)).unwrap_or(&path);
            let file = name.to_str().context("a golden case's file name is not UTF-8")?;
            Ok(CaseFile { file: file.to_owned(), text })
        };
        let cases = self.cases()?.into_iter().map(read).collect::<anyhow::Result<Vec<_>>>()?;
        check_cases(&cases)?;
        Ok(cases)
    }

    /// The current state of the watched files.
    pub(super) fn look(&self) -> anyhow::Result<ModificationTimes> {
        let mut files = vec![self.folder.join(MANIFEST)];
        let watched = &self.manifest.watch;
        if watched.is_empty() {
            find(&self.folder, &mut files)?;
        }
        for path in watched {
            find(&self.folder.join(path), &mut files)?;
        }
        let changed = |file: &PathBuf| file.metadata().and_then(|it| it.modified()).ok();
        Ok(files.into_iter().map(|file| (file.clone(), changed(&file))).collect())
    }
}

/// All files below a path, through links as well; an error where one cannot be read.
fn find_all(path: &Path, depth: usize, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    ensure!(files.len() < FILES_MAX, "there are more than {FILES_MAX} files");
    // A link could lead round in a circle.
    ensure!(depth < DEPTH_MAX, "folders lie more than {DEPTH_MAX} deep");
    if !path.metadata()?.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in std::fs::read_dir(path)? {
        find_all(&entry?.path(), depth + 1, files)?;
    }
    Ok(())
}

/// All files below a path, without those that are deleted meanwhile.
fn find(path: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    ensure!(files.len() < FILES_MAX, "the project has more than {FILES_MAX} files to watch");
    if !path.is_dir() {
        if path.is_file() {
            files.push(path.to_owned());
        }
        return Ok(());
    }
    let Ok(entries) = std::fs::read_dir(path) else { return Ok(()) };
    for entry in entries.flatten() {
        let name = entry.file_name();
        // A link could lead round in a circle.
        let linked = entry.file_type().is_ok_and(|kind| kind.is_symlink());
        if !linked && !NEVER_WATCHED.iter().any(|never| name == *never) {
            find(&entry.path(), files)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_told_from_what_is_no_project() {
        let folder = tempfile::tempdir().unwrap();
        let error = Source::at(&folder.path().join("none.wasm")).unwrap_err().to_string();
        assert!(error.contains("no file or folder") && error.contains("none.wasm"), "{error}");
        let error = Source::at(folder.path()).unwrap_err().to_string();
        assert!(error.contains("is not a plugin project"), "{error}");
    }
}
