//! Private clusters on this machine's real PostgreSQL, in this process and by the command.

#![expect(clippy::unwrap_used, reason = "tests")]

mod machine;

mod cluster;
mod command;
