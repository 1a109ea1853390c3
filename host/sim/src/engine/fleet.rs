//! Virtual workers: started, joined, busy with one stage at a time, gone.
//!
//! ```text
//!           placed           joins           granted
//!  UNPLACED ------> STARTING ------> IDLE ------------> BUSY
//!     |                |              |  <------------   |
//!     |                |              |   stage ends     |
//!     +----------------+------> GONE <-------------------+
//!                 cancelled, stopped, lost, host restarted
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
    /// Asked for, while the pool cannot have more workers.
    Unplaced,
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
    pub(super) stage: usize,
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
    /// The starting and unplaced workers by pool, the latest start last.
    starting: Vec<VecDeque<WorkerId>>,
}

impl Fleet {
    pub(super) fn new(pools: usize) -> Self {
        Self { workers: Vec::new(), starting: vec![VecDeque::new(); pools] }
    }

    /// Asks for a worker, which has no place yet.
    pub(super) fn start(&mut self, pool: usize, factor: f64) {
        let id = WorkerId(self.workers.len() as u64);
        self.workers.push(Worker { pool, factor, state: State::Unplaced });
        self.starting[pool].push_back(id);
    }

    /// The start begins.
    pub(super) fn place(&mut self, id: WorkerId) {
        self.workers[id.0 as usize].state = State::Starting;
    }

    /// The starts of a pool without a place, the oldest first.
    pub(super) fn unplaced(&self, pool: usize) -> impl Iterator<Item = WorkerId> {
        let starting = self.starting[pool].iter().copied();
        starting.filter(|id| self.get(*id).state == State::Unplaced)
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

    /// The latest start.
    pub(super) fn latest_start(&self, pool: usize) -> WorkerId {
        *self.starting[pool].back().expect("a start that is cancelled is under way")
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
        let worker = &mut self.workers[id.0 as usize];
        let was = std::mem::replace(&mut worker.state, State::Gone);
        if matches!(was, State::Unplaced | State::Starting) {
            self.starting[worker.pool].retain(|starting| *starting != id);
        }
        was
    }

    pub(super) fn busy(&self) -> Vec<WorkerId> {
        self.where_state(|state| matches!(state, State::Busy(_)))
    }

    /// Joined or starting, with a place or without.
    pub(super) fn alive(&self) -> Vec<WorkerId> {
        self.where_state(|state| state != State::Gone)
    }

    /// Joined or starting.
    pub(super) fn placed(&self) -> Vec<WorkerId> {
        self.where_state(|state| !matches!(state, State::Unplaced | State::Gone))
    }

    fn where_state(&self, wanted: impl Fn(State) -> bool) -> Vec<WorkerId> {
        let ids = (0..).map(WorkerId).zip(&self.workers);
        ids.filter(|(_, worker)| wanted(worker.state)).map(|(id, _)| id).collect()
    }
}
