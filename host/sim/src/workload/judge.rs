//! An online judge: extract the program, compile it, run it on a problem's tests.
//!
//! Interpreted languages have nothing to compile: as stages follow one another without a gap, their
//! programs pass through the compile stage in a moment. Run times have two modes: a wrong program
//! ends at its first failing test, most often the very first, a right one runs them all; and there
//! is the time limit. No measured judge trace is published; the defaults are plausible, not
//! measured.

use assay_core::time::Micros;
use serde::{Deserialize, Serialize};

use super::check::{Checker, SpecError};
use super::generation::{Engine, Lengths};
use super::learning::decay;
use super::random::Random;
use super::{Moment, Shift};
use crate::trace::{TraceRequest, TraceStage};

const EXTRACT_TIMEOUT_S: f64 = 1.0;
const COMPILE_TIMEOUT_S: f64 = 10.0;
/// The judge's time limit.
const RUN_TIMEOUT_S: f64 = 10.0;

/// The time to hand over an interpreted program, in seconds.
const PASS_S: f64 = 0.001;

const LEARNING: f64 = 3.0;

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Judge {
    pub lengths: Lengths,
    pub engine: Engine,
    pub programs: Programs,
}

/// Lengths of PolyTrace's programming task, cut at what its model may generate.
impl Default for Judge {
    fn default() -> Self {
        Self {
            lengths: Lengths {
                median_tokens: 6_828.0,
                sigma_between: 0.77,
                sigma_within: 0.18,
                tokens_max: 32_768,
                ..Lengths::default()
            },
            engine: Engine::default(),
            programs: Programs::default(),
        }
    }
}

/// The behaviour of the programs in responses. Pairs are values at the training's start and end.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Programs {
    /// The share of all programs that are interpreted.
    pub interpreted: f64,
    /// Shares of all requests; what is left is accepted, unless it exceeds the time limit.
    pub extract_failed: [f64; 2],
    /// Shares of the programs in compiled languages.
    pub compile_failed: [f64; 2],
    pub wrong_answer: [f64; 2],
    /// The fraction of the programs that run which would never end.
    pub time_limit: [f64; 2],
    pub extract_median_s: f64,
    pub extract_sigma: f64,
    pub compile_median_s: f64,
    pub compile_sigma: f64,
    /// All tests of a problem; spread between problems and within one.
    pub run_median_s: f64,
    pub run_group_sigma: f64,
    pub run_sigma: f64,
    /// The factor by which an interpreted program runs longer.
    pub interpreted_factor: f64,
    /// Tests of a problem, and of wrong programs those that fail at the first.
    pub tests: u32,
    pub wrong_at_first: f64,
}

impl Default for Programs {
    fn default() -> Self {
        Self {
            interpreted: 0.6,
            extract_failed: [0.1, 0.02],
            compile_failed: [0.2, 0.06],
            wrong_answer: [0.5, 0.3],
            time_limit: [0.08, 0.03],
            extract_median_s: 0.004,
            extract_sigma: 0.4,
            compile_median_s: 1.4,
            compile_sigma: 0.35,
            run_median_s: 1.5,
            run_group_sigma: 0.5,
            run_sigma: 0.2,
            interpreted_factor: 1.6,
            tests: 40,
            wrong_at_first: 0.7,
        }
    }
}

fn stage(name: &str, timeout_s: f64) -> TraceStage {
    TraceStage {
        name: name.to_owned(),
        pool: None,
        timeout: Micros::from_secs_f64(timeout_s),
        cost: 1.0,
    }
}

pub(super) fn stages() -> Vec<TraceStage> {
    vec![
        stage("extract", EXTRACT_TIMEOUT_S),
        stage("compile", COMPILE_TIMEOUT_S),
        stage("run", RUN_TIMEOUT_S),
    ]
}

/// A program's way through the judge.
pub(super) struct JudgedRequest {
    /// Extract, compile, run.
    pub(super) service_s: [Option<f64>; 3],
    pub(super) outcome: &'static str,
}

impl Judge {
    pub(super) fn check(&self) -> Result<(), SpecError> {
        self.lengths.check(&Checker { part: "rewards.lengths" })?;
        self.engine.check(&Checker { part: "rewards.engine" })?;
        self.programs.check()
    }

