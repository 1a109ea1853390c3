//! Compares a program's output with the expected one.
//!
//! Outputs are hostile: every comparison reads each side once, from the front, and allocates nothing.
//! White space is that of ASCII: space, tab, line feed, vertical tab, form feed, carriage return.

use assay_core::limits::COMPARED_NUMBER_BYTES_MAX;
use serde::{Deserialize, Serialize};

/// The way in which an output is compared with the expected one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum CompareMode {
    /// Byte by byte.
    Exact,
    /// Line by line; white space at line ends and empty lines at the end are ignored.
    TrimLines,
    /// Word by word.
    Tokens,
    /// Word by word; numbers may differ by `absolute`, or by `relative` times the expected number.
    ///
    /// A number is what reads as a decimal, with or without an exponent, and `inf`, `infinity` or
    /// `nan` in any case, with or without a sign. An infinity equals the same infinity alone and NaN
    /// equals NaN alone, whatever the tolerance. Words that are equal byte by byte are equal, and a
    /// number never equals a word that is none.
    Floats {
        /// The largest difference.
        absolute: f64,
        /// The largest difference, as a factor of the expected number.
        relative: f64,
    },
}

impl CompareMode {
    /// The problem with the tolerances, if there is one.
    pub(crate) fn problem(&self) -> Option<String> {
        let Self::Floats { absolute, relative } = *self else { return None };
        let bad = |tolerance: f64| !tolerance.is_finite() || tolerance < 0.0;
        (bad(absolute) || bad(relative))
            .then(|| "a tolerance must be a finite number that is not negative".to_owned())
    }

    /// Whether the outputs are equal.
    #[must_use]
    pub fn equal(&self, expected: &[u8], written: &[u8]) -> bool {
        match *self {
            Self::Exact => expected == written,
            Self::TrimLines => trimmed_lines(expected).eq(trimmed_lines(written)),
            Self::Tokens => tokens(expected).eq(tokens(written)),
            Self::Floats { absolute, relative } => {
                let near = |a: &[u8], b: &[u8]| a == b || near(a, b, absolute, relative);
                let (mut expected, mut written) = (tokens(expected), tokens(written));
                loop {
                    match (expected.next(), written.next()) {
                        (None, None) => return true,
                        (Some(a), Some(b)) if near(a, b) => {}
                        _ => return false,
                    }
                }
            }
        }
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

fn trim_end(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|byte| !is_space(*byte)).map_or(0, |last| last + 1);
    &bytes[..end]
}

fn trimmed_lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    trim_end(bytes).split(|byte| *byte == b'\n').map(trim_end)
}

fn tokens(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| is_space(*byte)).filter(|token| !token.is_empty())
}

fn number(token: &[u8]) -> Option<f64> {
    if token.len() > COMPARED_NUMBER_BYTES_MAX {
        return None;
    }
    std::str::from_utf8(token).ok()?.parse().ok()
}

