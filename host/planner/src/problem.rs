//! A workload for SIMULATE: batches of requests with known arrivals and service times.

use std::sync::Arc;

use assay_core::id::BatchId;
use assay_core::time::Micros;

/// The input of SIMULATE. Requests refer to batches, batches to flows, flows to pools, by index.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// The current time.
    pub now: Micros,
    /// The pools.
    pub pools: Vec<ProblemPool>,
    /// The sequences of stages.
    pub flows: Vec<Flow>,
    /// The batches.
    pub batches: Vec<ProblemBatch>,
    /// The requests.
    pub requests: Vec<ProblemRequest>,
    /// The service times s_ij: `stages_max` times for each request in turn, zero for a stage that is not
    /// reached. A request that is running or has run in part has the times that are left.
    pub service: Vec<Micros>,
    /// The most stages that a flow has.
    pub stages_max: usize,
}

impl Problem {
    pub(crate) fn service(&self, request: usize) -> &[Micros] {
        &self.service[request * self.stages_max..(request + 1) * self.stages_max]
    }

    pub(crate) fn flow(&self, request: usize) -> &Flow {
        &self.flows[self.batches[self.requests[request].batch].flow]
    }
}

/// A pool of workers.
#[derive(Debug, Clone, PartialEq)]
pub struct ProblemPool {
    /// The name of the pool.
    pub name: Arc<str>,
    /// The paper's C_j.
    pub cost: f64,
    /// No more workers than this.
    pub max: usize,
}

/// The stages of a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    /// The stages, in order.
    pub stages: Vec<FlowStage>,
}

/// A stage of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowStage {
    /// The index of its pool.
    pub pool: usize,
    /// The paper's T_j of LT.
    pub timeout: Micros,
}

/// A batch.
#[derive(Debug, Clone, PartialEq)]
pub struct ProblemBatch {
    /// The batch.
    pub id: BatchId,
    /// Its run.
    pub run: Arc<str>,
    /// The index of its flow.
    pub flow: usize,
    /// The key by which EBF orders the batch.
    pub rank: Micros,
    /// The paper's T.
    pub earliest_end: Micros,
    /// The paper's D.
    pub tolerance: Micros,
    /// The mean time that its requests may queue from now on; `None` if its end alone matters.
    pub wait_max: Option<Micros>,
}

/// A request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProblemRequest {
    /// The index of its batch.
    pub batch: usize,
    /// The stage for which the request is ready, or which it runs.
    pub stage: usize,
    /// Whether it runs at the start.
    pub running: bool,
    /// The time at which it becomes ready for that stage; `now` if it waits or runs already.
    pub ready: Micros,
}
