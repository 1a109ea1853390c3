//! Charts that compare the runs of several policies on one trace.

use assay_core::time::Micros;

use super::{Bars, Delays, Labels, Line, Series, bars, line_chart, sorted_delays};
use crate::{Run, Sample};

fn names(runs: &[Run]) -> Vec<String> {
    runs.iter().map(|run| run.policy.to_string()).collect()
}

/// The extra delays of each policy's batches.
#[must_use]
pub fn delays(title: &str, runs: &[Run]) -> String {
    let delays: Vec<Vec<f64>> = runs
        .iter()
        .map(|run| run.batches.iter().map(|batch| batch.extra_delay().as_secs_f64()).collect())
        .collect();
    let names = names(runs);
    let delays: Vec<Delays> =
        names.iter().zip(&delays).map(|(name, delays_s)| Delays { name, delays_s }).collect();
    sorted_delays(title, &delays)
}

/// Allocated over executed worker-seconds, by pool and policy.
#[must_use]
pub fn norms(runs: &[Run]) -> String {
    let pools = runs.first().map_or(&[][..], |run| &run.pools);
    let pools: Vec<&str> = pools.iter().map(|pool| pool.pool.as_str()).collect();
    let values: Vec<Vec<f64>> = runs
        .iter()
        .map(|run| run.pools.iter().map(|pool| pool.norm().unwrap_or(0.0)).collect())
        .collect();
    let names = names(runs);
    let series: Vec<Bars> =
        names.iter().zip(&values).map(|(name, values)| Bars { name, values }).collect();
    let labels = Labels { title: "Cost of each pool", x: "pool", y: "allocated / executed" };
    bars(&labels, &pools, &series)
}

/// The workers of one pool over time, by policy.
///
/// # Panics
/// When a run has no such pool.
#[must_use]
pub fn workers(title: &str, runs: &[Run], pool: usize) -> String {
    let points: Vec<Vec<(f64, f64)>> = runs
        .iter()
        .map(|run| points(&run.pools[pool].timeline.samples, |sample| sample.workers))
        .collect();
    let names = names(runs);
    let series: Vec<Series> =
        names.iter().zip(&points).map(|(name, points)| Series { name, points }).collect();
    let labels = Labels { title, x: "time (s)", y: "workers" };
    line_chart(&labels, Line::Step, &series)
}

/// The workers, busy workers and queued requests of one pool over time.
#[must_use]
pub fn queue(title: &str, samples: &[Sample]) -> String {
    let workers = points(samples, |sample| sample.workers);
    let busy = points(samples, |sample| sample.busy);
    let queued = points(samples, |sample| sample.queued);
    let series = [("workers", &workers), ("busy", &busy), ("queued", &queued)];
    let series = series.map(|(name, points)| Series { name, points });
    let labels = Labels { title, x: "time (s)", y: "workers, requests" };
    line_chart(&labels, Line::Step, &series)
}

fn points(samples: &[Sample], value: impl Fn(&Sample) -> usize) -> Vec<(f64, f64)> {
    let seconds = |at: Micros| at.as_secs_f64();
    samples.iter().map(|sample| (seconds(sample.at), value(sample) as f64)).collect()
}