    pub(super) fn requests(&self, moment: &Moment, random: &mut Random) -> Vec<TraceRequest> {
        let median_tokens = self.lengths.median(moment, random);
        let token_s = self.engine.vary(self.engine.token_s, random);
        let draw = |random: &mut Random| {
            let group_median = self.lengths.group_median(median_tokens, random);
            let token_s = self.engine.vary(token_s, random);
            (group_median, token_s, self.programs.full_run_s(random))
        };
        moment.requests(random, draw, |&(group_median, token_s, full_run_s), random| {
            let tokens = self.lengths.tokens(group_median, random);
            let is_cut = self.lengths.is_cut(tokens);
            let judged = self.programs.judge(is_cut, full_run_s, moment, random);
            let service = judged.service_s.map(|seconds| seconds.map(Micros::from_secs_f64));
            TraceRequest {
                request: 0,
                group: 0,
                tokens,
                rollout: Micros::from_secs_f64(self.engine.rollout_s(tokens, token_s)),
                service: service.to_vec(),
                outcome: judged.outcome.to_owned(),
            }
        })
    }
}

impl Programs {
    fn check(&self) -> Result<(), SpecError> {
        let checker = Checker { part: "rewards.programs" };
        checker.shares("interpreted", &[self.interpreted])?;
        checker.shares("extract_failed", &self.extract_failed)?;
        checker.shares("compile_failed", &self.compile_failed)?;
        checker.shares("wrong_answer", &self.wrong_answer)?;
        checker.shares("time_limit", &self.time_limit)?;
        checker.time("extract", self.extract_median_s, self.extract_sigma)?;
        checker.time("compile", self.compile_median_s, self.compile_sigma)?;
        checker.time("run", self.run_median_s, self.run_sigma)?;
        checker.within("run_group_sigma", self.run_group_sigma, 0.0, 5.0)?;
        checker.within("interpreted_factor", self.interpreted_factor, 0.01, 1_000.0)?;
        checker.within("tests", f64::from(self.tests), 1.0, 1e6)?;
        checker.shares("wrong_at_first", &[self.wrong_at_first])
    }

    /// The duration of the tests of one problem.
    pub(super) fn full_run_s(&self, random: &mut Random) -> f64 {
        random.log_normal(self.run_median_s, self.run_group_sigma)
    }

    pub(super) fn judge(
        &self,
        is_cut: bool,
        full_run_s: f64,
        moment: &Moment,
        random: &mut Random,
    ) -> JudgedRequest {
        let Moment { progress, shift, .. } = *moment;
        let now = |shares| decay(shares, LEARNING, progress);
        let ended = |extract, compile, outcome| JudgedRequest {
            service_s: [extract, compile, None],
            outcome,
        };
        let extract_s = random.log_normal(self.extract_median_s, self.extract_sigma);
        let extract = Some(extract_s.min(EXTRACT_TIMEOUT_S));
        if is_cut || extract_s >= EXTRACT_TIMEOUT_S || random.chance(now(self.extract_failed)) {
            return ended(extract, None, "extract_failed");
        }
        let interpreted = random.chance(self.interpreted);
        let compile_s = if interpreted {
            PASS_S
        } else {
            random.log_normal(self.compile_median_s, self.compile_sigma) * shift.compile
        };
        if compile_s >= COMPILE_TIMEOUT_S {
            return ended(extract, Some(COMPILE_TIMEOUT_S), "compile_timeout");
        }
        let compile = Some(compile_s);
        if !interpreted && random.chance(now(self.compile_failed)) {
            return ended(extract, compile, "compile_failed");
        }
        let factor = if interpreted { self.interpreted_factor } else { 1.0 };
        let (run_s, outcome) = self.run(full_run_s * factor, &shift, progress, random);
        JudgedRequest { service_s: [extract, compile, Some(run_s)], outcome }
    }

    fn run(
        &self,
        full_run_s: f64,
        shift: &Shift,
        progress: f64,
        random: &mut Random,
    ) -> (f64, &'static str) {
        let endless = shift.timeouts.unwrap_or(decay(self.time_limit, LEARNING, progress));
        if random.chance(endless) {
            return (RUN_TIMEOUT_S, "run_timeout");
        }
        let wrong = random.chance(decay(self.wrong_answer, LEARNING, progress));
        let share = if wrong { self.share_run(random) } else { 1.0 };
        let run_s = random.log_normal(full_run_s, self.run_sigma) * share * shift.execute;
        if run_s >= RUN_TIMEOUT_S {
            return (RUN_TIMEOUT_S, "run_timeout");
        }
        (run_s, if wrong { "wrong_answer" } else { "accepted" })
    }

    /// The share of its tests that a wrong program runs until it fails one.
    fn share_run(&self, random: &mut Random) -> f64 {
        let tests = f64::from(self.tests);
        if random.chance(self.wrong_at_first) {
            return 1.0 / tests;
        }
        random.between(1.0, tests + 1.0).floor() / tests
    }
}
