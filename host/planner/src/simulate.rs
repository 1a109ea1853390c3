//! SIMULATE: runs a workload on given numbers of workers and says whether that is good enough.
//!
//! Pools that feed each other in a circle share a block; blocks are run one after another, each on
//! the arrivals that those before it left, so that a search over one block keeps what comes before.
//! The end of a stage is known when the stage starts, so the rule is checked at each start, and a run that
//! cannot satisfy the rule stops there.

mod circle;
mod ends;
mod jobs;
mod line;
#[cfg(test)]
mod tests;
mod workers;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use assay_core::time::Micros;

use self::ends::Ends;
pub(crate) use self::workers::{Capacity, Usage};
use crate::lanes::Lanes;
use crate::problem::Problem;
use crate::rule::{Check, LateReason, QUEUED_MIN, Rule, Simulated, Violation};
use crate::workload::{Job, Moment, Workload};

/// The question that a run answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SimulationQuestion {
    /// Whether the rule holds: ends at the first violation.
    Violation,
    /// The end of each request, and the workers used.
    End,
}

/// A problem made ready for many runs.
pub(crate) struct Simulator<'a> {
    pub(crate) problem: &'a Problem,
    pub(crate) workload: Workload,
    rule: &'a Rule,
    /// The end of each batch, from the last run to the end.
    pub(crate) batch_ends: Vec<u64>,
    /// The use of each pool, from the last run to the end.
    pub(crate) usage: Vec<Usage>,
    /// The requests that the last run's blocks passed on to each block and, after it ran, all that came to
    /// it.
    pub(crate) arrived: Vec<Vec<Moment>>,
    /// The expected delay of each batch, in seconds, that queueing has added.
    pub(crate) risks: Vec<f64>,
    /// The time that the requests of each batch have queued together, in microseconds.
    pub(crate) waits: Vec<u64>,
    /// The end that each batch may have which is late whatever is started; nothing else of it is checked.
    pub(crate) late_ends: Vec<Option<u64>>,
    /// Whether each batch broke the rule in the last run to the end.
    pub(crate) broken: Vec<bool>,
    /// The fraction of a batch's budgets for risk and for waiting that the pool which is searched may use up.
    pub(crate) budget_fraction: f64,
    /// The risks before the first block of a run that does not begin with block 0.
    risks_before: Vec<f64>,
    /// The same of the waits.
    waits_before: Vec<u64>,
    // The buffers that every run uses.
    lanes: Vec<Lanes<Job>>,
    ends: Ends,
    /// The times at which stages start and end.
    times: (Vec<u64>, Vec<u64>),
    // And what it uses for pools in a circle. By pool:
    free: Vec<i64>,
    busy: Vec<u32>,
    /// The stages that run, by when they end.
    heap: BinaryHeap<Reverse<Moment>>,
    ready: Vec<Job>,
    /// The stage that each request runs.
    stage: Vec<u8>,
}

impl<'a> Simulator<'a> {
    pub(crate) fn new(problem: &'a Problem, rule: &'a Rule) -> Self {
        let workload = Workload::of(problem, rule);
        Self {
            problem,
            rule,
            batch_ends: vec![0; problem.batches.len()],
            usage: vec![Usage::new(); problem.pools.len()],
            arrived: vec![Vec::new(); workload.blocks.len()],
            risks: vec![0.0; problem.batches.len()],
            waits: vec![0; problem.batches.len()],
            late_ends: vec![None; problem.batches.len()],
            broken: vec![false; problem.batches.len()],
            budget_fraction: 1.0,
            risks_before: vec![0.0; problem.batches.len()],
            waits_before: vec![0; problem.batches.len()],
            lanes: vec![Lanes::new(workload.ranks()); problem.pools.len()],
            stage: vec![0; workload.len()],
            ends: Ends::new(workload.longest),
            times: (Vec::new(), Vec::new()),
            free: vec![0; problem.pools.len()],
            busy: vec![0; problem.pools.len()],
            heap: BinaryHeap::new(),
            ready: Vec::new(),
            workload,
        }
    }

