//! SIMULATE as one would first write it: at every moment, every request.

use assay_core::time::Micros;
use assay_sched::Ranking;

use crate::problem::Problem;
use crate::rule::{Check, Rule};
use crate::simulate::{Capacity, Usage};

pub(super) struct Answer {
    pub(super) satisfied: bool,
    /// Relative to now.
    pub(super) batch_ends: Vec<u64>,
    pub(super) usage: Vec<Usage>,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    /// The request is ready for its stage from this time on.
    Ready(u64),
    /// The request runs its stage until this time.
    Runs(u64),
    Ended,
}

struct World<'a> {
    problem: &'a Problem,
    rule: &'a Rule,
    now: u64,
    /// The current stage of each request.
    stage: Vec<usize>,
    state: Vec<State>,
    risks: Vec<f64>,
    waits: Vec<u64>,
    answer: Answer,
}

pub(super) fn reference(problem: &Problem, rule: &Rule, capacities: &[Capacity]) -> Answer {
    let mut world = World {
        problem,
        rule,
        now: 0,
        stage: problem.requests.iter().map(|request| request.stage).collect(),
        state: Vec::new(),
        risks: vec![0.0; problem.batches.len()],
        waits: vec![0; problem.batches.len()],
        answer: Answer {
            satisfied: true,
            batch_ends: vec![0; problem.batches.len()],
            usage: vec![Usage::new(); problem.pools.len()],
        },
    };
    for (index, request) in problem.requests.iter().enumerate() {
        let ready = request.ready.since(problem.now).0;
        let runs =
            request.running.then(|| State::Runs(ready + world.service(index, request.stage)));
        world.state.push(runs.unwrap_or(State::Ready(ready)));
    }
    let joins = || capacities.iter().flat_map(|capacity| &capacity.later).map(|(at, _)| *at);
    loop {
        (0..problem.requests.len()).for_each(|index| world.end(index));
        for (pool, capacity) in capacities.iter().enumerate() {
            let later = capacity.later.iter().filter(|(join, _)| *join <= world.now);
            let joined: usize = later.map(|(_, count)| count).sum();
            world.start(pool, capacity.workers.unwrap_or(usize::MAX / 2) + joined);
        }
        let moments = world.state.iter().filter_map(|state| match state {
            State::Ready(at) | State::Runs(at) => Some(*at),
            State::Ended => None,
        });
        match moments.chain(joins()).filter(|at| *at > world.now).min() {
            Some(next) => world.now = next,
            None => break,
        }
    }
    world.answer.satisfied &= world.state.iter().all(|state| *state == State::Ended);
    world.answer
}

impl World<'_> {
    fn service(&self, index: usize, stage: usize) -> u64 {
        self.problem.service(index).get(stage).map_or(0, |time| time.0)
    }

    fn is_at(&self, index: usize, pool: usize) -> bool {
        self.problem.flow(index).stages[self.stage[index]].pool == pool
    }

    /// Whether the requests of the batch may have queued for so long together, this one included.
    fn may_wait(&mut self, index: usize, waited: u64) -> bool {
        let number = self.problem.requests[index].batch;
        let Some(mean) = self.problem.batches[number].wait_max else { return true };
        self.waits[number] += waited;
        let requests = self.problem.requests.iter().filter(|request| request.batch == number);
        self.waits[number] <= mean.0 * requests.count() as u64
    }

    /// Ends the request's stage if it ends now, and the request if no stage is left.
    fn end(&mut self, index: usize) {
        let ends = self.state[index] == State::Runs(self.now);
        let next = self.stage[index] + usize::from(ends);
        let is_ready = ends || self.state[index] == State::Ready(self.now);
        if is_ready && self.service(index, next) == 0 {
            self.state[index] = State::Ended;
            let batch_end = &mut self.answer.batch_ends[self.problem.requests[index].batch];
            *batch_end = (*batch_end).max(self.now);
            self.answer.satisfied &= self.now <= deadline(self.problem, self.rule, index);
        } else if ends {
            (self.stage[index], self.state[index]) = (next, State::Ready(self.now));
        }
    }

    /// Gives the free workers of a pool, of this many, to those that wait.
    fn start(&mut self, pool: usize, total: usize) {
        let (problem, now) = (self.problem, self.now);
        let mut waiting = Vec::new();
        let mut busy = 0;
        for (index, request) in problem.requests.iter().enumerate() {
            match self.state[index] {
                State::Runs(_) => busy += usize::from(self.is_at(index, pool)),
                State::Ready(ready) if ready <= now && self.is_at(index, pool) => {
                    let rank = match self.rule.discipline.ranking {
                        Ranking::Arrival => Micros::ZERO,
                        Ranking::EstimatedEnd => problem.batches[request.batch].rank,
                    };
                    waiting.push((rank, ready, request.ready, index));
                }
                _ => {}
            }
        }
        waiting.sort();
        for (_, ready, _, index) in waiting.into_iter().take(total.saturating_sub(busy)) {
            let stage = self.stage[index];
            if now - ready > 1_000 {
                self.answer.satisfied &= self.may_wait(index, now - ready);
                let (rule, risks) = (self.rule, &mut self.risks);
                self.answer.satisfied &=
                    starts_well(problem, rule, index, stage, (ready, now), risks);
            }
            self.state[index] = State::Runs(now + self.service(index, stage));
            busy += 1;
        }
        let usage = &mut self.answer.usage[pool];
        if usage.last().map_or(0, |(_, busy)| *busy) != busy as u32 {
            usage.push((now, busy as u32));
        }
    }
}

/// max(T, t_i) + D, relative to now.
fn deadline(problem: &Problem, rule: &Rule, index: usize) -> u64 {
    let request = &problem.requests[index];
    let batch = &problem.batches[request.batch];
    let left = problem.service(index)[request.stage..].iter();
    let own = left.fold(request.ready, |end, time| end + *time);
    if matches!(&rule.check, Check::Risk { trusted, .. } if trusted[request.batch])
        && own > batch.earliest_end
    {
        return u64::MAX;
    }
    (own.max(batch.earliest_end) + batch.tolerance).since(problem.now).0
}

/// Whether a request that queued between these times may have.
fn starts_well(
    problem: &Problem,
    rule: &Rule,
    index: usize,
    stage: usize,
    (ready, now): (u64, u64),
    risks: &mut [f64],
) -> bool {
    let number = problem.requests[index].batch;
    let batch = &problem.batches[number];
    let by = batch.earliest_end + batch.tolerance;
    let left = &problem.flow(index).stages[stage..];
    let timeouts = || left.iter().fold(problem.now + Micros(now), |at, stage| at + stage.timeout);
    match &rule.check {
        Check::Late => true,
        Check::Timeouts => timeouts() <= by,
        Check::Risk { trusted, .. } if !trusted[number] => timeouts() <= by,
        Check::Risk { tails, budget, .. } => {
            let room = |at: u64| (batch.earliest_end.0 as f64 - (problem.now.0 + at) as f64) / 1e6;
            let tail = &tails[batch.flow][stage];
            risks[number] += tail.expected_late(room(now)) - tail.expected_late(room(ready));
            risks[number] <= budget.as_secs_f64()
        }
    }
}
