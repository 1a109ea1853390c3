//! Layers around all handlers.

pub(crate) mod authenticate;
pub(crate) mod drain_body;
pub(crate) mod finish;
pub(crate) mod headers;
pub(crate) mod query_names;
