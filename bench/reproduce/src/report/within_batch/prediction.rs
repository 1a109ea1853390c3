//! Predictors of the time that a request takes, which learn while a run goes on.
//!
//! A predictor sees a request's time only once the request has ended. It predicts by means of earlier requests; the mean
//! of few is drawn to that of more.

use std::collections::BTreeMap;

use assay_sim::trace::TraceRequest;

/// The earlier requests that a prediction is made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// All earlier requests of the run.
    History,
    /// Those with a response about as long.
    Length,
    /// Those of the group that have ended.
    Mates,
    /// Those of the same problem in earlier iterations.
    Problem,
    All,
}

/// The requests that the mean to which a mean is drawn counts for.
pub(super) const PARENT_WEIGHT: f64 = 4.0;

/// Sum and number of times, in microseconds.
#[derive(Debug, Clone, Copy, Default)]
struct TimeSum {
    sum: f64,
    count: f64,
}

impl TimeSum {
    fn add(&mut self, other: Self) {
        self.sum += other.sum;
        self.count += other.count;
    }

    fn mean(self) -> f64 {
        if self.count > 0.0 { self.sum / self.count } else { 0.0 }
    }

    fn drawn_to(self, parent: f64) -> f64 {
        (self.sum + PARENT_WEIGHT * parent) / (self.count + PARENT_WEIGHT)
    }
}

/// Means by stage and by what is alike.
type Alike = BTreeMap<(usize, u32), TimeSum>;

/// The predictor of the time that a request takes from a stage on, to its end.
#[derive(Debug)]
pub(super) struct Predictor {
    source: Source,
    history: BTreeMap<usize, TimeSum>,
    by_length: Alike,
    by_problem: Alike,
    /// Those of the batch that runs.
    by_group: Alike,
    /// For the requests of this batch, as they became ready for their first stage.
    pub(super) predictions: Vec<Prediction>,
}

/// Times in microseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prediction {
    pub(super) predicted: u64,
    pub(super) taken: u64,
}

impl Predictor {
    pub(super) fn new(source: Source) -> Self {
        Self {
            source,
            history: BTreeMap::new(),
            by_length: Alike::new(),
            by_problem: Alike::new(),
            by_group: Alike::new(),
            predictions: Vec::new(),
        }
    }

    /// The next batch's groups are those of other problems, or of the same ones in a later iteration.
    pub(super) fn begin_batch(&mut self) {
        self.predictions.clear();
        for (place, seen) in std::mem::take(&mut self.by_group) {
            self.by_problem.entry(place).or_default().add(seen);
        }
    }

    /// In microseconds; zero before anything has ended.
    pub(super) fn predict(&mut self, request: &TraceRequest, stage: usize) -> u64 {
        let plain = self.history.get(&stage).copied().unwrap_or_default().mean();
        let alike = |means: &Alike, what: u32, parent: f64| {
            means.get(&(stage, what)).copied().unwrap_or_default().drawn_to(parent)
        };
        let length = |parent| alike(&self.by_length, length_bin(request), parent);
        let problem = |parent| alike(&self.by_problem, request.group, parent);
        let mates = |parent| alike(&self.by_group, request.group, parent);
        let predicted = match self.source {
            Source::History => plain,
            Source::Length => length(plain),
            Source::Mates => mates(plain),
            Source::Problem => problem(plain),
            Source::All => mates(problem(length(plain))),
        };
        let predicted = predicted as u64;
        if stage == 0 {
            self.predictions.push(Prediction { predicted, taken: request.service_sum().0 });
        }
        predicted
    }

    /// Learns from a request that has ended.
    pub(super) fn observe(&mut self, request: &TraceRequest) {
        let mut left: u64 = request.service_sum().0;
        for (stage, time) in request.service.iter().flatten().enumerate() {
            let seen = TimeSum { sum: left as f64, count: 1.0 };
            self.history.entry(stage).or_default().add(seen);
            self.by_length.entry((stage, length_bin(request))).or_default().add(seen);
            self.by_group.entry((stage, request.group)).or_default().add(seen);
            left -= time.0;
        }
    }
}

/// Lengths between two powers of two count as alike.
fn length_bin(request: &TraceRequest) -> u32 {
    request.tokens.max(1).ilog2()
}

#[cfg(test)]
mod tests {
    use assay_core::time::Micros;

    use super::*;

    fn request(group: u32, tokens: u32, times_s: &[u64]) -> TraceRequest {
        TraceRequest {
            request: 0,
            group,
            tokens,
            rollout: Micros::ZERO,
            service: times_s.iter().map(|time| Some(Micros::from_secs(*time))).collect(),
            outcome: String::new(),
        }
    }

    fn predicted_s(predictor: &mut Predictor, request: &TraceRequest, stage: usize) -> f64 {
        predictor.predict(request, stage) as f64 / 1e6
    }

    #[test]
    fn the_plain_history_is_the_mean_of_what_has_ended_from_a_stage_on() {
        let mut predictor = Predictor::new(Source::History);
        assert_eq!(predictor.predict(&request(0, 1, &[1]), 0), 0);
        predictor.observe(&request(0, 1, &[10, 4]));
        predictor.observe(&request(1, 1, &[20, 2]));
        predictor.observe(&request(2, 1, &[9]));
        let next = request(3, 1, &[1, 1]);
        assert_eq!(predicted_s(&mut predictor, &next, 0), 15.0);
        assert_eq!(predicted_s(&mut predictor, &next, 1), 3.0);
    }

    /// Four requests of one kind take 10 s, then four alike take 20 s: each source tells only what it may know.
    #[test]
    fn a_source_tells_apart_only_what_it_may_know() {
        let check = |source: Source, alike: &TraceRequest, in_next_batch: bool, wanted: f64| {
            let mut predictor = Predictor::new(source);
            predictor.begin_batch();
            (0..4).for_each(|_| predictor.observe(&request(1, 100, &[10])));
            (0..4).for_each(|_| predictor.observe(&request(2, 1_000, &[20])));
            if in_next_batch {
                predictor.begin_batch();
            }
            let seen = predicted_s(&mut predictor, alike, 0);
            assert!((seen - wanted).abs() < 1e-3, "{source:?}: {seen}, not {wanted}");
        };
        let long = request(2, 100, &[1]);
        // As many are alike as the mean of all counts for: the prediction lies halfway.
        check(Source::History, &long, true, 15.0);
        check(Source::Length, &long, true, 12.5);
        check(Source::Mates, &long, false, 17.5);
        check(Source::Mates, &long, true, 15.0);
        check(Source::Problem, &long, false, 15.0);
        check(Source::Problem, &long, true, 17.5);
        check(Source::All, &request(2, 1_000, &[1]), true, 18.75);
        check(Source::All, &request(9, 1 << 20, &[1]), true, 15.0);
    }
}
