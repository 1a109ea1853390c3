//! The JSON shapes of the REST interface with their OpenAPI schemas, shared by the server and its clients.
//!
//! A module for each noun of the interface. It does no I/O and holds no state.

#![warn(missing_docs)]

pub mod batch;
pub mod request;
pub mod result;

pub mod key;
pub mod plugin;
pub mod problem;

pub mod acknowledgement;
pub mod audit;
pub mod authoring;
pub mod capacity;
pub mod history;
pub mod operations;
pub mod people;
pub mod remote_workers;
pub mod sample;
pub mod simulation;
pub mod tenant;
pub mod view;
pub mod webhook;

mod schema;
