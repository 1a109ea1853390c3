//! The client against a server of the test's own that fails on demand.

#![expect(clippy::unwrap_used, reason = "tests")]

mod client;
mod mock;
mod score;
