//! The paper's CUDA task (sections 3 and 6): compile on CPUs, execute on a GPU.
//!
//! The defaults are those of the reference generator's traces. Where its description says only
//! where a share begins and ends, the course between was measured on its traces: failures to
//! generate decay exponentially, those to compile with the power 2.5 of what is left of the
//! training, and execution errors rise to their summit after 40 % of it. Failures to generate differ
//! between prompts, the others do not.

use assay_core::time::Micros;
use serde::{Deserialize, Serialize};

use super::check::{Checker, SpecError};
use super::generation::{Engine, Lengths};
use super::learning::{decay, rise_and_fall, settle};
use super::random::Random;
use super::{Moment, Shift};
use crate::trace::{TraceRequest, TraceStage};

const COMPILE_TIMEOUT_S: f64 = 120.0;
const EXECUTE_TIMEOUT_S: f64 = 60.0;

/// A rare long run takes from this share of the timeout up to all of it.
const COMPILE_LONG_FROM: f64 = 0.625;
const EXECUTE_LONG_FROM: f64 = 0.2;
/// Long runs that end by themselves do so this long before the timeout.
const COMPILE_LONG_MARGIN_S: f64 = 1.0;
const EXECUTE_LONG_MARGIN_S: f64 = 0.5;

const GENERATION_LEARNING: f64 = 3.0;
const COMPILE_SETTLING: f64 = 2.5;

/// Shares of outcomes and times of stages. Pairs: at the training's start and end.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Cuda {
    pub lengths: Lengths,
    pub engine: Engine,
    /// Shares of all requests; what is left succeeds.
    pub generation_failed: [f64; 2],
    pub compile_failed: [f64; 2],
    /// Shares at the start, at the summit and at the end.
    pub execute_error: [f64; 3],
    /// The standard deviation of the log of a prompt's factor on `generation_failed`.
    pub generation_failed_sigma: f64,
    pub compile_median_s: f64,
    pub compile_sigma: f64,
    pub compile_failed_median_s: f64,
    pub compile_failed_sigma: f64,
    /// Shares of those that compile: long, and to the timeout.
    pub compile_long: f64,
    pub compile_timeout: f64,
    pub execute_median_s: f64,
    /// The standard deviations of the log of execution times, between prompts and within one.
    pub execute_group_sigma: f64,
    pub execute_sigma: f64,
    pub execute_long: f64,
    pub execute_timeout: f64,
}

impl Default for Cuda {
    fn default() -> Self {
        Self {
            lengths: Lengths::default(),
            engine: Engine::default(),
            generation_failed: [0.22, 0.05],
            compile_failed: [0.33, 0.1],
            execute_error: [0.25, 0.42, 0.25],
            generation_failed_sigma: 0.6,
            compile_median_s: 48.0,
            compile_sigma: 0.15,
            compile_failed_median_s: 42.0,
            compile_failed_sigma: 0.25,
            compile_long: 0.006,
            compile_timeout: 0.006,
            execute_median_s: 3.6,
            execute_group_sigma: 0.3,
            execute_sigma: 0.3,
            execute_long: 0.004,
            execute_timeout: 0.012,
        }
    }
}

pub(super) fn stages() -> Vec<TraceStage> {
    let stage = |name: &str, timeout_s, cost| TraceStage {
        name: name.to_owned(),
        pool: None,
        timeout: Micros::from_secs_f64(timeout_s),
        cost,
    };
    vec![stage("compile", COMPILE_TIMEOUT_S, 1.0), stage("execute", EXECUTE_TIMEOUT_S, 10.0)]
}

/// The result of a request's code, unless a stage runs into its timeout.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    GenerationFailed,
    CompileFailed,
    ExecuteError,
    Success,
}

/// Shares of an iteration.
struct Shares {
    generation_failed: f64,
    compile_failed: f64,
    execute_error: f64,
    execute_timeout: f64,
}

/// The properties that the requests of one prompt share.
struct Group {
    median_tokens: f64,
    token_s: f64,
    failing: f64,
    execute_median_s: f64,
}

impl Cuda {
    pub(super) fn check(&self) -> Result<(), SpecError> {
        let checker = Checker { part: "rewards" };
        self.lengths.check(&Checker { part: "rewards.lengths" })?;
        self.engine.check(&Checker { part: "rewards.engine" })?;
        checker.shares("generation_failed", &self.generation_failed)?;
        checker.shares("compile_failed", &self.compile_failed)?;
        checker.shares("execute_error", &self.execute_error)?;
        let ([generated, _], [compiled, _]) = (self.generation_failed, self.compile_failed);
        let [executed, ..] = self.execute_error;
        let fields = "generation_failed, compile_failed and execute_error at the start";
        checker.together(fields, &[generated, compiled, executed])?;
        checker.within("generation_failed_sigma", self.generation_failed_sigma, 0.0, 2.0)?;
        checker.time("compile", self.compile_median_s, self.compile_sigma)?;
        checker.time("compile_failed", self.compile_failed_median_s, self.compile_failed_sigma)?;
        checker.time("execute", self.execute_median_s, self.execute_sigma)?;
        checker.within("execute_group_sigma", self.execute_group_sigma, 0.0, 5.0)?;
        checker.shares("compile_long", &[self.compile_long])?;
        checker.shares("compile_timeout", &[self.compile_timeout])?;
        checker.shares("execute_long", &[self.execute_long])?;
        checker.shares("execute_timeout", &[self.execute_timeout])
    }