fn near(expected: &[u8], written: &[u8], absolute: f64, relative: f64) -> bool {
    let (Some(expected), Some(written)) = (number(expected), number(written)) else { return false };
    if !expected.is_finite() || !written.is_finite() {
        return expected == written || (expected.is_nan() && written.is_nan());
    }
    let difference = (expected - written).abs();
    difference <= absolute || difference <= relative * expected.abs()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn floats(absolute: f64, relative: f64) -> CompareMode {
        CompareMode::Floats { absolute, relative }
    }

    #[test]
    fn exact_is_exact() {
        assert!(CompareMode::Exact.equal(b"1\n", b"1\n"));
        assert!(!CompareMode::Exact.equal(b"1\n", b"1"));
    }

    #[test]
    fn line_ends_do_not_count_but_lines_do() {
        let equal = |a: &str, b: &str| CompareMode::TrimLines.equal(a.as_bytes(), b.as_bytes());
        assert!(equal("1 2\n3\n", "1 2 \r\n3\t\n\n \n"));
        assert!(equal("", "\n \n"));
        assert!(!equal("1\n\n2", "1\n2"), "an empty line in between counts");
        assert!(!equal("1 2", "1  2"));
        assert!(!equal(" 1", "1"), "so does white space in front");
        assert!(!equal("1\n2", "1"));
    }

    #[test]
    fn tokens_are_words() {
        let equal = |a: &str, b: &str| CompareMode::Tokens.equal(a.as_bytes(), b.as_bytes());
        assert!(equal("1 2\n3", "\n1\t2 3\r\n"));
        assert!(equal("", " \n"));
        assert!(!equal("12", "1 2"));
        assert!(!equal("1", "1 1"));
        assert!(!equal("1.0", "1"));
    }

    #[test]
    fn numbers_may_be_off() {
        let close = floats(1e-6, 1e-6);
        let equal = |a: &str, b: &str| close.equal(a.as_bytes(), b.as_bytes());
        assert!(equal("x 1.0 1000000", "x 1.0000001 1000000.5"));
        assert!(equal("0", "-0.0000005") && equal("1e3", "1000") && equal("+1", "1."));
        assert!(!equal("1.0", "1.01") && !equal("1 2", "1") && !equal("x", "y"));
        assert!(!equal("1", "one") && !equal("one", "1"));
        assert!(floats(0.0, 0.1).equal(b"100", b"110") && !floats(0.0, 0.1).equal(b"100", b"111"));
    }

    #[test]
    fn what_is_not_finite_equals_itself_alone() {
        let loose = floats(f64::MAX, f64::MAX);
        let equal = |a: &str, b: &str| loose.equal(a.as_bytes(), b.as_bytes());
        assert!(equal("inf", "Infinity") && equal("-inf", "-INF"));
        assert!(equal("nan", "NaN") && equal("nan", "-nan"));
        assert!(!equal("inf", "-inf") && !equal("inf", "nan"));
        assert!(!equal("1", "nan") && !equal("nan", "1"));
        assert!(!equal("1", "inf") && !equal("1", "1e999"));
    }

    #[test]
    fn tolerances_are_checked() {
        for bad in [f64::NAN, f64::INFINITY, -1.0] {
            assert!(floats(bad, 0.0).problem().is_some());
            assert!(floats(0.0, bad).problem().is_some());
        }
        assert!(floats(0.0, 0.0).problem().is_none() && CompareMode::Exact.problem().is_none());
    }

    #[test]
    fn endless_digits_are_a_word() {
        let digits = vec![b'1'; 8 << 20];
        assert!(floats(1.0, 1.0).equal(&digits, &digits));
        assert!(!floats(1.0, 1.0).equal(b"1", &digits));
    }

    fn text() -> impl Strategy<Value = Vec<u8>> {
        let pieces: [&[u8]; 10] =
            [b" ", b"\n", b"\t", b"\r\n", b"1", b"-2.5", b"nan", b"x", b"\xff", b"\0"];
        let piece = proptest::sample::select(pieces.to_vec());
        proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    /// The same by the library's own means, with allocations.
    fn words(bytes: &[u8]) -> Vec<String> {
        let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
        text.split([' ', '\t', '\n', '\u{b}', '\u{c}', '\r'])
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()
    }

    fn lines(bytes: &[u8]) -> Vec<String> {
        let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
        let space = [' ', '\t', '\n', '\u{b}', '\u{c}', '\r'];
        let mut lines: Vec<String> =
            text.split('\n').map(|line| line.trim_end_matches(space).to_owned()).collect();
        while lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
        lines
    }

    proptest! {
        #[test]
        fn they_agree_with_the_library(a in text(), b in text()) {
            prop_assert_eq!(CompareMode::Tokens.equal(&a, &b), words(&a) == words(&b));
            prop_assert_eq!(CompareMode::TrimLines.equal(&a, &b), lines(&a) == lines(&b));
        }

        #[test]
        fn each_is_weaker_than_the_one_before(a in text(), b in text()) {
            let order =
                [CompareMode::Exact, CompareMode::TrimLines, CompareMode::Tokens, floats(0.0, 0.0), floats(1.0, 0.1)];
            let found = order.map(|compare| compare.equal(&a, &b));
            prop_assert!(found.is_sorted(), "{found:?}");
            prop_assert!(order.iter().all(|compare| compare.equal(&a, &a)));
        }

        #[test]
        fn white_space_at_line_ends_never_counts(a in text(), space in "[ \t\r]{0,3}") {
            let mut longer = Vec::new();
            for line in a.split(|byte| *byte == b'\n') {
                longer.extend_from_slice(line);
                longer.extend_from_slice(space.as_bytes());
                longer.push(b'\n');
            }
            prop_assert!(CompareMode::TrimLines.equal(&a, &longer));
            prop_assert!(CompareMode::Tokens.equal(&a, &longer));
        }

        #[test]
        fn printed_numbers_come_back(value in any::<f64>(), off in -1e-9..1e-9) {
            let exact = format!("{value:e}");
            let plain = format!("{value:?}");
            prop_assert!(floats(0.0, 0.0).equal(exact.as_bytes(), plain.as_bytes()));
            if value.is_normal() && (value * 2.0).is_finite() {
                let near = format!("{:e}", value * (1.0 + off));
                prop_assert!(floats(0.0, 1e-8).equal(exact.as_bytes(), near.as_bytes()));
                let far = format!("{:e}", value * 1.5);
                prop_assert!(!floats(0.0, 0.4).equal(exact.as_bytes(), far.as_bytes()));
            }
        }
    }
}
