//! A judge model that works in turns: it is asked, calls a tool, and is asked again.
//!
//! Stages alternate between two pools, as a plugin would write them down: `judge-1` on a GPU, `tool-1`
//! on a CPU, `judge-2`, and so on to the last turn that is allowed. A request that is decided earlier
//! skips what is left. A worker of the CPU pool is held while a tool is awaited.
//!
//! No trace of such rewards is published. The time of an answer and its share of timeouts are those of
//! the judge model in `mixture::kinds`, tool calls those of `tools`, and lengths those that PolyTrace
//! publishes for mathematics, whose answers such judges check. The number of turns is assumed: a
//! log-normal, rounded, of which most are two or three as most of PolyTrace's dialogues have few turns,
//! and cut at `turns_max`, where the judge must decide.

use assay_core::time::Micros;
use serde::{Deserialize, Serialize};

use super::check::{Checker, SpecError};
use super::generation::{Engine, Lengths};
use super::learning::decay;
use super::mixture::{GRADE, TaskKind};
use super::random::Random;
use super::tools::{self, CALL_S_MAX};
use super::{Moment, Shift};
use crate::trace::{TraceRequest, TraceStage};

/// The pools of the judge model and of the tools.
const GPU: &str = "gpu";
const CPU: &str = "cpu";

/// Two stages a turn but for the last, which calls no tool: not more than a plugin may have.
const TURNS_MAX: u32 = 8;

const LEARNING: f64 = 3.0;

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Agent {
    pub lengths: Lengths,
    pub engine: Engine,
    /// The most turns of a request, and so the number of stages.
    pub turns_max: u32,
    /// Turns until the judge decides; spread between prompts and within one.
    pub turns_median: f64,
    pub turns_group_sigma: f64,
    pub turns_sigma: f64,
    /// The time of one answer of the judge.
    pub answer_median_s: f64,
    pub answer_sigma: f64,
    /// The fraction of the answers that run to the timeout.
    pub answer_timeout: f64,
    /// The share of tool calls that run beside the judge; others are remote, and longer.
    pub local: f64,
    /// The share of wrong answers at the training's start and end.
    pub wrong: [f64; 2],
}

impl Default for Agent {
    fn default() -> Self {
        Self {
            lengths: TaskKind::Mathematics.lengths(),
            engine: Engine::default(),
            turns_max: 4,
            turns_median: 2.0,
            turns_group_sigma: 0.4,
            turns_sigma: 0.5,
            answer_median_s: GRADE.median_s,
            answer_sigma: GRADE.sigma,
            answer_timeout: GRADE.timeouts,
            local: 0.5,
            wrong: GRADE.wrong,
        }
    }
}

/// The properties that the samples of one prompt share.
struct AgentPrompt {
    median_tokens: f64,
    token_s: f64,
    turns: f64,
    /// A factor on what its remote calls take.
    difficulty: f64,
}

/// A request's way through its turns.
struct AgentRequest {
    /// The stages that it reaches.
    service_s: Vec<f64>,
    outcome: &'static str,
}

impl Agent {
    pub(super) fn check(&self) -> Result<(), SpecError> {
        let checker = Checker { part: "rewards" };
        self.lengths.check(&Checker { part: "rewards.lengths" })?;
        self.engine.check(&Checker { part: "rewards.engine" })?;
        checker.within("turns_max", f64::from(self.turns_max), 1.0, f64::from(TURNS_MAX))?;
        checker.within("turns_median", self.turns_median, 0.01, 100.0)?;
        checker.within("turns_group_sigma", self.turns_group_sigma, 0.0, 5.0)?;
        checker.within("turns_sigma", self.turns_sigma, 0.0, 5.0)?;
        checker.time("answer", self.answer_median_s, self.answer_sigma)?;
        checker.shares("answer_timeout", &[self.answer_timeout])?;
        checker.shares("local", &[self.local])?;
        checker.shares("wrong", &self.wrong)
    }

    pub(super) fn stages(&self) -> Vec<TraceStage> {
        let stage = |name: String, pool: &str, timeout_s, cost| TraceStage {
            name,
            pool: Some(pool.to_owned()),
            timeout: Micros::from_secs_f64(timeout_s),
            cost,
        };
        let mut stages = Vec::new();
        for turn in 1..=self.turns_max {
            stages.push(stage(format!("judge-{turn}"), GPU, GRADE.timeout_s, GRADE.cost));
            if turn < self.turns_max {
                stages.push(stage(format!("tool-{turn}"), CPU, CALL_S_MAX, 1.0));
            }
        }
        stages
    }

    pub(super) fn requests(&self, moment: &Moment, random: &mut Random) -> Vec<TraceRequest> {
        let stages = self.stages().len();
        let median_tokens = self.lengths.median(moment, random);
        let token_s = self.engine.vary(self.engine.token_s, random);
        let draw = |random: &mut Random| AgentPrompt {
            median_tokens: self.lengths.group_median(median_tokens, random),
            token_s: self.engine.vary(token_s, random),
            turns: random.log_normal(self.turns_median, self.turns_group_sigma),
            difficulty: tools::difficulty(random),
        };
        moment.requests(random, draw, |prompt, random| {
            let tokens = self.lengths.tokens(prompt.median_tokens, random);
            let judged = self.judge(self.lengths.is_cut(tokens), prompt, moment, random);
            let service = judged.service_s.into_iter();
            let mut service: Vec<_> =
                service.map(|seconds| Some(Micros::from_secs_f64(seconds))).collect();
            service.resize(stages, None);
            TraceRequest {
                request: 0,
                group: 0,
                tokens,
                rollout: Micros::from_secs_f64(self.engine.rollout_s(tokens, prompt.token_s)),
                service,
                outcome: judged.outcome.to_owned(),
            }
        })
    }

    fn judge(
        &self,
        is_cut: bool,
        prompt: &AgentPrompt,
        moment: &Moment,
        random: &mut Random,
    ) -> AgentRequest {
        let mut service_s = Vec::new();
        if is_cut {
            return AgentRequest { service_s, outcome: "no_answer" };
        }
        let turns = self.turns(prompt, random);
        for turn in 1..=turns {
            let answer_s = self.answer_s(&moment.shift, random);
            service_s.push(answer_s);
            if answer_s >= GRADE.timeout_s {
                return AgentRequest { service_s, outcome: "judge_timeout" };
            }
            if turn < turns {
                let call_s = tools::call_s(self.local, prompt.difficulty, random);
                let call_s = (call_s * moment.shift.execute).min(CALL_S_MAX);
                service_s.push(call_s);
                if call_s >= CALL_S_MAX {
                    return AgentRequest { service_s, outcome: "tool_timeout" };
                }
            }
        }
        let wrong = random.chance(decay(self.wrong, LEARNING, moment.progress));
        AgentRequest { service_s, outcome: if wrong { "wrong" } else { "correct" } }
    }

    fn turns(&self, prompt: &AgentPrompt, random: &mut Random) -> u32 {
        let turns = random.log_normal(prompt.turns, self.turns_sigma).round();
        (turns.max(1.0) as u32).min(self.turns_max)
    }

    /// Seconds of one answer; those that never end are cut at the timeout.
    fn answer_s(&self, shift: &Shift, random: &mut Random) -> f64 {
        let answer_s = random.log_normal(self.answer_median_s, self.answer_sigma) * shift.execute;
        let endless = random.chance(shift.timeouts.unwrap_or(self.answer_timeout));
        if endless { GRADE.timeout_s } else { answer_s.min(GRADE.timeout_s) }
    }
}
