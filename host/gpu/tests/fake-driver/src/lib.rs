//! A CUDA driver for tests: the functions that `assay-gpu` calls, carried out by `assay-ptx` on one GPU
//! that is none. Handles are numbers, addresses those of the interpreter's memory, work is done in the
//! call that orders it; what a kernel does wrong comes out of every later call, as a driver has it.
//!
//! `FAKE_CUDA_ERROR=cuLaunchKernelEx:700` makes a function fail with a code; `cuMemAlloc_v2:2:3` lets
//! three calls pass before; several are separated by commas.
//!
//! It is no part of a release: built with optimisation it has no functions.

#![expect(unsafe_code, reason = "a C interface")]
#![cfg(debug_assertions)]

mod calls;
mod gpu;
mod work;
