//! `/v1/requests`: one request with all that is kept about it.

pub(crate) mod artifact;
pub(crate) mod get;
pub(crate) mod logs;
pub(crate) mod replay;
