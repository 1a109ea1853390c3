//! `assay:exec/exec`: programs nobody trusts, run by [`assay_exec`] in boxes of their own.
//!
//! Its functions block for as long as programs run. What bounds them is the call's deadline, which
//! they are given; when it is over the guest ends with them, whatever came of its programs.

mod convert;

use std::collections::BTreeSet;
use std::sync::PoisonError;
use std::time::Instant;

use assay_exec::{Artifact, Caller, Error, Exec};
use assay_model::id::Digest;
use wasmtime::Trap;
use wasmtime::component::{HasData, Resource, ResourceTable};

use super::{Capabilities, is_over, without_paths};
use crate::call::bindings::assay::exec::exec as wit;
use crate::call::bindings::assay::exec::types;
use crate::ending::cut;

/// Selects the programs' part of a store's data.
pub(crate) struct Granted;

impl HasData for Granted {
    type Data<'a> = Programs<'a>;
}

/// The interface during one call.
pub(crate) struct Programs<'a> {
    pub(crate) granted: Option<&'a Capabilities>,
    /// What programs may be given as `stored`.
    pub(crate) located: &'a BTreeSet<Digest>,
    pub(crate) table: &'a mut ResourceTable,
    pub(crate) deadline: Instant,
}

impl Programs<'_> {
    fn with<R>(
        &self,
        run: impl FnOnce(&mut Exec, &Caller) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let Some(granted) = self.granted else {
            return Err(Error::Unavailable("no programs are run here".into()));
        };
        let caller = Caller { tenant: granted.tenant, deadline: self.deadline };
        let mut exec = granted.exec.lock().unwrap_or_else(PoisonError::into_inner);
        if is_over(self.deadline) {
            return Err(Error::Cancelled);
        }
        let came = run(&mut exec, &caller);
        if is_over(self.deadline) { Err(Error::Cancelled) } else { came }
    }

    /// One that was not granted is as one that is not there.
    fn check_granted(&self, toolchain: &str) -> Result<(), Error> {
        let granted = self.granted.and_then(|granted| granted.toolchains.as_deref());
        match granted {
            Some(granted) if granted.iter().all(|id| id != toolchain) => {
                Err(Error::UnknownToolchain(toolchain.to_owned()))
            }
            _ => Ok(()),
        }
    }

    fn opened(&mut self, artifact: Artifact) -> Result<Resource<Artifact>, Error> {
        let full = |_| Error::BadRequest("too many programs are open: drop some".into());
        self.table.push(artifact).map_err(full)
    }

    /// A handle of the guest's was given out by the table, so it is there.
    fn artifact(&self, handle: &Resource<Artifact>) -> Result<Artifact, Error> {
        let gone = |_| Error::BadRequest("the program is not open".into());
        self.table.get(handle).cloned().map_err(gone)
    }
}

impl types::Host for Programs<'_> {
    fn convert_error(&mut self, error: Error) -> wasmtime::Result<types::Error> {
        Ok(match error {
            Error::UnknownToolchain(id) => types::Error::UnknownToolchain(cut(&id, 200).into()),
            Error::UnknownArtifact(key) => types::Error::UnknownArtifact(cut(&key, 200).into()),
            Error::MissingBlob(digest) => types::Error::MissingBlob(cut(&digest, 200).into()),
            Error::BadRequest(problem) => types::Error::BadRequest(problem),
            Error::Unavailable(problem) => types::Error::Unavailable(without_paths(&problem)),
            // A plugin that saw it could still make a number of it.
            Error::Cancelled => return Err(Trap::Interrupt.into()),
        })
    }
}

impl wit::HostArtifact for Programs<'_> {
    fn open(&mut self, key: String) -> Result<Resource<Artifact>, Error> {
        let artifact = self.with(|exec, caller| exec.open(caller, &key))?;
        self.check_granted(artifact.toolchain())?;
        self.opened(artifact)
    }

    fn key(&mut self, artifact: Resource<Artifact>) -> wasmtime::Result<String> {
        Ok(self.table.get(&artifact)?.key().to_string())
    }

    fn toolchain(&mut self, artifact: Resource<Artifact>) -> wasmtime::Result<String> {
        Ok(self.table.get(&artifact)?.toolchain().to_owned())
    }

    fn size_bytes(&mut self, artifact: Resource<Artifact>) -> wasmtime::Result<u64> {
        Ok(self.table.get(&artifact)?.size_bytes())
    }

    fn drop(&mut self, artifact: Resource<Artifact>) -> wasmtime::Result<()> {
        self.table.delete(artifact)?;
        Ok(())
    }
}

impl wit::Host for Programs<'_> {
    fn toolchains(&mut self) -> wasmtime::Result<Vec<wit::Toolchain>> {
        if self.granted.is_none() {
            return Ok(Vec::new());
        }
        let all = self.with(|exec, _| Ok(exec.toolchains()));
        let all = all.map_err(|_| Trap::Interrupt)?;
        let granted = all.into_iter().filter(|it| self.check_granted(&it.id).is_ok());
        Ok(granted.map(convert::toolchain).collect())
    }

    fn compile(
        &mut self,
        source: wit::Source,
        limits: Option<types::Limits>,
    ) -> Result<wit::CompileResult, Error> {
        let source = convert::source(source, self.located)?;
        self.check_granted(&source.toolchain)?;
        let limits = limits.map(convert::limits);
        let done = self.with(|exec, caller| exec.compile(caller, &source, limits))?;
        let compiled = match done.compiled {
            assay_exec::Compiled::Ok(artifact) => wit::Compiled::Ok(self.opened(artifact)?),
            assay_exec::Compiled::Rejected(end) => wit::Compiled::Rejected(convert::outcome(end)),
        };
        Ok(wit::CompileResult { compiled, cached: done.cached, log: convert::captured(done.log) })
    }

    fn run(
        &mut self,
        program: Resource<Artifact>,
        batch: wit::Batch,
    ) -> Result<Vec<wit::CaseResult>, Error> {
        let program = self.artifact(&program)?;
        let batch = convert::batch(batch, self.located)?;
        let cases = self.with(|exec, caller| exec.run(caller, &program, &batch))?;
        Ok(cases.into_iter().map(convert::case_result).collect())
    }

    fn check(
        &mut self,
        checker: Resource<Artifact>,
        output: types::Blob,
        judging: wit::Judging,
    ) -> Result<types::Outcome, Error> {
        let checker = self.artifact(&checker)?;
        let output = convert::blob(output, self.located)?;
        let judging = convert::judging(judging, self.located)?;
        self.with(|exec, caller| exec.check(caller, &checker, &output, &judging))
            .map(convert::outcome)
    }

    fn interact(
        &mut self,
        program: Resource<Artifact>,
        interactor: Resource<Artifact>,
        judging: wit::Judging,
        program_limits: Option<types::Limits>,
    ) -> Result<wit::Dialogue, Error> {
        let (program, interactor) = (self.artifact(&program)?, self.artifact(&interactor)?);
        let judging = convert::judging(judging, self.located)?;
        let limits = program_limits.map(convert::limits);
        self.with(|exec, caller| exec.interact(caller, &program, &interactor, &judging, limits))
            .map(convert::dialogue)
    }
}
