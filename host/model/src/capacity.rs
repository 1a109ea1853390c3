//! The JSON shapes of `/v1/capacity`: pools, their workers, and what the planner thinks of them.

use serde::{Deserialize, Serialize};

use crate::id::BatchId;
use crate::time::Micros;

/// `GET /v1/capacity`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Capacity {
    /// How the number of workers is chosen: assay, distrs, history, zq or fixed.
    pub planner: String,
    /// Absent until the first plan is there.
    pub plan: Option<LastPlan>,
    /// By name.
    pub pools: Vec<PoolCapacity>,
}

/// The planner's last run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LastPlan {
    /// When its view of the service was taken.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub at: Micros,
    pub age_ms: f64,
    /// Requests in the simulated workload.
    pub requests: u64,
    /// How often it was simulated.
    pub simulations: u64,
    pub took_ms: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PoolCapacity {
    pub pool: String,
    /// Workers that are there even when nothing is live.
    pub min: u32,
    /// Never more workers than this.
    pub max: u32,
    /// Of a worker, a second.
    pub cost: f64,
    pub workers: PoolWorkers,
    /// Requests that wait for a worker.
    pub queued: u64,
    /// How long a worker takes to start, as measured lately.
    pub startup_ms: Option<f64>,
    /// Absent until the first plan is there.
    pub target: Option<PoolTarget>,
    /// Absent while workers start well.
    pub trouble: Option<StartTrouble>,
}

/// Workers by what they do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PoolWorkers {
    /// Asked for and not there yet.
    pub starting: u32,
    pub idle: u32,
    pub busy: u32,
    /// They get nothing more and end.
    pub draining: u32,
}

/// What the planner wants of a pool, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PoolTarget {
    /// Workers that are kept whether or not anything waits for them.
    pub hold: u32,
    /// Workers that demand may raise this to.
    pub ceiling: u32,
    /// What it would take for no request to wait.
    pub zero_queue: u32,
    /// The reason in words.
    pub why: String,
    pub reason: PlanReason,
}

/// Why a pool's ceiling is what it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PlanReason {
    /// Nothing live needs the pool.
    Idle,
    /// The planner's mode says so.
    Mode,
    /// The pool's `min`.
    Minimum,
    /// The pool's `max`; the plan wanted more.
    Maximum { wanted: u32 },
    /// A live batch has no history, its own or another's: the pool starts with few and grows.
    Unknown,
    /// The least there can be while something needs the pool.
    Needed,
    /// What one worker less would do.
    Bound {
        #[cfg_attr(feature = "openapi", schema(value_type = String))]
        batch: BatchId,
        run: String,
        /// From 0.
        stage: u32,
        /// A request of the batch would be ready for the stage ...
        #[cfg_attr(feature = "openapi", schema(value_type = String))]
        ready_at: Micros,
        /// ... and start so late that
        #[cfg_attr(feature = "openapi", schema(value_type = String))]
        start_at: Micros,
        because: PlanBecause,
    },
}

/// Why that start is too late.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PlanBecause {
    /// The batch would end then, and may not end later than `by_at`.
    Late {
        #[cfg_attr(feature = "openapi", schema(value_type = String))]
        end_at: Micros,
        #[cfg_attr(feature = "openapi", schema(value_type = String))]
        by_at: Micros,
    },
    /// A request could run into its timeouts and end then; the batch may not end later than `by_at`.
    MayTimeOut {
        #[cfg_attr(feature = "openapi", schema(value_type = String))]
        latest_at: Micros,
        #[cfg_attr(feature = "openapi", schema(value_type = String))]
        by_at: Micros,
    },
    /// The expected delay by long runners would pass its budget.
    Risk { expected_ms: f64, budget_ms: f64 },
}

/// Why workers of a pool do not start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StartTrouble {
    /// Failed starts since one went well.
    pub failures: u64,
    /// What became of the last one.
    pub error: String,
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub failed_at: Micros,
    /// The next try comes no earlier, if a worker is still wanted then.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub next_try_at: Micros,
}

/// `PUT /v1/capacity/{pool}`: from now on, and over restarts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SetCapacity {
    /// Workers that are there even when nothing is live.
    pub min: u32,
    /// Never more workers than this; busy ones above it finish what they do.
    pub max: u32,
}
