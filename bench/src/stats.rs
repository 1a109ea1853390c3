//! Medians and percentiles of what was measured.

use std::time::Duration;

use serde::Serialize;

/// The middle value; of an even number of values the mean of the two in the middle.
pub fn median(values: &[f64]) -> Option<f64> {
    let sorted = sorted(values);
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    Some(if sorted.len() % 2 == 1 { upper } else { (sorted[middle - 1] + upper) / 2.0 })
}

/// The smallest value that at least `percent` of all values do not exceed.
pub fn percentile(values: &[f64], percent: f64) -> Option<f64> {
    let sorted = sorted(values);
    let rank = (percent / 100.0 * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).or(sorted.last()).copied()
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// Single requests over a stretch of time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Latency {
    pub p50_ms: f64,
    pub p99_ms: f64,
    pub per_second: f64,
}

impl Latency {
    pub fn of(each: &[Duration], all: Duration) -> Option<Self> {
        let each_ms: Vec<_> = each.iter().map(|one| one.as_secs_f64() * 1e3).collect();
        Some(Self {
            p50_ms: percentile(&each_ms, 50.0)?,
            p99_ms: percentile(&each_ms, 99.0)?,
            per_second: each.len() as f64 / all.as_secs_f64(),
        })
    }

    /// Each number's median over several rounds.
    pub fn median(rounds: &[Self]) -> Option<Self> {
        let over = |pick: fn(&Self) -> f64| median(&rounds.iter().map(pick).collect::<Vec<_>>());
        Some(Self {
            p50_ms: over(|round| round.p50_ms)?,
            p99_ms: over(|round| round.p99_ms)?,
            per_second: over(|round| round.per_second)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 9.0]), Some(3.0));
    }

    #[test]
    fn percentiles_are_values_that_were_seen() {
        let hundred: Vec<_> = (1..=100).rev().map(f64::from).collect();
        for (percent, value) in [(0.0, 1.0), (50.0, 50.0), (99.0, 99.0), (99.5, 100.0)] {
            assert_eq!(percentile(&hundred, percent), Some(value), "{percent} %");
        }
        assert_eq!(percentile(&hundred, 100.0), Some(100.0));
        assert_eq!(percentile(&[7.0], 99.0), Some(7.0));
        assert_eq!(percentile(&[], 50.0), None);
    }

    #[test]
    fn latencies_are_in_milliseconds_and_a_second() {
        let each = [1, 2, 3, 10].map(Duration::from_millis);
        let latency = Latency::of(&each, Duration::from_millis(20)).expect("four");
        assert_eq!(latency, Latency { p50_ms: 2.0, p99_ms: 10.0, per_second: 200.0 });
        let slow = Latency { p50_ms: 4.0, p99_ms: 12.0, per_second: 100.0 };
        let middle = Latency::median(&[latency, slow, slow]).expect("three");
        assert_eq!(middle, slow);
        assert_eq!(Latency::of(&[], Duration::from_secs(1)), None);
    }
}
