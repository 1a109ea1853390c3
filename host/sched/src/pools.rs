//! The pools by name, and which of them each step walks.
//!
//! Owned by the scheduler. Components of tenants name pools as they like, so that there may be thousands where requests
//! wait and no worker ever comes. A step must cost nothing for those: it walks the active ones alone.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::discipline::Discipline;
use crate::pool::Pool;

#[derive(Debug)]
pub(crate) struct Pools {
    discipline: Discipline,
    /// Those that have workers or a plan.
    active: BTreeMap<Arc<str>, Pool>,
    /// Those where requests wait and nothing else is.
    inactive: BTreeMap<Arc<str>, Pool>,
}

impl Pools {
    pub(crate) fn new(discipline: Discipline) -> Self {
        Self { discipline, active: BTreeMap::new(), inactive: BTreeMap::new() }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Pool> {
        self.active.get(name).or_else(|| self.inactive.get(name))
    }

    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut Pool> {
        self.active.get_mut(name).or_else(|| self.inactive.get_mut(name))
    }

    /// The pool of a worker that is there.
    pub(crate) fn of_worker(&mut self, name: &str) -> &mut Pool {
        self.active.get_mut(name).expect("a pool with a worker is active")
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Pool)> {
        self.active.iter().chain(&self.inactive)
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (&Arc<str>, &mut Pool)> {
        self.active.iter_mut().chain(&mut self.inactive)
    }

    /// The active pools, by name.
    pub(crate) fn active_mut(&mut self) -> impl Iterator<Item = (&Arc<str>, &mut Pool)> {
        self.active.iter_mut()
    }

    /// The pool for a request that is to wait there.
    pub(crate) fn for_request(&mut self, name: &Arc<str>) -> &mut Pool {
        // `entry` would need an owned key on each look-up.
        if self.active.contains_key(name) {
            return self.active.get_mut(name).expect("just seen");
        }
        if !self.inactive.contains_key(name) {
            self.inactive.insert(Arc::clone(name), Pool::new(self.discipline));
        }
        self.inactive.get_mut(name).expect("just made")
    }

    /// The pool for a worker or a plan.
    pub(crate) fn activate(&mut self, name: &Arc<str>) -> &mut Pool {
        if !self.active.contains_key(name) {
            let pool = self.inactive.remove(name);
            let pool = pool.unwrap_or_else(|| Pool::new(self.discipline));
            self.active.insert(Arc::clone(name), pool);
        }
        self.active.get_mut(name).expect("just made")
    }

    /// Puts the pools aside that have lost their last worker. To be called after each step.
    pub(crate) fn settle(&mut self) {
        let left = self.active.extract_if(.., |_, pool| !pool.is_active());
        self.inactive.extend(left.filter(|(_, pool)| pool.fair_queue.waiting() > 0));
    }

    /// Requests that waited there were removed: an inactive pool ends with the last one.
    pub(crate) fn requests_removed(&mut self, name: &str) {
        if self.inactive.get(name).is_some_and(|pool| pool.fair_queue.waiting() == 0) {
            self.inactive.remove(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use assay_core::id::{BatchId, Digest, TenantId, WorkerId};
    use assay_core::time::Micros;
    use uuid::Uuid;

    use crate::config::Config;
    use crate::discipline::Consumes;
    use crate::event::{Event, NewBatch, NewRequest, Progress};
    use crate::sched::Sched;
    use crate::stage::StageShape;

    fn id(number: u128) -> BatchId {
        BatchId(Uuid::from_u128(number))
    }

    fn step(sched: &mut Sched, event: Event) -> (usize, usize) {
        let _ = sched.step(Micros(1), event);
        (sched.pools.active.len(), sched.pools.inactive.len())
    }

    /// A batch with one request, whose stage needs the pool of the same number.
    fn submit(sched: &mut Sched, number: u128) -> (usize, usize) {
        let pool = number.to_string().as_str().into();
        let announced = NewBatch {
            id: id(number),
            tenant: TenantId(Uuid::nil()),
            run: "r".into(),
            plugin: Digest([1; 32]),
            stages: [StageShape { pool, timeout: Micros(9), retries_max: 0 }].into(),
            expected_size: None,
            group_size: None,
            tolerance: None,
            consumes: Consumes::Batch,
            hedged: true,
            announced: Micros(0),
        };
        let _ = sched.step(Micros(0), Event::BatchAnnounced(announced));
        let requests = vec![NewRequest {
            seq: 0,
            group: None,
            arrived: Micros(0),
            deadline: None,
            expected_ms: None,
            progress: Progress::Waiting { stage: 0, ran: Vec::new() },
        }];
        step(sched, Event::RequestsSubmitted { batch: id(number), requests })
    }

    #[test]
    fn a_step_walks_the_pools_that_have_workers() {
        let mut sched = Sched::new(Config::default());
        assert_eq!(submit(&mut sched, 1), (0, 1));
        assert_eq!(submit(&mut sched, 2), (0, 2));
        let joined = |worker| Event::WorkerJoined {
            worker: WorkerId(worker),
            pool: "1".into(),
            leases_max: 1,
        };
        assert_eq!(step(&mut sched, joined(1)), (1, 1));
        assert_eq!(step(&mut sched, Event::WorkerLost { worker: WorkerId(1) }), (0, 2));
        assert_eq!(step(&mut sched, joined(2)), (1, 1));
        assert_eq!(step(&mut sched, Event::BatchCancelled { batch: id(2) }), (1, 0));
        assert_eq!(step(&mut sched, Event::BatchCancelled { batch: id(1) }), (1, 0));
        assert_eq!(step(&mut sched, Event::WorkerLost { worker: WorkerId(2) }), (0, 0));
    }
}
