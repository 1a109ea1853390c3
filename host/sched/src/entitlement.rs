//! A tenant's weight, the bounds on its workers, and whether its runs share them.
//!
//! The scheduler keeps those that are not the default. Weights are whole numbers inside, so that loads are
//! compared exactly.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Weights are kept in parts of one.
const PARTS: f64 = 1_000.0;
const WEIGHT_MIN: f64 = 0.001;
const WEIGHT_MAX: f64 = 1_000_000.0;

/// The weight of a tenant: with twice the weight it gets twice the workers of a contended pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weight(u32);

impl Weight {
    /// From 0.001 to 1,000,000, rounded to thousandths; `None` outside.
    #[must_use]
    pub fn new(weight: f64) -> Option<Self> {
        (WEIGHT_MIN..=WEIGHT_MAX).contains(&weight).then(|| Self((weight * PARTS).round() as u32))
    }

    /// The weight as a number.
    #[must_use]
    pub fn value(self) -> f64 {
        f64::from(self.0) / PARTS
    }
}

impl Default for Weight {
    fn default() -> Self {
        Self(PARTS as u32)
    }
}

/// The weight of one tenant, its bounds by pool, and the division between its runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entitlement {
    /// The weight; 1 by default.
    pub weight: Weight,
    /// The bounds by pool: the most workers that serve the tenant at once. With 0 its requests wait until
    /// the bound is raised; a pool that is not named has no bound.
    pub workers_max: BTreeMap<Arc<str>, u32>,
    /// Whether the tenant's workers of a pool are shared between its runs: the run with the fewest workers is
    /// served next. By default the discipline alone decides between runs.
    pub share_runs: bool,
}

/// The tenant's entitlement in one pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PoolEntitlement {
    pub(crate) weight: Weight,
    pub(crate) workers_max: Option<u32>,
    pub(crate) share_runs: bool,
}

impl Entitlement {
    pub(crate) fn of(&self, pool: &str) -> PoolEntitlement {
        PoolEntitlement {
            weight: self.weight,
            workers_max: self.workers_max.get(pool).copied(),
            share_runs: self.share_runs,
        }
    }
}

/// The number of workers that serve a tenant, measured by its weight.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TenantLoad {
    pub(crate) workers: u32,
    pub(crate) weight: Weight,
}

impl Ord for TenantLoad {
    fn cmp(&self, other: &Self) -> Ordering {
        let across = |one: &Self, by: &Self| u64::from(one.workers) * u64::from(by.weight.0);
        across(self, other).cmp(&across(other, self))
    }
}

impl PartialOrd for TenantLoad {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for TenantLoad {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for TenantLoad {}

#[cfg(test)]
mod tests {
    use super::*;

    fn weight(value: f64) -> Weight {
        Weight::new(value).expect("a weight")
    }

    #[test]
    fn weights_have_a_range_and_a_grain() {
        for (given, kept) in [(1.0, 1.0), (0.001, 0.001), (1e6, 1e6), (0.3334, 0.333), (2.5, 2.5)] {
            assert_eq!(weight(given).value(), kept);
        }
        assert_eq!(Weight::default(), weight(1.0));
        for bad in [0.0, -1.0, 0.000_9, 1_000_001.0, f64::NAN, f64::INFINITY] {
            assert_eq!(Weight::new(bad), None, "{bad}");
        }
    }

    #[test]
    fn loads_are_compared_exactly() {
        let load = |workers, value| TenantLoad { workers, weight: weight(value) };
        assert_eq!(load(1, 1.0), load(3, 3.0));
        assert_eq!(load(0, 0.001), load(0, 1e6));
        assert!(load(1, 3.0) < load(1, 1.0));
        assert!(load(2, 3.0) < load(1, 1.0));
        // A difference of one part in 10^18, which no f64 holds.
        assert!(load(999_999_998, 999_999.999) < load(999_999_999, 1e6));
        assert!(load(u32::MAX, 1e6) < load(u32::MAX, 999_999.999));
    }
}
