//! `assay:gpu/compiler`.

use assay_exec::{Exec, JobContext};
use assay_gpu::compiler::{CompileError, CudaCompiler};
use wasmtime::Trap;

use super::{GpuHost, convert};
use crate::call::bindings::assay::gpu::{compiler as wit, types};
use crate::call::capability::{in_boxes, without_paths};

impl GpuHost<'_> {
    fn compiler<R>(
        &mut self,
        name: &'static str,
        run: impl FnOnce(&mut CudaCompiler, &mut Exec, &JobContext) -> Result<R, CompileError>,
    ) -> Result<R, CompileError> {
        let Some(granted) = self.granted else {
            return Err(CompileError::Unavailable("nothing is compiled here".into()));
        };
        let mut compiler = granted.compiler.lock();
        let run = |exec: &mut Exec, caller: &JobContext| run(&mut compiler, exec, caller);
        let Some(came) = in_boxes(granted, self.clock, self.absences, name, run) else {
            return Err(CompileError::Cancelled);
        };
        if let Err(CompileError::NoToolkit(problem)) = &came {
            self.absences.note(without_paths(problem));
        }
        if self.clock.is_over() { Err(CompileError::Cancelled) } else { came }
    }
}

impl types::Host for GpuHost<'_> {}

impl wit::Host for GpuHost<'_> {
    fn found(&mut self) -> Result<wit::Toolkit, CompileError> {
        self.compiler("compiler.found", |compiler, _, _| compiler.found()).map(convert::toolkit)
    }

    fn compile(&mut self, request: wit::Request) -> Result<wit::Artifact, CompileError> {
        let request = convert::request(request);
        self.compiler("compiler.compile", |compiler, exec, caller| {
            compiler.compile(exec, caller, &request)
        })
        .map(convert::artifact)
    }

    fn record_plan(&mut self, recording: wit::Recording) -> Result<wit::Trace, CompileError> {
        let recording = convert::recording(recording);
        self.compiler("compiler.record_plan", |compiler, exec, caller| {
            compiler.record_plan(exec, caller, &recording)
        })
        .map(convert::trace)
    }

    fn convert_error(&mut self, error: CompileError) -> wasmtime::Result<wit::Error> {
        Ok(match error {
            CompileError::Rejected(log) => wit::Error::Rejected(log),
            CompileError::TimedOut => wit::Error::TimedOut,
            CompileError::OutOfMemory => wit::Error::OutOfMemory,
            CompileError::Crashed(what) => wit::Error::Crashed(what),
            CompileError::TooLarge(bytes) => wit::Error::TooLarge(bytes),
            CompileError::BadRequest(problem) => wit::Error::BadRequest(problem),
            CompileError::NoToolkit(problem) | CompileError::Unavailable(problem) => {
                wit::Error::Unavailable(without_paths(&problem))
            }
            // A plugin that saw it could still make a number of it.
            CompileError::Cancelled => return Err(Trap::Interrupt.into()),
        })
    }
}
