//! `assay:gpu`: [`assay_gpu`] compiles CUDA sources in boxes and runs kernels in separate processes.
//!
//! The functions block, at most until the call's deadline. At the deadline the guest ends too.

mod compiler;
mod convert;
mod device;

use assay_gpu::session::Gpu;
use wasmtime::component::{HasData, Linker, ResourceTable};

use super::Capabilities;
use super::absent::Absences;
use crate::call::GuestCall;
use crate::call::bindings::assay::gpu as gpu_bindings;
use crate::clock::CallClock;

/// The device on which the kernels of this worker's stages run.
#[derive(Clone)]
pub enum StageDevice {
    Gpu(Gpu),
    /// There is none, for this reason.
    None(&'static str),
}

/// Selects the data of these interfaces in a store.
pub(crate) struct GpuData;

impl HasData for GpuData {
    type Data<'a> = GpuHost<'a>;
}

/// The implementation of both interfaces during one call.
pub(crate) struct GpuHost<'a> {
    pub(crate) granted: Option<&'a Capabilities>,
    pub(crate) absences: &'a mut Absences,
    pub(crate) table: &'a mut ResourceTable,
    pub(crate) clock: &'a mut CallClock,
}

/// Links both interfaces.
pub(super) fn link(linker: &mut Linker<GuestCall>) -> wasmtime::Result<()> {
    gpu_bindings::compiler::add_to_linker::<_, GpuData>(linker, host)?;
    gpu_bindings::device::add_to_linker::<_, GpuData>(linker, host)
}

fn host(call: &mut GuestCall) -> GpuHost<'_> {
    GpuHost {
        granted: call.capabilities.as_ref(),
        absences: &mut call.absences,
        table: &mut call.table,
        clock: &mut call.clock,
    }
}
