//! Workers, started and stopped one by one as the scheduler decides.
//!
//! The dispatcher calls [`Fleet`]. It keeps the state of each worker (`state`), whatever runs it, and tells a
//! [`Launcher`] what to start and stop; [`ProcessLauncher`] runs child processes of the server, and workers of
//! other machines join by themselves ([`Fleet::came`]). A worker is
//! known by its [`Ticket`] alone. The fleet decides nothing: the replacement of a worker is a start like any
//! other.

mod clock;
mod fleet;
mod launcher;
mod state;
mod ticket;

mod joined;
mod process;

mod gpu;
mod programs;

pub use clock::now;
pub use fleet::{Failures, Fleet};
pub use gpu::{Device, Gpu};
pub use joined::Visit;
pub use launcher::{Events, Launcher, Reconciling, Start, Stop, WorkerEnd, WorkerEvent};
pub use process::{Launch, ProcessLauncher};
pub use programs::{Programs, SandboxLayer};
pub use state::{StartFailure, TicketRefusal};
pub use ticket::Ticket;
