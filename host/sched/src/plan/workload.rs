//! A problem laid out for speed: flat, in order of arrival, times relative to `now`.

use assay_model::time::Micros;

use super::problem::Problem;
use super::rule::{Check, Rule};
use crate::config::Order;

/// A heap entry is a time and a request in one word: 12 days in microseconds, 16 million requests.
pub(super) const REQUEST_BITS: u32 = 24;
pub(super) const REQUESTS_MAX: usize = 1 << REQUEST_BITS;
pub(super) const SPAN_MAX: u64 = (1 << (64 - REQUEST_BITS)) - 1;

/// A request that is ready for a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Arrival {
    pub(super) at: u64,
    /// Its place in the workload, not in the problem.
    pub(super) request: u32,
    pub(super) stage: u32,
}

pub(super) struct Workload {
    /// Sets of pools that are simulated together; each after all that feed it.
    pub(super) blocks: Vec<Vec<usize>>,
    pub(super) block_of: Vec<usize>,
    /// By block: requests that arrive there from outside; by time, then as listed.
    pub(super) first: Vec<Vec<Arrival>>,
    /// By block: requests that run there now.
    pub(super) running: Vec<Vec<Arrival>>,
    pub(super) stages_max: usize,
    /// By request and stage; zero where it is not reached.
    service: Vec<u64>,
    pub(super) batch: Vec<u32>,
    /// By request: when it has to end.
    pub(super) deadline: Vec<u64>,
    /// By request: its place in the problem.
    pub(super) original: Vec<u32>,
    /// By batch.
    pub(super) batches: Vec<BatchFacts>,
    /// By flow and stage.
    pools: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct BatchFacts {
    pub(super) flow: u32,
    /// Its place in the order in which queues are served.
    pub(super) rank: u32,
    /// The paper's T; negative when it has passed.
    pub(super) earliest_end: i64,
    pub(super) tolerance: u64,
}

impl Workload {
    pub(super) fn of(problem: &Problem, rule: &Rule) -> Self {
        assert!(problem.requests.len() < REQUESTS_MAX, "a problem has a limit");
        let (blocks, block_of) = super::blocks::blocks(problem);
        let mut original: Vec<u32> = (0..problem.requests.len() as u32).collect();
        original.sort_by_key(|index| problem.requests[*index as usize].ready);
        let mut workload = Self {
            first: vec![Vec::new(); blocks.len()],
            running: vec![Vec::new(); blocks.len()],
            stages_max: problem.stages_max,
            service: Vec::with_capacity(problem.service.len()),
            batch: Vec::with_capacity(original.len()),
            deadline: Vec::with_capacity(original.len()),
            batches: batch_facts(problem, rule.order),
            pools: Vec::new(),
            blocks,
            block_of,
            original: Vec::new(),
        };
        for flow in &problem.flows {
            let end = workload.pools.len() + problem.stages_max;
            workload.pools.extend(flow.stages.iter().map(|stage| stage.pool as u32));
            workload.pools.resize(end, u32::MAX);
        }
        for (request, index) in original.iter().enumerate() {
            workload.add(problem, rule, request as u32, *index as usize);
        }
        workload.original = original;
        workload
    }

    fn add(&mut self, problem: &Problem, rule: &Rule, request: u32, index: usize) {
        let given = &problem.requests[index];
        let batch = &problem.batches[given.batch];
        let service = problem.service(index);
        let left: u64 = service[given.stage..].iter().map(|time| time.0).sum();
        let own_end = given.ready.0.saturating_add(left);
        let by = match rule.check {
            // What runs for so long is weighed by its risk.
            Check::Risk { .. } if own_end > batch.earliest_end.0 => u64::MAX,
            _ => own_end.max(batch.earliest_end.0).saturating_add(batch.tolerance.0),
        };
        let by = by.saturating_sub(problem.now.0);
        self.service.extend(service.iter().map(|time| time.0));
        self.batch.push(given.batch as u32);
        self.deadline.push(by);
        let arrival = Arrival {
            at: given.ready.since(problem.now).0.min(SPAN_MAX),
            request,
            stage: given.stage as u32,
        };
        let block = self.block_of[self.pool(request as usize, given.stage)];
        let list = if given.running { &mut self.running } else { &mut self.first };
        list[block].push(arrival);
    }

    pub(super) fn len(&self) -> usize {
        self.batch.len()
    }

    pub(super) fn facts(&self, request: usize) -> &BatchFacts {
        &self.batches[self.batch[request] as usize]
    }

    pub(super) fn service(&self, request: usize, stage: usize) -> u64 {
        self.service[request * self.stages_max + stage]
    }

    pub(super) fn pool(&self, request: usize, stage: usize) -> usize {
        self.pools[self.facts(request).flow as usize * self.stages_max + stage] as usize
    }

    /// Whether there is work for the request behind this stage.
    pub(super) fn goes_on(&self, request: usize, stage: usize) -> bool {
        stage + 1 < self.stages_max && self.service(request, stage + 1) > 0
    }

    pub(super) fn lines(&self) -> usize {
        self.batches.iter().map(|batch| batch.rank as usize + 1).max().unwrap_or(1)
    }
}

fn batch_facts(problem: &Problem, order: Order) -> Vec<BatchFacts> {
    let mut ends: Vec<Micros> = problem.batches.iter().map(|batch| batch.rank).collect();
    ends.sort_unstable();
    ends.dedup();
    let facts = problem.batches.iter().map(|batch| {
        let end = i64::try_from(batch.earliest_end.0).unwrap_or(i64::MAX);
        BatchFacts {
            flow: batch.flow as u32,
            rank: match order {
                Order::Fcfs => 0,
                _ => ends.partition_point(|end| *end < batch.rank) as u32,
            },
            earliest_end: end.saturating_sub_unsigned(problem.now.0),
            tolerance: batch.tolerance.0,
        }
    });
    facts.collect()
}
