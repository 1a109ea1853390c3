//! The words of Assay as types: ids, time, limits, plugins, outcomes, and the REST shapes.
//!
//! Everything else depends on this crate and it depends on nothing of ours. It does no I/O and
//! holds no state.

pub mod id;
pub mod time;

pub mod limits;
pub mod plugin;

pub mod outcome;

pub mod api;
pub mod audit;
pub mod authoring;
pub mod capacity;
pub mod history;
pub mod operations;
pub mod outbound;
pub mod people;
pub mod result;
pub mod simulation;
pub mod tenant;
pub mod view;
