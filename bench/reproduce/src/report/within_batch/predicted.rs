//! Predictors of a request's time against the plain history, on batches that they have not seen.

use assay_sim::trace::Trace;
use assay_sim::workload::Trainer;

use super::prediction::{PARENT_WEIGHT, Prediction, Predictor, Source};
use super::served::{Given, RequestOrder, ServedBatch};
use super::{BATCHES, draw, named, workers};
use crate::report::comparison::fixed;
use crate::report::page::Page;
use crate::report::workloads::Workloads;

/// Iterations after which a problem returns; the first ones are for learning only.
const EPOCH: usize = 4;

const SOURCES: [(&str, Source); 5] = [
    ("plain history", Source::History),
    ("length of the response", Source::Length),
    ("ended requests of the group", Source::Mates),
    ("the same problem in earlier iterations", Source::Problem),
    ("all of these", Source::All),
];

/// The part by which a delay must be lower to be told from chance.
const CLEARLY: f64 = 0.1;

/// The orders and loads under which the delay of a batch is measured; the last decides nothing.
const RUNS: [(&str, RequestOrder, f64); 3] = [
    ("ready - predicted, 80 %: d, s", RequestOrder::ReadyLessGiven, 0.8),
    ("longest first, 80 %: d, s", RequestOrder::LongestGiven, 0.8),
    ("longest first, 100 %: d, s", RequestOrder::LongestGiven, 1.0),
];
const DECIDING: usize = 2;

/// A predictor on the batches after the first epoch.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Measure {
    /// The mean absolute error, in seconds.
    error: f64,
    /// The part of the longest fifth that is among the fifth with the longest predictions.
    found: f64,
    /// The mean extra delay of each of `RUNS`, in seconds.
    delays: [f64; RUNS.len()],
}

pub(super) fn add(page: &mut Page, workloads: &Workloads) {
    page.say(format!(
        "**What can be told of a request's time before it runs.** The problems of a data set return after {EPOCH} iterations, and \
         what a problem's requests share is the same each time. As a request becomes ready for a stage, its time from there on \
         is predicted as the mean of the run's earlier requests (plain history), or of those that are like it, with the former \
         counted as {PARENT_WEIGHT} more of them. Lengths between the same powers of two are alike. The first {EPOCH} of {BATCHES} batches are \
         for learning only; the others are predicted before they are learned from. The error is the mean absolute one, as a part \
         of the plain history's; found is the part of the longest fifth that is among the fifth with the longest predictions, 20 % by \
         chance.",
    ));
    let mut rows = Vec::new();
    let mut better = Vec::new();
    for (name, rewards) in named() {
        let trace = draw(workloads, rewards, Some(problems(workloads)));
        let plain = measure(&trace, Source::History);
        for (source_name, source) in SOURCES {
            let measured = measure(&trace, source);
            if measured.is_clearly_better(&plain) {
                better.push(format!("{name}, {source_name}"));
            }
            let known = [
                name.to_owned(),
                source_name.to_owned(),
                fixed(measured.error / plain.error, 2),
                fixed(measured.found * 100.0, 0),
            ];
            let delays = measured.delays.map(|delay| fixed(delay, 1));
            rows.push(known.into_iter().chain(delays).collect());
        }
    }
    let heading = ["workload", "predicted by", "error", "found, %"];
    let heading: Vec<&str> = heading.into_iter().chain(RUNS.map(|(name, ..)| name)).collect();
    page.table(&heading, &rows);
    page.say(conclusion(&better));
}

fn problems(workloads: &Workloads) -> u32 {
    workloads.scale.batch.div_ceil(Trainer::default().group_size) * EPOCH as u32
}

fn conclusion(better: &[String]) -> String {
    let wanted = "a lower error and, at 80 % load, a d that is lower by more than 10 %";
    if better.is_empty() {
        return format!(
            "No predictor beats the plain history clearly ({wanted}), so none is built into the server. Of CUDA nothing \
             foretells the requests that run into their timeouts, which make a batch late: in these traces they fall on \
             problems, lengths and groups by chance, and where d is lower the error is not. The requests of the judge and of the mixture can be told in part, best by their \
             problem, but are too short to make a batch late."
        );
    }
    format!("These predictors beat the plain history clearly ({wanted}): {}.", better.join("; "))
}

