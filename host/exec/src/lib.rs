//! Runs untrusted programs, each in its own box. A box is made of namespaces, a cgroup, Landlock and a list
//! of allowed system calls; a program in it has no network, no files of the machine and no rights.
//!
//! ```text
//!   worker ── Exec ── Helper ══ socket ══ zygote ── box: init ── program
//!                              supervisor ──┘
//! ```
//!
//! The worker's side ([`Exec`], [`Helper`]) compiles, caches, compares, and decides what is run a second
//! time. The helper (`assay-exec`) is a separate process: its supervisor builds a read-only file tree and
//! gives up every right, and its zygote makes a box for each run. Neither trusts a program's output.
//! Whatever a program does is a [`JobEnd`]; a failure of the machine is an error and never a verdict.

#![warn(missing_docs)]

pub mod limits;
pub mod outcome;

pub mod job;
pub mod support;

mod helper;
mod message;

pub mod supervisor;
mod user;
mod world;

pub mod confine;

mod cgroup;
mod filter;
mod init;
mod lock;
mod sandbox_process;
mod sys;
mod zygote;

mod blob;
mod compare;
mod error;
pub mod file_cache;
pub mod path;

mod artifact;
mod exec;
pub mod object_cache;
mod toolchain;

pub use artifact::{ProgramArtifact, sealed};
pub use blob::{Blob, ProgramSource, SourceFile};
pub use compare::CompareMode;
pub use error::ExecError;
pub use exec::{
    CaseResult, CompileOutcome, CompileResult, Dialogue, Exec, ExecOptions, HeldUp, JobContext,
    JudgeInput, MachineReport, Matched, RunOutcome, StopAt, TestBatch, TestCase,
};
pub use helper::{Helper, HelperError, HelperOptions, Shown};
pub use job::{BoxJob, JobDeadline, JobEnd, JobFile, JobProgram, Party};
pub use object_cache::ObjectCache;
pub use toolchain::AvailableToolchain;
