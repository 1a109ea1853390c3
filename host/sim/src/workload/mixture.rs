//! A mixture of task types by the length statistics that PolyTrace publishes.
//!
//! Each prompt has one type, drawn by the given weights. All types have one list of stages, as one
//! plugin would: `check` comes first for every request, `compile` and `run` are there if a type
//! needs them, and so is `grade`. As stages follow one another without a gap, a request passes
//! through those that its type does not need in a moment. `mixture::kinds` states the fits to the
//! published numbers and their errors, `tools` what a tool call takes.

mod kinds;

use std::collections::BTreeMap;

use assay_core::time::Micros;
use serde::{Deserialize, Serialize};

use super::check::{Checker, SpecError};
use super::generation::Engine;
use super::judge::{self, Programs};
use super::random::Random;
use super::tools;
use super::{Moment, learning};
use crate::trace::{TraceRequest, TraceStage};
use kinds::{Check, RULES, Reward};

pub(super) use kinds::GRADE;
pub use kinds::TaskKind;

const LEARNING: f64 = 3.0;

/// Passing through a stage.
const PASS_S: f64 = 0.001;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Mixture {
    /// Weights of the types among the prompts.
    #[serde(alias = "shares")]
    pub weights: BTreeMap<TaskKind, f64>,
    pub engine: Engine,
}

impl Default for Mixture {
    fn default() -> Self {
        let weights = [
            (TaskKind::Mathematics, 0.4),
            (TaskKind::Programming, 0.3),
            (TaskKind::ToolUse, 0.2),
            (TaskKind::Searching, 0.1),
        ];
        Self { weights: BTreeMap::from(weights), engine: Engine::default() }
    }
}

impl Mixture {
    pub(super) fn check(&self) -> Result<(), SpecError> {
        let checker = Checker { part: "rewards.weights" };
        for (kind, weight) in &self.weights {
            checker.within(kind.name(), *weight, 1e-6, 1e6)?;
        }
        if self.weights.is_empty() {
            return Err(SpecError::NoWeights);
        }
        self.engine.check(&Checker { part: "rewards.engine" })
    }

    pub(super) fn stages(&self) -> Vec<TraceStage> {
        let mut stages = vec![RULES.stage("check")];
        if self.has(Reward::Judge) {
            stages.extend(judge::stages().into_iter().filter(|stage| stage.name != "extract"));
        }
        if self.has(Reward::Grade) {
            stages.push(GRADE.stage("grade"));
        }
        stages
    }

    fn has(&self, reward: Reward) -> bool {
        self.weights.keys().any(|kind| kind.reward() == reward)
    }

    pub(super) fn requests(&self, moment: &Moment, random: &mut Random) -> Vec<TraceRequest> {
        let stages = self.stages().len();
        let token_s = self.engine.vary(self.engine.token_s, random);
        let kinds: Vec<(TaskKind, f64, f64)> = self
            .weights
            .iter()
            .map(|(kind, weight)| (*kind, *weight, kind.lengths().median(moment, random)))
            .collect();
        let draw = |random: &mut Random| {
            let place = random.pick(kinds.iter().map(|(_, weight, _)| *weight));
            let (kind, _, median) = kinds[place];
            let token_s = self.engine.vary(token_s, random);
            Prompt::draw(kind, median, token_s, random)
        };
        moment.requests(random, draw, |prompt, random| self.request(prompt, stages, moment, random))
    }

    fn request(
        &self,
        prompt: &Prompt,
        stages: usize,
        moment: &Moment,
        random: &mut Random,
    ) -> TraceRequest {
        let lengths = prompt.kind.lengths();
        let turns = prompt.kind.tools().map(|tools| (tools, tools.turns(random)));
        let tools_s = turns.map_or(0.0, |(tools, turns)| {
            (1..turns).map(|_| tools.call_s(prompt.difficulty, random)).sum()
        });
        let alone = turns.is_some_and(|(_, turns)| turns == 1);
        let factor = if alone { prompt.kind.alone_factor() } else { 1.0 };
        let tokens = lengths.tokens(prompt.median_tokens * factor, random);
        let is_cut = lengths.is_cut(tokens);
        let (mut service_s, outcome) = self.service(prompt, is_cut, moment, random);
        service_s.resize(stages, None);
        let rollout_s = self.engine.rollout_s(tokens, prompt.token_s) + tools_s;
        TraceRequest {
            request: 0,
            group: 0,
            tokens,
            rollout: Micros::from_secs_f64(rollout_s),
            service: service_s
                .into_iter()
                .map(|seconds| seconds.map(Micros::from_secs_f64))
                .collect(),
            outcome: outcome.to_owned(),
        }
    }

    /// Seconds of the stages up to the last that is reached, and the outcome's name.
    fn service(
        &self,
        prompt: &Prompt,
        is_cut: bool,
        moment: &Moment,
        random: &mut Random,
    ) -> (Vec<Option<f64>>, &'static str) {
        match prompt.kind.reward() {
            Reward::Judge => {
                let programs = Programs::default();
                let judged = programs.judge(is_cut, prompt.full_run_s, moment, random);
                (judged.service_s.to_vec(), judged.outcome)
            }
            Reward::Rules(check) => {
                let (check_s, ended) = checked(check, moment, random);
                let outcome = match ended {
                    SampleEnd::TimedOut => "check_timeout",
                    SampleEnd::Correct if !is_cut => "correct",
                    SampleEnd::Correct | SampleEnd::Wrong => "wrong",
                };
                (vec![Some(check_s)], outcome)
            }
            Reward::Grade => {
                let mut service_s = vec![Some(random.log_normal(RULES.median_s, RULES.sigma))];
                if is_cut {
                    return (service_s, "wrong");
                }
                if self.has(Reward::Judge) {
                    service_s.extend([Some(PASS_S), Some(PASS_S)]);
                }
                let (grade_s, ended) = checked(GRADE, moment, random);
                service_s.push(Some(grade_s));
                let outcome = match ended {
                    SampleEnd::TimedOut => "grade_timeout",
                    SampleEnd::Correct => "correct",
                    SampleEnd::Wrong => "wrong",
                };
                (service_s, outcome)
            }
        }
    }
}

enum SampleEnd {
    TimedOut,
    Wrong,
    Correct,
}

/// The properties that the samples of one prompt share.
struct Prompt {
    kind: TaskKind,
    median_tokens: f64,
    token_s: f64,
    /// A factor on what its tool calls take.
    difficulty: f64,
    full_run_s: f64,
}

impl Prompt {
    fn draw(kind: TaskKind, median: f64, token_s: f64, random: &mut Random) -> Self {
        Self {
            kind,
            median_tokens: kind.lengths().group_median(median, random),
            token_s,
            difficulty: tools::difficulty(random),
            full_run_s: Programs::default().full_run_s(random),
        }
    }
}

/// Seconds of a single check, and what it finds.
fn checked(check: Check, moment: &Moment, random: &mut Random) -> (f64, SampleEnd) {
    let shift = &moment.shift;
    let check_s = random.log_normal(check.median_s, check.sigma) * shift.execute;
    let endless = random.chance(shift.timeouts.unwrap_or(check.timeouts));
    let wrong = learning::decay(check.wrong, LEARNING, moment.progress);
    if endless || check_s >= check.timeout_s {
        (check.timeout_s, SampleEnd::TimedOut)
    } else if random.chance(wrong) {
        (check_s, SampleEnd::Wrong)
    } else {
        (check_s, SampleEnd::Correct)
    }
}
