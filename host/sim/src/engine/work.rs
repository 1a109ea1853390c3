//! The truth about every measured batch: where its requests stand, and what they will still do.
//!
//! The scheduler never sees it. A batch is kept from the start of its rollout to its completion.

use std::collections::BTreeMap;

use assay_core::id::BatchId;
use assay_core::time::Micros;
use assay_planner::Forecasts;
use assay_sched::{End, Ending};
use uuid::Uuid;

use crate::account::BatchRun;
use crate::policy::Settings;
use crate::trace::{Iteration, Trace, TraceRequest};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestState {
    Future,
    Waiting {
        stage: usize,
        since: Micros,
    },
    /// On one worker, or on two at once.
    Running {
        stage: usize,
        until: Micros,
        workers: usize,
    },
    /// `earliest_end` is t_i as it came to be.
    Ended {
        ending: Ending,
        earliest_end: Micros,
        ended: Micros,
    },
}

#[derive(Debug)]
pub(super) struct Batch<'a> {
    pub(super) task: usize,
    pub(super) iteration: usize,
    pub(super) truth: &'a Iteration,
    pub(super) start: Micros,
    pub(super) announced: Option<Micros>,
    pub(super) states: Vec<RequestState>,
    /// The stages that ran, for each request in turn.
    pub(super) ran: Vec<Vec<Micros>>,
    /// The times at which requests ended, in that order.
    ends: Vec<Micros>,
    groups: Groups,
    failed: usize,
    pub(super) forecasts: Forecasts,
}

#[derive(Debug, Default)]
struct Groups {
    /// The group of each request.
    of: Vec<usize>,
    /// The times, by group, at which the last request could have ended (from the rollout's start) and did
    /// end.
    earliest_end: Vec<Micros>,
    ended: Vec<Micros>,
    /// The number of requests of each group, if all have as many.
    size: Option<u32>,
}

impl Groups {
    fn new(requests: &[TraceRequest]) -> Self {
        let mut groups = Self::default();
        let mut numbers = BTreeMap::new();
        let mut sizes: Vec<u32> = Vec::new();
        for request in requests {
            let group = *numbers.entry(request.group).or_insert(sizes.len());
            if group == sizes.len() {
                sizes.push(0);
                groups.earliest_end.push(Micros::ZERO);
            }
            sizes[group] += 1;
            groups.of.push(group);
            let earliest_end = &mut groups.earliest_end[group];
            *earliest_end = (*earliest_end).max(request.earliest_end());
        }
        groups.ended = vec![Micros::ZERO; sizes.len()];
        groups.size = sizes.first().copied().filter(|first| sizes.iter().all(|size| size == first));
        groups
    }
}

impl<'a> Batch<'a> {
    pub(super) fn new(task: usize, iteration: usize, truth: &'a Iteration, start: Micros) -> Self {
        let count = truth.requests.len();
        Self {
            task,
            iteration,
            truth,
            start,
            announced: None,
            states: vec![RequestState::Future; count],
            ran: vec![Vec::new(); count],
            ends: Vec::with_capacity(count),
            groups: Groups::new(&truth.requests),
            failed: 0,
            forecasts: Forecasts::default(),
        }
    }

    pub(super) fn group(&self, request: usize) -> u32 {
        self.groups.of[request] as u32
    }

    pub(super) fn group_size(&self) -> Option<u32> {
        self.groups.size
    }

    /// The time that the trainer says a request will take, if trainers tell it.
    pub(super) fn expected_ms(&self, request: usize, settings: &Settings) -> Option<u32> {
        let time = self.truth.requests[request].service_sum();
        settings.expected_times.then(|| u32::try_from(time.0 / 1_000).unwrap_or(u32::MAX))
    }

    pub(super) fn arrival(&self, request: usize) -> Micros {
        self.start + self.truth.requests[request].rollout
    }

    /// T (eq. 2).
    pub(super) fn earliest_end(&self) -> Micros {
        self.start + self.truth.earliest_end()
    }

    pub(super) fn ended(&mut self, request: usize, now: Micros, ending: Ending, earliest: Micros) {
        self.states[request] = RequestState::Ended { ending, earliest_end: earliest, ended: now };
        self.groups.ended[self.groups.of[request]] = now;
        self.ends.push(now);
        self.failed += usize::from(ending == Ending::Error);
    }

