//! `assay`: the server and the command line of Assay.

mod blob;
mod bootstrap;
mod cli;
mod dispatch;
mod fleet;
mod http;
mod link;
mod registry;
mod retention;
mod sampler;
mod secrets;
mod server;
mod simulation;
mod storage;
mod store;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    cli::main()
}
