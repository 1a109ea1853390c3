//! One batch on a fixed number of workers of each stage, as a list of events of its own.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use assay_core::time::Micros;
use assay_sim::trace::Iteration;

use super::prediction::Predictor;
use super::told::Told;

/// The order of the queue of a stage; the request that was ready first breaks ties.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestOrder {
    AsReady,
    FewestLeft,
    /// By the time that the rest of the request's group is expected to take.
    LeastLeft,
    /// By the time that the request's remaining stages are expected to take, from ended ones of its group, else of all.
    Longest,
    Shortest,
    ShortestKnown,
    /// By the time that is given for a request, less what it has used of it: the longest first.
    LongestGiven,
    /// By the time since when a request is ready, less the same.
    ReadyLessGiven,
    /// By the requests that its group has left, then by the same.
    FewestLeftReadyLessGiven,
}

/// The times that are given for requests, by which orders may go.
#[derive(Debug)]
pub(super) enum Given<'a> {
    Told(Told),
    Predicted(&'a mut Predictor),
}

/// The delays of a batch under an order, in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct BatchDelays {
    pub(super) batch: f64,
    /// The mean over groups.
    pub(super) groups: f64,
}

/// Something that happens to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum RequestEvent {
    Ends,
    Ready,
}

/// The key by which a queue is ordered, and the request.
type QueueEntry = (i64, i64, u64, usize);

/// A batch on its way.
pub(super) struct ServedBatch<'a> {
    iteration: &'a Iteration,
    order: RequestOrder,
    free: Vec<usize>,
    /// The requests that wait at each stage, each with the time since when.
    waiting: Vec<Vec<(u64, usize)>>,
    events: BinaryHeap<Reverse<(u64, RequestEvent, usize, usize)>>,
    /// Sum and number of the times of ended requests, by stage and group and by stage.
    seen: BTreeMap<(usize, Option<u32>), (u64, u64)>,
    /// The requests of each group that have not ended.
    left: BTreeMap<u32, u64>,
    ends: Vec<u64>,
    given: Given<'a>,
    /// The time that is given for the rest of each request.
    expected_left: Vec<u64>,
}

impl<'a> ServedBatch<'a> {
    pub(super) fn new(
        iteration: &'a Iteration,
        workers: &[usize],
        order: RequestOrder,
        given: Given<'a>,
    ) -> Self {
        let mut served = Self {
            iteration,
            order,
            free: workers.to_vec(),
            waiting: vec![Vec::new(); workers.len()],
            events: BinaryHeap::new(),
            seen: BTreeMap::new(),
            left: BTreeMap::new(),
            ends: vec![0; iteration.requests.len()],
            given,
            expected_left: Vec::new(),
        };
        let requests = 0..iteration.requests.len();
        let times: Vec<u64> = requests.map(|request| served.remaining(request, 0)).collect();
        served.expected_left = match &mut served.given {
            Given::Told(told) => told.times(&times),
            Given::Predicted(predictor) => {
                predictor.begin_batch();
                vec![0; times.len()]
            }
        };
        for (index, request) in iteration.requests.iter().enumerate() {
            *served.left.entry(request.group).or_default() += 1;
            served.events.push(Reverse((request.rollout.0, RequestEvent::Ready, index, 0)));
        }
        served
    }

    pub(super) fn run(mut self) -> BatchDelays {
        self.serve();
        self.delays()
    }

    fn serve(&mut self) {
        while let Some(Reverse((now, step, request, stage))) = self.events.pop() {
            match step {
                RequestEvent::Ready => self.ready(now, request, stage),
                RequestEvent::Ends => {
                    self.free[stage] += 1;
                    self.note(request, stage);
                    self.events.push(Reverse((now, RequestEvent::Ready, request, stage + 1)));
                }
            }
            // All that happens now, before anything starts.
            if self.events.peek().is_none_or(|Reverse((at, ..))| *at > now) {
                (0..self.free.len()).for_each(|stage| self.start(now, stage));
            }
        }
    }