    /// Runs all blocks from one on. `arrivals` has what comes to each of them.
    pub(crate) fn run(
        &mut self,
        from: usize,
        arrivals: &[Vec<Moment>],
        capacities: &[Capacity],
        until: SimulationQuestion,
    ) -> Result<(), Violation> {
        let limited = |pools: &Vec<usize>| pools.iter().any(|&pool| capacities[pool].is_limited());
        let blocks = &self.workload.blocks;
        let end = match until {
            SimulationQuestion::End => blocks.len(),
            // Where nothing queues nothing more can break.
            SimulationQuestion::Violation => {
                blocks.iter().rposition(limited).map_or(from, |last| last + 1)
            }
        };
        self.run_blocks(from..end, arrivals, capacities, until)
    }

    /// Does the same as `run` for some of the blocks.
    pub(crate) fn run_blocks(
        &mut self,
        blocks: Range<usize>,
        arrivals: &[Vec<Moment>],
        capacities: &[Capacity],
        until: SimulationQuestion,
    ) -> Result<(), Violation> {
        self.batch_ends.fill(0);
        self.broken.fill(false);
        if blocks.start == 0 {
            self.forget_queues();
        } else {
            self.risks.clone_from(&self.risks_before);
            self.waits.clone_from(&self.waits_before);
        }
        self.arrived.iter_mut().for_each(Vec::clear);
        let mut result = Ok(());
        for block in blocks {
            let mut arrived = std::mem::take(&mut self.arrived[block]);
            arrived.extend_from_slice(&arrivals[block]);
            arrived.sort_unstable();
            let ran = if self.workload.is_circle[block] {
                self.run_circle(block, &arrived, capacities, until)
            } else {
                let capacity = &capacities[self.workload.blocks[block][0]];
                self.run_line(block, &arrived, capacity, until)
            };
            self.arrived[block] = arrived;
            result = result.and(ran);
            if result.is_err() && until == SimulationQuestion::Violation {
                break;
            }
        }
        result
    }

    /// Nothing has queued so far.
    pub(crate) fn forget_queues(&mut self) {
        self.risks.fill(0.0);
        self.waits.fill(0);
    }

    /// Runs that begin after the blocks of the last run continue with its risks and waits. A batch that is
    /// beyond its budget by then is weighed by what comes, or nothing would be good enough.
    pub(crate) fn carry_queues(&mut self) {
        self.risks_before.clone_from(&self.risks);
        self.waits_before.clone_from(&self.waits);
        for (wait, facts) in self.waits_before.iter_mut().zip(&self.workload.batches) {
            let budget = facts.wait_budget.map(|budget| budget as f64 * self.budget_fraction);
            if budget.is_some_and(|budget| *wait as f64 > budget) {
                *wait = 0;
            }
        }
        if let Check::Risk { budget, .. } = &self.rule.check {
            let budget = budget.as_secs_f64() * self.budget_fraction;
            self.risks_before
                .iter_mut()
                .filter(|risk| **risk > budget)
                .for_each(|risk| *risk = 0.0);
        }
    }

    /// A request is ready in its block; one with nothing to run there has ended.
    fn queue(&mut self, job: Job) {
        if job.service > 0 {
            let rank = self.workload.batches[job.batch as usize].rank;
            self.lanes[job.pool as usize].push(rank, job);
        } else {
            self.batch_ends_by(&job, job.ready.at());
        }
    }

    fn batch_ends_by(&mut self, job: &Job, end: u64) {
        let batch_end = &mut self.batch_ends[job.batch as usize];
        *batch_end = (*batch_end).max(end);
    }

    /// The violation that a start causes.
    fn check(&mut self, job: &Job, now: u64) -> Option<Violation> {
        if !job.goes_on {
            self.batch_ends_by(job, now + job.service);
        }
        if let Some(by) = self.late_ends[job.batch as usize] {
            let (left, _) = self.workload.left_and_deadline(job);
            let end = now.saturating_add(left);
            let because = LateReason::Late { end: self.absolute(end), by: self.absolute(by) };
            return (end > by).then(|| self.violation(job, now, because));
        }
        if now - job.ready.at() > QUEUED_MIN.0
            && let Some(because) = self.waited(job, now).or_else(|| self.queued(job, now))
        {
            return Some(self.violation(job, now, because));
        }
        (now as i64 > job.latest).then(|| self.violation(job, now, self.late(job, now)))
    }

