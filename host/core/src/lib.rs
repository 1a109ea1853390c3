//! The words of Assay as types: ids, time, limits, plugins, outcomes.
//!
//! Everything else depends on this crate and it depends on nothing of ours. It does no I/O and
//! holds no state.

#![warn(missing_docs)]

pub mod id;
pub mod time;

pub mod address;
pub mod architecture;
pub mod capability;
pub mod cause;
pub mod compilation;
pub mod golden;
pub mod group;
pub mod limits;
pub mod outbound;
pub mod plugin;
pub mod recorded;
pub mod trace;

pub mod outcome;
