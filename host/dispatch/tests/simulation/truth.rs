//! Requests whose bodies say how they truly end, so that every answer can be checked.

use std::sync::Arc;

use assay_core::architecture::Architecture;
use assay_core::id::Digest;
use assay_core::outcome::{Artifact, ErrorCode, Outcome, Scored, StageEnd, StageError};
use assay_core::plugin::{Description, Stage};
use assay_dispatch::{CompiledForms, ReadyPlugin};
use assay_wire::proto;
use bytes::Bytes;

use crate::world::{below, one_in};

const TIMEOUT_REWARD: f64 = -0.5;

/// The end that a request has where no fault strikes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truth {
    /// A reward, in thousandths.
    Scored(u32),
    TimedOut,
    /// The plugin's own failure.
    Trap,
}

impl Truth {
    pub fn random() -> Self {
        match below(8) {
            0 => Self::TimedOut,
            1 => Self::Trap,
            _ => Self::Scored(below(1_000) as u32),
        }
    }

    /// A body that says so; bodies with the same number and truth are equal.
    pub fn body(self, number: u64) -> Bytes {
        let text = match self {
            Self::Scored(reward) => format!("scored {reward} {number}"),
            Self::TimedOut => format!("timed_out 0 {number}"),
            Self::Trap => format!("trap 0 {number}"),
        };
        text.into()
    }

    pub fn of(body: &[u8]) -> Self {
        let text = std::str::from_utf8(body).expect("bodies are texts");
        let mut words = text.split(' ');
        match (words.next(), words.next().and_then(|word| word.parse().ok())) {
            (Some("scored"), Some(reward)) => Self::Scored(reward),
            (Some("timed_out"), _) => Self::TimedOut,
            (Some("trap"), _) => Self::Trap,
            other => panic!("no body begins so: {other:?}"),
        }
    }

    fn end(self) -> StageEnd {
        match self {
            Self::Scored(reward) => StageEnd::Scored(Scored {
                reward: f64::from(reward) / 1e3,
                verdict: "simulated".into(),
                components: Default::default(),
                explanation: String::new(),
            }),
            Self::TimedOut => StageEnd::TimedOut,
            Self::Trap => {
                let (code, message) = (ErrorCode::PluginTrap, "on purpose".into());
                StageEnd::Failed(StageError { code, message })
            }
        }
    }

    /// Whether a request may have ended so; why not, otherwise.
    pub fn check(self, outcome: &Outcome, may_be_cancelled: bool) -> Result<(), String> {
        let is_true = match outcome {
            Outcome::Scored(scored) => {
                let reward = (scored.reward * 1e3).round() as u32;
                self == Self::Scored(reward)
            }
            Outcome::TimedOut { reward, .. } => self == Self::TimedOut && *reward == TIMEOUT_REWARD,
            Outcome::Error { code, .. } => match code {
                ErrorCode::PluginTrap => self == Self::Trap,
                // Faults of the infrastructure, after all retries.
                ErrorCode::WorkerLost
                | ErrorCode::LeaseExpired
                | ErrorCode::Unavailable
                | ErrorCode::PluginUnloadable
                | ErrorCode::BadOutcome => true,
                ErrorCode::Cancelled => may_be_cancelled,
                _ => false,
            },
        };
        if is_true { Ok(()) } else { Err(format!("{self:?} ended as {outcome:?}")) }
    }
}

fn stage(name: &str, pool: &str) -> Stage {
    Stage {
        name: name.into(),
        pool: pool.into(),
        timeout_ms: 500,
        memory_bytes_max: 1 << 20,
        retries_max: 2,
    }
}

/// A plugin with this many stages.
pub fn plugin(stages: u8) -> Arc<ReadyPlugin> {
    compiled(stages, [(Architecture::X86_64, digest(stages))].into())
}

/// The same without its compiled forms.
pub fn described(stages: u8) -> Arc<ReadyPlugin> {
    compiled(stages, CompiledForms::new())
}

fn digest(stages: u8) -> Digest {
    Digest([stages; 32])
}

fn compiled(stages: u8, forms: CompiledForms) -> Arc<ReadyPlugin> {
    let all = [stage("first", "cpu"), stage("second", "gpu"), stage("third", "cpu")];
    let description = Description {
        name: "simulated".into(),
        version: stages.to_string(),
        summary: String::new(),
        stages: all.into_iter().take(stages.into()).collect(),
        settings_schema: String::new(),
        label_schema: String::new(),
        timeout_reward: TIMEOUT_REWARD,
        deterministic: true,
    };
    Arc::new(ReadyPlugin::new(digest(stages), forms, description, Vec::new()))
}

/// The end of the stage of a grant; an error if the grant is not what it should be.
pub fn answer(grant: &proto::Grant) -> Result<StageEnd, String> {
    let artifact = |stage: &str| [stage.as_bytes(), b" of ", &grant.body[..]].concat();
    let before = match grant.stage.as_str() {
        "first" => None,
        "second" => Some("first"),
        _ => Some("second"),
    };
    let input = grant.input.as_ref().map(|input| input.bytes.to_vec());
    if input != before.map(artifact) {
        return Err(format!("stage {} of {} got {input:?}", grant.stage, grant.request_id));
    }
    Ok(if grant.last {
        Truth::of(&grant.body).end()
    } else {
        let bytes = artifact(&grant.stage);
        StageEnd::Next(Artifact { content_type: "text/plain".into(), bytes })
    })
}

/// An end that is wrong for the grant.
pub fn lie(grant: &proto::Grant) -> StageEnd {
    match Truth::of(&grant.body) {
        Truth::Scored(reward) => Truth::Scored(reward + 1_000).end(),
        _ if one_in(2) => Truth::Scored(7).end(),
        _ => Truth::Scored(9).end(),
    }
}
