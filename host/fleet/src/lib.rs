//! Workers, started and stopped one by one as the scheduler decides.
//!
//! The dispatcher calls [`Fleet`]. It keeps the state of each worker (`state`), whatever runs it, and tells a
//! [`Launcher`] what to start and stop; [`ProcessLauncher`] runs child processes of the server, [`SlurmLauncher`] jobs
//! of Slurm, and other workers of other machines join by themselves ([`Fleet::came`]). A worker is
//! known by its [`Ticket`] alone. The fleet decides nothing: the replacement of a worker is a start like any
//! other.

mod fleet;
mod launcher;
mod launchers;
mod state;
mod tenure;
mod ticket;

mod joined;
mod process;
mod slurm;

mod gpu;
mod programs;

pub use fleet::{EnrolmentClaim, Failures, Fleet, WorkerEnds};
pub use gpu::{Device, Gpu};
pub use joined::Visit;
pub use launcher::{
    Events, Finding, Identifying, Launcher, Reconciling, Start, Stop, WorkerEnd, WorkerEvent,
};
pub use launchers::Launchers;
pub use process::{Launch, ProcessLauncher};
pub use programs::{Programs, SandboxLayer};
pub use slurm::{SlurmFile, SlurmLauncher, SlurmPool, SlurmSettings, ask_slurm};
pub use state::{Departures, StartFailure, Starting, WaitingStarts};
pub use tenure::Tenure;
pub use ticket::{ProofRefusal, Ticket, TicketRefusal};
