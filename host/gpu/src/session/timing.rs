//! The statistics of one side's samples, and the signs that make them doubtful.

use super::types::Timing;
use crate::device::Properties;
use crate::executor::message::RunTimes;

/// Host's and device's clock may differ by so much, and so many times over.
const WALL_SLACK_NS: u64 = 200_000;
const WALL_TIMES_MAX: u64 = 10;
/// The device's clock may be ahead by so much: what the host spends beside an empty plan differs from run to run.
const EVENT_SLACK_NS: u64 = 30_000;
/// The largest difference between the medians of the two halves of the reference's samples, if there are that many.
const DRIFT_PERCENT_MAX: u64 = 25;
const DRIFT_SAMPLES_MIN: usize = 5;

/// The runs of one side.
#[derive(Debug, Default)]
pub(super) struct Clocked {
    samples_ns: Vec<u64>,
    walls_ns: Vec<u64>,
    empty_ns: Vec<u64>,
    empty_walls_ns: Vec<u64>,
}

impl Clocked {
    pub(super) fn sample(&mut self, ran: &RunTimes) {
        if let Some(event_ns) = ran.event_ns {
            self.samples_ns.push(event_ns);
            self.walls_ns.push(ran.wall_ns);
        }
    }

    pub(super) fn empty(&mut self, ran: &RunTimes) {
        if let Some(event_ns) = ran.event_ns {
            self.empty_ns.push(event_ns);
            self.empty_walls_ns.push(ran.wall_ns);
        }
    }

    pub(super) fn has_samples(&self) -> bool {
        !self.samples_ns.is_empty()
    }

    /// Whether the mean's standard error is as small as that; 0 asks for nothing.
    pub(super) fn is_within(&self, relative_error: f64) -> bool {
        let count = self.samples_ns.len() as f64;
        if relative_error == 0.0 {
            return true;
        }
        let mean = self.samples_ns.iter().sum::<u64>() as f64 / count;
        let squares = self.samples_ns.iter().map(|sample| (*sample as f64 - mean).powi(2));
        let variance = squares.sum::<f64>() / (count - 1.0);
        (variance / count).sqrt() <= relative_error * mean
    }

    /// `None` where there was no clock.
    pub(super) fn timing(&self, clock_khz: u32) -> Option<Timing> {
        let (wall, empty_wall) = (median(&self.walls_ns)?, median(&self.empty_walls_ns)?);
        Some(Timing {
            median_ns: median(&self.samples_ns)?,
            wall_median_ns: wall.saturating_sub(empty_wall),
            overhead_ns: median(&self.empty_ns)?,
            samples_ns: self.samples_ns.clone(),
            clock_khz,
        })
    }
}

/// The lower one of two.
fn median(samples: &[u64]) -> Option<u64> {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len().checked_sub(1)? / 2).copied()
}

/// Why the candidate's timing may be none. `touched_bytes` are those of inputs and outputs.
pub(super) fn suspicions(
    candidate: &Timing,
    reference: &Timing,
    touched_bytes: u64,
    properties: &Properties,
) -> Vec<String> {
    let mut suspicious = Vec::new();
    let (event, wall) = (candidate.median_ns, candidate.wall_median_ns);
    if wall > event.saturating_mul(WALL_TIMES_MAX).saturating_add(WALL_SLACK_NS) {
        suspicious.push(format!("{event} ns by the device's clock are {wall} ns by the host's"));
    }
    if event > wall.saturating_add(EVENT_SLACK_NS) {
        suspicious
            .push(format!("{event} ns by the device's clock fit into {wall} ns of the host's"));
    }
    // Bytes that stay in a cache may never have been moved.
    let moved = touched_bytes.saturating_sub(properties.l2_bytes);
    let floor = u128::from(moved) * 1_000_000_000 / u128::from(properties.peak_bytes_per_s.max(1));
    if properties.peak_bytes_per_s > 0 && u128::from(event) < floor {
        suspicious.push(format!(
            "{event} ns, while {moved} bytes cannot be moved in less than {floor} ns"
        ));
    }
    let (early, late) = reference.samples_ns.split_at(reference.samples_ns.len() / 2);
    if early.len() < DRIFT_SAMPLES_MIN {
        return suspicious;
    }
    if let (Some(early), Some(late)) = (median(early), median(late)) {
        let apart = early.abs_diff(late).saturating_mul(100);
        if apart > early.min(late).saturating_mul(DRIFT_PERCENT_MAX) {
            suspicious.push(format!(
                "the device's clock moved: the reference took {early} ns at first and {late} ns later"
            ));
        }
    }
    suspicious
}

#[cfg(test)]
mod tests;
