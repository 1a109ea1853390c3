//! The host as the plugin's world.

use assay_plugin::{exec, storage};

use crate::machine::{Compiled, Machine, Objects};

pub(crate) struct Boxes;

impl Machine for Boxes {
    type Program = exec::Artifact;

    fn toolchains(&self) -> Vec<exec::Toolchain> {
        exec::toolchains()
    }

    fn compile(
        &self,
        source: &exec::Source,
        limits: Option<exec::Limits>,
    ) -> Result<Compiled<exec::Artifact>, exec::Error> {
        let result = exec::compile(source, limits)?;
        Ok(match result.compiled {
            exec::Compiled::Ok(program) => {
                let key = program.key();
                Compiled::Program { program, key }
            }
            exec::Compiled::Rejected(outcome) => Compiled::Rejected { outcome, log: result.log },
        })
    }

    fn open(&self, key: &str) -> Result<exec::Artifact, exec::Error> {
        exec::Artifact::open(key)
    }

    fn run(
        &self,
        program: &exec::Artifact,
        batch: &exec::Batch,
    ) -> Result<Vec<exec::CaseResult>, exec::Error> {
        exec::run(program, batch)
    }

    fn check(
        &self,
        checker: &exec::Artifact,
        output: &exec::Blob,
        judging: &exec::Judging,
    ) -> Result<exec::Outcome, exec::Error> {
        exec::check(checker, output, judging)
    }

    fn interact(
        &self,
        program: &exec::Artifact,
        interactor: &exec::Artifact,
        judging: &exec::Judging,
        program_limits: Option<exec::Limits>,
    ) -> Result<exec::Dialogue, exec::Error> {
        exec::interact(program, interactor, judging, program_limits)
    }
}

impl Objects for Boxes {
    fn get(&self, name: &str) -> Result<Vec<u8>, storage::Error> {
        storage::get(name)
    }

    fn locate(&self, name: &str) -> Result<String, storage::Error> {
        storage::locate(name)
    }

    fn names(&self, folder: &str) -> Result<Vec<String>, storage::Error> {
        storage::names(folder)
    }
}
