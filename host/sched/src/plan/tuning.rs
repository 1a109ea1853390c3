//! The numbers behind the modes.

use assay_model::time::Micros;

use super::Mode;

/// What a mode is made of. The defaults of a mode come from [`Tuning::of`]; others are for
/// experiments in simulation.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuning {
    pub check: Checked,
    /// Batches of a run that stand for its next one.
    pub history: usize,
    /// For T, service times are cut at this quantile; 1 leaves them.
    pub robust_share: f64,
    /// The share of D that a plan may use up.
    pub slack_share: f64,
    /// Whether what is still to come follows from the batch's size instead of history.
    pub by_size: bool,
    /// Requests of a live batch after which its own service times weigh as much as history; 0
    /// takes history alone.
    pub drift_after: f64,
    /// Whether SIMULATE knows how long workers take to start.
    pub startup_aware: bool,
    /// A worker is held if it is used within the period, a start-up and this many start-ups more.
    pub keep_startups: f64,
    /// Whether demand may start workers between two plans.
    pub grows: bool,
    /// Workers that demand may start beyond those planned: this many times their square root.
    pub headroom: f64,
    /// Where a start takes less than this part of a stage's usual time, demand alone decides.
    pub free_startup: f64,
    /// How long an announced batch is waited for at least, beyond what history says.
    pub patience_min: Micros,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Checked {
    Late,
    Timeouts,
    OneTimeout { share: f64 },
    Risk { budget: Micros },
}

impl Tuning {
    #[must_use]
    pub fn of(mode: Mode) -> Self {
        let published = Self {
            check: Checked::Timeouts,
            history: 1,
            robust_share: 1.0,
            slack_share: 1.0,
            by_size: false,
            drift_after: 0.0,
            startup_aware: false,
            keep_startups: 0.0,
            grows: true,
            headroom: 0.0,
            free_startup: 0.0,
            patience_min: Micros::from_secs(60),
        };
        match mode {
            Mode::Distrs | Mode::Zq | Mode::Fixed => published,
            Mode::History => Self { check: Checked::Late, ..published },
            Mode::Assay => Self {
                check: Checked::Risk { budget: Micros::from_ms(500) },
                history: 2,
                robust_share: 0.9,
                slack_share: 0.25,
                by_size: true,
                drift_after: 0.0,
                startup_aware: true,
                keep_startups: 1.0,
                headroom: 1.0,
                free_startup: 0.02,
                ..published
            },
        }
    }
}
