//! What a completed batch leaves to the planner: when its requests came and how long they ran.
//!
//! Written once when the batch is done, then shared and never changed.

use std::collections::BTreeMap;
use std::sync::Arc;

use assay_core::id::{BatchId, Digest, TenantId};
use assay_core::time::Micros;

use crate::event::StageShape;

/// The paper's R and S (algorithm 1) of one batch, with what they belong to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    pub batch: BatchId,
    pub tenant: TenantId,
    pub run: Arc<str>,
    pub plugin: Digest,
    pub stages: Arc<[StageShape]>,
    pub announced: Micros,
    pub first_arrival: Micros,
    /// The paper's T.
    pub earliest_end: Micros,
    pub ended: Micros,
    /// In order of completion.
    pub requests: Vec<ProfileRequest>,
    /// s_ij: of each request in turn, a time for each stage; zero where it was not reached.
    pub ran: Vec<Micros>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProfileRequest {
    /// r_i, from the batch's first arrival.
    pub arrived: Micros,
    pub ending: Ending,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ending {
    Scored,
    TimedOut,
    Error,
}

impl Profile {
    /// The stage times of one request.
    #[must_use]
    pub fn ran(&self, request: usize) -> &[Micros] {
        let stages = self.stages.len();
        &self.ran[request * stages..(request + 1) * stages]
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
