//! A worker program whose stages sleep, so that more of them than there are cores take their time, or last
//! until the test has seen what it waits for.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::time::Duration;

use assay_core::architecture::Architecture;
use tempfile::TempDir;

use crate::program;

/// For `--worker-program`; gone when dropped.
pub struct Sleepers {
    folder: TempDir,
}

impl Sleepers {
    /// Their workers take so long to start.
    ///
    /// # Panics
    /// When the programs were not built.
    #[must_use]
    pub fn starting_in(startup: Duration) -> Self {
        Self::new(Architecture::own(), startup)
    }

    /// Their workers say that their machines are of this architecture.
    ///
    /// # Panics
    /// When the programs were not built.
    #[must_use]
    pub fn on(architecture: Architecture) -> Self {
        Self::new(architecture, Duration::ZERO)
    }

    fn new(architecture: Architecture, startup: Duration) -> Self {
        let real = program("assay-worker");
        let asked = ["engine", "--architecture", architecture.name()];
        let asked = Command::new(&real).args(asked).output().expect("the worker program runs");
        let engine = String::from_utf8(asked.stdout).expect("an engine's name is text");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let script = format!(
            "#!/bin/sh\nif [ \"$1\" = serve ]; then exec '{}' '{}' {} '{}' \"$@\"; fi\nexec '{}' \"$@\"\n",
            program("assay-sleeper").display(),
            engine.trim(),
            startup.as_millis(),
            folder.path().display(),
            real.display()
        );
        let path = folder.path().join("assay-worker");
        std::fs::write(&path, script).expect("writes");
        std::fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("sets");
        Self { folder }
    }

    /// Lets every stage end whose request named this gate.
    ///
    /// # Panics
    /// When the file cannot be written.
    pub fn open(&self, gate: &str) {
        std::fs::write(self.folder.path().join(gate), "").expect("writes");
    }

    /// # Panics
    /// Where temporary folders have odd names.
    #[must_use]
    pub fn program(&self) -> String {
        self.folder.path().join("assay-worker").to_str().expect("a plain path").to_owned()
    }
}
