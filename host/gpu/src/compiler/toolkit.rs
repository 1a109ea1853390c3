//! A CUDA toolkit on this machine: what `assay-gpu install` leaves, or NVIDIA's own installation.
//!
//! Looked at by its files; nothing is run.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use assay_exec::Shown;

use super::{CompileError, FrontEnd};

/// nvcc has it preprocess and compile what is the host's.
pub(super) const HOST_COMPILER: &str = "/usr/bin/g++";
/// The folder in which boxes see the toolkit, independent of its path on the machine.
const IN_BOX: &str = "/cuda";

/// Paths are those of the box.
#[derive(Debug)]
pub(crate) struct Installed {
    /// The folder on the machine.
    folder: PathBuf,
    /// The version, such as `13.0`.
    pub version: String,
    /// Differs where what comes out may differ.
    pub identity: String,
    /// `-I` for these, in this order.
    pub includes: Vec<PathBuf>,
    pub nvrtc: Result<Libraries, String>,
    /// The program `nvcc`.
    pub nvcc: Result<PathBuf, String>,
}

/// To be loaded in this order: the second does not know where the first lies.
#[derive(Debug)]
pub(crate) struct Libraries {
    pub builtins: PathBuf,
    pub nvrtc: PathBuf,
}

/// The folders that boxes must see to compile with a toolkit.
#[must_use]
pub fn shown(toolkit: Option<&Path>) -> Vec<Shown> {
    let folder = toolkit.and_then(|folder| folder.canonicalize().ok());
    folder.into_iter().map(|path| Shown { path, at: IN_BOX.into() }).collect()
}

pub(super) fn find(folder: Option<&Path>) -> Result<Installed, CompileError> {
    let folder = folder.ok_or_else(|| {
        CompileError::NoToolkit(
            "there is no CUDA toolkit: run `assay gpu install-toolchain`, or name an installed one's \
             folder by `--cuda` or CUDA_HOME"
                .to_owned(),
        )
    })?;
    let problem_of = |problem: String| {
        format!(
            "the CUDA toolkit {}: {problem}; run `assay gpu install-toolchain`, or name another \
             folder by `--cuda` or CUDA_HOME",
            folder.display()
        )
    };
    let unusable = |problem: String| CompileError::NoToolkit(problem_of(problem));
    let unread = |what: &str, error: std::io::Error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => unusable(format!("{what}{error}")),
        _ => CompileError::Unavailable(problem_of(format!("{what}{error}"))),
    };
    let found = folder.canonicalize().map_err(|error| unread("", error))?;
    let header = found.join("include/cuda_runtime_api.h");
    let text = fs::read_to_string(&header)
        .map_err(|error| unread("include/cuda_runtime_api.h: ", error))?;
    let version = version(&text)
        .ok_or_else(|| unusable("include/cuda_runtime_api.h names no version".to_owned()))?;
    let includes = ["include", "include/cccl"].into_iter();
    let includes = includes.filter(|path| found.join(path).is_dir());
    let (nvrtc, nvcc) = (libraries(&found, &version), nvcc(&found));
    let installed = Installed {
        identity: identity(&version, nvrtc.as_ref().ok(), nvcc.as_deref().ok()),
        nvrtc: nvrtc.and_then(|Libraries { builtins, nvrtc }| {
            let [builtins, nvrtc] = [builtins, nvrtc].map(|path| in_box(&found, &path));
            Ok(Libraries { builtins: builtins?, nvrtc: nvrtc? })
        }),
        nvcc: nvcc.and_then(|path| in_box(&found, &path)),
        includes: includes.map(|path| Path::new(IN_BOX).join(path)).collect(),
        version,
        folder: found,
    };
    match (&installed.nvrtc, &installed.nvcc) {
        (Err(nvrtc), Err(nvcc)) => Err(unusable(format!("{nvrtc}, and {nvcc}"))),
        _ => Ok(installed),
    }
}

impl Installed {
    pub fn front_ends(&self) -> Vec<FrontEnd> {
        let nvrtc = self.nvrtc.iter().map(|_| FrontEnd::Nvrtc);
        let nvcc = self.nvcc.iter().flat_map(|_| [FrontEnd::NvccDevice, FrontEnd::NvccHost]);
        nvrtc.chain(nvcc).collect()
    }

    /// That this front-end is here.
    pub fn needs(&self, front_end: FrontEnd) -> Result<(), CompileError> {
        match front_end {
            FrontEnd::Nvrtc => self.libraries().map(|_| ()),
            FrontEnd::NvccDevice | FrontEnd::NvccHost => self.driver().map(|_| ()),
        }
    }

    pub fn libraries(&self) -> Result<&Libraries, CompileError> {
        self.nvrtc.as_ref().map_err(|problem| self.lacks(problem))
    }

    /// The path of nvcc.
    pub fn driver(&self) -> Result<&str, CompileError> {
        let path = self.nvcc.as_deref().map_err(|problem| self.lacks(problem))?;
        path.to_str().ok_or_else(|| self.lacks("its path is not written in UTF-8"))
    }

    fn lacks(&self, problem: &str) -> CompileError {
        CompileError::NoToolkit(format!("the CUDA toolkit {}: {problem}", self.folder.display()))
    }
}

