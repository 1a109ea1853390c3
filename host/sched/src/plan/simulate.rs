//! SIMULATE: runs a workload on given numbers of workers and says whether that is good enough.
//!
//! Pools that feed each other in a circle share a block; blocks are run one after another, each on
//! the arrivals that those before it left, so that a search over one block keeps what comes before.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use assay_model::time::Micros;

use super::Because;
use super::lanes::{Lanes, Links};
use super::problem::Problem;
use super::rule::{Check, QUEUED_MIN, Rule, Simulated, Violation};
use super::workload::{Arrival, REQUEST_BITS, REQUESTS_MAX, SPAN_MAX, Workload};

/// How many workers a pool has, over time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Capacity {
    /// From the start; `None`: as many as anybody wants.
    pub(super) workers: Option<usize>,
    /// More of them later: when (relative, ascending), and how many.
    pub(super) later: Vec<(u64, usize)>,
}

impl Capacity {
    pub(super) fn of(workers: usize) -> Self {
        Self { workers: Some(workers), later: Vec::new() }
    }
}

/// How many workers of a pool are busy: from when (relative), and how many.
pub(super) type Usage = Vec<(u64, u32)>;

/// What a run is to find out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// Whether the rule holds: ends at the first violation.
    Violation,
    /// When everything ends, and what is used.
    End,
}

/// A problem made ready for many runs.
pub(super) struct Simulator<'a> {
    pub(super) problem: &'a Problem,
    pub(super) workload: Workload,
    rule: &'a Rule,
    /// By batch.
    pub(super) batch_ends: Vec<u64>,
    /// By pool; of the last run to the end.
    pub(super) usage: Vec<Usage>,
    // What a run uses.
    links: Links,
    lanes: Vec<Lanes>,
    stage: Vec<u8>,
    ready_at: Vec<u64>,
    heap: BinaryHeap<Reverse<u64>>,
    ready: Vec<u32>,
    risks: Vec<f64>,
}

impl<'a> Simulator<'a> {
    pub(super) fn new(problem: &'a Problem, rule: &'a Rule) -> Self {
        let workload = Workload::of(problem, rule);
        Self {
            problem,
            rule,
            batch_ends: vec![0; problem.batches.len()],
            usage: vec![Usage::new(); problem.pools.len()],
            links: Links::new(workload.len()),
            lanes: vec![Lanes::new(workload.lines()); problem.pools.len()],
            stage: vec![0; workload.len()],
            ready_at: vec![0; workload.len()],
            heap: BinaryHeap::new(),
            ready: Vec::new(),
            risks: vec![0.0; problem.batches.len()],
            workload,
        }
    }

    /// Runs all blocks from one on. `arrivals` has what comes to each of them.
    pub(super) fn run(
        &mut self,
        from: usize,
        arrivals: &[Vec<Arrival>],
        capacities: &[Capacity],
        until: Until,
    ) -> Result<(), Violation> {
        self.risks.fill(0.0);
        let mut passed: Vec<Vec<Arrival>> = vec![Vec::new(); self.workload.blocks.len()];
        let mut result = Ok(());
        for block in from..self.workload.blocks.len() {
            let mut own = std::mem::take(&mut passed[block]);
            let ran = if own.is_empty() {
                self.run_block(block, &arrivals[block], capacities, until, &mut passed)
            } else {
                own.extend_from_slice(&arrivals[block]);
                own.sort();
                self.run_block(block, &own, capacities, until, &mut passed)
            };
            result = result.and(ran);
            if result.is_err() && until == Until::Violation {
                break;
            }
        }
        result
    }

