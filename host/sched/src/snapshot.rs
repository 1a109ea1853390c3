//! How things stand: for metrics, the dashboard and, in time, the planner.

use std::sync::Arc;

use assay_model::id::TenantId;
use assay_model::time::Micros;

use crate::scale::PoolPlan;

/// Taken between two steps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// By name; a pool without workers, a queue and a plan is absent.
    pub pools: Vec<PoolSnapshot>,
    /// Announced and not ended.
    pub batches: usize,
    /// Waiting, in hand or following.
    pub requests: usize,
    /// Of them those that wait for the outcome of an equal one.
    pub following: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolSnapshot {
    pub pool: Arc<str>,
    /// Requests that wait for a worker.
    pub queued: usize,
    /// Leases in the hands of workers, those of cancelled requests that still run included.
    pub in_hand: usize,
    /// Joined, the draining included.
    pub workers: usize,
    /// Not draining, nothing in hand.
    pub idle: usize,
    pub draining: usize,
    /// Asked for and not joined yet.
    pub starting: usize,
    /// How long starts took lately; `None` before the first.
    pub startup: Option<Micros>,
    /// `None`: the pool is not elastic.
    pub plan: Option<PoolPlan>,
    /// By tenant: those of which something waits or is in a hand.
    pub tenants: Vec<TenantSnapshot>,
}

/// What a tenant has of a pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TenantSnapshot {
    pub tenant: TenantId,
    /// Requests that wait for a worker.
    pub queued: usize,
    /// Workers with something of it in hand.
    pub workers: usize,
    /// Its bound on them.
    pub workers_max: Option<u32>,
}
