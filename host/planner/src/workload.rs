//! A problem laid out for speed: a row of words for each request, in order of arrival, with times
//! relative to `now`. Made once for many runs; a run never changes it.

use assay_core::time::Micros;
use assay_sched::{Discipline, Ranking};

use crate::problem::Problem;
use crate::rule::{Check, Rule};

const REQUEST_BITS: u32 = 24;
pub(crate) const REQUESTS_MAX: usize = 1 << REQUEST_BITS;
const POOLS_MAX: usize = u16::MAX as usize;
const SPAN_MAX: u64 = (1 << (64 - REQUEST_BITS)) - 1;

/// A request at a time, in one word: 12 days in microseconds, 16 million requests. In order of
/// time, then of the request's place in the workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment(u64);

impl Moment {
    pub(crate) fn new(at: u64, request: usize) -> Self {
        Self(at.min(SPAN_MAX) << REQUEST_BITS | request as u64)
    }

    pub(crate) fn at(self) -> u64 {
        self.0 >> REQUEST_BITS
    }

    pub(crate) fn request(self) -> usize {
        self.0 as usize & (REQUESTS_MAX - 1)
    }
}

/// A request that is ready for a stage; small, as queues are long.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Job {
    /// When it became ready, and its request.
    pub(crate) ready: Moment,
    /// When it has to start so that its request, if it never queues again, ends in time.
    pub(crate) latest: i64,
    /// How long the stage runs; zero if there is nothing to run.
    pub(crate) service: u64,
    pub(crate) batch: u32,
    pub(crate) pool: u16,
    pub(crate) stage: u8,
    /// True if another stage follows.
    pub(crate) goes_on: bool,
}

pub(crate) struct Workload {
    /// Sets of pools that are simulated together; each after all that feed it.
    pub(crate) blocks: Vec<Vec<usize>>,
    /// The requests that arrive at each block from outside; by time, then as listed.
    pub(crate) first: Vec<Vec<Moment>>,
    /// The requests that run in each block now.
    pub(crate) running: Vec<Vec<Moment>>,
    /// The longest time of a stage, or of a running request until its end, in microseconds.
    pub(crate) longest: u64,
    /// The place in the problem of each request.
    pub(crate) original: Vec<u32>,
    /// The facts of each batch.
    pub(crate) batches: Vec<BatchFacts>,
    /// The data of all requests, `width` words each: see [`Row`].
    rows: Vec<u64>,
    width: usize,
    /// The site of each stage, by flow and stage.
    sites: Vec<Site>,
    /// The flow's first stage in each block, by flow and block.
    entries: Vec<u8>,
    /// True for each block in which work comes back to one of its pools.
    pub(crate) is_circle: Vec<bool>,
    stages_max: usize,
}

/// The place at which a stage runs.
#[derive(Debug, Clone, Copy)]
struct Site {
    pool: u16,
    block: u16,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct BatchFacts {
    pub(crate) flow: u32,
    /// The batch's place in the order in which queues are served.
    pub(crate) rank: u32,
    /// The paper's T; negative when it has passed.
    pub(crate) earliest_end: i64,
    pub(crate) tolerance: u64,
    /// The time that all its requests together may queue, in microseconds; `None` if its end alone matters.
    pub(crate) wait_budget: Option<u64>,
    /// The number of its requests.
    pub(crate) requests: u64,
}

/// All of a request that a run asks for, side by side: when it has to end, its batch and first
/// stage, and by stage the time from that stage's start to the request's end without a queue.
#[derive(Debug, Clone, Copy)]
struct Row<'a>(&'a [u64]);

/// Words of a row before those by stage.
const HEAD: usize = 2;

impl Row<'_> {
    fn deadline(self) -> u64 {
        self.0[0]
    }

    fn batch(self) -> usize {
        self.0[1] as u32 as usize
    }

    fn first_stage(self) -> usize {
        (self.0[1] >> 32) as usize
    }

    /// Zero where a stage is not reached.
    fn left(self, stage: usize) -> u64 {
        self.0.get(HEAD + stage).copied().unwrap_or(0)
    }
}

