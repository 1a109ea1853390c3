//! A run of a pool to which no work comes back: from one start to the next.
//!
//! Nothing in the pool depends on which stage ends, only on when, so an end is looked up only if the next
//! job has to wait for a worker.

use super::jobs::Coming;
use super::workers::{Capacity, SimulatedWorkers, overlap};
use super::{Job, SimulationQuestion, Simulator};
use crate::rule::Violation;
use crate::workload::Moment;

impl Simulator<'_> {
    pub(super) fn run_line(
        &mut self,
        block: usize,
        arrivals: &[Moment],
        capacity: &Capacity,
        until: SimulationQuestion,
    ) -> Result<(), Violation> {
        let pool = self.workload.blocks[block][0];
        let mut ends = std::mem::take(&mut self.ends);
        let mut crew = SimulatedWorkers::new(capacity, &mut ends);
        self.times.0.clear();
        self.times.1.clear();
        self.lanes[pool].clear();
        let ran = self.serve_line(block, pool, arrivals, &mut crew, until);
        self.ends = ends;
        if until == SimulationQuestion::End {
            self.usage[pool] = overlap(&self.times.0, &mut self.times.1);
        }
        ran
    }

    fn serve_line(
        &mut self,
        block: usize,
        pool: usize,
        arrivals: &[Moment],
        crew: &mut SimulatedWorkers<'_>,
        until: SimulationQuestion,
    ) -> Result<(), Violation> {
        let mut violation = None;
        for at in 0..self.workload.running[block].len() {
            let job = self.workload.arriving(self.workload.running[block][at], block);
            let broken = self.start_in_line(&job, job.ready.at(), crew, until);
            violation = violation.or(broken);
        }
        let mut coming = Coming::new(arrivals, block);
        let mut now = 0;
        loop {
            let arrived = coming.next_at(&self.workload);
            if self.lanes[pool].is_empty() {
                if arrived == u64::MAX {
                    break;
                }
                now = now.max(arrived);
            }
            let Some(free_at) = crew.free_at(now) else {
                let first = self.come_by(pool, &mut coming, u64::MAX);
                let job = first.or_else(|| self.lanes[pool].pop());
                let never = job.map(|job| self.never(&job));
                violation = violation.or(never);
                break;
            };
            now = free_at;
            let next = self.come_by(pool, &mut coming, now);
            let Some(job) = next.or_else(|| self.lanes[pool].pop()) else { continue };
            let broken = self.start_in_line(&job, now, crew, until);
            violation = violation.or(broken);
            if violation.is_some() && until == SimulationQuestion::Violation {
                break;
            }
        }
        violation.map_or(Ok(()), Err)
    }

    /// Queues what has come by now; gives back who need not queue as nobody else waits.
    fn come_by(&mut self, pool: usize, coming: &mut Coming<'_>, now: u64) -> Option<Job> {
        while coming.next_at(&self.workload) <= now
            && let Some(job) = coming.pop()
        {
            let alone = job.service > 0 && self.lanes[pool].is_empty();
            if alone && coming.next_at(&self.workload) > now {
                return Some(job);
            }
            self.queue(job);
        }
        None
    }

    fn start_in_line(
        &mut self,
        job: &Job,
        now: u64,
        crew: &mut SimulatedWorkers<'_>,
        until: SimulationQuestion,
    ) -> Option<Violation> {
        let end = now + job.service;
        crew.take(end);
        if until == SimulationQuestion::End {
            self.times.0.push(now);
            self.times.1.push(end);
        }
        if job.goes_on {
            let next = self.workload.block_after(job);
            self.arrived[next].push(Moment::new(end, job.ready.request()));
        }
        self.check(job, now)
    }
}
