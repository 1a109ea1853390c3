//! Stage ends to messages and back.

use std::collections::BTreeMap;

use assay_core::limits;
use assay_core::outcome::{Artifact, ErrorCode, Scored, StageEnd, StageError};

use crate::proto;
use crate::proto::finished::End;

/// A worker sent something that is no stage end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadMessage(pub String);

/// The message that a worker sends for a stage that ended as `end`.
#[must_use]
pub fn finished(
    lease: u64,
    ran_us: u64,
    end: StageEnd,
    logs: Vec<proto::LogLine>,
) -> proto::Finished {
    let end = match end {
        StageEnd::Next(artifact) => End::Next(proto::Artifact {
            content_type: artifact.content_type,
            bytes: artifact.bytes.into(),
        }),
        StageEnd::Scored(scored) => End::Scored(proto::Scored {
            reward: scored.reward,
            verdict: scored.verdict,
            components: scored
                .components
                .into_iter()
                .map(|(name, value)| proto::Component { name, value })
                .collect(),
            explanation: scored.explanation,
        }),
        StageEnd::TimedOut => End::TimedOut(proto::TimedOut {}),
        StageEnd::Failed(error) => {
            End::Failed(proto::Failed { code: error.code.as_str().into(), message: error.message })
        }
    };
    proto::Finished { lease, ran_us, end: Some(end), logs }
}

/// The stage end in a worker's message, checked against the limits.
pub fn stage_end(end: Option<End>) -> Result<StageEnd, BadMessage> {
    match end {
        None => Err(BadMessage("a finished stage without an end".into())),
        Some(End::TimedOut(_)) => Ok(StageEnd::TimedOut),
        Some(End::Next(artifact)) => {
            let content_type = artifact.content_type;
            let bad = content_type.chars().any(char::is_control);
            if bad || content_type.len() > limits::CONTENT_TYPE_BYTES_MAX {
                return Err(BadMessage("an artifact's content type is no content type".into()));
            }
            if artifact.bytes.len() > limits::ARTIFACT_BYTES_MAX {
                return Err(BadMessage(format!(
                    "an artifact has {} bytes, the limit is {}",
                    artifact.bytes.len(),
                    limits::ARTIFACT_BYTES_MAX
                )));
            }
            Ok(StageEnd::Next(Artifact { content_type, bytes: artifact.bytes.into() }))
        }
        Some(End::Scored(scored)) => {
            let components: BTreeMap<_, _> =
                scored.components.into_iter().map(|c| (c.name, c.value)).collect();
            let scored = Scored {
                reward: scored.reward,
                verdict: scored.verdict,
                components,
                explanation: scored.explanation,
            };
            scored.check().map_err(BadMessage)?;
            Ok(StageEnd::Scored(scored))
        }
        Some(End::Failed(failed)) => {
            let code = ErrorCode::parse(&failed.code)
                .ok_or_else(|| BadMessage(format!("unknown error code `{}`", failed.code)))?;
            Ok(StageEnd::Failed(StageError { code, message: failed.message }))
        }
    }
}
