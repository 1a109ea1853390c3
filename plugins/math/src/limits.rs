//! Every limit of the verifier, in one place. A text beyond a limit is no answer, so nobody waits long.

/// Bytes of an answer, as found in a response or given as a label.
pub(crate) const ANSWER_BYTES_MAX: usize = 2_048;
/// How deep brackets, fractions, powers and signs may nest.
pub(crate) const DEPTH_MAX: usize = 40;
/// Operators and factors of one answer.
pub(crate) const OPERATIONS_MAX: usize = 200;
/// Digits of a number as written, and the exponent of `1e...`.
pub(crate) const DIGITS_MAX: usize = 1_000;
/// Bits of an exact number's numerator or denominator; what grows further is compared numerically.
pub(crate) const BITS_MAX: u64 = 8_192;
/// Terms and degree of a polynomial.
pub(crate) const TERMS_MAX: usize = 256;
pub(crate) const DEGREE_MAX: u32 = 64;
/// Units of exact work an answer may cost (one is roughly an operation on machine words).
pub(crate) const WORK_MAX: u64 = 100_000;
/// `n!` and `\binom{n}{k}` stay exact up to this `n`.
pub(crate) const FACTORIAL_MAX: u32 = 170;
/// Square factors are taken out of roots of numbers up to this.
pub(crate) const RADICAND_MAX: u64 = 1_000_000_000_000;
/// Accepted answers in one label.
pub(crate) const LABELS_MAX: usize = 64;
/// Elements of one side up to which sets are matched pair by pair.
pub(crate) const SET_MAX: usize = 32;
/// Characters of an answer shown in an explanation.
pub(crate) const SHOWN_CHARS_MAX: usize = 160;
