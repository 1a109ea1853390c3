//! Workers of other machines: how they get certificates, and how their connections come in.
//!
//! A peer that shows the certificate of a known worker may do what workers do. Any other peer may ask to join, within
//! limits that let nobody else wait.

mod connection;
mod enrolment;
mod known;
mod listener;
mod unproven;

pub(crate) use enrolment::EnrolmentService;
pub use known::{RemoteSettings, RemoteWorkers};
pub(crate) use listener::{ConnectionSenders, accept};
