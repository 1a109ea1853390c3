//! The default validator of Kattis packages, by its documented flags.

use super::{is_space, number, words};

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Flags {
    case_sensitive: bool,
    pub(crate) space_change_sensitive: bool,
    absolute: Option<f64>,
    relative: Option<f64>,
}

impl Flags {
    /// The error names the flag.
    pub(crate) fn read(flags: &[String]) -> Result<Self, String> {
        let mut read = Self::default();
        let mut flags = flags.iter();
        while let Some(flag) = flags.next() {
            match flag.as_str() {
                "case_sensitive" => read.case_sensitive = true,
                "space_change_sensitive" => read.space_change_sensitive = true,
                "float_absolute_tolerance" => read.absolute = Some(tolerance(flag, flags.next())?),
                "float_relative_tolerance" => read.relative = Some(tolerance(flag, flags.next())?),
                "float_tolerance" => {
                    let tolerance = tolerance(flag, flags.next())?;
                    (read.absolute, read.relative) = (Some(tolerance), Some(tolerance));
                }
                other => return Err(format!("the default validator has no flag `{other}`")),
            }
        }
        Ok(read)
    }

    pub(crate) fn accept(&self, output: &[u8], answer: &[u8]) -> bool {
        if self.space_change_sensitive && !spaces(output).eq(spaces(answer)) {
            return false;
        }
        let (mut output, mut answer) = (words(output), words(answer));
        loop {
            match (output.next(), answer.next()) {
                (None, None) => return true,
                (Some(output), Some(answer)) if self.same(output, answer) => {}
                _ => return false,
            }
        }
    }

    fn same(&self, output: &[u8], answer: &[u8]) -> bool {
        let equal = match self.case_sensitive {
            true => output == answer,
            false => output.eq_ignore_ascii_case(answer),
        };
        if equal || (self.absolute.is_none() && self.relative.is_none()) {
            return equal;
        }
        let (Some(output), Some(answer)) = (number(output), number(answer)) else { return false };
        let far = (output - answer).abs();
        let within = |tolerance: Option<f64>, scale: f64| {
            tolerance.is_some_and(|tolerance| far <= tolerance * scale)
        };
        within(self.absolute, 1.0) || within(self.relative, answer.abs())
    }
}

/// The white space before, between and after words.
fn spaces(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| !is_space(byte))
        .scan(true, |at_start, space| {
            // Within a word the splits are next to each other.
            let shown = if space.is_empty() && !*at_start { None } else { Some(space) };
            *at_start = false;
            Some(shown)
        })
        .flatten()
}

fn tolerance(flag: &str, value: Option<&String>) -> Result<f64, String> {
    value
        .and_then(|text| text.parse().ok())
        .filter(|tolerance: &f64| tolerance.is_finite() && *tolerance >= 0.0)
        .ok_or_else(|| format!("`{flag}` needs a number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(flags: &str, output: &str, answer: &str, expected: bool) {
        let flags: Vec<String> = flags.split_whitespace().map(str::to_owned).collect();
        let flags = Flags::read(&flags).expect("flags");
        let accepted = flags.accept(output.as_bytes(), answer.as_bytes());
        assert_eq!(accepted, expected, "{flags:?} {output:?} {answer:?}");
    }

    #[test]
    fn words_count_by_default() {
        check("", " Yes\n1  2 ", "yes 1 2\n", true);
        check("", "yes", "yes 1", false);
        check("", "yes 1", "yes", false);
        check("", "1.0", "1", false);
        check("case_sensitive", "Yes", "yes", false);
    }

    #[test]
    fn numbers_within_a_tolerance() {
        check("float_tolerance 1e-6", "1.0000001 x", "1 X", true);
        check("float_tolerance 1e-6", "1.1", "1", false);
        check("float_absolute_tolerance 0.1", "1000.05", "1000", true);
        check("float_absolute_tolerance 0.1", "1001", "1000", false);
        check("float_relative_tolerance 0.01", "1001", "1000", true);
        check("float_relative_tolerance 0.01", "abc", "1000", false);
        check("float_tolerance 1e-6", "nan", "1", false);
        check("float_tolerance 1e-6", "inf", "1", false);
        for expected in ["inf", "Infinity", "-inf", "1e999"] {
            check("float_tolerance 1e-6", "5", expected, false);
            check("float_tolerance 1e-6", "1e999", &format!("+{expected}"), false);
            check("float_tolerance 1e-6", expected, expected, true);
        }
    }

    #[test]
    fn white_space_can_count() {
        check("space_change_sensitive", "a b\n", "a b\n", true);
        check("space_change_sensitive", "A b\n", "a b\n", true);
        check("space_change_sensitive", "a  b\n", "a b\n", false);
        check("space_change_sensitive", "a b", "a b\n", false);
        check("space_change_sensitive", " a b\n", "a b\n", false);
        check("space_change_sensitive float_tolerance 0.1", "1.05 b\n", "1 b\n", true);
    }

    #[test]
    fn unknown_flags_are_named() {
        let read = |flag: &str| Flags::read(&[flag.to_owned()]).expect_err("no such flag");
        assert!(read("ignore_case").contains("`ignore_case`"));
        assert!(read("float_tolerance").contains("needs a number"));
    }
}
