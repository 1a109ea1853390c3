//! The compiler by its whole way: real compilers in real boxes.

#[path = "../support/mod.rs"]
mod support;

mod hostile;
mod sources;
