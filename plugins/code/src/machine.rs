//! The plugin's interface to its environment: boxes for programs and objects in storage.
//!
//! The host is one such world (`boxes`); the tests have another, which runs our own programs without
//! boxes. Nothing else in this crate calls the host.

use assay_plugin::{exec, storage};

/// Runs programs.
pub trait Machine {
    /// A program that is ready to run.
    type Program;

    fn toolchains(&self) -> Vec<exec::Toolchain>;

    fn compile(
        &self,
        source: &exec::Source,
        limits: Option<exec::Limits>,
    ) -> Result<Compiled<Self::Program>, exec::Error>;

    /// Opens the program that an earlier stage compiled.
    fn open(&self, key: &str) -> Result<Self::Program, exec::Error>;

    fn run(
        &self,
        program: &Self::Program,
        batch: &exec::Batch,
    ) -> Result<Vec<exec::CaseResult>, exec::Error>;

    fn check(
        &self,
        checker: &Self::Program,
        output: &exec::Blob,
        judging: &exec::Judging,
    ) -> Result<exec::Outcome, exec::Error>;

    fn interact(
        &self,
        program: &Self::Program,
        interactor: &Self::Program,
        judging: &exec::Judging,
        program_limits: Option<exec::Limits>,
    ) -> Result<exec::Dialogue, exec::Error>;
}

pub enum Compiled<P> {
    Program {
        program: P,
        key: String,
    },
    /// The compiler said no, or met a limit; what it wrote.
    Rejected {
        outcome: exec::Outcome,
        log: exec::Captured,
    },
}

/// Reads what the operator granted.
pub trait Objects {
    fn get(&self, name: &str) -> Result<Vec<u8>, storage::Error>;
    /// The content's SHA-256, as `exec::Blob::Stored` takes it.
    fn locate(&self, name: &str) -> Result<String, storage::Error>;
    /// All names below a folder, sorted.
    fn names(&self, folder: &str) -> Result<Vec<String>, storage::Error>;
}
