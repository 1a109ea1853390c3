//! `/v1/workers`: workers one by one, for the platform's administrators.

pub(crate) mod drain;
pub(crate) mod list;
