//! The statistics of one side's samples, and the signs that make them doubtful.

use super::types::Timing;
use crate::device::Properties;
use crate::executor::message::RunTimes;

/// Host's and device's clock may differ by so much, and so many times over.
const WALL_SLACK_NS: u64 = 200_000;
const WALL_TIMES_MAX: u64 = 10;
/// The device's clock may be ahead by so much: what the host spends beside an empty plan differs from run to run.
const EVENT_SLACK_NS: u64 = 30_000;
/// The largest difference between the medians of the two halves of a plan's samples, if there are that many in each.
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

/// The signs that make a measurement doubtful, by who may have caused them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Doubts {
    /// The candidate alone.
    pub(super) suspicious: Vec<String>,
    /// The device or the host: they say nothing about the candidate.
    pub(super) unsteady: Vec<String>,
}

impl Doubts {
    pub(super) fn is_empty(&self) -> bool {
        self.suspicious.is_empty() && self.unsteady.is_empty()
    }
}

/// The doubts about the candidate's timing beside the reference's on the same device: what the reference does as
/// well is not the candidate's doing. `touched_bytes` are those of inputs and outputs.
pub(super) fn doubts(
    candidate: &Timing,
    reference: &Timing,
    touched_bytes: u64,
    properties: &Properties,
) -> Doubts {
    let mut doubts = Doubts::default();
    let (event, wall) = (candidate.median_ns, candidate.wall_median_ns);
    let wall_max = event.saturating_mul(WALL_TIMES_MAX).saturating_add(WALL_SLACK_NS);
    if wall > wall_max {
        let delay = reference.wall_median_ns.saturating_sub(reference.median_ns);
        let words = format!("{event} ns by the device's clock are {wall} ns by the host's");
        match wall.saturating_sub(delay) > wall_max {
            true => doubts.suspicious.push(words),
            false => doubts.unsteady.push(words),
        }
    }
    // No candidate gains by it.
    if event > wall.saturating_add(EVENT_SLACK_NS) {
        doubts
            .unsteady
            .push(format!("{event} ns by the device's clock fit into {wall} ns of the host's"));
    }
    // Bytes that stay in a cache may never have been moved, and a task that gathers some of its inputs leaves the others.
    let moved = touched_bytes.saturating_sub(properties.l2_bytes);
    let floor = u128::from(moved) * 1_000_000_000 / u128::from(properties.peak_bytes_per_s.max(1));
    let is_below = |timing: &Timing| u128::from(timing.median_ns) < floor;
    if properties.peak_bytes_per_s > 0 && is_below(candidate) && !is_below(reference) {
        doubts.suspicious.push(format!(
            "{event} ns, while {moved} bytes cannot be moved in less than {floor} ns"
        ));
    }
    // A candidate that is timed alone has few runs of the reference beside it.
    let is_few = reference.samples_ns.len() < candidate.samples_ns.len();
    doubts.unsteady.extend(drift(if is_few { candidate } else { reference }));
    doubts
}

/// The words for a device whose clock became faster or slower: the two halves of a plan's samples differ.
fn drift(timing: &Timing) -> Option<String> {
    let (early, late) = timing.samples_ns.split_at(timing.samples_ns.len() / 2);
    if early.len() < DRIFT_SAMPLES_MIN {
        return None;
    }
    let (early, late) = (median(early)?, median(late)?);
    let apart = early.abs_diff(late).saturating_mul(100);
    (apart > early.min(late).saturating_mul(DRIFT_PERCENT_MAX)).then(|| {
        format!("the device's clock moved: a plan took {early} ns at first and {late} ns later")
    })
}

#[cfg(test)]
mod tests;
