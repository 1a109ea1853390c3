//! Guests in the sandbox, in the test's own process.

mod guests;
mod machine;
mod server;

mod capabilities;
mod cases;
mod liars;
mod requests;
mod uploads;
