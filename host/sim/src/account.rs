//! The cost of a run and the delay of its batches.
//!
//! Cost is the integral of workers over time, from when each was asked for until it was stopped or
//! lost; executed time is that of stages which ran to an end.

use std::ops::Range;

use assay_core::time::Micros;
use assay_planner::Forecast;

/// Samples kept of a pool; beyond, two become one.
const SAMPLES_MAX: usize = 4_096;

/// The totals of one pool of the trace; of a policy with pools by task, over all of them.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolUse {
    pub pool: String,
    /// Worker-microseconds.
    pub allocated: u128,
    pub executed: u128,
    /// The part of the allocated time in which workers were starting.
    pub starting: u128,
    pub peak: usize,
    pub starts: usize,
    pub timeline: Timeline,
}

impl PoolUse {
    #[must_use]
    pub fn allocated_s(&self) -> f64 {
        self.allocated as f64 / 1e6
    }

    #[must_use]
    pub fn executed_s(&self) -> f64 {
        self.executed as f64 / 1e6
    }

    /// The paper's norm; `None` if nothing ran.
    #[must_use]
    pub fn norm(&self) -> Option<f64> {
        (self.executed > 0).then(|| self.allocated as f64 / self.executed as f64)
    }
}

/// How a pool stood over time. Each sample holds from its time to that of the next, and the most
/// that there was in between.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Timeline {
    pub samples: Vec<Sample>,
    /// Samples are at least this far apart, as powers of two.
    width: u32,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sample {
    pub at: Micros,
    /// Starting or joined.
    pub workers: usize,
    pub busy: usize,
    pub queued: usize,
}

impl Timeline {
    pub(crate) fn note(&mut self, sample: Sample) {
        if let Some(last) = self.samples.last_mut()
            && last.at.0 >> self.width == sample.at.0 >> self.width
        {
            last.join(sample);
            return;
        }
        self.samples.push(sample);
        while self.samples.len() > SAMPLES_MAX {
            self.width += 1;
            let width = self.width;
            self.samples.dedup_by(|later, earlier| {
                let one = later.at.0 >> width == earlier.at.0 >> width;
                if one {
                    earlier.join(*later);
                }
                one
            });
        }
    }
}

impl Sample {
    fn join(&mut self, other: Self) {
        self.workers = self.workers.max(other.workers);
        self.busy = self.busy.max(other.busy);
        self.queued = self.queued.max(other.queued);
    }
}

/// One pool's books while a run goes on.
#[derive(Debug)]
pub(crate) struct Account {
    used: PoolUse,
    now: Sample,
    starting: usize,
    /// True if something changed since the last sample.
    changed: bool,
}

/// A change of the counts of a pool.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Change {
    Started,
    Joined,
    /// Given up before it joined.
    Cancelled,
    /// Stopped or lost.
    Gone,
    Busy,
    Free,
    Queued,
    Unqueued,
}

impl Account {
    pub(crate) fn new(pool: &str) -> Self {
        let timeline = Timeline::default();
        let pool = pool.to_owned();
        let used =
            PoolUse { pool, allocated: 0, executed: 0, starting: 0, peak: 0, starts: 0, timeline };
        Self { used, now: Sample::default(), starting: 0, changed: false }
    }

    pub(crate) fn change(&mut self, at: Micros, change: Change) {
        self.pass(at);
        match change {
            Change::Started => {
                self.now.workers += 1;
                self.starting += 1;
                self.used.starts += 1;
                self.used.peak = self.used.peak.max(self.now.workers);
            }
            Change::Joined => self.starting -= 1,
            Change::Cancelled => {
                self.starting -= 1;
                self.now.workers -= 1;
            }
            Change::Gone => self.now.workers -= 1,
            Change::Busy => self.now.busy += 1,
            Change::Free => self.now.busy -= 1,
            Change::Queued => self.now.queued += 1,
            Change::Unqueued => self.now.queued -= 1,
        }
        self.changed = true;
    }

    /// The workers that are billed now.
    pub(crate) fn workers(&self) -> usize {
        self.now.workers
    }

