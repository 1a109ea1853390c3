//! Stage ends to messages and back.

use std::collections::BTreeMap;

use assay_core::limits;
use assay_core::outcome::{Artifact, ErrorCode, Scored, StageEnd, StageError};

use crate::proto;
use crate::proto::finished::End;

/// The levels of a line of a plugin's log.
const LEVELS: [&str; 5] = ["debug", "info", "warn", "error", "stderr"];
/// The most bytes of an unknown error code that are shown.
const CODE_BYTES_MAX: usize = 80;

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
    proto::Finished { lease, ran_us, end: Some(end), logs, calls: Vec::new() }
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
            // Only the end of a batch cancels its requests.
            let code = ErrorCode::parse(&failed.code).filter(|code| *code != ErrorCode::Cancelled);
            let code = code.ok_or_else(|| {
                let code = cut(failed.code, CODE_BYTES_MAX);
                BadMessage(format!("`{code}` is no error code of a stage"))
            })?;
            let message = cut(failed.message, limits::ERROR_MESSAGE_BYTES_MAX);
            Ok(StageEnd::Failed(StageError { code, message }))
        }
    }
}

/// A line in a worker's message, made to fit the limits. Postgres stores no NUL in text.
#[must_use]
pub fn log_line(line: proto::LogLine) -> proto::LogLine {
    let known = LEVELS.into_iter().find(|level| *level == line.level);
    let message = cut(line.message, limits::LOG_LINE_BYTES_MAX).replace('\0', "\u{fffd}");
    proto::LogLine {
        level: known.unwrap_or("info").to_owned(),
        message: cut(message, limits::LOG_LINE_BYTES_MAX),
    }
}

/// The first bytes of a text, cut between characters.
fn cut(mut text: String, bytes_max: usize) -> String {
    text.truncate(text.floor_char_boundary(bytes_max));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(code: &str, message: String) -> Result<StageEnd, BadMessage> {
        stage_end(Some(End::Failed(proto::Failed { code: code.into(), message })))
    }

    #[test]
    fn the_message_of_a_failure_is_cut() {
        // The border is within a character.
        let long = format!("x{}", "ä".repeat(limits::ERROR_MESSAGE_BYTES_MAX));
        match failed("plugin_trap", long) {
            Ok(StageEnd::Failed(StageError { code: ErrorCode::PluginTrap, message })) => {
                assert_eq!(message.len(), limits::ERROR_MESSAGE_BYTES_MAX - 1);
            }
            other => panic!("{other:?}"),
        }
        let short = StageError { code: ErrorCode::PluginTrap, message: "why".into() };
        assert_eq!(failed("plugin_trap", "why".into()), Ok(StageEnd::Failed(short)));
        // It would cancel the batch at the next start.
        assert!(failed("cancelled", String::new()).is_err());
        let BadMessage(problem) = failed(&"x".repeat(1 << 20), String::new()).expect_err("unknown");
        assert!(problem.len() < 200, "{} bytes", problem.len());
    }

    #[test]
    fn a_line_of_a_log_fits_the_limits() {
        let check = |level: &str, message: &str| {
            let (level, message) = (level.into(), message.into());
            let line = log_line(proto::LogLine { level, message });
            (line.level, line.message)
        };
        for level in LEVELS {
            assert_eq!(check(level, "a line"), (level.into(), "a line".into()));
        }
        for level in ["", "INFO", "fatal", "info\0"] {
            assert_eq!(check(level, "a\0b"), ("info".into(), "a\u{fffd}b".into()));
        }
        let long = format!("x{}", "ä".repeat(limits::LOG_LINE_BYTES_MAX));
        assert_eq!(check("warn", &long).1.len(), limits::LOG_LINE_BYTES_MAX - 1);
        // The letter that stands for a NUL is longer.
        let (_, message) = check("warn", &"\0".repeat(limits::LOG_LINE_BYTES_MAX));
        assert_eq!(message.chars().count(), limits::LOG_LINE_BYTES_MAX / 3);
    }
}
