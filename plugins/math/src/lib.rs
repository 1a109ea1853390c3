//! A verifier of mathematical answers: finds the final answer in a response, reads it and the label
//! as mathematics, and compares them exactly, then numerically. README.md states the rules.
//!
//! It owns no state and is deterministic. It must never panic or run long, whatever the response
//! (`limits`), and must never turn a bad label into a reward.

mod limits;

mod plugin;
mod settings;
mod verify;

mod extract;

mod algebra;
mod kind;
mod lex;
mod names;
mod parse;

mod compare;
mod expression;
mod polynomial;
mod units;
mod value;

pub use plugin::Math;
pub use settings::Settings;
pub use verify::{Label, Verdict, Verified, labels, verify};

assay_plugin::export!(Math);
