//! `/v1/session/keys`: the keys that people make for themselves in the tenant of their session. Such a key never
//! opens more than its person's role does at the time of a call (`auth/keys.rs`).

pub(crate) mod create;
pub(crate) mod list;
pub(crate) mod revoke;
