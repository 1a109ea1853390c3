//! The limits of a specification: a range for every number, and a limit on the whole.

use thiserror::Error;

use super::{Rewards, Shift, Spec};

/// Requests of a whole trace; each takes about 150 bytes of memory and of a written trace.
pub const REQUESTS_MAX: u64 = 10_000_000;

const SHIFTS_MAX: usize = 1_000;

/// Why a specification makes no trace.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum SpecError {
    #[error("{field} is {value}, it must lie between {low} and {high}")]
    OutOfRange { field: String, value: f64, low: f64, high: f64 },
    #[error("{fields} come to {sum} together, they must not exceed 1")]
    SharesExceedOne { fields: String, sum: f64 },
    #[error(
        "{tasks} tasks of {iterations} iterations of {batch} requests are {requests} requests, the \
         limit is {REQUESTS_MAX}"
    )]
    TooLarge { tasks: u32, iterations: u32, batch: u32, requests: u64 },
    #[error("rewards.weights is empty; name at least one kind of task")]
    NoWeights,
}

/// Checks the fields of one part of a specification and names them in full.
pub(super) struct Checker {
    pub(super) part: &'static str,
}

impl Checker {
    pub(super) fn within(
        &self,
        field: &str,
        value: f64,
        low: f64,
        high: f64,
    ) -> Result<(), SpecError> {
        // A number that is none fails both comparisons.
        if value >= low && value <= high {
            return Ok(());
        }
        Err(SpecError::OutOfRange { field: self.name(field), value, low, high })
    }

    pub(super) fn shares(&self, field: &str, shares: &[f64]) -> Result<(), SpecError> {
        shares.iter().try_for_each(|share| self.within(field, *share, 0.0, 1.0))
    }

    /// A time's median and its spread.
    pub(super) fn time(&self, field: &str, median: f64, sigma: f64) -> Result<(), SpecError> {
        self.within(&format!("{field}_median_s"), median, 1e-6, 3_600.0)?;
        self.within(&format!("{field}_sigma"), sigma, 0.0, 5.0)
    }

    /// Shares of one whole at their largest.
    pub(super) fn together(&self, fields: &str, shares: &[f64]) -> Result<(), SpecError> {
        let sum: f64 = shares.iter().sum();
        // Sums such as 0.7 + 0.2 + 0.1 may miss one by a rounding.
        if sum <= 1.0 + 1e-9 {
            return Ok(());
        }
        Err(SpecError::SharesExceedOne { fields: self.name(fields), sum })
    }

    fn name(&self, field: &str) -> String {
        format!("{}.{field}", self.part)
    }
}

impl Spec {
    /// # Errors
    /// The first field that is out of its range.
    pub fn check(&self) -> Result<(), SpecError> {
        self.trainer.check()?;
        match &self.rewards {
            Rewards::Cuda(cuda) => cuda.check()?,
            Rewards::Judge(judge) => judge.check()?,
            Rewards::Mixture(mixture) => mixture.check()?,
            Rewards::Agent(agent) => agent.check()?,
        }
        let spec = Checker { part: "spec" };
        spec.within("shifts (their number)", self.shifts.len() as f64, 0.0, SHIFTS_MAX as f64)?;
        self.shifts.iter().try_for_each(Shift::check)
    }
}

impl Shift {
    fn check(&self) -> Result<(), SpecError> {
        let checker = Checker { part: "shifts" };
        checker.within("length", self.length, 0.01, 100.0)?;
        checker.within("execute", self.execute, 0.01, 100.0)?;
        checker.within("compile", self.compile, 0.01, 100.0)?;
        checker.shares("timeouts", self.timeouts.as_slice())
    }
}
