//! The JSON shapes of `/v1/capacity`: pools, their workers, and what the planner thinks of them.

use serde::{Deserialize, Serialize};

use assay_core::id::BatchId;
use assay_core::time::Micros;

/// `GET /v1/capacity`.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Capacity {
    /// Policy that chooses the number of workers: assay, distrs, history, zq or fixed.
    pub planner: String,
    /// The planner's last run; absent before the first plan.
    pub plan: Option<LastPlan>,
    /// Sorted by name.
    pub pools: Vec<PoolCapacity>,
}

/// The planner's last run.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct LastPlan {
    /// Time of the state that the plan is based on.
    #[schema(value_type = String)]
    pub at: Micros,
    /// Age of the plan, in milliseconds.
    pub age_ms: f64,
    /// Number of requests in the simulated workload.
    pub requests: u64,
    /// Number of simulations.
    pub simulations: u64,
    /// Time in which the plan was computed, in milliseconds.
    pub took_ms: f64,
}

/// The capacity of a pool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct PoolCapacity {
    /// Name of the pool.
    pub pool: String,
    /// Minimum number of workers, kept even when no batch is live.
    pub min: u32,
    /// Maximum number of workers.
    pub max: u32,
    /// Cost of a worker per second.
    pub cost: f64,
    /// Numbers of workers by state.
    pub workers: PoolWorkers,
    /// Number of requests that wait for a worker.
    pub queued: u64,
    /// Recently measured start time of a worker, in milliseconds.
    pub startup_ms: Option<f64>,
    /// The planner's target; absent before the first plan.
    pub target: Option<PoolTarget>,
    /// The reason why workers fail to start; absent while they start without errors.
    pub trouble: Option<StartTrouble>,
    /// Starting workers that have no place yet, by the reason, the most common one first; empty while the pool's
    /// launcher places workers at once.
    #[serde(default)]
    pub waiting: Vec<WaitingWorkers>,
    /// Workers that Assay did not ask to end and that will be ended, such as by an eviction, by the reason, the most
    /// common one first. They finish their leases and get no new ones.
    #[serde(default)]
    pub leaving: Vec<LeavingWorkers>,
}

/// Starting workers that wait for a place for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct WaitingWorkers {
    /// Number of workers that wait.
    pub workers: u32,
    /// The reason as a clause, such as that of Slurm.
    pub reason: String,
    /// The time since which the first of them has waited.
    #[schema(value_type = String)]
    pub since: Micros,
}

/// Workers that will be ended for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct LeavingWorkers {
    /// Number of workers that leave.
    pub workers: u32,
    /// The reason as a clause, such as that of Kubernetes.
    pub reason: String,
    /// The time at which the first of them was known to leave.
    #[schema(value_type = String)]
    pub since: Micros,
}

/// Number of workers, by state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct PoolWorkers {
    /// Requested workers that have not joined yet.
    pub starting: u32,
    /// Number of idle workers.
    pub idle: u32,
    /// Number of busy workers.
    pub busy: u32,
    /// Workers that finish their leases, get no new ones, and end.
    pub draining: u32,
    /// Idle and busy workers among them that joined by themselves; the bounds of the pool do not count them.
    #[serde(default)]
    pub joined: u32,
}

/// The planner's target for a pool, with its reason.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct PoolTarget {
    /// Number of workers that are kept even when they are idle.
    pub hold: u32,
    /// Number of workers up to which demand may raise the pool.
    pub ceiling: u32,
    /// Number of workers with which no request would wait.
    pub zero_queue: u32,
    /// The reason as a sentence.
    pub why: String,
    /// The reason for the target, for programs.
    pub reason: PlanReason,
}

/// The reason for a pool's ceiling.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PlanReason {
    /// No live batch needs the pool.
    Idle,
    /// The requests that need the pool are held until memory for their artifacts is free, and no others do.
    Held,
    /// The planner's policy sets it.
    Mode,
    /// The pool's `min`.
    Minimum,
    /// The pool's `max`; the plan needed more workers.
    Maximum {
        /// Number of workers that the plan needed.
        wanted: u32,
    },
    /// A live batch has no history to plan with: the pool starts with few workers and grows.
    Unknown,
    /// The smallest possible number while a batch needs the pool.
    Needed,
    /// With one worker fewer, a request would start too late.
    Bound {
        /// Id of the batch.
        #[schema(value_type = String)]
        batch: BatchId,
        /// Name of the run.
        run: String,
        /// Number of the stage, from 0.
        stage: u32,
        /// Time at which a request of the batch would be ready for the stage.
        #[schema(value_type = String)]
        ready_at: Micros,
        /// Time at which the request would start.
        #[schema(value_type = String)]
        start_at: Micros,
        /// The reason why that start is too late.
        because: PlanBecause,
    },
}

/// The reason why that start is too late.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PlanBecause {
    /// The batch would end at `end_at`, and may not end later than `by_at`.
    Late {
        /// Time at which the batch would end.
        #[schema(value_type = String)]
        end_at: Micros,
        /// Latest time at which the batch may end.
        #[schema(value_type = String)]
        by_at: Micros,
    },
    /// A request could time out and end at `latest_at`; the batch may not end later than `by_at`.
    MayTimeOut {
        /// Latest time at which the request could end.
        #[schema(value_type = String)]
        latest_at: Micros,
        /// Latest time at which the batch may end.
        #[schema(value_type = String)]
        by_at: Micros,
    },
    /// The expected delay caused by long-running requests would exceed its budget.
    Risk {
        /// Expected delay, in milliseconds.
        expected_ms: f64,
        /// Budget for the delay, in milliseconds.
        budget_ms: f64,
    },
    /// The trainer consumes groups, and a request of the batch would wait for longer than allowed, on average.
    Waits {
        /// Mean wait of the requests, in milliseconds.
        mean_ms: f64,
        /// Largest mean wait that is allowed, in milliseconds.
        max_ms: f64,
    },
}

/// The reason why workers of a pool do not start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct StartTrouble {
    /// Number of failed starts since the last successful one.
    pub failures: u64,
    /// Error of the last start.
    pub error: String,
    /// Time of the last failure.
    #[schema(value_type = String)]
    pub failed_at: Micros,
    /// Earliest time of the next attempt, if a worker is still needed then.
    #[schema(value_type = String)]
    pub next_try_at: Micros,
}

/// `PUT /v1/capacity/{pool}`; takes effect at once and survives restarts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SetCapacity {
    /// Minimum number of workers, kept even when no batch is live.
    pub min: u32,
    /// Maximum number of workers; busy workers above it finish their requests.
    pub max: u32,
}
