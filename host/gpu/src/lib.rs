//! CUDA for plugins: compiles kernels without a GPU and runs them on one, or on its simulation.
//!
//! The compiler runs in boxes ([`assay_exec`]); kernels run in executor processes (`assay-gpu`), never in
//! the worker. The host owns memory, launches and timing: of a candidate it takes device code alone.

#![warn(missing_docs)]

pub mod compiler;
pub mod device;
pub mod types;

pub mod compare;
pub mod fill;

pub mod executor;
pub mod session;
pub mod simulated;

pub mod cuda;
