//! One run: what goes into a box and what comes out.

use std::os::fd::BorrowedFd;

use serde::{Deserialize, Serialize};

use crate::limits::Limits;
use crate::outcome::{Captured, Ending, Usage};

/// The folder in which a program runs, and which is all it can write to.
pub const WORKING_FOLDER: &str = "/box/w";

/// Which system calls are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Purpose {
    Compile,
    /// Without those that change a file's mode: what runs may be shared with later runs.
    Run,
}

#[derive(Debug, Clone, Copy)]
pub enum Program<'a> {
    /// A sealed memory file, which is executed itself.
    Sealed(BorrowedFd<'a>),
    /// An absolute path in the box's world, such as `/usr/bin/python3`.
    Path(&'a str),
}

#[derive(Debug, Clone)]
pub struct JobFile<'a> {
    /// Relative to the working folder; folders are made.
    pub path: &'a str,
    pub bytes: &'a [u8],
    pub executable: bool,
}

#[derive(Debug, Clone)]
pub struct Job<'a> {
    pub purpose: Purpose,
    pub program: Program<'a>,
    /// The first is the program's name for itself.
    pub args: Vec<String>,
    /// The whole environment.
    pub env: Vec<(String, String)>,
    pub files: Vec<JobFile<'a>>,
    pub stdin: &'a [u8],
    /// Relative paths of files to return where they are there: regular files only. One larger than
    /// the disk limit is cut.
    pub collect: Vec<String>,
    pub limits: Limits,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    pub ending: Ending,
    pub usage: Usage,
    pub stdout: Captured,
    pub stderr: Captured,
    pub files: Vec<(String, Captured)>,
}

/// Two programs that talked with each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Talked {
    pub program: Ended,
    pub interactor: Ended,
    pub first_to_end: Party,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Party {
    Program,
    Interactor,
}
