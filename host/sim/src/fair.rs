//! Tenants that want more of one pool than there is, as traces: each sends one batch.
//!
//! Made for numbers that can be foreseen. Nothing here measures: runs of these traces do.

use assay_core::time::Micros;

use crate::trace::{Iteration, Meta, Task, Trace, TraceRequest, TraceStage, TrainerMode};

/// The one stage, and so the one pool.
pub const STAGE: &str = "check";

const TIMEOUT: Micros = Micros::from_secs(60);

/// One batch of a tenant.
#[derive(Debug, Clone, Copy)]
pub struct Demand {
    pub tenant: &'static str,
    /// The time of the first request.
    pub start: Micros,
    pub requests: u32,
    /// All come within this time, evenly.
    pub within: Micros,
    /// A request's time on average; times lie evenly from half to one and a half of it.
    pub service: Micros,
}

/// A trace of these batches, each a task of its own. The history of each lies long before it, so
/// that it ranks no batch by what the pool could not do.
#[must_use]
pub fn trace(demands: &[Demand]) -> Trace {
    let stage = TraceStage { name: STAGE.into(), pool: None, timeout: TIMEOUT, cost: 1.0 };
    let meta = Meta {
        stages: vec![stage],
        mode: TrainerMode::Colocated,
        generator: "assay-sim fair".into(),
        seed: 0,
        spec: serde_json::Value::Null,
    };
    Trace { meta, tasks: (0..).zip(demands).map(|(id, demand)| task(id, demand)).collect() }
}

fn task(id: u32, demand: &Demand) -> Task {
    let iteration = |number, rollout_start| Iteration {
        number,
        rollout_start,
        rollout: demand.within,
        train: Micros::ZERO,
        sync: Micros::ZERO,
        requests: (0..demand.requests).map(|request| one(request, demand)).collect(),
    };
    let tenant = Some(demand.tenant.to_owned());
    let iterations = vec![iteration(0, Micros::ZERO), iteration(1, demand.start)];
    Task { id, tenant, start: Micros::ZERO, iterations }
}

fn one(request: u32, demand: &Demand) -> TraceRequest {
    // Spread so that no stretch of them is long or short.
    let spread = f64::from(request.wrapping_mul(2_654_435_769)) / f64::from(u32::MAX);
    TraceRequest {
        request,
        group: request,
        tokens: 0,
        rollout: demand.within.scaled(f64::from(request) / f64::from(demand.requests.max(1))),
        service: vec![Some(demand.service.scaled(0.5 + spread))],
        outcome: "success".into(),
    }
}
