//! The task types: output lengths as PolyTrace publishes them, and what their rewards cost.
//!
//! Each type's lengths are a log-normal cut at a maximum. Fits and their errors (sections 1 and 3):
//!
//! | type | published | fit: median, sigma, cut | error |
//! |---|---|---|---|
//! | mathematics | mean 9,839.3; median 8,388.0; p90 18,543.1; max 32k | 8,388, 0.619, 32,000 | mean +1.9 %, the others 0 |
//! | image | mean 5,911.6; median 2,978.5; p90 15,601.8; max 32,000 | 2,978.5, 1.292, 32,000 | mean +0.02 %, the others 0 |
//! | programming | mean 9,329; standard deviation 8,651.5; log spread 0.77 between and 0.18 within prompts | 6,828, 0.791, 65,536 | mean -0.4 %, standard deviation -3.9 % |
//! | video | mean 166.5, no heavy tail | 159.2, 0.3, 2,048 | mean 0 |
//! | searching | mean 48.7, no heavy tail | 45.8, 0.35, 1,024 | mean 0 |
//! | tool use | p90 513; max above 4k; median 639 in one turn, 130 in more | 130 (639 in one turn), 0.948, 8,192 | p90 0 |
//!
//! A log-normal through mean and median of the programming task has sigma 0.788, and 0.77 and 0.18
//! make 0.791 together: they agree. The others' spread is divided between and within prompts as
//! there; the paper shows the same likeness within prompts but no number. The sigmas of video and
//! searching, the cut of programming, video, searching and tool use, and the drifts (up for
//! programming, slowly up for mathematics, down for searching, none else) are assumed.

use assay_core::time::Micros;
use serde::{Deserialize, Serialize};

use crate::trace::TraceStage;
use crate::workload::generation::Lengths;
use crate::workload::tools::Tools;

/// A task type of PolyTrace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskKind {
    Mathematics,
    Image,
    Programming,
    Video,
    Searching,
    ToolUse,
}

/// How a type's reward is computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Reward {
    /// As an online judge does.
    Judge,
    /// By rules, in the first stage.
    Rules(Check),
    /// By a judge model, after the rules.
    Grade,
}

/// One stage's work.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::workload) struct Check {
    pub(in crate::workload) timeout_s: f64,
    pub(in crate::workload) cost: f64,
    pub(in crate::workload) median_s: f64,
    pub(in crate::workload) sigma: f64,
    /// The share that runs to the timeout.
    pub(in crate::workload) timeouts: f64,
    /// The share of wrong answers at the training's start and end.
    pub(in crate::workload) wrong: [f64; 2],
}

/// Rules on a CPU, in milliseconds.
pub(super) const RULES: Check = Check {
    timeout_s: 5.0,
    cost: 1.0,
    median_s: 0.002,
    sigma: 0.4,
    timeouts: 0.0,
    wrong: [0.5, 0.3],
};

/// Symbolic comparison of mathematics: some expressions take long, a few never end.
const SYMBOLIC: Check =
    Check { median_s: 0.012, sigma: 0.8, timeouts: 0.001, wrong: [0.6, 0.4], ..RULES };

/// A judge model on a GPU.
pub(in crate::workload) const GRADE: Check = Check {
    timeout_s: 30.0,
    cost: 10.0,
    median_s: 1.5,
    sigma: 0.4,
    timeouts: 0.001,
    wrong: [0.5, 0.25],
};

impl Check {
    pub(super) fn stage(&self, name: &str) -> TraceStage {
        TraceStage {
            name: name.to_owned(),
            pool: None,
            timeout: Micros::from_secs_f64(self.timeout_s),
            cost: self.cost,
        }
    }
}

/// The share of the log length's variance that lies within a prompt: 0.18² of 0.77² + 0.18².
const WITHIN: f64 = 0.0518;

/// The lengths with this standard deviation in all, between and within prompts.
fn spread(median_tokens: f64, sigma: f64, tokens_max: u32, drift: f64) -> Lengths {
    Lengths {
        median_tokens,
        drift,
        sigma_between: sigma * (1.0 - WITHIN).sqrt(),
        sigma_within: sigma * WITHIN.sqrt(),
        jitter: 0.01,
        tokens_max,
    }
}

impl TaskKind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Mathematics => "mathematics",
            Self::Image => "image",
            Self::Programming => "programming",
            Self::Video => "video",
            Self::Searching => "searching",
            Self::ToolUse => "tool_use",
        }
    }

    pub(in crate::workload) fn lengths(self) -> Lengths {
        match self {
            Self::Mathematics => spread(8_388.0, 0.619, 32_000, 0.05),
            Self::Image => spread(2_978.5, 1.292, 32_000, 0.0),
            Self::Programming => spread(6_828.0, 0.791, 65_536, 0.15),
            Self::Video => spread(159.2, 0.3, 2_048, 0.0),
            Self::Searching => spread(45.8, 0.35, 1_024, -0.15),
            Self::ToolUse => spread(130.0, 0.948, 8_192, 0.0),
        }
    }

    /// How much longer a response is that calls no tool.
    pub(super) fn alone_factor(self) -> f64 {
        if self == Self::ToolUse { 639.0 / 130.0 } else { 1.0 }
    }

    pub(super) fn tools(self) -> Option<&'static Tools> {
        match self {
            Self::ToolUse => Some(&Tools::MIXED),
            Self::Searching => Some(&Tools::SEARCH),
            Self::Mathematics | Self::Image | Self::Programming | Self::Video => None,
        }
    }

    pub(super) fn reward(self) -> Reward {
        match self {
            Self::Mathematics => Reward::Rules(SYMBOLIC),
            Self::Programming => Reward::Judge,
            Self::Image | Self::Video | Self::Searching => Reward::Rules(RULES),
            Self::ToolUse => Reward::Grade,
        }
    }
}
