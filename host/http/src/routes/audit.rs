//! `/v1/audit`: what people and keys did.

pub(crate) mod list;