    fn service(&self, request: usize, stage: usize) -> Option<u64> {
        let service = self.iteration.requests[request].service.get(stage).copied().flatten();
        service.map(|time| time.0)
    }

    fn ready(&mut self, now: u64, request: usize, stage: usize) {
        if self.service(request, stage).is_some() {
            if let Given::Predicted(predictor) = &mut self.given {
                self.expected_left[request] =
                    predictor.predict(&self.iteration.requests[request], stage);
            }
            self.waiting[stage].push((now, request));
            return;
        }
        if let Given::Predicted(predictor) = &mut self.given {
            predictor.observe(&self.iteration.requests[request]);
        }
        self.ends[request] = now;
        let group = self.iteration.requests[request].group;
        *self.left.get_mut(&group).expect("it is of a group") -= 1;
    }

    /// A stage has ended: its time is known from now on.
    fn note(&mut self, request: usize, stage: usize) {
        let time = self.service(request, stage).expect("it ran");
        if let Given::Told(_) = self.given {
            self.expected_left[request] = self.expected_left[request].saturating_sub(time);
        }
        for group in [None, Some(self.iteration.requests[request].group)] {
            let (sum, count) = self.seen.entry((stage, group)).or_default();
            *sum += time;
            *count += 1;
        }
    }

    fn start(&mut self, now: u64, stage: usize) {
        while self.free[stage] > 0 && !self.waiting[stage].is_empty() {
            let keys = self.waiting[stage].iter().enumerate();
            let keys = keys.map(|(place, (since, request))| -> (QueueEntry, usize) {
                let (first, second) = self.key(*since, *request, stage);
                ((first, second, *since, *request), place)
            });
            let (_, place) = keys.min().expect("somebody waits");
            let (_, request) = self.waiting[stage].remove(place);
            let time = self.service(request, stage).expect("it reached the stage");
            self.free[stage] -= 1;
            self.events.push(Reverse((now + time, RequestEvent::Ends, request, stage)));
        }
    }

    /// The smallest is served first.
    fn key(&self, since: u64, request: usize, stage: usize) -> (i64, i64) {
        let left = || self.left[&self.iteration.requests[request].group] as i64;
        let first = |key: u64| (key as i64, 0);
        let given = || self.expected_left[request] as i64;
        match self.order {
            RequestOrder::AsReady => (0, 0),
            RequestOrder::FewestLeft => (left(), 0),
            RequestOrder::LeastLeft => (left() * self.expected(request, stage) as i64, 0),
            RequestOrder::Longest => (-(self.expected(request, stage) as i64), 0),
            RequestOrder::Shortest => first(self.expected(request, stage)),
            RequestOrder::ShortestKnown => first(self.remaining(request, stage)),
            RequestOrder::LongestGiven => (-given(), 0),
            RequestOrder::ReadyLessGiven => (since as i64 - given(), 0),
            RequestOrder::FewestLeftReadyLessGiven => (left(), since as i64 - given()),
        }
    }

    fn remaining(&self, request: usize, stage: usize) -> u64 {
        (stage..self.free.len()).filter_map(|stage| self.service(request, stage)).sum()
    }

    /// The time that the remaining stages are expected to take.
    fn expected(&self, request: usize, stage: usize) -> u64 {
        let group = self.iteration.requests[request].group;
        let at = |stage: usize| {
            let seen = |group, least| {
                let seen = self.seen.get(&(stage, group)).filter(|(_, count)| *count >= least);
                seen.map(|(sum, count)| sum / count)
            };
            seen(Some(group), 2).or_else(|| seen(None, 1)).unwrap_or(0)
        };
        (stage..self.free.len()).map(at).sum()
    }