impl Workload {
    pub(crate) fn of(problem: &Problem, rule: &Rule) -> Self {
        let fits = problem.requests.len() < REQUESTS_MAX && problem.pools.len() < POOLS_MAX;
        assert!(fits, "a problem has a limit");
        let (blocks, block_of) = crate::blocks::blocks(problem);
        let order = by_arrival(problem);
        let width = HEAD + problem.stages_max;
        let mut workload = Self {
            first: vec![Vec::new(); blocks.len()],
            running: vec![Vec::new(); blocks.len()],
            longest: 0,
            original: Vec::with_capacity(order.len()),
            batches: batch_facts(problem, rule.discipline),
            rows: Vec::with_capacity(order.len() * width),
            width,
            sites: Vec::new(),
            entries: Vec::new(),
            is_circle: blocks.iter().map(|pools| is_circle(problem, pools)).collect(),
            stages_max: problem.stages_max,
            blocks,
        };
        workload.add_flows(problem, &block_of);
        for (request, moment) in order.into_iter().enumerate() {
            workload.add(problem, rule, request, moment.request());
        }
        workload
    }

    fn add_flows(&mut self, problem: &Problem, block_of: &[usize]) {
        for flow in &problem.flows {
            let mut entries = vec![0; self.blocks.len()];
            for (number, stage) in flow.stages.iter().enumerate().rev() {
                entries[block_of[stage.pool]] = number as u8;
            }
            self.entries.extend(entries);
            let end = self.sites.len() + self.stages_max;
            let site = |pool: usize| Site { pool: pool as u16, block: block_of[pool] as u16 };
            self.sites.extend(flow.stages.iter().map(|stage| site(stage.pool)));
            self.sites.resize(end, Site { pool: u16::MAX, block: u16::MAX });
        }
    }

    fn add(&mut self, problem: &Problem, rule: &Rule, request: usize, index: usize) {
        let given = &problem.requests[index];
        let batch = &problem.batches[given.batch];
        let service = problem.service(index);
        let own_end = service[given.stage..].iter().fold(given.ready, |end, time| end + *time);
        let by = match rule.check {
            // Such a long request is weighed by its risk.
            Check::Risk { ref trusted, .. }
                if trusted[given.batch] && own_end > batch.earliest_end =>
            {
                Micros(u64::MAX)
            }
            _ => own_end.max(batch.earliest_end) + batch.tolerance,
        };
        self.original.push(index as u32);
        self.rows.push(by.since(problem.now).0);
        self.rows.push((given.stage as u64) << 32 | given.batch as u64);
        let times = self.rows.len();
        self.rows.extend(service.iter().map(|time| time.0.min(SPAN_MAX)));
        let longest = self.rows[times + given.stage..].iter().copied().max().unwrap_or(0);
        let mut left = 0;
        for time in self.rows[times..].iter_mut().rev() {
            left = if *time > 0 { *time + left } else { 0 };
            *time = left;
        }
        let at = given.ready.since(problem.now).0.min(SPAN_MAX);
        let moment = Moment::new(at, request);
        let block = self.site(self.batches[given.batch].flow, given.stage).block as usize;
        if given.running {
            self.longest = self.longest.max(at.saturating_add(longest));
            self.running[block].push(moment);
        } else {
            self.longest = self.longest.max(longest);
            self.first[block].push(moment);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.original.len()
    }

    fn row(&self, request: usize) -> Row<'_> {
        Row(&self.rows[request * self.width..(request + 1) * self.width])
    }

