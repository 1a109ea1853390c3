//! The policies that a simulation compares, and the settings that they share.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use assay_core::time::Micros;
use assay_planner::{self as planner, Checked, Tuning};
pub use assay_sched::Consumes;
use assay_sched::{Config, Discipline, Entitlement};

use crate::faults::Faults;

/// No run comes near as many workers.
pub const QUOTA_DEFAULT: usize = 100_000;

/// How the number of workers is chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SimulatedPolicy {
    /// A policy of the planner's table, but for `fixed`.
    Planner(planner::Policy),
    /// Workers by pool; a pool that is not named has its quota.
    Fixed(BTreeMap<String, usize>),
    /// The paper's Ideal: perfect knowledge, planned at batch edges.
    Ideal,
    /// Perfect knowledge, planned as often as by `assay`.
    Limit,
}

/// A text that is no policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is none of {names}", names = names())]
pub struct BadPolicy(String);

/// All that [`SimulatedPolicy::from_str`] reads, between commas.
fn names() -> String {
    let own = planner::Policy::ALL.into_iter().map(|policy| policy.name);
    let own = own.filter(|name| *name != planner::Policy::FIXED.name);
    own.chain(["ideal", "limit", "fixed", "fixed:POOL=N[,POOL=N...]"])
        .collect::<Vec<_>>()
        .join(", ")
}

impl SimulatedPolicy {
    /// The policy by which the planner decides.
    pub(crate) fn planner(&self) -> planner::Policy {
        match self {
            Self::Planner(policy) => *policy,
            Self::Limit => planner::Policy::ASSAY,
            Self::Ideal => planner::Policy::HISTORY,
            Self::Fixed(_) => planner::Policy::FIXED,
        }
    }

    /// The settings in use; a policy that knows the future takes no precautions.
    pub(crate) fn tuning(&self, settings: &Settings) -> Tuning {
        let tuning = settings.tuning.clone().unwrap_or_else(|| self.planner().tuning());
        if self.knows_all() { Tuning { check: Checked::Late, ..tuning } } else { tuning }
    }

    /// It plans on what will be, not on what was.
    pub(crate) fn knows_all(&self) -> bool {
        matches!(self, Self::Ideal | Self::Limit)
    }

    pub(crate) fn has_pools_by_task(&self) -> bool {
        self.planner().has_pools_by_run()
    }
}

/// Several policies, as they are written on a command line: between commas, and a policy may have
/// commas itself.
pub fn parse_policies(text: &str) -> Result<Vec<SimulatedPolicy>, BadPolicy> {
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

impl FromStr for SimulatedPolicy {
    type Err = BadPolicy;

    fn from_str(text: &str) -> Result<Self, BadPolicy> {
        let bad = || BadPolicy(text.to_owned());
        Ok(match text {
            "ideal" => Self::Ideal,
            "limit" => Self::Limit,
            "fixed" => Self::Fixed(BTreeMap::new()),
            _ => {
                if let Some(policy) = planner::Policy::named(text) {
                    return Ok(Self::Planner(policy));
                }
                let counts = text.strip_prefix("fixed:").ok_or_else(bad)?;
                let count = |pair: &str| {
                    let (pool, count) = pair.split_once('=')?;
                    Some((pool.to_owned(), count.parse().ok()?))
                };
                let counts = counts.split(',').map(count).collect::<Option<_>>();
                Self::Fixed(counts.ok_or_else(bad)?)
            }
        })
    }
}

impl fmt::Display for SimulatedPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Planner(policy) => f.write_str(policy.name),
            Self::Ideal => f.write_str("ideal"),
            Self::Limit => f.write_str("limit"),
            Self::Fixed(counts) => {
                f.write_str("fixed")?;
                for (place, (pool, count)) in counts.iter().enumerate() {
                    write!(f, "{}{pool}={count}", if place == 0 { ':' } else { ',' })?;
                }
                Ok(())
            }
        }
    }
}

/// A value for each pool of a trace: one for all, others for those that are named.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ByPool<T> {
    pub all: T,
    pub named: BTreeMap<String, T>,
}

impl<T: Copy> ByPool<T> {
    #[must_use]
    pub fn all(value: T) -> Self {
        Self { all: value, named: BTreeMap::new() }
    }

    #[must_use]
    pub fn get(&self, pool: &str) -> T {
        self.named.get(pool).copied().unwrap_or(self.all)
    }
}

/// The settings that all policies of one comparison share.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    pub discipline: Discipline,
    /// The unit for which the trainers wait.
    pub consumes: Consumes,
    /// The paper's D.
    pub tolerance: Micros,
    /// The time from the order of a worker until it takes work; it is billed from the start.
    pub startup: ByPool<Micros>,
    /// The part of its usual duration by which a start is faster or slower at most, from 0 to 1.
    pub startup_spread: f64,
    /// The most workers; by task as well where a policy has pools by task.
    pub quota: ByPool<usize>,
    /// The time for which a worker that the plan does not hold stays without work.
    pub linger: Micros,
    /// The time between two plans, for a policy that plans between batch edges.
    pub period: Micros,
    /// The tuning in place of the policy's own, for experiments.
    pub tuning: Option<Tuning>,
    pub hint: Hint,
    /// The weights and bounds of the tenants that the trace names; other tenants have the default. Bounds
    /// are by pool, and also by task if the policy has pools by task.
    pub entitlements: BTreeMap<String, Entitlement>,
    /// The time after which a tenant without a worker takes one from a tenant with several; `None`: never.
    pub preempt_after: Option<Micros>,
    /// The time after which a stage that is overdue runs a second time; `None`: never.
    pub hedge_after: Option<Micros>,
    /// Whether each batch tells what was expected of it.
    pub forecasts: bool,
    /// Whether trainers tell how long each request will take; they know it.
    pub expected_times: bool,
    pub seed: u64,
    pub faults: Faults,
}

/// When a trainer announces a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hint {
    /// The hint comes as the rollout starts, so that workers are there when the first request comes.
    RolloutStart,
    /// The batch comes with its first request, without a hint.
    FirstRequest,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            discipline: Discipline::EBF,
            consumes: Consumes::Batch,
            tolerance: Micros::from_secs(2),
            startup: ByPool::default(),
            startup_spread: 0.0,
            quota: ByPool::all(QUOTA_DEFAULT),
            linger: Micros::ZERO,
            period: Micros::from_secs(10),
            tuning: None,
            hint: Hint::RolloutStart,
            entitlements: BTreeMap::new(),
            preempt_after: Config::default().preempt_after,
            hedge_after: Config::default().hedge_after,
            forecasts: false,
            expected_times: false,
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
            assert_eq!(text.parse::<SimulatedPolicy>().expect(text).to_string(), text);
        }
        let several = parse_policies("zq,fixed:a=1,b=20,assay,fixed:a=3").expect("four");
        let several: Vec<String> = several.iter().map(SimulatedPolicy::to_string).collect();
        assert_eq!(several, ["zq", "fixed:a=1,b=20", "assay", "fixed:a=3"]);
        for bad in ["", "none", "fixed:", "fixed:a", "fixed:a=x", "zq:a=1"] {
            assert!(bad.parse::<SimulatedPolicy>().is_err(), "{bad}");
        }
    }
}
