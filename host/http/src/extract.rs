//! Reading what a call brings: path, query, body and items, each within its limits.

pub(crate) mod all_tenants;
pub(crate) mod body;
pub(crate) mod item;
pub(crate) mod page;
pub(crate) mod upload;
