//! The operator's settings of programs and kernels that plugins run, as options of workers.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::gpu::Gpu;

/// A layer of the programs' sandbox that an operator may switch off, by the worker's name for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum SandboxLayer {
    /// A program's processes are no longer limited together, only each of them: by forking it gets a
    /// multiple of its memory and CPU time
    Cgroups,
    /// The second lock on files is missing: the sandbox's own view of the file system is the only one
    Landlock,
}

impl SandboxLayer {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cgroups => "cgroups",
            Self::Landlock => "landlock",
        }
    }
}

#[derive(Debug, Clone, Default)]
pub struct Programs {
    /// A folder with further toolchains.
    pub toolchains: Option<PathBuf>,
    /// Layers of the sandbox that may be missing.
    pub weaker: Vec<SandboxLayer>,
    /// Certificates (PEM) that plugins' requests trust beside the public ones.
    pub trust: Option<PathBuf>,
    pub gpu: Gpu,
}

impl Programs {
    /// The options of the command line of a pool's workers.
    #[must_use]
    pub fn arguments_for(&self, pool: &str) -> Vec<OsString> {
        let mut arguments = self.arguments();
        if self.gpu.pools.contains(pool) {
            arguments.extend(["--gpus".into(), "1".into()]);
        }
        arguments
    }

    /// The options of every worker's command line; none for settings that were not given.
    #[must_use]
    pub fn arguments(&self) -> Vec<OsString> {
        let mut arguments = Vec::new();
        if let Some(folder) = &self.toolchains {
            arguments.extend(["--toolchains".into(), folder.into()]);
        }
        if !self.weaker.is_empty() {
            let parts: Vec<&str> = self.weaker.iter().map(|part| part.as_str()).collect();
            arguments.extend(["--weaker".into(), parts.join(",").into()]);
        }
        if let Some(file) = &self.trust {
            arguments.extend(["--trust".into(), file.into()]);
        }
        arguments.extend(self.gpu.arguments());
        arguments
    }
}
