//! The service to which workers connect: one gRPC stream each, over a Unix socket, or over TLS from other machines. It
//! turns messages into commands for the dispatcher and back, and decides nothing.

mod link;

mod caller;
mod conversation;
mod remote;

pub use link::{Link, NamedPlugins, bind, serve, serve_remote};
pub use remote::{RemoteSettings, RemoteWorkers};
