//! Every limit, by area. An error about a limit names it and its value.

mod duration;
mod exec;
mod gpu;
mod http;
mod key;
mod kubernetes;
mod live;
mod plugin;
mod protocol;
mod remote;
mod sample;
mod sched;
mod schema;
mod server;
mod sign_in;
mod slurm;
mod storage;
mod submit;
mod tenant;
mod trace;
mod webhook;

pub use duration::*;
pub use exec::*;
pub use gpu::*;
pub use http::*;
pub use key::*;
pub use kubernetes::*;
pub use live::*;
pub use plugin::*;
pub use protocol::*;
pub use remote::*;
pub use sample::*;
pub use sched::*;
pub use schema::*;
pub use server::*;
pub use sign_in::*;
pub use slurm::*;
pub use storage::*;
pub use submit::*;
pub use tenant::*;
pub use trace::*;
pub use webhook::*;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;