    pub(crate) fn executed(&mut self, ran: Micros) {
        self.used.executed += u128::from(ran.0);
    }

    /// Billing ends.
    pub(crate) fn close(mut self, at: Micros) -> PoolUse {
        self.pass(at);
        self.used.timeline.note(self.now);
        self.used
    }

    /// Time went on: what held until now is billed, and noted if it is new.
    fn pass(&mut self, at: Micros) {
        if at == self.now.at {
            return;
        }
        if self.changed {
            self.used.timeline.note(self.now);
            self.changed = false;
        }
        self.used.allocated += self.now.workers as u128 * u128::from(at.since(self.now.at).0);
        self.used.starting += self.starting as u128 * u128::from(at.since(self.now.at).0);
        self.now.at = at;
    }
}

/// One measured batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchRun {
    pub task: u32,
    pub iteration: u32,
    pub rollout_start: Micros,
    /// T (eq. 2).
    pub earliest_end: Micros,
    pub completed: Micros,
    /// Each group's own delay: from when its last request could have ended to when it did.
    pub group_delays: Vec<Micros>,
    /// The ends of the requests, ascending.
    pub request_ends: Vec<Micros>,
    pub requests: usize,
    /// Requests that ended without an answer, by a fault.
    pub failed: usize,
    /// The ends that were expected half-way between its first request and its end, if forecasts were asked for.
    pub expected: Option<Forecast>,
}

impl BatchRun {
    /// The paper's d.
    #[must_use]
    pub fn extra_delay(&self) -> Micros {
        self.completed.since(self.earliest_end)
    }
}

/// The use of one tenant among several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TenantUse {
    pub tenant: String,
    /// The tasks by id.
    pub tasks: Vec<u32>,
    /// The served times by end.
    pub served: Vec<Served>,
}

/// A worker's time that a request took, whether or not it ran to an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Served {
    /// The pool's place among those of the trace.
    pub pool: usize,
    pub from: Micros,
    pub until: Micros,
}

impl TenantUse {
    /// Worker-microseconds in a pool of the trace within a span.
    #[must_use]
    pub fn worker_time(&self, pool: usize, span: Range<Micros>) -> u128 {
        let served = self.served.iter().filter(|served| served.pool == pool);
        let within =
            served.map(|served| served.until.min(span.end).since(served.from.max(span.start)));
        within.map(|time| u128::from(time.0)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_are_billed_from_their_start_to_their_end() {
        let mut account = Account::new("gpu");
        account.change(Micros(10), Change::Started);
        account.change(Micros(10), Change::Started);
        account.change(Micros(15), Change::Busy);
        account.change(Micros(25), Change::Free);
        account.executed(Micros(10));
        account.change(Micros(25), Change::Gone);
        let used = account.close(Micros(100));
        assert_eq!((used.allocated, used.executed), (15 + 90, 10));
        assert_eq!((used.peak, used.starts), (2, 2));
        let sample = |at, workers, busy| Sample { at: Micros(at), workers, busy, queued: 0 };
        let wanted = [sample(10, 2, 0), sample(15, 2, 1), sample(25, 1, 0), sample(100, 1, 0)];
        assert_eq!(used.timeline.samples, wanted);
    }

    #[test]
    fn a_timeline_stays_bounded_and_keeps_its_peaks() {
        let mut account = Account::new("gpu");
        for at in 0..50_000 {
            account.change(Micros(at * 1_000), Change::Started);
            if at != 31_234 {
                account.change(Micros(at * 1_000 + 500), Change::Gone);
            }
        }
        let used = account.close(Micros(60_000_000));
        let samples = &used.timeline.samples;
        assert!((SAMPLES_MAX / 4..=SAMPLES_MAX).contains(&samples.len()), "{}", samples.len());
        assert!(samples.is_sorted_by(|a, b| a.at < b.at));
        assert_eq!(samples.iter().map(|sample| sample.workers).max(), Some(2));
        assert_eq!(used.allocated, 49_999 * 500 + 60_000_000 - 31_234_000);
    }
}
