//! Runs plugins: hostile WebAssembly components, each call in an instance of its own.
//!
//! A call gets its arguments and the [`capability::Capabilities`] that its plugin asks for: no file,
//! no network but requests to granted hosts, no environment, no clock, and randomness only from the
//! request's seed. Whatever the guest does, [`Sandbox::run_stage`] returns a
//! [`assay_core::outcome::StageEnd`] when the guest has used the stage's timeout and some milliseconds; the plugin's fault
//! is never a host error and never a number.
//!
//! The timeout counts processor time and chosen waits, never time in which Assay or the machine kept the guest waiting
//! (`clock`).
//! An overloaded machine ends a stage as a failure of ours, which is tried again.
//!
//! Nothing interrupts a host function. Those that wait, for a program, a kernel, an object or another host, are
//! given the call's deadline, must return by then, and end the guest if it is over; no other may block.
//!
//! [`compile::PluginCompiler`] belongs in a process of its own, which an upload may take down.

mod cpu;
mod engine;
mod functions;

mod clock;
mod latest_end;
mod limiter;
mod output;
mod ticker;
mod waits;
mod wasi;

mod call;
mod load;
mod stage;

mod cross;

pub mod cases;
pub mod compile;
pub mod pipeline;
mod request_parts;
pub mod snapshot;

pub use call::bindings::assay::reward::types::{ArtifactParam as Input, Request};
pub use call::capability;
pub use clock::WaitedCall;
pub use cpu::{UnfitCpu, check_cpu};
pub use cross::{CrossCompiler, NoCrossCompiler};
pub use engine::engine_id;
pub use functions::FunctionCache;
pub use load::{LoadedPlugin, Unloadable};
pub use stage::{NotStarted, Sandbox, StageCall, StageRun};