    pub(super) fn requests(&self, moment: &Moment, random: &mut Random) -> Vec<TraceRequest> {
        let shares = self.shares(moment);
        let median_tokens = self.lengths.median(moment, random);
        let token_s = self.engine.vary(self.engine.token_s, random);
        let draw = |random: &mut Random| Group {
            median_tokens: self.lengths.group_median(median_tokens, random),
            token_s: self.engine.vary(token_s, random),
            failing: random.factor(self.generation_failed_sigma),
            execute_median_s: random.log_normal(self.execute_median_s, self.execute_group_sigma),
        };
        moment.requests(random, draw, |group, random| {
            let tokens = self.lengths.tokens(group.median_tokens, random);
            let fate = self.fate(tokens, &shares, group, random);
            let (service, outcome) = self.service(fate, &shares, group, moment, random);
            TraceRequest {
                request: 0,
                group: 0,
                tokens,
                rollout: Micros::from_secs_f64(self.engine.rollout_s(tokens, group.token_s)),
                service: service.map(|seconds| seconds.map(Micros::from_secs_f64)).to_vec(),
                outcome: outcome.to_owned(),
            }
        })
    }

    fn shares(&self, moment: &Moment) -> Shares {
        let Moment { progress, shift: Shift { timeouts, .. }, .. } = *moment;
        Shares {
            generation_failed: decay(self.generation_failed, GENERATION_LEARNING, progress),
            compile_failed: settle(self.compile_failed, COMPILE_SETTLING, progress),
            execute_error: rise_and_fall(self.execute_error, progress),
            execute_timeout: timeouts.unwrap_or(self.execute_timeout),
        }
    }

    /// A prompt that fails more often to generate does so at the expense of its successes.
    fn fate(&self, tokens: u32, shares: &Shares, group: &Group, random: &mut Random) -> Fate {
        let mut left = random.share();
        let mut falls_to = |share: f64| {
            left -= share;
            left < 0.0
        };
        if self.lengths.is_cut(tokens) || falls_to(shares.generation_failed * group.failing) {
            Fate::GenerationFailed
        } else if falls_to(shares.compile_failed) {
            Fate::CompileFailed
        } else if falls_to(shares.execute_error) {
            Fate::ExecuteError
        } else {
            Fate::Success
        }
    }

    /// Seconds of both stages, and the outcome's name.
    fn service(
        &self,
        fate: Fate,
        shares: &Shares,
        group: &Group,
        moment: &Moment,
        random: &mut Random,
    ) -> ([Option<f64>; 2], &'static str) {
        if fate == Fate::GenerationFailed {
            return ([None, None], "generation_failed");
        }
        let compile_s = self.compile_s(fate, random) * moment.shift.compile;
        if compile_s >= COMPILE_TIMEOUT_S {
            return ([Some(COMPILE_TIMEOUT_S), None], "compile_timeout");
        }
        if fate == Fate::CompileFailed {
            return ([Some(compile_s), None], "compile_failed");
        }
        let execute_s = self.execute_s(shares, group, random) * moment.shift.execute;
        if execute_s >= EXECUTE_TIMEOUT_S {
            return ([Some(compile_s), Some(EXECUTE_TIMEOUT_S)], "execute_timeout");
        }
        let outcome = if fate == Fate::Success { "success" } else { "execute_error" };
        ([Some(compile_s), Some(execute_s)], outcome)
    }

    /// Infinite where the run would never end.
    fn compile_s(&self, fate: Fate, random: &mut Random) -> f64 {
        if random.chance(self.compile_timeout) {
            f64::INFINITY
        } else if random.chance(self.compile_long) {
            random
                .between(COMPILE_LONG_FROM * COMPILE_TIMEOUT_S, COMPILE_TIMEOUT_S)
                .min(COMPILE_TIMEOUT_S - COMPILE_LONG_MARGIN_S)
        } else if fate == Fate::CompileFailed {
            random.log_normal(self.compile_failed_median_s, self.compile_failed_sigma)
        } else {
            random.log_normal(self.compile_median_s, self.compile_sigma)
        }
    }

    fn execute_s(&self, shares: &Shares, group: &Group, random: &mut Random) -> f64 {
        if random.chance(shares.execute_timeout) {
            f64::INFINITY
        } else if random.chance(self.execute_long) {
            random
                .between(EXECUTE_LONG_FROM * EXECUTE_TIMEOUT_S, EXECUTE_TIMEOUT_S)
                .min(EXECUTE_TIMEOUT_S - EXECUTE_LONG_MARGIN_S)
        } else {
            random.log_normal(group.execute_median_s, self.execute_sigma)
        }
    }
}
