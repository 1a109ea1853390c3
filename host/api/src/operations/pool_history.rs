//! The JSON shapes of the history of pools: samples of their workers, and the planner's decisions.

use serde::{Deserialize, Serialize};

use assay_core::time::Micros;

/// Filters for the history of pools.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct CapacityHistoryFilter {
    /// Name of the pool; all pools when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// Start of the history; one hour before `to` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<String>)]
    pub from: Option<Micros>,
    /// End of the history; now when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<String>)]
    pub to: Option<Micros>,
}

/// `GET /v1/capacity/history`: kept for 7 days.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct CapacityHistory {
    /// Start of the period.
    #[schema(value_type = String)]
    pub from: Micros,
    /// End of the period.
    #[schema(value_type = String)]
    pub to: Micros,
    /// Sorted by name.
    pub pools: Vec<PoolHistory>,
}

/// The samples and plans of a pool.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct PoolHistory {
    /// Name of the pool.
    pub pool: String,
    /// Samples in the order of time, at most 500; each holds until the next one.
    pub samples: Vec<CapacitySample>,
    /// Changes of the target, the latest first, at most 100.
    pub decisions: Vec<PlanDecision>,
}

/// State of a pool; each number is the maximum within the sample's period.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct CapacitySample {
    /// Time of the sample.
    #[schema(value_type = String)]
    pub at: Micros,
    /// Number of busy workers and waiting requests.
    pub demand: u32,
    /// Number of workers with which no request would wait; absent before the first plan.
    pub zero_queue: Option<u32>,
    /// Number of workers that were kept even when idle; absent before the first plan.
    pub hold: Option<u32>,
    /// Number of workers up to which demand could raise the pool; absent before the first plan.
    pub ceiling: Option<u32>,
    /// Number of workers that start.
    pub starting: u32,
    /// Number of idle workers.
    pub idle: u32,
    /// Number of busy workers.
    pub busy: u32,
    /// Number of workers that finish their leases, get no new ones, and end.
    pub draining: u32,
    /// Number of requests that waited for a worker.
    pub queued: u32,
    /// Cost of the pool's workers per second, including those that start.
    pub cost: f64,
}

/// A change of the planner's target for a pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct PlanDecision {
    /// Time of the plan.
    #[schema(value_type = String)]
    pub at: Micros,
    /// Number of workers that are kept even when they are idle.
    pub hold: u32,
    /// Number of workers up to which demand may raise the pool.
    pub ceiling: u32,
    /// Target before the change; absent if unknown.
    pub hold_before: Option<u32>,
    /// Ceiling before the change; absent if unknown.
    pub ceiling_before: Option<u32>,
    /// The reason as a sentence.
    pub why: String,
}
