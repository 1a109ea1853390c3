//! `/v1/runs`: the training runs of a tenant.

pub(crate) mod get;
pub(crate) mod history;
pub(crate) mod list;
pub(crate) mod logs;
pub(crate) mod samples;
pub(crate) mod solve_rates;
