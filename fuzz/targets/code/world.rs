//! A world without boxes: two toolchains, compilers that refuse everything, and objects in a map.

use std::collections::BTreeMap;

use assay_plugin::{exec, storage};
use assay_plugin_code::machine::{Compiled, Machine, Objects};

pub struct Refusing;

pub struct Files(pub BTreeMap<String, Vec<u8>>);

const LIMITS: exec::Limits = exec::Limits {
    cpu_ms: 1_000,
    wall_ms: 5_000,
    memory_bytes: 1 << 30,
    stdout_bytes: 1 << 20,
    stderr_bytes: 1 << 16,
    disk_bytes: 1 << 25,
    processes: 16,
    open_files: 64,
};

fn toolchain(id: &str, languages: &[&str], main: &str) -> exec::Toolchain {
    exec::Toolchain {
        id: id.into(),
        version: "1".into(),
        languages: languages.iter().map(|name| (*name).to_owned()).collect(),
        main: main.into(),
        compiled: true,
        compile_defaults: LIMITS,
        run_defaults: LIMITS,
        ceiling: LIMITS,
    }
}

fn unavailable<T>() -> Result<T, exec::Error> {
    Err(exec::Error::Unavailable("nothing runs here".into()))
}

impl Machine for Refusing {
    type Program = ();

    fn toolchains(&self) -> Vec<exec::Toolchain> {
        vec![
            toolchain("cpp17-gcc", &["cpp", "c++"], "main.cpp"),
            toolchain("cpython-3", &["python", "py", "python3"], "main.py"),
        ]
    }

    fn compile(
        &self,
        _: &exec::Source,
        _: Option<exec::Limits>,
    ) -> Result<Compiled<()>, exec::Error> {
        let nothing = || exec::Captured { data: Vec::new(), truncated: false };
        let outcome = exec::Outcome {
            ended: exec::Ending::Exited(1),
            usage: exec::Usage { cpu_us: 1, wall_us: 1, memory_peak_bytes: 1, wait_us: 0 },
            stdout: nothing(),
            stdout_sha256: String::new(),
            stderr: nothing(),
            files: Vec::new(),
            weakened: Vec::new(),
        };
        Ok(Compiled::Rejected { outcome, log: nothing() })
    }

    fn open(&self, _: &str) -> Result<(), exec::Error> {
        unavailable()
    }

    fn run(&self, _: &(), _: &exec::Batch) -> Result<Vec<exec::CaseResult>, exec::Error> {
        unavailable()
    }

    fn check(
        &self,
        _: &(),
        _: &exec::Blob,
        _: &exec::Judging,
    ) -> Result<exec::Outcome, exec::Error> {
        unavailable()
    }

    fn interact(
        &self,
        _: &(),
        _: &(),
        _: &exec::Judging,
        _: Option<exec::Limits>,
    ) -> Result<exec::Dialogue, exec::Error> {
        unavailable()
    }
}

impl Objects for Files {
    fn get(&self, name: &str) -> Result<Vec<u8>, storage::Error> {
        self.0.get(name).cloned().ok_or_else(|| storage::Error::NotFound(name.into()))
    }

    fn locate(&self, name: &str) -> Result<String, storage::Error> {
        self.get(name).map(|_| "0".repeat(64))
    }

    fn names(&self, folder: &str) -> Result<Vec<String>, storage::Error> {
        Ok(self.0.keys().filter(|name| name.starts_with(folder)).cloned().collect())
    }
}
