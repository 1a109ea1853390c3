//! A snapshot of the pools, for metrics and the dashboard.

use std::sync::Arc;

use assay_core::id::TenantId;
use assay_core::time::Micros;

use crate::scale::PoolPlan;

/// The state of all pools, and totals.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// The pools by name, except those without workers, waiting requests and a plan.
    pub pools: Vec<PoolSnapshot>,
    /// Batches that are announced and have not ended.
    pub batches: usize,
    /// Requests that wait, are leased, or wait for an equal request.
    pub requests: usize,
    /// The number of them that wait for the outcome of an equal request.
    pub waiters: usize,
}

/// A pool as operators see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolSnapshot {
    /// The name of the pool.
    pub pool: Arc<str>,
    /// Requests that wait for a worker.
    pub queued: usize,
    /// Leases that workers hold, those of cancelled requests that still run included.
    pub leased: usize,
    /// Workers that have joined, the draining ones included.
    pub workers: usize,
    /// Workers that are not draining and have no lease.
    pub idle: usize,
    /// Workers that finish their leases and get no more.
    pub draining: usize,
    /// Workers that were requested and have not joined yet.
    pub starting: usize,
    /// The mean duration of the last starts; `None` before the first.
    pub startup: Option<Micros>,
    /// The pool's plan; `None` if the pool is not elastic.
    pub plan: Option<PoolPlan>,
    /// The tenants with a waiting or leased request, by id.
    pub tenants: Vec<TenantSnapshot>,
}

/// A tenant's requests and workers of a pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TenantSnapshot {
    /// The tenant.
    pub tenant: TenantId,
    /// Requests that wait for a worker.
    pub queued: usize,
    /// Workers that hold leases of the tenant.
    pub workers: usize,
    /// The tenant's bound on its workers; `None` without one.
    pub workers_max: Option<u32>,
}
