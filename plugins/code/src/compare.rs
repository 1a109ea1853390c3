//! Comparisons of an output with the expected one, beyond those of the host.
//!
//! An output is hostile: every comparison takes time and memory in proportion to its length (sorting
//! aside) and never panics.

mod dmoj;
mod kattis;

use assay_plugin::exec;

use crate::settings::Compare;
pub(crate) use dmoj::{FloatMode, Split};
pub(crate) use kattis::Flags;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Comparison {
    /// The comparison by the host.
    Host(Compare),
    /// The default validator of Kattis packages.
    Kattis(Flags),
    /// Words are equal, with line breaks between the same ones.
    Standard,
    /// Line by line: words, numbers among them within the tolerance.
    Floats { epsilon: f64, mode: FloatMode },
    /// Words are equal in any order.
    Sorted(Split),
    /// The same characters, in any order and case.
    Easy,
    /// Line by line, without white space around them and empty ones.
    Lines,
}

impl Comparison {
    /// The host's comparison to use, and whether its result is final. If it is not, only "equal" is final,
    /// and [`accepts`](Self::accepts) decides otherwise.
    pub(crate) fn on_host(&self) -> (exec::Compare, bool) {
        match self {
            Self::Host(compare) => (compare.to_host(), true),
            Self::Kattis(flags) if !flags.space_change_sensitive => (exec::Compare::Tokens, false),
            _ => (exec::Compare::Exact, false),
        }
    }

    /// Whether the output is right, where the host could not say.
    pub(crate) fn accepts(&self, output: &[u8], answer: &[u8]) -> bool {
        match self {
            Self::Host(_) => false,
            Self::Kattis(flags) => flags.accept(output, answer),
            Self::Standard => dmoj::standard(output, answer),
            Self::Floats { epsilon, mode } => dmoj::floats(output, answer, *epsilon, *mode),
            Self::Sorted(split) => dmoj::sorted(output, answer, *split),
            Self::Easy => dmoj::easy(output, answer),
            Self::Lines => dmoj::lines(output, answer),
        }
    }
}

fn is_space(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(is_space).filter(|word| !word.is_empty())
}

/// A finite number. Everything is within a tolerance of infinity: it is compared as a word.
fn number(word: &[u8]) -> Option<f64> {
    let number: f64 = std::str::from_utf8(word).ok()?.parse().ok()?;
    number.is_finite().then_some(number)
}
