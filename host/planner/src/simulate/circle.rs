//! A run of pools between which work goes in a circle: from one moment to the next.

use std::cmp::Reverse;

use super::jobs::Coming;
use super::workers::{Capacity, note};
use super::{Job, SimulationQuestion, Simulator};
use crate::rule::Violation;
use crate::workload::Moment;

/// Workers that join: when, which pool, how many.
type Join = (u64, usize, i64);

impl Simulator<'_> {
    pub(super) fn run_circle(
        &mut self,
        block: usize,
        arrivals: &[Moment],
        capacities: &[Capacity],
        until: SimulationQuestion,
    ) -> Result<(), Violation> {
        let pools = self.workload.blocks[block].clone();
        let mut joins: Vec<Join> = Vec::new();
        self.heap.clear();
        for &pool in &pools {
            self.lanes[pool].clear();
            self.usage[pool].clear();
            self.busy[pool] = 0;
            self.free[pool] = capacities[pool].at_first();
            joins.extend(capacities[pool].later.iter().map(|(at, some)| (*at, pool, *some as i64)));
        }
        joins.sort_unstable();
        let mut violation = None;
        for at in 0..self.workload.running[block].len() {
            let job = self.workload.arriving(self.workload.running[block][at], block);
            let broken = self.start_in_circle(&job, job.ready.at());
            violation = violation.or(broken);
        }
        pools.iter().for_each(|&pool| note(&mut self.usage[pool], 0, self.busy[pool]));
        let (mut coming, mut joins) = (Coming::new(arrivals, block), &joins[..]);
        loop {
            let now = self.next_moment(&mut coming, joins);
            if now == u64::MAX {
                break;
            }
            joins = self.join(joins, now);
            self.gather(block, &mut coming, now);
            for &pool in &pools {
                let broken = self.dispatch(pool, now);
                violation = violation.or(broken);
                if until == SimulationQuestion::End {
                    note(&mut self.usage[pool], now, self.busy[pool]);
                }
            }
            if violation.is_some() && until == SimulationQuestion::Violation {
                break;
            }
        }
        for &pool in &pools {
            let never = self.lanes[pool].pop().map(|job| self.never(&job));
            violation = violation.or(never);
        }
        violation.map_or(Ok(()), Err)
    }

    fn next_moment(&self, coming: &mut Coming<'_>, joins: &[Join]) -> u64 {
        let ended = self.heap.peek().map_or(u64::MAX, |Reverse(end)| end.at());
        let joined = joins.first().map_or(u64::MAX, |(at, _, _)| *at);
        coming.next_at(&self.workload).min(ended).min(joined)
    }

    fn join<'j>(&mut self, mut joins: &'j [Join], now: u64) -> &'j [Join] {
        while let [(at, pool, workers), later @ ..] = joins
            && *at <= now
        {
            self.free[*pool] += workers;
            joins = later;
        }
        joins
    }

    /// Frees the workers whose requests end now, and queues what is ready now: who is listed first
    /// goes first, wherever it comes from.
    fn gather(&mut self, block: usize, coming: &mut Coming<'_>, now: u64) {
        while let Some(Reverse(end)) = self.heap.peek().copied()
            && end.at() == now
        {
            self.heap.pop();
            let stage = usize::from(self.stage[end.request()]);
            let job = self.workload.job(end, stage);
            self.free[job.pool as usize] += 1;
            self.busy[job.pool as usize] -= 1;
            if !job.goes_on {
                continue;
            }
            let next = self.workload.block_after(&job);
            if next == block {
                self.ready.push(self.workload.job(end, stage + 1));
            } else {
                self.arrived[next].push(end);
            }
        }
        while coming.next_at(&self.workload) == now
            && let Some(job) = coming.pop()
        {
            self.ready.push(job);
        }
        if self.ready.len() > 1 {
            self.ready.sort_unstable_by_key(|job| job.ready);
        }
        let mut ready = std::mem::take(&mut self.ready);
        ready.drain(..).for_each(|job| self.queue(job));
        self.ready = ready;
    }

    /// Starts what waits on the workers that are free.
    fn dispatch(&mut self, pool: usize, now: u64) -> Option<Violation> {
        let mut violation = None;
        while self.free[pool] > 0
            && let Some(job) = self.lanes[pool].pop()
        {
            let broken = self.start_in_circle(&job, now);
            violation = violation.or(broken);
        }
        violation
    }

    fn start_in_circle(&mut self, job: &Job, now: u64) -> Option<Violation> {
        let pool = job.pool as usize;
        self.free[pool] -= 1;
        self.busy[pool] += 1;
        self.stage[job.ready.request()] = job.stage;
        let end = Moment::new(now + job.service, job.ready.request());
        self.heap.push(Reverse(end));
        self.check(job, now)
    }
}
