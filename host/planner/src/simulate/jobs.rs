//! Requests as a run of SIMULATE handles them: all that it asks of one gathered in one place.
//!
//! Requests come to a block in the order in which they left another, which is no order in memory.
//! They are looked up some way ahead, where one cache miss need not wait for another, and are
//! carried along from then on.

use crate::workload::{Job, Moment, Workload};

/// Requests that are looked up at a time.
const AHEAD: usize = 64;

/// The jobs that arrive at a block, in order of time.
pub(super) struct Coming<'a> {
    arrivals: &'a [Moment],
    block: usize,
    /// The jobs that were looked up, and the number of them that have come.
    jobs: Vec<Job>,
    come: usize,
}

impl<'a> Coming<'a> {
    pub(super) fn new(arrivals: &'a [Moment], block: usize) -> Self {
        Self { arrivals, block, jobs: Vec::with_capacity(AHEAD), come: 0 }
    }

    /// When the next one comes.
    pub(super) fn next_at(&mut self, workload: &Workload) -> u64 {
        if self.come == self.jobs.len() {
            let (now, later) = self.arrivals.split_at(self.arrivals.len().min(AHEAD));
            self.arrivals = later;
            self.come = 0;
            self.jobs.clear();
            self.jobs.extend(now.iter().map(|moment| workload.arriving(*moment, self.block)));
        }
        self.jobs.get(self.come).map_or(u64::MAX, |job| job.ready.at())
    }

    /// The next one, after `next_at` has said when it comes.
    pub(super) fn pop(&mut self) -> Option<Job> {
        let job = self.jobs.get(self.come).copied();
        self.come += usize::from(job.is_some());
        job
    }
}
