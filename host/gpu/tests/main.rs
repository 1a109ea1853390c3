//! The compiler of CUDA, sessions of kernels, and the devices they run on.

mod cases;
mod support;

mod compiler;
// A release has no fake driver.
#[cfg(debug_assertions)]
mod cuda;
mod gpu;
mod record;
mod session;
