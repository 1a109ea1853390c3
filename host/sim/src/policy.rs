//! Who decides how many workers there are, and within which bounds.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use assay_model::time::Micros;
use assay_sched::{Checked, Mode, Order, Share, Tuning};

use crate::faults::Faults;

/// No run comes near as many workers.
pub const QUOTA_DEFAULT: usize = 100_000;

/// How the number of workers is chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Policy {
    /// The planner's own modes.
    Distrs,
    Assay,
    /// The paper's ablation.
    History,
    /// The paper's baseline ZQ-Dedicated: a pool for each task and stage.
    Zq,
    /// Workers by stage; a stage that is not named has its quota.
    Fixed(BTreeMap<String, usize>),
    /// The paper's Ideal: perfect knowledge, planned at batch edges.
    Ideal,
    /// Perfect knowledge, planned as freely as `Assay` does.
    Limit,
}

/// A text that is no policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is none of distrs, assay, history, zq, ideal, limit, fixed, fixed:STAGE=N[,STAGE=N...]"
)]
pub struct BadPolicy(String);

impl Policy {
    pub(crate) fn mode(&self) -> Mode {
        match self {
            Self::Distrs => Mode::Distrs,
            Self::Assay | Self::Limit => Mode::Assay,
            Self::History | Self::Ideal => Mode::History,
            Self::Zq => Mode::Zq,
            Self::Fixed(_) => Mode::Fixed,
        }
    }

    /// Who knows all runs no risk.
    pub(crate) fn tuning(&self, settings: &Settings) -> Tuning {
        let tuning = settings.tuning.clone().unwrap_or_else(|| Tuning::of(self.mode()));
        if self.knows_all() { Tuning { check: Checked::Late, ..tuning } } else { tuning }
    }

    /// It plans on what will be, not on what was.
    pub(crate) fn knows_all(&self) -> bool {
        matches!(self, Self::Ideal | Self::Limit)
    }

    pub(crate) fn has_pools_by_task(&self) -> bool {
        matches!(self, Self::Zq)
    }
}

/// Several policies, as they are written on a command line: between commas, and a policy may have
/// commas itself.
pub fn parse_policies(text: &str) -> Result<Vec<Policy>, BadPolicy> {
    let mut texts: Vec<String> = Vec::new();
    for part in text.split(',') {
        match texts.last_mut() {
            Some(last) if last.contains(':') && part.contains('=') && !part.contains(':') => {
                last.push(',');
                last.push_str(part);
            }
            _ => texts.push(part.to_owned()),
        }
    }
    texts.iter().map(|text| text.parse()).collect()
}

impl FromStr for Policy {
    type Err = BadPolicy;

    fn from_str(text: &str) -> Result<Self, BadPolicy> {
        let bad = || BadPolicy(text.to_owned());
        Ok(match text {
            "distrs" => Self::Distrs,
            "assay" => Self::Assay,
            "history" => Self::History,
            "zq" => Self::Zq,
            "ideal" => Self::Ideal,
            "limit" => Self::Limit,
            "fixed" => Self::Fixed(BTreeMap::new()),
            _ => {
                let counts = text.strip_prefix("fixed:").ok_or_else(bad)?;
                let count = |pair: &str| {
                    let (stage, count) = pair.split_once('=')?;
                    Some((stage.to_owned(), count.parse().ok()?))
                };
                let counts = counts.split(',').map(count).collect::<Option<_>>();
                Self::Fixed(counts.ok_or_else(bad)?)
            }
        })
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Distrs => f.write_str("distrs"),
            Self::Assay => f.write_str("assay"),
            Self::History => f.write_str("history"),
            Self::Zq => f.write_str("zq"),
            Self::Ideal => f.write_str("ideal"),
            Self::Limit => f.write_str("limit"),
            Self::Fixed(counts) => {
                f.write_str("fixed")?;
                for (place, (stage, count)) in counts.iter().enumerate() {
                    write!(f, "{}{stage}={count}", if place == 0 { ':' } else { ',' })?;
                }
                Ok(())
            }
        }
    }
}

/// A value for each stage: one for all, others for those that are named.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ByStage<T> {
    pub all: T,
    pub named: BTreeMap<String, T>,
}

impl<T: Copy> ByStage<T> {
    #[must_use]
    pub fn all(value: T) -> Self {
        Self { all: value, named: BTreeMap::new() }
    }

    #[must_use]
    pub fn get(&self, stage: &str) -> T {
        self.named.get(stage).copied().unwrap_or(self.all)
    }
}

/// What all policies of one comparison share.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    pub order: Order,
    /// The paper's D.
    pub tolerance: Micros,
    /// From asking for a worker until it takes work; it is billed from the start.
    pub startup: ByStage<Micros>,
    /// The most workers; by task as well where a policy has pools by task.
    pub quota: ByStage<usize>,
    /// How long a worker that the plan does not hold stays without work.
    pub linger: Micros,
    /// Between two plans, where a policy plans between batch edges.
    pub period: Micros,
    /// In place of what the policy's mode is made of, for experiments.
    pub tuning: Option<Tuning>,
    pub hint: Hint,
    /// Of tenants that the trace names; bounds are by stage, and by task as well where a policy has
    /// pools by task. Who is not here has the default.
    pub shares: BTreeMap<String, Share>,
    pub seed: u64,
    pub faults: Faults,
}

/// When a trainer announces a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hint {
    /// As its rollout starts, so that workers are there when the first request comes.
    RolloutStart,
    /// With its first request: there is no hint.
    FirstRequest,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            order: Order::Ebf,
            tolerance: Micros::from_secs(2),
            startup: ByStage::default(),
            quota: ByStage::all(QUOTA_DEFAULT),
            linger: Micros::ZERO,
            period: Micros::from_secs(10),
            tuning: None,
            hint: Hint::RolloutStart,
            shares: BTreeMap::new(),
            seed: 1,
            faults: Faults::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_survive_their_text() {
        for text in
            ["distrs", "assay", "history", "zq", "ideal", "limit", "fixed", "fixed:a=1,b=20"]
        {
            assert_eq!(text.parse::<Policy>().expect(text).to_string(), text);
        }
        let several = parse_policies("zq,fixed:a=1,b=20,assay,fixed:a=3").expect("four");
        let several: Vec<String> = several.iter().map(Policy::to_string).collect();
        assert_eq!(several, ["zq", "fixed:a=1,b=20", "assay", "fixed:a=3"]);
        for bad in ["", "none", "fixed:", "fixed:a", "fixed:a=x", "zq:a=1"] {
            assert!(bad.parse::<Policy>().is_err(), "{bad}");
        }
    }
}
