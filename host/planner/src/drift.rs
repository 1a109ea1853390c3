//! Whether a batch goes as history says, and by how much it does not.
//!
//! Small differences are chance and change nothing; a large one stretches what history says, and
//! makes the planner careful with the batch.

use assay_core::time::Micros;
use assay_sched::{BatchView, StageView};

use crate::basis::Basis;

/// The least number of requests that ended at a stage, or of arrivals that differ from the expectation,
/// from which drift is measured.
const SEEN_MIN: f64 = 50.0;
/// The least fraction of the batch that came too early or too late, from which drift is measured.
const FRACTION_MIN: f64 = 0.15;
/// Factors closer to 1 than these are taken for chance: for arrivals, and for service times.
const ARRIVALS_CHANCE: f64 = 1.1;
const SERVICE_CHANCE: f64 = 1.3;
/// A mean service time that differs by less, in seconds, changes no plan, whatever the factor.
const SERVICE_DIFFERENCE_MIN: f64 = 0.1;
/// The fraction of running requests above the 90th percentile of history from which the batch counts as slow.
const LONG_FRACTION: f64 = 0.4;

/// Factors by which a live batch deviates from history.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Drift {
    /// The factor on arrival times, measured from the first arrival.
    pub(crate) arrivals: f64,
    /// The factor on the service times of each stage.
    pub(crate) service: Vec<f64>,
}

impl Drift {
    pub(crate) fn of(now: Micros, batch: &BatchView, basis: &Basis) -> Self {
        let stages = batch.at_stage.iter().enumerate();
        Self {
            arrivals: beyond(arrivals(now, batch, basis), ARRIVALS_CHANCE),
            service: stages
                // Long requests end last: shorter times say nothing before the batch has ended.
                .map(|(stage, view)| beyond(service(stage, view, basis).max(1.0), SERVICE_CHANCE))
                .collect(),
        }
    }

    pub(crate) fn none(stages: usize) -> Self {
        Self { arrivals: 1.0, service: vec![1.0; stages] }
    }

    pub(crate) fn is_some(&self) -> bool {
        self.arrivals != 1.0 || self.service.iter().any(|factor| *factor != 1.0)
    }
}

/// 1 unless the factor is farther from it than chance.
fn beyond(factor: f64, chance: f64) -> f64 {
    if factor > chance || factor < 1.0 / chance { factor } else { 1.0 }
}

/// How much later than in history as many requests have come.
fn arrivals(now: Micros, batch: &BatchView, basis: &Basis) -> f64 {
    let Some(first) = batch.first_arrival.filter(|_| !batch.sealed) else { return 1.0 };
    let elapsed = now.since(first);
    let usual = (basis.len() / basis.batches) as u32;
    let size = f64::from(batch.expected_size.unwrap_or(usual).max(1));
    let fraction = f64::from(batch.submitted) / size;
    let due = basis.after(elapsed) as f64 / basis.len() as f64;
    if (fraction - due).abs() * size < SEEN_MIN
        || (fraction - due).abs() < FRACTION_MIN
        || fraction >= 1.0
    {
        return 1.0;
    }
    let row = ((fraction * basis.len() as f64) as usize).min(basis.len() - 1);
    // From the announcement: the first request alone is a matter of chance.
    let then = (basis.lead + basis.arrived(row)).as_secs_f64();
    if then > 0.0 { now.since(batch.announced).as_secs_f64() / then } else { 1.0 }
}

/// How much longer than in history a stage runs.
fn service(stage: usize, view: &StageView, basis: &Basis) -> f64 {
    let Some(usual) = basis.mean(stage).map(Micros::as_secs_f64) else { return 1.0 };
    let running = view.running.len() as f64;
    let ended = f64::from(view.ended);
    // While most still run, those that have ended are the short ones.
    if ended >= SEEN_MIN && ended >= 2.0 * running {
        let mean = view.ended_time.as_secs_f64() / ended;
        return if (mean - usual).abs() < SERVICE_DIFFERENCE_MIN { 1.0 } else { mean / usual };
    }
    let long = basis.quantile(stage, 0.9);
    let longer: Vec<f64> = view
        .running
        .iter()
        .filter(|running| running.elapsed > long)
        .map(|running| running.elapsed.as_secs_f64())
        .collect();
    if running >= SEEN_MIN && longer.len() as f64 >= LONG_FRACTION * running {
        return longer.iter().sum::<f64>() / longer.len() as f64 / usual;
    }
    1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_is_no_drift() {
        assert_eq!(beyond(1.09, 1.1), 1.0);
        assert_eq!(beyond(0.92, 1.1), 1.0);
        assert_eq!(beyond(1.5, 1.1), 1.5);
        assert_eq!(beyond(0.6, 1.1), 0.6);
    }
}
