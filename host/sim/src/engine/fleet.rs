//! Virtual workers: started, joined, busy with one stage at a time, gone.
//!
//! ```text
//!            joins           granted
//!  STARTING ------> IDLE ------------> BUSY
//!     |  ^           |  <------------   |
//!     |  started     |   stage ends     |
//!     +-------> GONE <------------------+
//!      cancelled, stopped, lost, host restarted
//! ```
//!
//! Owned by the engine. A worker that is gone never comes back.

use std::collections::VecDeque;

use assay_core::id::{LeaseId, WorkerId};
use assay_core::time::Micros;
use assay_sched::End;

#[derive(Debug)]
pub(super) struct Worker {
    pub(super) pool: usize,
    /// The factor by which this worker's times are multiplied.
    pub(super) factor: f64,
    pub(super) state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Starting,
    Idle,
    Busy(Job),
    Gone,
}

/// One stage of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Job {
    pub(super) lease: LeaseId,
    pub(super) batch: usize,
    pub(super) request: usize,
    /// The tenant of the request, and the time at which the stage started.
    pub(super) tenant: usize,
    pub(super) since: Micros,
    /// The answer that the worker will give.
    pub(super) end: End,
    pub(super) ran: Micros,
}

#[derive(Debug, Default)]
pub(super) struct Fleet {
    /// The workers by id.
    workers: Vec<Worker>,
    /// The starting workers by pool, the latest start last.
    starting: Vec<VecDeque<WorkerId>>,
}

impl Fleet {
    pub(super) fn new(pools: usize) -> Self {
        Self { workers: Vec::new(), starting: vec![VecDeque::new(); pools] }
    }

    pub(super) fn start(&mut self, pool: usize, factor: f64) -> WorkerId {
        let id = WorkerId(self.workers.len() as u64);
        self.workers.push(Worker { pool, factor, state: State::Starting });
        self.starting[pool].push_back(id);
        id
    }

    pub(super) fn get(&self, id: WorkerId) -> &Worker {
        &self.workers[id.0 as usize]
    }

    /// It takes work from now on; `None` if its start was given up.
    pub(super) fn joined(&mut self, id: WorkerId) -> Option<usize> {
        let worker = &mut self.workers[id.0 as usize];
        if worker.state != State::Starting {
            return None;
        }
        worker.state = State::Idle;
        let pool = worker.pool;
        // Starts may differ in length, so it need not be the oldest.
        self.starting[pool].retain(|starting| *starting != id);
        Some(pool)
    }

    /// Gives up the latest start.
    pub(super) fn cancel_start(&mut self, pool: usize) {
        let id = self.starting[pool].pop_back().expect("a start that is cancelled is under way");
        self.workers[id.0 as usize].state = State::Gone;
    }

    pub(super) fn take_up(&mut self, id: WorkerId, job: Job) {
        let worker = &mut self.workers[id.0 as usize];
        debug_assert_eq!(worker.state, State::Idle, "one stage at a time");
        worker.state = State::Busy(job);
    }

    /// The stage is over; `None` if the worker is gone.
    pub(super) fn put_down(&mut self, id: WorkerId, lease: LeaseId) -> Option<Job> {
        let worker = &mut self.workers[id.0 as usize];
        match worker.state {
            State::Busy(job) if job.lease == lease => {
                worker.state = State::Idle;
                Some(job)
            }
            _ => None,
        }
    }

    /// It stopped or was lost; returns what it was before.
    pub(super) fn gone(&mut self, id: WorkerId) -> State {
        std::mem::replace(&mut self.workers[id.0 as usize].state, State::Gone)
    }

    pub(super) fn busy(&self) -> Vec<WorkerId> {
        self.where_state(|state| matches!(state, State::Busy(_)))
    }

    /// Joined or starting.
    pub(super) fn alive(&self) -> Vec<WorkerId> {
        self.where_state(|state| state != State::Gone)
    }

    /// No start is under way any more.
    pub(super) fn forget_starts(&mut self) {
        self.starting.iter_mut().for_each(VecDeque::clear);
    }

    fn where_state(&self, wanted: impl Fn(State) -> bool) -> Vec<WorkerId> {
        let ids = (0..).map(WorkerId).zip(&self.workers);
        ids.filter(|(_, worker)| wanted(worker.state)).map(|(id, _)| id).collect()
    }
}