impl Measure {
    fn is_clearly_better(&self, plain: &Self) -> bool {
        let mut delays = self.delays.iter().zip(&plain.delays).take(DECIDING);
        self.error < plain.error && delays.any(|(here, plain)| *here < plain * (1.0 - CLEARLY))
    }
}

/// The predictions of the last deciding run count; other runs differ by which requests of a group end in time.
fn measure(trace: &Trace, source: Source) -> Measure {
    let mut measured = Measure::default();
    for (place, (_, order, load)) in RUNS.into_iter().enumerate() {
        let run = run(trace, source, order, load);
        measured.delays[place] = run.delay;
        if place < DECIDING {
            (measured.error, measured.found) = (run.error, run.found);
        }
    }
    measured
}

/// Means over the batches after the first epoch, as in `Measure`.
#[derive(Debug, Clone, Copy, Default)]
struct PredictedRun {
    error: f64,
    found: f64,
    delay: f64,
}

fn run(trace: &Trace, source: Source, order: RequestOrder, load: f64) -> PredictedRun {
    let mut predictor = Predictor::new(source);
    let mut sum = PredictedRun::default();
    let iterations = &trace.tasks[0].iterations;
    for (number, iteration) in iterations.iter().enumerate() {
        let given = Given::Predicted(&mut predictor);
        let delays = ServedBatch::new(iteration, &workers(iteration, load), order, given).run();
        if number >= EPOCH {
            sum.error += error(&predictor.predictions);
            sum.found += found(&predictor.predictions);
            sum.delay += delays.batch;
        }
    }
    let count = iterations.len().saturating_sub(EPOCH).max(1) as f64;
    PredictedRun { error: sum.error / count, found: sum.found / count, delay: sum.delay / count }
}

/// The mean absolute error, in seconds.
fn error(predictions: &[Prediction]) -> f64 {
    let sum: u64 = predictions.iter().map(|made| made.predicted.abs_diff(made.taken)).sum();
    sum as f64 / 1e6 / predictions.len().max(1) as f64
}

/// The part of the longest fifth that is among the fifth with the longest predictions.
fn found(predictions: &[Prediction]) -> f64 {
    let fifth = |time: fn(&Prediction) -> u64| {
        let mut places: Vec<usize> = (0..predictions.len()).collect();
        places.sort_by_key(|place| (time(&predictions[*place]), *place));
        let mut longest = places.split_off(predictions.len() - predictions.len() / 5);
        longest.sort_unstable();
        longest
    };
    let (longest, predicted) = (fifth(|made| made.taken), fifth(|made| made.predicted));
    let found = longest.iter().filter(|place| predicted.binary_search(place).is_ok()).count();
    found as f64 / longest.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prediction(predicted: u64, taken: u64) -> Prediction {
        Prediction { predicted, taken }
    }

    #[test]
    fn the_longest_fifth_is_found_as_far_as_predictions_have_it_on_top() {
        let right: Vec<Prediction> = (0..20).map(|time| prediction(2 * time, time)).collect();
        assert_eq!((found(&right), error(&right)), (1.0, 9.5e-6));
        let reversed: Vec<Prediction> = (0..20).map(|time| prediction(20 - time, time)).collect();
        assert_eq!(found(&reversed), 0.0);
        let half =
            (0..20).map(|time| prediction(if time == 17 || time == 3 { 9 } else { 0 }, time));
        // The last ones of those alike, 18 and 19, complete the fifth.
        assert_eq!(found(&half.collect::<Vec<_>>()), 0.75);
        assert_eq!((found(&[]), error(&[])), (0.0, 0.0));
    }

    #[test]
    fn better_is_a_lower_error_and_a_clearly_lower_delay() {
        let plain = Measure { error: 1.0, found: 0.2, delays: [10.0; 3] };
        assert!(!plain.is_clearly_better(&plain));
        let better = Measure { error: 0.9, delays: [10.0, 8.9, 10.0], ..plain };
        assert!(better.is_clearly_better(&plain));
        assert!(!Measure { error: 1.1, ..better }.is_clearly_better(&plain));
        assert!(!Measure { delays: [10.0, 9.1, 1.0], ..better }.is_clearly_better(&plain));
        let none = Measure { delays: [0.0; 3], ..plain };
        assert!(!Measure { error: 0.5, ..none }.is_clearly_better(&none));
    }
}
