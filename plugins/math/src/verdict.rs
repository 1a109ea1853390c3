//! Verdicts, and how they are told.

use crate::limits;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    CorrectExact,
    /// A number that is right within the tolerance, or as far as it can be computed.
    CorrectNumeric,
    /// A right answer in words, or the right letter of a multiple choice.
    CorrectText,
    /// Right, but only as the last number of a response that marks no answer.
    CorrectLastNumber,
    Wrong,
    /// Another text than a label that is no mathematics.
    WrongText,
    /// There is an answer, but it is no mathematics.
    Unparsable,
    /// Boxes that do not agree, where all must.
    Contradictory,
    NoAnswer,
}

impl Verdict {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CorrectExact => "correct_exact",
            Self::CorrectNumeric => "correct_numeric",
            Self::CorrectText => "correct_text",
            Self::CorrectLastNumber => "correct_last_number",
            Self::Wrong => "wrong",
            Self::WrongText => "wrong_text",
            Self::Unparsable => "unparsable",
            Self::Contradictory => "contradictory",
            Self::NoAnswer => "no_answer",
        }
    }

    #[must_use]
    pub const fn is_correct(self) -> bool {
        matches!(
            self,
            Self::CorrectExact | Self::CorrectNumeric | Self::CorrectText | Self::CorrectLastNumber
        )
    }
}

#[derive(Debug)]
pub struct Verified {
    pub verdict: Verdict,
    pub boxed: bool,
    pub explanation: String,
}

pub(crate) fn shown(text: &str) -> String {
    text.chars().take(limits::SHOWN_CHARS_MAX).collect()
}