    fn delays(&self) -> BatchDelays {
        let requests = &self.iteration.requests;
        let mut groups: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
        for (request, end) in requests.iter().zip(&self.ends) {
            let (earliest, last) = groups.entry(request.group).or_default();
            *earliest = (*earliest).max(request.earliest_end().0);
            *last = (*last).max(*end);
        }
        let delay = |earliest: u64, end: u64| Micros(end - earliest).as_secs_f64();
        let sum: f64 = groups.values().map(|(earliest, last)| delay(*earliest, *last)).sum();
        let last = self.ends.iter().copied().max().unwrap_or_default();
        BatchDelays {
            batch: delay(self.iteration.earliest_end().0, last),
            groups: sum / groups.len().max(1) as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use assay_sched::Discipline;
    use assay_sim::policy::{Settings, SimulatedPolicy};
    use assay_sim::trace::TraceRequest;
    use assay_sim::workload::{Spec, Trainer, generate};
    use assay_simulation::runs::{Job, run_all};

    use super::*;

    /// The orders that the scheduler has too.
    #[test]
    fn its_delays_are_those_of_the_scheduler() {
        let trainer = Trainer { tasks: 1, iterations: 3, batch: 96, ..Trainer::default() };
        let trace = generate(&Spec { trainer, ..Spec::default() }).expect("a small trace");
        let counts = [6, 2];
        let names = trace.meta.stages.iter().map(|stage| stage.name.clone());
        let policy = SimulatedPolicy::Fixed(names.zip(counts).collect());
        for (discipline, order, told) in [
            (Discipline::EBF, RequestOrder::AsReady, Told::Nothing),
            (Discipline::EBF_GROUPS, RequestOrder::FewestLeft, Told::Nothing),
            (Discipline::EBF, RequestOrder::LongestGiven, Told::Exact),
        ] {
            let expected_times = told == Told::Exact;
            let settings = Settings { discipline, expected_times, ..Settings::default() };
            let job = Job { trace: &trace, policy: &policy, settings: &settings };
            let run = run_all(&[job]).expect("it runs").remove(0);
            for batch in &run.batches {
                let iteration = &trace.tasks[0].iterations[batch.iteration as usize];
                let delays = ServedBatch::new(iteration, &counts, order, Given::Told(told)).run();
                let wanted = batch.extra_delay().as_secs_f64();
                assert!(
                    wanted > 10.0 && (delays.batch - wanted).abs() < 0.1,
                    "{wanted} {delays:?}"
                );
                let groups = batch.group_delays.iter().map(|delay| delay.as_secs_f64());
                let wanted = groups.sum::<f64>() / batch.group_delays.len() as f64;
                assert!((delays.groups - wanted).abs() < 0.1, "{wanted} {delays:?}");
            }
        }
    }

    /// One worker is busy for 10 s, until all the others wait.
    #[test]
    fn told_times_order_the_queue() {
        let times_s = [10, 1, 5, 3];
        let iteration = Iteration {
            number: 0,
            rollout_start: Micros::ZERO,
            rollout: Micros::ZERO,
            train: Micros::ZERO,
            sync: Micros::ZERO,
            requests: (0..)
                .zip(times_s)
                .map(|(request, time_s)| TraceRequest {
                    request,
                    group: request,
                    tokens: 1,
                    rollout: Micros::from_secs(3 * u64::from(request)),
                    service: vec![Some(Micros::from_secs(time_s))],
                    outcome: String::new(),
                })
                .collect(),
        };
        let ends = |order, told| {
            let mut served = ServedBatch::new(&iteration, &[1], order, Given::Told(told));
            served.serve();
            served.ends.iter().map(|end| end / 1_000_000).collect::<Vec<_>>()
        };
        // Ready at 0, 3, 6 and 9 s.
        assert_eq!(ends(RequestOrder::AsReady, Told::Nothing), [10, 11, 16, 19]);
        assert_eq!(ends(RequestOrder::LongestGiven, Told::Nothing), [10, 11, 16, 19]);
        assert_eq!(ends(RequestOrder::LongestGiven, Told::Exact), [10, 19, 15, 18]);
        // 3 - 1, 6 - 5, 9 - 3.
        assert_eq!(ends(RequestOrder::ReadyLessGiven, Told::Exact), [10, 16, 15, 19]);
    }
}