    /// Runs one block to its end and adds what it passes on to the arrivals of the others.
    pub(super) fn pass_on(
        &mut self,
        block: usize,
        capacities: &[Capacity],
        arrivals: &mut [Vec<Arrival>],
    ) {
        let mut passed = vec![Vec::new(); self.workload.blocks.len()];
        let own = std::mem::take(&mut arrivals[block]);
        // Whatever it breaks was weighed when its capacity was chosen.
        let _ = self.run_block(block, &own, capacities, Until::End, &mut passed);
        arrivals[block] = own;
        for (arrivals, passed) in arrivals.iter_mut().zip(passed) {
            if !passed.is_empty() {
                arrivals.extend(passed);
                arrivals.sort();
            }
        }
    }

    fn run_block(
        &mut self,
        block: usize,
        arrivals: &[Arrival],
        capacities: &[Capacity],
        until: Until,
        passed: &mut [Vec<Arrival>],
    ) -> Result<(), Violation> {
        if let [pool] = self.workload.blocks[block][..]
            && capacities[pool].workers.is_none()
        {
            return self.run_unlimited(block, pool, arrivals, passed);
        }
        let mut run = self.start_block(block, capacities);
        let mut coming = arrivals.iter().peekable();
        let mut violation = None;
        loop {
            let ended = self.heap.peek().map_or(u64::MAX, |Reverse(entry)| entry >> REQUEST_BITS);
            let arrived = coming.peek().map_or(u64::MAX, |arrival| arrival.at);
            let now = ended.min(arrived).min(run.next_join());
            if now == u64::MAX {
                break;
            }
            run.join(now);
            while let Some(Reverse(entry)) = self.heap.peek()
                && entry >> REQUEST_BITS == now
            {
                let request = *entry as usize & (REQUESTS_MAX - 1);
                self.heap.pop();
                run.free[self.pool_of(request)] += 1;
                let broken = self.stage_ended(block, request, now, passed);
                violation = violation.or(broken);
            }
            while let Some(arrival) = coming.next_if(|arrival| arrival.at == now) {
                let broken = self.stage_ready(arrival);
                violation = violation.or(broken);
            }
            self.queue_ready();
            let broken = self.dispatch(block, &mut run, now, until);
            violation = violation.or(broken);
            if violation.is_some() && until == Until::Violation {
                break;
            }
        }
        violation.map_or(Ok(()), Err)
    }

    fn start_block(&mut self, block: usize, capacities: &[Capacity]) -> BlockRun {
        self.heap.clear();
        self.ready.clear();
        let mut run = BlockRun::new(capacities, &self.workload.blocks[block]);
        for &pool in &self.workload.blocks[block] {
            self.lanes[pool].clear();
            self.usage[pool].clear();
        }
        for arrival in &self.workload.running[block] {
            let (request, stage) = (arrival.request as usize, arrival.stage as usize);
            self.stage[request] = arrival.stage as u8;
            run.free[self.workload.pool(request, stage)] -= 1;
            let end = arrival.at + self.workload.service(request, stage);
            self.heap.push(Reverse(entry(end, request)));
        }
        run
    }

    /// Nothing queues: a request starts when it is ready.
    fn run_unlimited(
        &mut self,
        block: usize,
        pool: usize,
        arrivals: &[Arrival],
        passed: &mut [Vec<Arrival>],
    ) -> Result<(), Violation> {
        let running = std::mem::take(&mut self.workload.running[block]);
        let mut starts = Vec::with_capacity(running.len() + arrivals.len());
        let mut ends = Vec::with_capacity(running.len() + arrivals.len());
        let mut violation = None;
        for arrival in running.iter().chain(arrivals) {
            let (request, stage) = (arrival.request as usize, arrival.stage as usize);
            self.stage[request] = arrival.stage as u8;
            let time = self.workload.service(request, stage);
            if time > 0 {
                starts.push(arrival.at);
                ends.push(arrival.at + time);
            }
            let broken = self.stage_ended(block, request, arrival.at + time, passed);
            violation = violation.or(broken);
        }
        self.workload.running[block] = running;
        passed.iter_mut().for_each(|passed| passed.sort_unstable());
        ends.sort_unstable();
        self.usage[pool] = overlap(&starts, &ends);
        violation.map_or(Ok(()), Err)
    }

