//! Runs a host function in a box, against the recording runtime that it is linked with, and reads the
//! plan that it leaves.
//!
//! The program is native code that nobody trusts. It gets no data: buffers are addresses that no process
//! can have memory at, so that its launches depend on shapes and numbers alone. The trace is written by
//! the recorder as the last thing that the process does, and by whoever else may write there: a program
//! that ends early, or writes a trace of its own, gains a plan of its own making, over its own kernels
//! and buffers, which is all that an honest one has. The session checks such plans once more.

mod order;
mod trace;

use std::os::fd::AsFd as _;

use assay_core::limits::{
    GPU_RECORD_CPU_MS, GPU_RECORD_CPU_MS_MAX, GPU_RECORD_MEMORY_BYTES, GPU_RECORD_SAID_BYTES_MAX,
    GPU_TRACE_BYTES_MAX,
};
use assay_exec::job::Purpose;
use assay_exec::limits::BoxLimits;
use assay_exec::outcome::{LimitKind, ProgramEnding};
use assay_exec::{BoxJob, JobEnd, JobProgram, sealed};

use super::context::{self, with_log};
use super::host::HostObject;
use super::{CompileContext, CompileError, RecordedTrace, Recording};

/// The file that the recorder writes its trace to.
const TRACE: &str = "trace";

pub(super) fn record(
    context: &mut CompileContext<'_>,
    recording: &Recording,
) -> Result<RecordedTrace, CompileError> {
    let object = HostObject::decode(&recording.host_object)?;
    let order = order::write(&object, recording)?;
    let program = sealed(&object.program).map_err(|error| {
        CompileError::Unavailable(format!("a recording program cannot be kept in memory: {error}"))
    })?;
    let limits = limits(recording.cpu_ms);
    let job = BoxJob {
        purpose: Purpose::Run,
        program: JobProgram::Sealed(program.as_fd()),
        args: vec!["recording".to_owned()],
        env: Vec::new(),
        files: Vec::new(),
        stdin: order.as_bytes(),
        collect: vec![TRACE.to_owned()],
        limits,
    };
    let ended = context.run(&job)?;
    trace::read(left(&ended, &limits)?, &object.kernels, &recording.buffers)
}

fn limits(cpu_ms: u32) -> BoxLimits {
    let cpu_ms = if cpu_ms == 0 { GPU_RECORD_CPU_MS } else { cpu_ms };
    BoxLimits {
        cpu_ms: cpu_ms.min(GPU_RECORD_CPU_MS_MAX),
        wall_ms: 0,
        memory_bytes: GPU_RECORD_MEMORY_BYTES,
        stdout_bytes: GPU_RECORD_SAID_BYTES_MAX,
        stderr_bytes: GPU_RECORD_SAID_BYTES_MAX,
        disk_bytes: 2 * GPU_TRACE_BYTES_MAX,
        // No threads: a plan that depends on which of them came first is none.
        processes: 1,
        open_files: 64,
    }
}

/// The trace of a program that ended well.
fn left<'a>(ended: &'a JobEnd, limits: &BoxLimits) -> Result<&'a [u8], CompileError> {
    let (text, truncated) = context::text(&[&ended.stderr]);
    let log = context::capped(&text, truncated);
    let crashed = |what: &str| Err(CompileError::Crashed(with_log(what, &log)));
    if ended.ending == ProgramEnding::Limited(LimitKind::Output) {
        return crashed("it wrote without end");
    }
    if let Some(fault) = context::fault(ended, limits, &log) {
        return Err(fault);
    }
    match ended.ending {
        ProgramEnding::Exited(0) => {}
        ending => return crashed(&format!("it ended as {ending:?}")),
    }
    match ended.files.iter().find(|(path, _)| path == TRACE) {
        None => crashed("it ended before the function returned"),
        Some((_, trace)) if trace.truncated || trace.data.len() as u64 > GPU_TRACE_BYTES_MAX => {
            crashed("it left a trace that is too large")
        }
        Some((_, trace)) => Ok(&trace.data),
    }
}
