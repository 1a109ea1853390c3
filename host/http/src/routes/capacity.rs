//! `/v1/capacity`: pools, their workers and bounds, for the platform's administrators.

pub(crate) mod history;
pub(crate) mod list;
pub(crate) mod set;