    pub(crate) fn job(&self, ready: Moment, stage: usize) -> Job {
        let row = self.row(ready.request());
        let batch = row.batch();
        let left = row.left(stage);
        let after = row.left(stage + 1).min(left);
        Job {
            ready,
            latest: i64::try_from(row.deadline()).unwrap_or(i64::MAX) - left as i64,
            service: left - after,
            batch: batch as u32,
            pool: self.site(self.batches[batch].flow, stage).pool,
            stage: stage as u8,
            goes_on: after > 0,
        }
    }

    /// How long a request runs from a stage's start to its end, and when it has to end.
    pub(crate) fn left_and_deadline(&self, job: &Job) -> (u64, u64) {
        let row = self.row(job.ready.request());
        (row.left(usize::from(job.stage)), row.deadline())
    }

    /// A request as it comes to a block.
    pub(crate) fn arriving(&self, moment: Moment, block: usize) -> Job {
        self.job(moment, self.entry(moment.request(), block))
    }

    /// The block of the stage after this one.
    pub(crate) fn block_after(&self, job: &Job) -> usize {
        let flow = self.batches[job.batch as usize].flow;
        self.site(flow, usize::from(job.stage) + 1).block as usize
    }

    fn site(&self, flow: u32, stage: usize) -> Site {
        self.sites[flow as usize * self.stages_max + stage]
    }

    /// The stage with which a request comes to a block: work never returns to a block it has left.
    fn entry(&self, request: usize, block: usize) -> usize {
        let row = self.row(request);
        let flow = self.batches[row.batch()].flow as usize;
        usize::from(self.entries[flow * self.blocks.len() + block]).max(row.first_stage())
    }

    /// The block from which a request comes to this one; `None` if from outside.
    pub(crate) fn source(&self, request: usize, block: usize) -> Option<usize> {
        let entry = self.entry(request, block);
        let row = self.row(request);
        let flow = self.batches[row.batch()].flow;
        (entry > row.first_stage()).then(|| self.site(flow, entry - 1).block as usize)
    }

    pub(crate) fn ranks(&self) -> usize {
        self.batches.iter().map(|batch| batch.rank as usize + 1).max().unwrap_or(1)
    }
}

fn is_circle(problem: &Problem, pools: &[usize]) -> bool {
    let mut pairs = problem.flows.iter().flat_map(|flow| flow.stages.windows(2));
    pools.len() > 1 || pairs.any(|pair| pair.iter().all(|stage| stage.pool == pools[0]))
}

/// The requests by when they are ready, then as listed.
fn by_arrival(problem: &Problem) -> Vec<Moment> {
    let earliest = problem.requests.iter().map(|request| request.ready).min();
    let earliest = earliest.unwrap_or(problem.now);
    let requests = problem.requests.iter().enumerate();
    let moment = |(index, request): (usize, &crate::problem::ProblemRequest)| {
        Moment::new(request.ready.since(earliest).0, index)
    };
    let mut order: Vec<Moment> = requests.map(moment).collect();
    order.sort_unstable();
    order
}

fn batch_facts(problem: &Problem, discipline: Discipline) -> Vec<BatchFacts> {
    let mut ends: Vec<Micros> = problem.batches.iter().map(|batch| batch.rank).collect();
    ends.sort_unstable();
    ends.dedup();
    let mut requests = vec![0_u64; problem.batches.len()];
    problem.requests.iter().for_each(|request| requests[request.batch] += 1);
    let facts = problem.batches.iter().zip(requests).map(|(batch, requests)| {
        let end = i64::try_from(batch.earliest_end.0).unwrap_or(i64::MAX);
        BatchFacts {
            flow: batch.flow as u32,
            rank: match discipline.ranking {
                Ranking::Arrival => 0,
                Ranking::EstimatedEnd => ends.partition_point(|end| *end < batch.rank) as u32,
            },
            earliest_end: end.saturating_sub_unsigned(problem.now.0),
            tolerance: batch.tolerance.0,
            wait_budget: batch.wait_max.map(|max| max.0.saturating_mul(requests)),
            requests,
        }
    });
    facts.collect()
}
