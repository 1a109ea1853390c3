//! Scores CUDA: takes the source out of a response, compiles it, runs it on a device against the task's
//! reference, and where the settings ask for it, times it. README.md states the rules.
//!
//! It owns no state. It must never run a response's host code anywhere but in the compiler's box, never
//! take a time that nobody measured, and never make a verdict of a failure of the platform, of a label or
//! of a reference.

mod callable;
mod limits;
mod settings;
mod verdict;

pub mod machine;

#[cfg(target_arch = "wasm32")]
mod host;
mod plugin;

mod expression;
mod label;

mod python;

mod extract;

mod compile;
mod plan;
mod subject;

mod execute;
mod report;

pub use plugin::{Cuda, run_stage};

assay_plugin::export!(Cuda);
