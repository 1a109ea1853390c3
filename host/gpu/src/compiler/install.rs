//! `assay-gpu install --to FOLDER`: a CUDA toolkit without a GPU, a driver or root's rights.
//!
//! It is put together from wheels that the package index of Python has, by the `pip` of this machine,
//! which knows its mirrors and proxies. Downloaded wheels are kept until all are there, so that a
//! second call continues where the first one stopped; the folder itself appears whole or not at all.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use assay_core::id::Digest;

/// The packages that are installed, each with its hash.
const REQUIREMENTS: &str = include_str!("../../toolchain/requirements.txt");
/// The file of an installed folder with the hash of the requirements that it was made from.
const MARKER: &str = ".assay-toolkit";
/// The folder of the wheels for the files of CUDA 13.
const INSIDE: &str = "nvidia/cu13";
/// The wheels lose which files are programs.
const PROGRAMS: [&str; 2] = ["bin", "nvvm/bin"];
/// The tags of the wheels, whatever the machine's Python is.
const PLATFORMS: [&str; 4] = [
    "manylinux_2_17_x86_64",
    "manylinux2014_x86_64",
    "manylinux_2_12_x86_64",
    "manylinux2010_x86_64",
];

/// One wheel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Requirement<'a> {
    name: &'a str,
    version: &'a str,
    sha256: &'a str,
    megabytes: &'a str,
}

/// Puts a wheel into a folder.
type Download = dyn Fn(&Requirement<'_>, &Path) -> Result<(), String>;

/// Takes the program's arguments after `install`.
#[must_use]
pub fn main(arguments: &[String]) -> ExitCode {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ["--to", folder] = words.as_slice() else {
        eprintln!("usage: assay-gpu install --to FOLDER");
        return ExitCode::FAILURE;
    };
    match install(Path::new(folder), &download) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("the CUDA toolkit was not installed: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn install(folder: &Path, download: &Download) -> Result<(), String> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Err("these wheels are for Linux on x86-64 alone".to_owned());
    }
    let hash = Digest::of(REQUIREMENTS.as_bytes()).to_string();
    let folder = std::path::absolute(folder).map_err(|error| error.to_string())?;
    let marker = fs::read_to_string(folder.join(MARKER)).ok();
    if marker.as_deref() == Some(&hash) {
        eprintln!("{} has it all already", folder.display());
        return Ok(());
    }
    if marker.is_none() && !is_empty(&folder)? {
        let folder = folder.display();
        return Err(format!("{folder} holds something else: name another folder, or remove it"));
    }
    let draft = beside(&folder, "part")?;
    let wheels = draft.join("wheels");
    fs::create_dir_all(&wheels).map_err(|error| said(&wheels, &error))?;
    let requirements = requirements(REQUIREMENTS);
    let paths = fetch(&requirements, &wheels, download)?;
    let root = draft.join("root");
    remove(&root)?;
    eprintln!("unpacking");
    paths.iter().try_for_each(|wheel| unpack(wheel, &root))?;
    let whole = root.join(INSIDE);
    for programs in PROGRAMS {
        make_executable(&whole.join(programs))?;
    }
    fs::write(whole.join(MARKER), &hash).map_err(|error| said(&whole, &error))?;
    replace(&folder, &whole)?;
    remove(&draft)?;
    eprintln!("{} is ready", folder.display());
    Ok(())
}

/// The paths of all wheels, those that were not there downloaded.
fn fetch(
    requirements: &[Requirement<'_>],
    wheels: &Path,
    download: &Download,
) -> Result<Vec<PathBuf>, String> {
    let mut paths = Vec::new();
    for (index, requirement) in requirements.iter().enumerate() {
        let Requirement { name, version, megabytes, .. } = requirement;
        let place = format!("[{}/{}]", index + 1, requirements.len());
        if let Some(path) = find(wheels, requirement)? {
            eprintln!("{place} {name} {version}: is there");
            paths.push(path);
            continue;
        }
        eprintln!("{place} {name} {version}: {megabytes} MB");
        download(requirement, wheels)?;
        let path = find(wheels, requirement)?;
        paths.push(
            path.ok_or_else(|| format!("{name} {version}: what came is not what was expected"))?,
        );
    }
    Ok(paths)
}

fn said(path: &Path, error: &io::Error) -> String {
    format!("{}: {error}", path.display())
}

/// `NAME==VERSION --hash=sha256:HASH # MEGABYTES` in each line.
fn requirements(text: &str) -> Vec<Requirement<'_>> {
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines
        .map(|line| {
            let mut words = line.split_whitespace();
            let (name, version) = words.next()?.split_once("==")?;
            let sha256 = words.next()?.strip_prefix("--hash=sha256:")?;
            let megabytes = words.nth(1)?;
            Some(Requirement { name, version, sha256, megabytes })
        })
        .collect::<Option<_>>()
        .expect("the requirements are this program's own")
}

fn is_empty(folder: &Path) -> Result<bool, String> {
    match fs::read_dir(folder) {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(said(folder, &error)),
    }
}

/// A folder of ours in the same file system: `.NAME.WHAT`.
fn beside(folder: &Path, what: &str) -> Result<PathBuf, String> {
    let name = folder.file_name().ok_or("this is not the name of a folder")?;
    Ok(folder.with_file_name(format!(".{}.{what}", name.to_string_lossy())))
}

fn remove(folder: &Path) -> Result<(), String> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(said(folder, &error)),
        _ => Ok(()),
    }
}

