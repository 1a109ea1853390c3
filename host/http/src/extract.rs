//! Reading the parts of a call: caller, path, query, body and items, each within its limits.

pub(crate) mod all_tenants;
pub(crate) mod array;
pub(crate) mod body;
pub(crate) mod guard;
pub(crate) mod item;
pub(crate) mod lines;
pub(crate) mod name;
pub(crate) mod object;
pub(crate) mod page;
pub(crate) mod path;
pub(crate) mod query;
pub(crate) mod thread_use;
pub(crate) mod trace;
pub(crate) mod upload;
