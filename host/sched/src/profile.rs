//! The profile of a completed batch for the planner: the arrivals and run times of its requests.
//!
//! Written once when the batch is done, then shared and never changed.

use std::collections::BTreeMap;
use std::sync::Arc;

use assay_core::id::{BatchId, Digest, TenantId};
use assay_core::time::Micros;

use crate::stage::StageShape;

/// The paper's R and S (algorithm 1) of one batch, with what they belong to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// The batch.
    pub batch: BatchId,
    /// Its tenant.
    pub tenant: TenantId,
    /// Its run; the next batch of the run is expected to be like it.
    pub run: Arc<str>,
    /// The digest of the plugin's version.
    pub plugin: Digest,
    /// The stages of the plugin.
    pub stages: Arc<[StageShape]>,
    /// The time of its announcement.
    pub announced: Micros,
    /// The time of its first request.
    pub first_arrival: Micros,
    /// The paper's T.
    pub earliest_end: Micros,
    /// The time at which its last request ended.
    pub ended: Micros,
    /// The requests in order of completion.
    pub requests: Vec<ProfileRequest>,
    /// s_ij: of each request in turn, a time for each stage; zero where it was not reached.
    pub ran: Vec<Micros>,
}

/// A request of a completed batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProfileRequest {
    /// r_i, from the batch's first arrival.
    pub arrived: Micros,
    /// The request's ending.
    pub ending: Ending,
}

/// How a request ended, for the planner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ending {
    /// With a reward.
    Scored,
    /// By a timeout.
    TimedOut,
    /// Without a reward.
    Error,
}

impl Profile {
    /// The stage times of one request.
    #[must_use]
    pub fn ran(&self, request: usize) -> &[Micros] {
        let stages = self.stages.len();
        &self.ran[request * stages..(request + 1) * stages]
    }

    /// The number of requests that reached a stage, and the sum of the times for which they ran it.
    #[must_use]
    pub fn reached(&self, stage: usize) -> (u32, Micros) {
        let times = self.ran.iter().skip(stage).step_by(self.stages.len());
        let times = times.filter(|time| **time > Micros::ZERO);
        times.fold((0, Micros::ZERO), |(count, sum), time| (count + 1, sum + *time))
    }

    /// How long workers of each pool were busy with it.
    #[must_use]
    pub fn worker_time(&self) -> BTreeMap<Arc<str>, Micros> {
        let mut times = BTreeMap::new();
        for request in self.ran.chunks_exact(self.stages.len()) {
            for (stage, ran) in self.stages.iter().zip(request) {
                let time: &mut Micros = times.entry(Arc::clone(&stage.pool)).or_default();
                *time = *time + *ran;
            }
        }
        times
    }
}
