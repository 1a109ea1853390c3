//! The compiler by its whole way: real compilers in real boxes.

mod hostile;
mod sources;
