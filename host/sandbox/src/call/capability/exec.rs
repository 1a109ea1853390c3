//! `assay:exec/exec`: untrusted programs, run by [`assay_exec`] in boxes.
//!
//! The functions block while programs run, at most until the call's deadline. At the deadline the guest ends too,
//! whatever its programs did.

mod convert;

use std::collections::BTreeSet;

use assay_core::id::Digest;
use assay_exec::{Exec, ExecError, JobContext, ProgramArtifact};
use wasmtime::Trap;
use wasmtime::component::{HasData, Linker, Resource, ResourceTable};

use super::absent::Absences;
use super::{Capabilities, in_boxes, without_paths};
use crate::call::GuestCall;
use crate::call::bindings::assay::exec::exec as wit;
use crate::call::bindings::assay::exec::types;
use crate::call::ending::{MachineFailure, cut};
use crate::clock::CallClock;

/// Selects the data of this interface in a store.
pub(crate) struct ExecData;

impl HasData for ExecData {
    type Data<'a> = ExecHost<'a>;
}

/// The interface during one call.
pub(crate) struct ExecHost<'a> {
    pub(crate) granted: Option<&'a Capabilities>,
    /// The objects that programs may be given as `stored`.
    pub(crate) located: &'a BTreeSet<Digest>,
    pub(crate) absences: &'a mut Absences,
    pub(crate) table: &'a mut ResourceTable,
    pub(crate) clock: &'a mut CallClock,
}

/// Links the interface.
pub(super) fn link(linker: &mut Linker<GuestCall>) -> wasmtime::Result<()> {
    wit::add_to_linker::<_, ExecData>(linker, |call| ExecHost {
        granted: call.capabilities.as_ref(),
        located: &call.located,
        absences: &mut call.absences,
        table: &mut call.table,
        clock: &mut call.clock,
    })
}

impl ExecHost<'_> {
    fn with<R>(
        &mut self,
        name: &'static str,
        run: impl FnOnce(&mut Exec, &JobContext) -> Result<R, ExecError>,
    ) -> Result<R, ExecError> {
        let Some(granted) = self.granted else {
            return Err(ExecError::Unavailable("no programs are run here".into()));
        };
        let Some(came) = in_boxes(granted, self.clock, self.absences, name, run) else {
            return Err(ExecError::Cancelled);
        };
        if let Err(ExecError::UnknownToolchain(problem)) = &came {
            self.absences.note(format!("this server has no toolchain {}", without_paths(problem)));
        }
        if self.clock.is_over() { Err(ExecError::Cancelled) } else { came }
    }

    /// A toolchain that was not granted is reported like one that does not exist.
    fn check_granted(&mut self, toolchain: &str) -> Result<(), ExecError> {
        if is_granted(self.granted, toolchain) {
            return Ok(());
        }
        let shown = cut(toolchain, 80).escape_debug();
        self.absences.note(format!("the tenant was not granted the toolchain `{shown}`"));
        Err(ExecError::UnknownToolchain(toolchain.to_owned()))
    }

    fn opened(
        &mut self,
        artifact: ProgramArtifact,
    ) -> Result<Resource<ProgramArtifact>, ExecError> {
        let full = |_| ExecError::BadRequest("too many programs are open: drop some".into());
        self.table.push(artifact).map_err(full)
    }

    /// A handle of the guest's was given out by the table, so it is there.
    fn artifact(&self, handle: &Resource<ProgramArtifact>) -> Result<ProgramArtifact, ExecError> {
        let gone = |_| ExecError::BadRequest("the program is not open".into());
        self.table.get(handle).cloned().map_err(gone)
    }
}

impl types::Host for ExecHost<'_> {
    fn convert_error(&mut self, error: ExecError) -> wasmtime::Result<types::Error> {
        Ok(match error {
            ExecError::UnknownToolchain(id) => types::Error::UnknownToolchain(cut(&id, 200).into()),
            ExecError::UnknownArtifact(key) => types::Error::UnknownArtifact(cut(&key, 200).into()),
            ExecError::MissingBlob(digest) => types::Error::MissingBlob(cut(&digest, 200).into()),
            ExecError::BadRequest(problem) => types::Error::BadRequest(problem),
            ExecError::Unavailable(problem) => types::Error::Unavailable(without_paths(&problem)),
            // It ends the guest: a plugin that saw it could turn it into a reward.
            ExecError::Cancelled => return Err(Trap::Interrupt.into()),
        })
    }
}

