//! One run: the job that goes into a box, and its end.

use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::limits::BoxLimits;
use crate::outcome::{Captured, ProgramEnding, Usage};

/// The folder in which a program runs; it is the only one that a program can write to.
pub const WORKING_FOLDER: &str = "/box/w";

/// The time at which a job is cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobDeadline {
    /// The time on a machine that has a core for the job whenever it is ready.
    pub at: Instant,
    /// The latest time to which waiting for a core puts it off.
    pub latest: Instant,
}

impl From<Instant> for JobDeadline {
    fn from(at: Instant) -> Self {
        Self { at, latest: at }
    }
}

impl JobDeadline {
    /// The deadline of a job that waited so long for a core.
    pub(crate) fn put_off(self, waited: Duration) -> Self {
        let latest = self.latest.max(self.at);
        Self { at: (self.at + waited).min(latest), latest }
    }
}

/// The purpose of a run, which decides the allowed system calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Purpose {
    /// A compiler, which may change the mode of files.
    Compile,
    /// A program, which may not: its executable is shared with later runs.
    Run,
}

/// The program of a job.
#[derive(Debug, Clone, Copy)]
pub enum JobProgram<'a> {
    /// A sealed memory file, which is executed.
    Sealed(BorrowedFd<'a>),
    /// An absolute path in the box, such as `/usr/bin/python3`.
    Path(&'a str),
}

/// A file that is placed in the working folder before the program starts.
#[derive(Debug, Clone)]
pub struct JobFile<'a> {
    /// The path relative to the working folder; missing folders are made.
    pub path: &'a str,
    /// The content.
    pub bytes: &'a [u8],
    /// Whether the program may execute it.
    pub executable: bool,
}

/// A program and everything that its box needs.
#[derive(Debug, Clone)]
pub struct BoxJob<'a> {
    /// The purpose, which decides the allowed system calls.
    pub purpose: Purpose,
    /// The program to run.
    pub program: JobProgram<'a>,
    /// The arguments; the first is the program's own name.
    pub args: Vec<String>,
    /// The whole environment, as names and values.
    pub env: Vec<(String, String)>,
    /// The files in the working folder.
    pub files: Vec<JobFile<'a>>,
    /// The standard input.
    pub stdin: &'a [u8],
    /// The relative paths of files to return if they exist and are regular files. The bytes of all of
    /// them beyond the disk limit, or beyond `EXEC_COLLECTED_BYTES_MAX`, are cut.
    pub collect: Vec<String>,
    /// The limits of the run.
    pub limits: BoxLimits,
}

/// The end of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobEnd {
    /// The program's ending.
    pub ending: ProgramEnding,
    /// The resources that it used.
    pub usage: Usage,
    /// The beginning of its standard output.
    pub stdout: Captured,
    /// The beginning of its standard error.
    pub stderr: Captured,
    /// The collected files, as paths and contents.
    pub files: Vec<(String, Captured)>,
}

/// The ends of two programs that talked with each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DialogueEnd {
    /// The end of the judged program.
    pub program: JobEnd,
    /// The end of the interactor.
    pub interactor: JobEnd,
    /// The one that ended first.
    pub first_to_end: Party,
}

/// One side of a dialogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Party {
    /// The judged program.
    Program,
    /// The interactor.
    Interactor,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_for_a_core_puts_a_deadline_off() {
        let (now, second) = (Instant::now(), Duration::from_secs(1));
        let until = JobDeadline { at: now, latest: now + 3 * second };
        assert_eq!(until.put_off(second).at, now + second);
        assert_eq!(until.put_off(second * 9).at, now + 3 * second);
        assert_eq!(JobDeadline::from(now).put_off(second).at, now);
    }
}
