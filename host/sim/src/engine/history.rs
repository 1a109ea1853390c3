//! The history of a task that the planner and the scheduler have before the first measured batch: its first
//! iteration, as if nothing in it had queued.

use std::sync::Arc;

use assay_core::id::{BatchId, Digest, TenantId};
use assay_core::time::Micros;
use assay_sched::{Ending, Profile, ProfileRequest, StageShape};

use super::work::timed_out;
use crate::trace::Iteration;

/// All tasks run with one plugin.
pub(crate) const PLUGIN: Digest = Digest([0; 32]);

pub(crate) fn profile(
    batch: BatchId,
    tenant: TenantId,
    run: Arc<str>,
    stages: Arc<[StageShape]>,
    iteration: &Iteration,
) -> Profile {
    let mut requests: Vec<_> = iteration.requests.iter().collect();
    requests.sort_by_key(|request| request.earliest_end());
    let first = requests.iter().map(|request| request.rollout).min().unwrap_or_default();
    let ended = iteration.rollout_start + iteration.earliest_end();
    let ran = requests.iter().flat_map(|request| &request.service);
    Profile {
        batch,
        tenant,
        run,
        plugin: PLUGIN,
        stages,
        announced: iteration.rollout_start,
        first_arrival: iteration.rollout_start + first,
        earliest_end: ended,
        ended,
        // Zero says that a stage was not reached.
        ran: ran.map(|ran| ran.map_or(Micros::ZERO, |ran| ran.max(Micros(1)))).collect(),
        requests: requests
            .iter()
            .map(|request| ProfileRequest {
                arrived: request.rollout.since(first),
                ending: if timed_out(request) { Ending::TimedOut } else { Ending::Scored },
            })
            .collect(),
    }
}