fn identity(version: &str, nvrtc: Option<&Libraries>, nvcc: Option<&Path>) -> String {
    let of = |path: &Path| match path.metadata() {
        Ok(meta) => {
            let changed = meta.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
            format!("{} {}", meta.len(), changed.unwrap_or_default().as_nanos())
        }
        Err(_) => String::new(),
    };
    let nvrtc = nvrtc.map(|libraries| of(&libraries.nvrtc)).unwrap_or_default();
    let nvcc = nvcc.map(of).unwrap_or_default();
    format!("{version} {nvrtc} {nvcc} {}", of(Path::new(HOST_COMPILER)))
}

/// The path in a box of a file in the toolkit's folder.
fn in_box(folder: &Path, path: &Path) -> Result<PathBuf, String> {
    let inside = path.strip_prefix(folder);
    let inside = inside.map_err(|_| format!("{} lies outside of it", path.display()))?;
    Ok(Path::new(IN_BOX).join(inside))
}

/// 13.0 of `#define CUDART_VERSION  13000`.
fn version(header: &str) -> Option<String> {
    let line = header.lines().find(|line| line.starts_with("#define CUDART_VERSION"))?;
    let number: u32 = line.split_whitespace().nth(2)?.parse().ok()?;
    Some(format!("{}.{}", number / 1_000, number % 1_000 / 10))
}

fn libraries(folder: &Path, version: &str) -> Result<Libraries, String> {
    let major = version.split('.').next().unwrap_or(version);
    for lib in ["lib64", "lib", "targets/x86_64-linux/lib"] {
        let lib = folder.join(lib);
        let nvrtc = lib.join(format!("libnvrtc.so.{major}"));
        let builtins = lib.join(format!("libnvrtc-builtins.so.{version}"));
        // Without links, so that none leads out of what boxes are shown.
        if let (Ok(nvrtc), Ok(builtins)) = (nvrtc.canonicalize(), builtins.canonicalize()) {
            return Ok(Libraries { builtins, nvrtc });
        }
    }
    Err(format!("it has no libnvrtc.so.{major} with libnvrtc-builtins.so.{version}"))
}

fn nvcc(folder: &Path) -> Result<PathBuf, String> {
    for program in ["bin/nvcc", "bin/cudafe++", "bin/ptxas", "bin/fatbinary", "nvvm/bin/cicc"] {
        let mode = folder.join(program).metadata().map(|meta| meta.permissions().mode());
        match mode {
            Ok(mode) if mode & 0o111 != 0 => {}
            Ok(_) => return Err(format!("{program} may not be executed")),
            Err(_) => return Err(format!("it has no {program}")),
        }
    }
    if !Path::new(HOST_COMPILER).exists() {
        return Err(format!("nvcc needs {HOST_COMPILER}: install the package g++"));
    }
    Ok(folder.join("bin/nvcc"))
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    fn put(folder: &Path, path: &str, text: &str, mode: u32) {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        File::open(&path).unwrap().set_permissions(fs::Permissions::from_mode(mode)).unwrap();
    }

    fn problem(folder: Option<&Path>) -> String {
        match find(folder) {
            Err(CompileError::NoToolkit(problem)) => problem,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_there_is_found_and_what_is_missing_is_named() {
        assert!(problem(None).contains("install-toolchain"));
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        assert!(problem(Some(root)).contains("cuda_runtime_api.h"));
        put(root, "include/cuda_runtime_api.h", "x\n#define CUDART_VERSION  13020\n", 0o644);
        let said = problem(Some(root));
        assert!(said.contains("libnvrtc.so.13") && said.contains("bin/nvcc"), "{said}");
        put(root, "lib/libnvrtc.so.13", "", 0o644);
        put(root, "lib/libnvrtc-builtins.so.13.0", "", 0o644);
        assert!(problem(Some(root)).contains("libnvrtc-builtins.so.13.2"));
        put(root, "lib/libnvrtc-builtins.so.13.2", "", 0o644);
        let installed = find(Some(root)).unwrap();
        assert_eq!((installed.version.as_str(), installed.front_ends().len()), ("13.2", 1));
        let missing = installed.needs(FrontEnd::NvccDevice).unwrap_err();
        assert!(
            matches!(missing, CompileError::NoToolkit(problem) if problem.contains("bin/nvcc"))
        );
        for program in ["bin/nvcc", "bin/cudafe++", "bin/ptxas", "bin/fatbinary"] {
            put(root, program, "", 0o755);
        }
        put(root, "nvvm/bin/cicc", "", 0o644);
        assert_eq!(find(Some(root)).unwrap().nvcc, Err("nvvm/bin/cicc may not be executed".into()));
    }

    #[test]
    fn boxes_see_it_at_one_place() {
        let folder = tempfile::tempdir().unwrap();
        let at = shown(Some(folder.path()));
        assert_eq!(at[0].at, Path::new("/cuda"));
        assert_eq!(in_box(Path::new("/a b"), Path::new("/a b/bin/x")), Ok("/cuda/bin/x".into()));
        assert!(in_box(Path::new("/a"), Path::new("/b/x")).is_err());
    }
}
