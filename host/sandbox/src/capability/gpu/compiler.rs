//! `assay:gpu/compiler`.

use std::sync::PoisonError;

use assay_exec::{Caller, Exec};
use assay_gpu::compiler::{Compiler, Error};
use wasmtime::Trap;

use super::{Kernels, convert};
use crate::call::bindings::assay::gpu::{compiler as wit, types};
use crate::capability::{is_over, without_paths};

impl Kernels<'_> {
    fn compiler<R>(
        &self,
        run: impl FnOnce(&mut Compiler, &mut Exec, &Caller) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let Some(granted) = self.granted else {
            return Err(Error::Unavailable("nothing is compiled here".into()));
        };
        let caller = Caller { tenant: granted.tenant, deadline: self.deadline };
        let mut compiler = granted.compiler.lock().unwrap_or_else(PoisonError::into_inner);
        let mut exec = granted.exec.lock().unwrap_or_else(PoisonError::into_inner);
        if is_over(self.deadline) {
            return Err(Error::Cancelled);
        }
        let came = run(&mut compiler, &mut exec, &caller);
        if is_over(self.deadline) { Err(Error::Cancelled) } else { came }
    }
}

impl types::Host for Kernels<'_> {}

impl wit::Host for Kernels<'_> {
    fn found(&mut self) -> Result<wit::Toolkit, Error> {
        self.compiler(|compiler, _, _| compiler.found()).map(convert::toolkit)
    }

    fn compile(&mut self, request: wit::Request) -> Result<wit::Artifact, Error> {
        let request = convert::request(request);
        self.compiler(|compiler, exec, caller| compiler.compile(exec, caller, &request))
            .map(convert::artifact)
    }

    fn record_plan(&mut self, recording: wit::Recording) -> Result<wit::Trace, Error> {
        let recording = convert::recording(recording);
        self.compiler(|compiler, exec, caller| compiler.record_plan(exec, caller, &recording))
            .map(convert::trace)
    }

    fn convert_error(&mut self, error: Error) -> wasmtime::Result<wit::Error> {
        Ok(match error {
            Error::Rejected(log) => wit::Error::Rejected(log),
            Error::TimedOut => wit::Error::TimedOut,
            Error::OutOfMemory => wit::Error::OutOfMemory,
            Error::Crashed(what) => wit::Error::Crashed(what),
            Error::TooLarge(bytes) => wit::Error::TooLarge(bytes),
            Error::BadRequest(problem) => wit::Error::BadRequest(problem),
            Error::Unavailable(problem) => wit::Error::Unavailable(without_paths(&problem)),
            // A plugin that saw it could still make a number of it.
            Error::Cancelled => return Err(Trap::Interrupt.into()),
        })
    }
}