    /// The violation if no worker ever becomes free for a request.
    fn never(&mut self, job: &Job) -> Violation {
        self.violation(job, u64::MAX, self.late(job, u64::MAX))
    }

    fn late(&self, job: &Job, start: u64) -> LateReason {
        let (left, by) = self.workload.left_and_deadline(job);
        LateReason::Late { end: self.absolute(start.saturating_add(left)), by: self.absolute(by) }
    }

    /// The reason why a request of a batch that is consumed by groups must not start as late as now.
    fn waited(&mut self, job: &Job, now: u64) -> Option<LateReason> {
        let facts = &self.workload.batches[job.batch as usize];
        let budget = facts.wait_budget?;
        let wait = &mut self.waits[job.batch as usize];
        *wait = wait.saturating_add(now - job.ready.at());
        (*wait as f64 > budget as f64 * self.budget_fraction).then(|| LateReason::Waits {
            mean: Micros(*wait / facts.requests.max(1)),
            max: Micros(budget / facts.requests.max(1)),
        })
    }

    /// The reason why a request that has queued must not start as late as now.
    fn queued(&mut self, job: &Job, now: u64) -> Option<LateReason> {
        let (batch, stage) = (job.batch as usize, usize::from(job.stage));
        let facts = self.workload.batches[batch];
        let flow = facts.flow as usize;
        let left = &self.problem.flows[flow].stages[stage..];
        let timeouts = || left.iter().map(|stage| stage.timeout.0).sum();
        let latest = match &self.rule.check {
            Check::Late => return None,
            Check::Timeouts => timeouts(),
            Check::Risk { trusted, .. } if !trusted[batch] => timeouts(),
            Check::Risk { tails, budget, .. } => {
                let room = |at: u64| (facts.earliest_end - at as i64) as f64 / 1e6;
                let tail = &tails[flow][stage];
                let risk = &mut self.risks[batch];
                *risk += tail.expected_late(room(now)) - tail.expected_late(room(job.ready.at()));
                if *risk <= budget.as_secs_f64() * self.budget_fraction {
                    return None;
                }
                let expected = Micros((*risk * 1e6) as u64);
                return Some(LateReason::Risk { expected, budget: *budget });
            }
        };
        let by = facts.earliest_end.saturating_add_unsigned(facts.tolerance);
        let end = now.saturating_add(latest);
        if i64::try_from(end).is_ok_and(|end| end <= by) {
            return None;
        }
        let by = Micros(self.problem.now.0.saturating_add_signed(by));
        Some(LateReason::MayTimeOut { latest: self.absolute(end), by })
    }

    fn violation(&mut self, job: &Job, start: u64, because: LateReason) -> Violation {
        self.broken[job.batch as usize] = true;
        Violation {
            request: self.workload.original[job.ready.request()] as usize,
            stage: usize::from(job.stage),
            ready: self.absolute(job.ready.at()),
            start: self.absolute(start),
            because,
        }
    }

    fn absolute(&self, at: u64) -> Micros {
        self.problem.now + Micros(at)
    }
}

/// Runs the whole workload on this many workers a pool.
#[must_use]
pub fn simulate(problem: &Problem, rule: &Rule, workers: &[usize]) -> Simulated {
    let mut simulator = Simulator::new(problem, rule);
    let capacities: Vec<Capacity> = workers.iter().copied().map(Capacity::of).collect();
    let first = simulator.workload.first.clone();
    let satisfied = simulator.run(0, &first, &capacities, SimulationQuestion::End).is_ok();
    let batch_ends = simulator.batch_ends.iter().map(|end| simulator.absolute(*end)).collect();
    Simulated { satisfied, batch_ends }
}
