//! The device `cuda` on a driver that is none (`assay-fake-cuda`): what it asks of a driver, what it makes
//! of each answer, and the judge's kernels, bit for bit beside what they define.
//!
//! Each test runs in a process of its own, which finds the fake by `LD_LIBRARY_PATH`: a driver is loaded
//! once in a process, and errors are told to the fake by the environment.

#![expect(clippy::unwrap_used, reason = "tests")]

mod codes;
mod devices;
mod fake;
mod judge;
mod kernels;
