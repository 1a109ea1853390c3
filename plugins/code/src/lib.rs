//! The code judge: takes the program out of a response, compiles it, runs it against tests in boxes,
//! and says how it went. README.md states the rules.
//!
//! It owns no state. It must never run a program in a box that holds expected results, must never take
//! a program's own word for its success, and must never make a verdict of a failure of the platform,
//! of a checker or of a label.

mod limits;
mod settings;

pub mod machine;

#[cfg(target_arch = "wasm32")]
mod boxes;
mod plugin;

mod label;
mod problem;

mod compile;
mod extract;
mod program;
mod run;

mod compare;
mod judge;
mod package;

mod report;
mod verdict;

pub use plugin::{Code, run_stage};

assay_plugin::export!(Code);
