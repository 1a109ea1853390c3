//! A model as a judge: sends a response with a rubric to a chat-completions endpoint and makes a reward
//! of the scores. README.md states the rules.
//!
//! It owns no state and is not deterministic. A judge that does not answer, or not with the scores it was
//! asked for, is an error and never a number; nothing in a response may pass for an answer of the judge.

mod answer;
mod conversation;
mod plugin;
mod prompt;
mod settings;

pub use answer::{Opinion, read};
pub use conversation::{TryResult, judge};
pub use plugin::Judge;
pub use prompt::{Mark, messages};
pub use settings::{Criterion, Settings};

assay_plugin::export!(Judge);