    /// The stage is over: the request goes on or ends.
    fn stage_ended(
        &mut self,
        block: usize,
        request: usize,
        now: u64,
        passed: &mut [Vec<Arrival>],
    ) -> Option<Violation> {
        let stage = usize::from(self.stage[request]);
        if !self.workload.goes_on(request, stage) {
            return self.ended(request, now);
        }
        let next = self.workload.block_of[self.workload.pool(request, stage + 1)];
        if next == block {
            self.stage[request] += 1;
            self.ready_at[request] = now;
            self.ready.push(request as u32);
        } else {
            let arrival = Arrival { at: now, request: request as u32, stage: stage as u32 + 1 };
            passed[next].push(arrival);
        }
        None
    }

    fn stage_ready(&mut self, arrival: &Arrival) -> Option<Violation> {
        let request = arrival.request as usize;
        self.stage[request] = arrival.stage as u8;
        self.ready_at[request] = arrival.at;
        if self.workload.service(request, arrival.stage as usize) == 0 {
            return self.ended(request, arrival.at);
        }
        self.ready.push(arrival.request);
        None
    }

    fn ended(&mut self, request: usize, now: u64) -> Option<Violation> {
        let batch = self.workload.batch[request] as usize;
        self.batch_ends[batch] = self.batch_ends[batch].max(now);
        let by = self.workload.deadline[request];
        if now <= by {
            return None;
        }
        let start = now - self.workload.service(request, usize::from(self.stage[request]));
        let because = Because::Late { end: self.absolute(now), by: self.absolute(by) };
        Some(self.violation(request, start, because))
    }

    fn queue_ready(&mut self) {
        if self.ready.len() > 1 {
            self.ready.sort_unstable();
        }
        for at in 0..self.ready.len() {
            let request = self.ready[at];
            let rank = self.workload.facts(request as usize).rank;
            let pool = self.pool_of(request as usize);
            self.lanes[pool].push(&mut self.links, rank, request);
        }
        self.ready.clear();
    }

    /// Starts what waits on the workers that are free.
    fn dispatch(
        &mut self,
        block: usize,
        run: &mut BlockRun,
        now: u64,
        until: Until,
    ) -> Option<Violation> {
        let mut violation = None;
        for at in 0..self.workload.blocks[block].len() {
            let pool = self.workload.blocks[block][at];
            while run.free[pool] > 0
                && let Some(request) = self.lanes[pool].pop(&self.links)
            {
                let request = request as usize;
                run.free[pool] -= 1;
                let time = self.workload.service(request, usize::from(self.stage[request]));
                self.heap.push(Reverse(entry(now + time, request)));
                if now - self.ready_at[request] > QUEUED_MIN.0 {
                    let broken = self.check_queued(request, now);
                    violation = violation.or(broken);
                }
            }
            if until == Until::End {
                note(&mut self.usage[pool], now, run.busy(pool));
            }
        }
        violation
    }

    /// A request that queued starts.
    fn check_queued(&mut self, request: usize, now: u64) -> Option<Violation> {
        let stage = usize::from(self.stage[request]);
        let facts = *self.workload.facts(request);
        let flow = facts.flow as usize;
        let latest = match &self.rule.check {
            Check::Late => return None,
            Check::Timeouts => {
                let left = &self.problem.flows[flow].stages[stage..];
                left.iter().map(|stage| stage.timeout.0).sum()
            }
            Check::OneTimeout { latest } => latest[flow][stage].0,
            Check::Risk { tails, budget } => {
                let room = |at: u64| (facts.earliest_end - at as i64) as f64 / 1e6;
                let tail = &tails[flow][stage];
                let risk = &mut self.risks[self.workload.batch[request] as usize];
                *risk += tail.expected_late(room(now))
                    - tail.expected_late(room(self.ready_at[request]));
                if *risk <= budget.as_secs_f64() {
                    return None;
                }
                let expected = Micros((*risk * 1e6) as u64);
                let because = Because::Risk { expected, budget: *budget };
                return Some(self.violation(request, now, because));
            }
        };
        let by = facts.earliest_end.saturating_add_unsigned(facts.tolerance);
        let end = now.saturating_add(latest);
        if i64::try_from(end).is_ok_and(|end| end <= by) {
            return None;
        }
        let by = Micros(self.problem.now.0.saturating_add_signed(by));
        let because = Because::MayTimeOut { latest: self.absolute(end), by };
        Some(self.violation(request, now, because))
    }