impl wit::HostArtifact for ExecHost<'_> {
    fn open(&mut self, key: String) -> Result<Resource<ProgramArtifact>, ExecError> {
        let artifact = self.with("exec.open", |exec, caller| exec.open(caller, &key))?;
        self.check_granted(artifact.toolchain())?;
        self.opened(artifact)
    }

    fn key(&mut self, artifact: Resource<ProgramArtifact>) -> wasmtime::Result<String> {
        Ok(self.table.get(&artifact)?.key().to_string())
    }

    fn toolchain(&mut self, artifact: Resource<ProgramArtifact>) -> wasmtime::Result<String> {
        Ok(self.table.get(&artifact)?.toolchain().to_owned())
    }

    fn size_bytes(&mut self, artifact: Resource<ProgramArtifact>) -> wasmtime::Result<u64> {
        Ok(self.table.get(&artifact)?.size_bytes())
    }

    fn drop(&mut self, artifact: Resource<ProgramArtifact>) -> wasmtime::Result<()> {
        self.table.delete(artifact)?;
        Ok(())
    }
}

fn is_granted(granted: Option<&Capabilities>, toolchain: &str) -> bool {
    let granted = granted.and_then(|granted| granted.toolchains.as_deref());
    granted.is_none_or(|granted| granted.iter().any(|id| id == toolchain))
}

impl wit::Host for ExecHost<'_> {
    fn toolchains(&mut self) -> wasmtime::Result<Vec<wit::Toolchain>> {
        if self.granted.is_none() {
            return Ok(Vec::new());
        }
        let granted = self.granted;
        let is_wanted = |id: &str| is_granted(granted, id);
        // One that the plugin may not use cannot keep the others from it.
        let found = self.with("exec.toolchains", |exec, _| exec.toolchains(is_wanted)).map_err(
            |error| match error {
                ExecError::Cancelled => wasmtime::Error::from(Trap::Interrupt),
                error => MachineFailure(without_paths(&error.to_string())).into(),
            },
        )?;
        Ok(found.into_iter().map(convert::toolchain).collect())
    }

    fn compile(
        &mut self,
        source: wit::Source,
        limits: Option<types::Limits>,
    ) -> Result<wit::CompileResult, ExecError> {
        let source = convert::source(source, self.located)?;
        self.check_granted(&source.toolchain)?;
        let limits = limits.map(convert::limits);
        let done =
            self.with("exec.compile", |exec, caller| exec.compile(caller, &source, limits))?;
        let compiled = match done.compiled {
            assay_exec::CompileOutcome::Ok(artifact) => wit::Compiled::Ok(self.opened(artifact)?),
            assay_exec::CompileOutcome::Rejected(end) => {
                wit::Compiled::Rejected(convert::outcome(end))
            }
        };
        Ok(wit::CompileResult { compiled, cached: done.cached, log: convert::captured(done.log) })
    }

    fn run(
        &mut self,
        program: Resource<ProgramArtifact>,
        batch: wit::Batch,
    ) -> Result<Vec<wit::CaseResult>, ExecError> {
        let program = self.artifact(&program)?;
        let batch = convert::batch(batch, self.located)?;
        let cases = self.with("exec.run", |exec, caller| exec.run(caller, &program, &batch))?;
        Ok(cases.into_iter().map(convert::case_result).collect())
    }

    fn check(
        &mut self,
        checker: Resource<ProgramArtifact>,
        output: types::Blob,
        judging: wit::Judging,
    ) -> Result<types::Outcome, ExecError> {
        let checker = self.artifact(&checker)?;
        let output = convert::blob(output, self.located)?;
        let judging = convert::judging(judging, self.located)?;
        self.with("exec.check", |exec, caller| exec.check(caller, &checker, &output, &judging))
            .map(convert::outcome)
    }

    fn interact(
        &mut self,
        program: Resource<ProgramArtifact>,
        interactor: Resource<ProgramArtifact>,
        judging: wit::Judging,
        program_limits: Option<types::Limits>,
    ) -> Result<wit::Dialogue, ExecError> {
        let (program, interactor) = (self.artifact(&program)?, self.artifact(&interactor)?);
        let judging = convert::judging(judging, self.located)?;
        let limits = program_limits.map(convert::limits);
        self.with("exec.interact", |exec, caller| {
            exec.interact(caller, &program, &interactor, &judging, limits)
        })
        .map(convert::dialogue)
    }
}