    pub(super) fn completed(self, task: u32, now: Micros) -> BatchRun {
        let groups = self.groups.ended.iter().zip(&self.groups.earliest_end);
        let arrivals = self.truth.requests.iter().map(|request| request.rollout);
        let first = self.start + arrivals.min().unwrap_or_default();
        let half = first + Micros(now.since(first).0 / 2);
        BatchRun {
            task,
            iteration: self.truth.number,
            rollout_start: self.start,
            earliest_end: self.earliest_end(),
            completed: now,
            group_delays: groups
                .map(|(ended, earliest)| ended.since(self.start + *earliest))
                .collect(),
            request_ends: self.ends,
            requests: self.truth.requests.len(),
            failed: self.failed,
            expected: self.forecasts.by(half),
        }
    }
}

/// The first stage that a request reaches; `None` if it reaches none.
pub(super) fn first_stage(request: &TraceRequest) -> Option<usize> {
    request.service.iter().position(Option::is_some)
}

/// How a stage of a request ends on a worker with this factor, and how long it runs.
pub(super) fn stage_end(
    request: &TraceRequest,
    stage: usize,
    timeout: Micros,
    factor: f64,
) -> (End, Micros) {
    let truth = request.service[stage].unwrap_or_default();
    let needed = if factor > 1.0 { Micros((truth.0 as f64 * factor) as u64) } else { truth };
    let goes_on = request.service.get(stage + 1).is_some_and(Option::is_some);
    let end = if needed > timeout {
        End::TimedOut
    } else if goes_on {
        End::Next
    } else if timed_out(request) {
        End::TimedOut
    } else {
        End::Scored
    };
    (end, needed.min(timeout))
}

/// The last stage that it reached ran into its timeout.
pub(super) fn timed_out(request: &TraceRequest) -> bool {
    request.outcome == "timed_out" || request.outcome.ends_with("_timeout")
}

/// Every batch of a trace has a number; those that have started and are not complete are here.
#[derive(Debug)]
pub(super) struct Work<'a> {
    live: BTreeMap<usize, Batch<'a>>,
    /// The number of each task's first batch, by task.
    numbers: Vec<usize>,
    /// Measured batches that are not complete.
    pub(super) left: usize,
}

impl<'a> Work<'a> {
    pub(super) fn new(trace: &Trace) -> Self {
        let mut numbers = Vec::with_capacity(trace.tasks.len());
        let (mut next, mut left) = (0, 0);
        for task in &trace.tasks {
            numbers.push(next);
            next += task.iterations.len();
            left += task.iterations.len() - 1;
        }
        Self { live: BTreeMap::new(), numbers, left }
    }

    pub(super) fn number(&self, task: usize, iteration: usize) -> usize {
        self.numbers[task] + iteration
    }

    pub(super) fn started(&mut self, number: usize, batch: Batch<'a>) {
        self.live.insert(number, batch);
    }

    /// Whether a request runs this stage.
    pub(super) fn runs(&self, number: usize, request: usize, stage: usize) -> bool {
        let state = self.live.get(&number).map(|batch| batch.states[request]);
        matches!(state, Some(RequestState::Running { stage: running, .. }) if running == stage)
    }

    pub(super) fn get(&self, number: usize) -> &Batch<'a> {
        self.live.get(&number).expect("only live batches are looked at")
    }

    pub(super) fn batch(&mut self, number: usize) -> &mut Batch<'a> {
        self.live.get_mut(&number).expect("requests belong to live batches")
    }

    /// The batch of an id, while it is live.
    pub(super) fn by_id(&mut self, id: BatchId) -> Option<&mut Batch<'a>> {
        self.live.iter_mut().find(|(number, _)| batch_id(**number) == id).map(|(_, batch)| batch)
    }

    pub(super) fn live(&self) -> impl Iterator<Item = (usize, &Batch<'a>)> {
        self.live.iter().map(|(number, batch)| (*number, batch))
    }

    pub(super) fn completed(&mut self, number: usize) -> Batch<'a> {
        self.left -= 1;
        self.live.remove(&number).expect("a batch completes once")
    }
}

pub(crate) fn batch_id(number: usize) -> BatchId {
    BatchId(Uuid::from_u128(number as u128))
}

pub(super) fn batch_number(id: BatchId) -> usize {
    id.0.as_u128() as usize
}
