//! Which workers are slow: each stage's time is compared with the usual one of its plugin, on a logarithmic scale.
//!
//! A worker's times are summed up as CUSUM does: an observation adds the log-likelihood that the worker takes
//! twice the usual time rather than the usual one, and the sum never falls below zero. So a few long requests, or
//! a worker that becomes slow after an hour, are told apart without keeping what it ran.
//!
//! The time of a stage that failed is compared with nothing: failures are quick. A worker that fails again and again
//! what others run meanwhile, as on a machine without a compiler, counts as slow too. Of failures that are the
//! plugin's own nothing is learnt.

use assay_core::outcome::ErrorCode;
use assay_core::time::Micros;

/// Observations before which nothing is usual.
const SEEN_MIN: u32 = 20;
/// Each observation weighs one part in this many, once there are as many.
const DECAY: f64 = 64.0;
/// The least deviation of the logarithm of a time: closer times are a clock's, not a plugin's.
const DEVIATION_MIN: f64 = 0.1;
/// The logarithm of the factor by which a slow worker takes longer.
const SLOW: f64 = std::f64::consts::LN_2;
/// The sum from which a worker is slow: an error in some hundreds of observations of a worker that is not.
const SLOW_FROM: f64 = 6.0;
/// The failures in a row from which a worker is slow, if others ran one of those stages to its end in the meantime.
const FAILURES_SLOW: u32 = 16;
/// The most that one observation adds: a request that never ends makes nobody slow by itself.
const ADDED_MAX: f64 = 4.0;

/// The times that a stage of a plugin usually takes: mean and variance of their logarithms.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct UsualTimes {
    mean: f64,
    variance: f64,
    seen: u32,
    /// The last time that a run of the stage ended without a failure here.
    ended: Option<Micros>,
}

/// The usual time of a stage at the moment of a grant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct UsualTime {
    mean: f64,
    deviation: f64,
}

impl UsualTimes {
    pub(crate) fn observe(&mut self, ran: Micros) {
        self.seen = self.seen.saturating_add(1);
        let weight = f64::from(self.seen).min(DECAY).recip();
        let difference = logarithm(ran) - self.mean;
        self.mean += weight * difference;
        self.variance += weight * ((1.0 - weight) * difference * difference - self.variance);
    }

    pub(crate) fn note_end(&mut self, now: Micros) {
        self.ended = Some(now);
    }

    pub(crate) fn last_end(&self) -> Option<Micros> {
        self.ended
    }

    /// `None` before enough was seen.
    pub(crate) fn usual(&self) -> Option<UsualTime> {
        let deviation = self.variance.max(0.0).sqrt().max(DEVIATION_MIN);
        (self.seen >= SEEN_MIN).then_some(UsualTime { mean: self.mean, deviation })
    }
}

fn logarithm(ran: Micros) -> f64 {
    (ran.0.max(1) as f64).ln()
}

/// The evidence that a worker is slow.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Slowness {
    sum: f64,
    observed: bool,
    failures: FailureStreak,
}

/// The failures of a worker since a stage last ended otherwise there.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct FailureStreak {
    count: u32,
    since: Micros,
    /// Whether others ran one of those stages to its end in the meantime.
    alone: bool,
}

/// Whether a failure may be due to the worker.
pub(crate) const fn may_be_due_to_worker(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::Unavailable
            | ErrorCode::PluginUnloadable
            | ErrorCode::WorkerLost
            | ErrorCode::LeaseExpired
    )
}

/// How a worker compares with the others; idle workers get leases in this order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Pace {
    /// It has run stages as fast as others.
    Usual,
    /// It has run too little to say.
    #[default]
    Unknown,
    /// The last stage failed there, which another worker may run.
    Failing,
    Slow,
}

impl Slowness {
    /// A stage that usually takes `usual` took, or has taken so far, this long.
    pub(crate) fn observe(&mut self, usual: UsualTime, ran: Micros) {
        let deviations = (logarithm(ran) - usual.mean) / usual.deviation;
        let slow = SLOW / usual.deviation;
        let added = (slow * deviations - slow * slow / 2.0).min(ADDED_MAX);
        self.sum = (self.sum + added).clamp(0.0, 2.0 * SLOW_FROM);
        self.observed = true;
    }

    /// A stage failed at the worker, perhaps due to it. `elsewhere`: the last time that a run of the stage ended.
    pub(crate) fn failed(&mut self, now: Micros, elsewhere: Option<Micros>) {
        let failures = &mut self.failures;
        if failures.count == 0 {
            failures.since = now;
        }
        failures.count = failures.count.saturating_add(1);
        failures.alone |= elsewhere.is_some_and(|ended| ended > failures.since);
    }

    /// A stage ended at the worker without a failure.
    pub(crate) fn ended(&mut self) {
        self.failures = FailureStreak::default();
    }

    pub(crate) fn pace(self) -> Pace {
        match self {
            Self { sum, .. } if sum >= SLOW_FROM => Pace::Slow,
            Self {
                failures: FailureStreak { count: FAILURES_SLOW.., alone: true, .. }, ..
            } => Pace::Slow,
            Self { failures: FailureStreak { count: 1.., .. }, .. } => Pace::Failing,
            Self { observed: true, sum, .. } if sum < SLOW_FROM / 2.0 => Pace::Usual,
            _ => Pace::Unknown,
        }
    }

    /// Nothing is known of the worker.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }
}