    fn violation(&self, request: usize, start: u64, because: Because) -> Violation {
        Violation {
            request: self.workload.original[request] as usize,
            stage: usize::from(self.stage[request]),
            ready: self.absolute(self.ready_at[request]),
            start: self.absolute(start),
            because,
        }
    }

    fn pool_of(&self, request: usize) -> usize {
        self.workload.pool(request, usize::from(self.stage[request]))
    }

    fn absolute(&self, at: u64) -> Micros {
        self.problem.now + Micros(at)
    }
}

fn entry(at: u64, request: usize) -> u64 {
    at.min(SPAN_MAX) << REQUEST_BITS | request as u64
}

fn note(usage: &mut Usage, now: u64, busy: u32) {
    match usage.last_mut() {
        Some((at, last)) if *at == now => *last = busy,
        Some((_, last)) if *last == busy => {}
        _ => usage.push((now, busy)),
    }
}

/// How many intervals hold at once; both sorted.
fn overlap(starts: &[u64], ends: &[u64]) -> Usage {
    let mut usage = Usage::new();
    let (mut started, mut ended) = (0, 0);
    while ended < ends.len() {
        let now = starts.get(started).map_or(ends[ended], |start| (*start).min(ends[ended]));
        started += starts[started..].iter().take_while(|start| **start == now).count();
        ended += ends[ended..].iter().take_while(|end| **end == now).count();
        note(&mut usage, now, (started - ended) as u32);
    }
    usage
}

/// The workers of a block's pools during a run.
struct BlockRun {
    /// By pool; negative while more run than there are workers.
    free: Vec<i64>,
    total: Vec<i64>,
    joins: Vec<(u64, usize, usize)>,
    next: usize,
}

impl BlockRun {
    fn new(capacities: &[Capacity], pools: &[usize]) -> Self {
        let workers =
            |capacity: &Capacity| capacity.workers.map_or(i64::MAX / 2, |some| some as i64);
        let total: Vec<i64> = capacities.iter().map(workers).collect();
        let mut joins = Vec::new();
        for &pool in pools {
            joins.extend(capacities[pool].later.iter().map(|(at, count)| (*at, pool, *count)));
        }
        joins.sort_unstable();
        Self { free: total.clone(), total, joins, next: 0 }
    }

    fn next_join(&self) -> u64 {
        self.joins.get(self.next).map_or(u64::MAX, |(at, _, _)| *at)
    }

    fn join(&mut self, now: u64) {
        while let Some((_, pool, count)) = self.joins.get(self.next).filter(|(at, _, _)| *at <= now)
        {
            self.total[*pool] += *count as i64;
            self.free[*pool] += *count as i64;
            self.next += 1;
        }
    }

    fn busy(&self, pool: usize) -> u32 {
        u32::try_from(self.total[pool] - self.free[pool]).unwrap_or(u32::MAX)
    }
}

/// Runs the whole workload on this many workers a pool.
#[must_use]
pub fn simulate(problem: &Problem, rule: &Rule, workers: &[usize]) -> Simulated {
    let mut simulator = Simulator::new(problem, rule);
    let capacities: Vec<Capacity> = workers.iter().copied().map(Capacity::of).collect();
    let first = simulator.workload.first.clone();
    let satisfied = simulator.run(0, &first, &capacities, Until::End).is_ok();
    let batch_ends = simulator.batch_ends.iter().map(|end| simulator.absolute(*end)).collect();
    Simulated { satisfied, batch_ends }
}
