//! The numbers behind the modes.

use assay_model::time::Micros;

use super::Mode;

/// What a mode is made of. [`Tuning::of`] has each mode's own; others are for experiments in
/// simulation. What was tried and what it gave stands in docs/reproduction.md.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuning {
    pub check: Checked,
    /// Batches of a run that stand for its next one.
    pub history: usize,
    /// For T, service times are cut at this quantile; 1 leaves them.
    pub robust_share: f64,
    /// Whether what is still to come follows from the batch's size instead of history.
    pub by_size: bool,
    /// Whether a batch that does not go as history says changes what is expected of it.
    pub follows_drift: bool,
    /// A worker stays held for this many plans after the one that last needed it, as plans vary
    /// with what they guess and a start costs more than a little waiting.
    pub held_plans: usize,
    /// Workers that demand may start beyond those planned: this many times their square root.
    pub headroom: f64,
    /// Where a start takes less than this part of a stage's usual time, demand alone decides.
    pub free_startup: f64,
}

/// Which of the rule's checks a mode uses; see [`super::Check`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Checked {
    Late,
    Timeouts,
    Risk { budget: Micros },
}

impl Tuning {
    #[must_use]
    pub fn of(mode: Mode) -> Self {
        let published = Self {
            check: Checked::Timeouts,
            history: 1,
            robust_share: 1.0,
            by_size: false,
            follows_drift: false,
            held_plans: 0,
            headroom: 0.0,
            free_startup: 0.0,
        };
        match mode {
            Mode::Distrs | Mode::Zq | Mode::Fixed => published,
            Mode::History => Self { check: Checked::Late, ..published },
            Mode::Assay => Self {
                check: Checked::Risk { budget: Micros::from_ms(500) },
                history: 4,
                robust_share: 0.9,
                by_size: true,
                follows_drift: true,
                held_plans: 2,
                headroom: 1.0,
                free_startup: 0.02,
            },
        }
    }
}
