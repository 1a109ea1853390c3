//! Worker processes of this machine, started and stopped one by one as the scheduler decides.
//!
//! The dispatcher calls [`Fleet`], a task for each process does the work (`process`), and a failed
//! start is reported after a pause ([`Failures`]). The fleet decides nothing: the replacement of a
//! worker is a start like any other.
//!
//! ```text
//!             ┌── it ends, does not join in time, cannot be spawned ──> pause ──> reported ──> gone
//!   Starting ─┤
//!             └── joined ──> Joined ── stop: asked to end, then killed ──> gone
//!                              └────── kill, or it ends by itself ───────> gone
//! ```

mod fleet;

mod process;

mod gpu;
mod programs;

pub use fleet::{Failures, Fleet, Launch, ProcessId, StartFailure};
pub use gpu::{Device, Gpu};
pub use programs::{Programs, SandboxLayer};
