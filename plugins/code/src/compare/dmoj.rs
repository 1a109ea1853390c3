//! The checkers that DMOJ packages name, by their documented behaviour.

use super::{is_space, number, words};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FloatMode {
    /// Either error is small enough.
    Default,
    Absolute,
    Relative,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Split {
    Lines,
    Words,
}

fn is_line_end(byte: &u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

fn full_lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(is_line_end).filter(|line| !line.is_empty())
}

/// Words, each with whether a line break stands before it; the first stands nowhere.
fn words_with_breaks(text: &[u8]) -> impl Iterator<Item = (bool, &[u8])> {
    let mut broken = false;
    let mut first = true;
    // A break shows as the byte at which a split happened.
    text.split_inclusive(is_space).filter_map(move |part| {
        let (word, space) = match part.split_last() {
            Some((last, word)) if is_space(last) => (word, Some(last)),
            _ => (part, None),
        };
        let before = broken && !first;
        let shown = (!word.is_empty()).then_some((before, word));
        if shown.is_some() {
            (broken, first) = (false, false);
        }
        broken |= space.is_some_and(is_line_end);
        shown
    })
}

pub(super) fn standard(output: &[u8], answer: &[u8]) -> bool {
    words_with_breaks(output).eq(words_with_breaks(answer))
}

pub(super) fn floats(output: &[u8], answer: &[u8], epsilon: f64, mode: FloatMode) -> bool {
    let near = |output: &[u8], answer: &[u8]| {
        let Some(expected) = number(answer) else { return output == answer };
        number(output).is_some_and(|value| is_near(value, expected, epsilon, mode))
    };
    pairwise(full_lines(output), full_lines(answer), |output, answer| {
        pairwise(words(output), words(answer), near)
    })
}

fn is_near(value: f64, expected: f64, epsilon: f64, mode: FloatMode) -> bool {
    let absolute = (value - expected).abs() <= epsilon;
    let relative = (value - expected).abs() <= epsilon * expected.abs();
    match mode {
        FloatMode::Default => absolute || relative,
        FloatMode::Absolute => absolute,
        FloatMode::Relative => relative,
    }
}

fn pairwise<'a, 'b>(
    mut left: impl Iterator<Item = &'a [u8]>,
    mut right: impl Iterator<Item = &'b [u8]>,
    same: impl Fn(&[u8], &[u8]) -> bool,
) -> bool {
    loop {
        match (left.next(), right.next()) {
            (None, None) => return true,
            (Some(left), Some(right)) if same(left, right) => {}
            _ => return false,
        }
    }
}

pub(super) fn sorted(output: &[u8], answer: &[u8], split: Split) -> bool {
    fn arranged(text: &[u8], split: Split) -> Vec<&[u8]> {
        let mut parts: Vec<&[u8]> = match split {
            Split::Lines => full_lines(text).collect(),
            Split::Words => words(text).collect(),
        };
        parts.sort_unstable_by(|left, right| words(left).cmp(words(right)));
        parts
    }
    let (output, answer) = (arranged(output, split), arranged(answer, split));
    output.len() == answer.len()
        && output.iter().zip(&answer).all(|(left, right)| words(left).eq(words(right)))
}

pub(super) fn easy(output: &[u8], answer: &[u8]) -> bool {
    fn counts(text: &[u8]) -> [usize; 256] {
        let mut counts = [0; 256];
        for byte in text.iter().filter(|byte| !is_space(byte)) {
            counts[usize::from(byte.to_ascii_lowercase())] += 1;
        }
        counts
    }
    counts(output) == counts(answer)
}

pub(super) fn lines(output: &[u8], answer: &[u8]) -> bool {
    pairwise(full_lines(output), full_lines(answer), |output, answer| {
        output.trim_ascii() == answer.trim_ascii()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_knows_words_and_breaks() {
        let check = |output: &str, answer: &str, expected: bool| {
            let accepted = standard(output.as_bytes(), answer.as_bytes());
            assert_eq!(accepted, expected, "{output:?} {answer:?}");
        };
        check("1 2\n3", "1  2 \n\n3\n", true);
        check("\n\n 1 2", "1 2", true);
        check("1 2 3", "1 2\n3", false);
        check("1\r\n2", "1\n2\n", true);
        check("12", "1 2", false);
        check("1 2", "1 2 3", false);
        check("", "\n", true);
        check("A", "a", false);
    }

    #[test]
    fn floats_are_near_line_by_line() {
        let check = |output: &str, answer: &str, mode, expected: bool| {
            let accepted = floats(output.as_bytes(), answer.as_bytes(), 1e-3, mode);
            assert_eq!(accepted, expected, "{output:?} {answer:?} {mode:?}");
        };
        check("a 1.0001\n\n2", "a 1\n2\n", FloatMode::Default, true);
        check("1 2", "1\n2", FloatMode::Default, false);
        check("1000.5", "1000", FloatMode::Default, true);
        check("1000.5", "1000", FloatMode::Absolute, false);
        check("0.0001", "0", FloatMode::Relative, false);
        check("0.0001", "0", FloatMode::Absolute, true);
        check("b", "a", FloatMode::Default, false);
        check("x", "1", FloatMode::Default, false);
        check("nan", "1", FloatMode::Default, false);
        for mode in [FloatMode::Default, FloatMode::Absolute, FloatMode::Relative] {
            check("inf", "inf", mode, true);
            check("5", "inf", mode, false);
            check("-inf", "inf", mode, false);
            check("inf", "5", mode, false);
        }
    }

    #[test]
    fn order_and_case_may_be_free() {
        assert!(sorted(b"b c\na  a\n", b"a a\nb c", Split::Lines));
        assert!(!sorted(b"c b\na a\n", b"a a\nb c", Split::Lines));
        assert!(sorted(b"c b\na a\n", b"a a\nb c", Split::Words));
        assert!(!sorted(b"a", b"a a", Split::Words));
        assert!(easy(b"B a\n", b"ab"));
        assert!(!easy(b"abb", b"ab"));
        assert!(lines(b" a b \n\nc", b"a b\nc\n"));
        assert!(!lines(b"a  b", b"a b"));
        assert!(!lines(b"a", b"a\nb"));
    }
}