/// The wheel, if it is there and whole.
fn find(wheels: &Path, requirement: &Requirement<'_>) -> Result<Option<PathBuf>, String> {
    let entries = fs::read_dir(wheels).map_err(|error| said(wheels, &error))?;
    // As wheels are named.
    let start = format!("{}-{}-", requirement.name.replace('-', "_"), requirement.version);
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        if !name.is_some_and(|name| name.starts_with(&start) && name.ends_with(".whl")) {
            continue;
        }
        let bytes = fs::read(&path).map_err(|error| said(&path, &error))?;
        if Digest::of(&bytes).to_string() == requirement.sha256 {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

fn download(requirement: &Requirement<'_>, wheels: &Path) -> Result<(), String> {
    python(&["--version"], Stdio::null())?;
    python(&["-m", "pip", "--version"], Stdio::null()).map_err(|problem| {
        format!("python3 has no pip (Debian: apt install python3-pip): {problem}")
    })?;
    let Requirement { name, version, sha256, .. } = requirement;
    let list = wheels.join("requirement.txt");
    fs::write(&list, format!("{name}=={version} --hash=sha256:{sha256}\n"))
        .map_err(|error| said(&list, &error))?;
    let (list, wheels) = (list.to_string_lossy(), wheels.to_string_lossy());
    let mut words: Vec<&str> =
        "-m pip download --quiet --disable-pip-version-check --no-cache-dir \
                                --no-deps --require-hashes --only-binary=:all: \
                                --python-version 3 --implementation py --abi none"
            .split_whitespace()
            .collect();
    for platform in PLATFORMS {
        words.extend(["--platform", platform]);
    }
    words.extend(["--dest", &wheels, "--requirement", &list]);
    python(&words, Stdio::inherit()).map_err(|problem| {
        format!(
            "{name} {version} could not be downloaded; pip said why above (a mirror is named by \
             PIP_INDEX_URL, a proxy by HTTPS_PROXY): {problem}"
        )
    })
}

fn unpack(wheel: &Path, root: &Path) -> Result<(), String> {
    let (wheel, root) = (wheel.to_string_lossy(), root.to_string_lossy());
    python(&["-m", "zipfile", "-e", &wheel, &root], Stdio::inherit())
        .map_err(|problem| format!("{wheel} could not be unpacked: {problem}"))
}

fn python(words: &[&str], stderr: Stdio) -> Result<(), String> {
    let status = Command::new("python3")
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(stderr)
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("python3 ended with {status}")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err("there is no python3 (Debian: apt install python3 python3-pip)".to_owned())
        }
        Err(error) => Err(format!("python3: {error}")),
    }
}

fn make_executable(folder: &Path) -> Result<(), String> {
    let entries = fs::read_dir(folder).map_err(|error| said(folder, &error))?;
    for path in entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()) {
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))
            .map_err(|error| said(&path, &error))?;
    }
    Ok(())
}

/// Puts a folder where an empty or an older one may be.
fn replace(folder: &Path, whole: &Path) -> Result<(), String> {
    let old = beside(folder, "old")?;
    remove(&old)?;
    if folder.exists() {
        fs::rename(folder, &old).map_err(|error| said(folder, &error))?;
    }
    fs::rename(whole, folder).map_err(|error| said(folder, &error))?;
    remove(&old)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use super::*;

    #[test]
    fn requirements_are_pinned() {
        let all = requirements(REQUIREMENTS);
        assert_eq!(all.len(), 6);
        for requirement in all {
            assert!(requirement.version.starts_with("13.0."), "{requirement:?}");
            assert!(requirement.sha256.parse::<Digest>().is_ok(), "{requirement:?}");
            assert!(requirement.megabytes.parse::<u32>().is_ok(), "{requirement:?}");
        }
    }

    #[test]
    fn a_folder_that_holds_something_else_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("mine"), "x").unwrap();
        let problem = install(folder.path(), &|_, _| Ok(())).unwrap_err();
        assert!(problem.contains("holds something else"), "{problem}");
        assert_eq!(fs::read(folder.path().join("mine")).unwrap(), b"x");
    }

    #[test]
    fn what_was_installed_is_not_installed_again() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("cuda");
        fs::create_dir(&folder).unwrap();
        let hash = Digest::of(REQUIREMENTS.as_bytes()).to_string();
        fs::write(folder.join(MARKER), hash).unwrap();
        let called = |_: &Requirement<'_>, _: &Path| Err("called".to_owned());
        assert_eq!(install(&folder, &called), Ok(()));
        // A folder of an older version is replaced.
        fs::write(folder.join(MARKER), "other").unwrap();
        assert_eq!(install(&folder, &called), Err("called".to_owned()));
        assert!(folder.join(MARKER).exists(), "as long as the new one is not whole");
    }

    #[test]
    fn what_came_is_verified_and_nothing_appears_before_all_is_there() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("cuda");
        let calls = Rc::new(Cell::new(0));
        let counted = Rc::clone(&calls);
        let wrong = move |requirement: &Requirement<'_>, wheels: &Path| {
            counted.set(counted.get() + 1);
            let name = requirement.name.replace('-', "_");
            let name = format!("{name}-{}-py3-none-any.whl", requirement.version);
            fs::write(wheels.join(name), "wrong").map_err(|error| error.to_string())
        };
        let problem = install(&folder, &wrong).unwrap_err();
        assert!(problem.contains("not what was expected"), "{problem}");
        assert_eq!((calls.get(), folder.exists()), (1, false));
    }
}
