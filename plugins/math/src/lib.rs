//! A verifier of mathematical answers: finds the final answer in a response, reads it and the label
//! as mathematics, and compares them exactly, then numerically. README.md states the rules.
//!
//! It owns no state and is deterministic. It must never panic or run long, whatever the response
//! (`limits`), and must never turn a bad label into a reward.

mod limits;

mod label;
mod plugin;
mod profiles;
mod rereading;
mod settings;
mod verdict;
mod verify;

mod extract;
mod join;

mod algebra;
mod collections;
mod condition;
mod fold;
mod kind;
mod lex;
mod matrix;
mod measure;
mod modulus;
mod moment;
mod names;
mod number;
mod parse;
mod relate;
mod signs;
mod unreadable;

mod compare;
mod difference;
mod equal;
mod expression;
mod function;
mod near;
mod polynomial;
mod show;
mod units;
mod value;

pub use label::{Label, labels};
pub use plugin::Math;
pub use settings::{AnswerFrom, Boxes, Profile, Settings};
pub use verdict::{Verdict, Verified};
pub use verify::verify;

assay_plugin::export!(Math);
