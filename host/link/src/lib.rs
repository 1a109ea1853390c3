//! The service to which workers connect: one gRPC stream each, over a Unix socket. It turns messages
//! into commands for the dispatcher and back, and decides nothing.

mod link;

mod conversation;

pub use link::{Link, bind, serve};
