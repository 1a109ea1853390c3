//! PTX in the interpreter: what kernels compute, and what is refused.

#![expect(clippy::unwrap_used, reason = "tests")]

mod device;

mod errors;
mod fixtures;
mod instructions;
mod kernels;
mod matrices;
