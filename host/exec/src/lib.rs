//! Runs programs nobody trusts: each in a box of its own, made of namespaces, a cgroup, Landlock and
//! a list of allowed system calls, without network, files or rights.
//!
//! ```text
//!   worker ── Exec ── Helper ══ socket ══ zygote ── box: init ── program
//!                                  keeper ──┘
//! ```
//!
//! The worker side ([`Exec`], [`Helper`]) compiles, caches, compares and decides what is run again.
//! The helper is a process of its own (`assay-exec`): its keeper builds a read-only world and gives
//! up every right, its zygote makes a box for each run. Neither trusts what a program says; whatever
//! a program does is an [`Ended`], and what went wrong around it an error that is never a verdict.

pub mod limits;
pub mod outcome;

pub mod job;
pub mod support;

mod helper;
mod message;

pub mod keeper;
mod world;

mod boxed;
mod cgroup;
mod filter;
mod init;
mod lock;
mod program;
mod sys;
mod zygote;

mod blob;
mod compare;
pub mod path;
pub mod shelf;

mod artifact;
pub mod cache;
mod exec;
mod toolchain;

pub use artifact::{Artifact, sealed};
pub use blob::{Blob, SourceFile};
pub use cache::Cache;
pub use compare::Compare;
pub use exec::{
    Batch, Caller, CaseResult, CompileResult, Compiled, Dialogue, Error, Exec, ExecOptions,
    Judging, Matched, Outcome, Report, Source, StopAt, TestCase,
};
pub use helper::{Helper, Lost, Options, Shown};
pub use job::{Ended, Job, JobFile, Party, Program};
pub use toolchain::Toolchain;
