//! `assay:gpu`: CUDA sources compiled in boxes, kernels run in processes of their own, both by
//! [`assay_gpu`].
//!
//! Its functions block, as those of `exec` do: the call's deadline bounds them, and when it is over the
//! guest ends with them.

mod compiler;
mod convert;
mod device;

use std::time::Instant;

use assay_gpu::session::Gpu;
use wasmtime::component::{HasData, ResourceTable};

use super::Capabilities;

/// What kernels of this worker's stages run on.
#[derive(Clone)]
pub enum Device {
    Gpu(Gpu),
    /// Why there is none.
    None(&'static str),
}

/// Selects the GPU's part of a store's data.
pub(crate) struct Granted;

impl HasData for Granted {
    type Data<'a> = Kernels<'a>;
}

/// Both interfaces during one call.
pub(crate) struct Kernels<'a> {
    pub(crate) granted: Option<&'a Capabilities>,
    pub(crate) table: &'a mut ResourceTable,
    pub(crate) deadline: Instant,
}
