//! Every limit of the verifier, in one place. A text beyond a limit is no answer, so nobody waits long.

/// Bytes of an answer, as found in a response or given as a label.
pub(crate) const ANSWER_BYTES_MAX: usize = 2_048;
/// The depth to which brackets, fractions, powers and signs may nest.
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
/// Values without an exact form in one comparison.
pub(crate) const OPAQUE_MAX: usize = 24;
/// Bytes of a variable's index, such as the `n+1` of `a_{n+1}`.
pub(crate) const INDEX_BYTES_MAX: usize = 8;
/// Bytes of a label that is compared as text alone.
pub(crate) const TEXT_BYTES_MAX: usize = 4_096;
/// Bytes of a response that may be an answer as it stands.
pub(crate) const BARE_BYTES_MAX: usize = 200;
/// Bytes of a remark on an answer, such as "correct".
pub(crate) const REMARK_BYTES_MAX: usize = 120;
/// Boxes or formulas that may make one answer.
pub(crate) const PARTS_MAX: usize = 16;
/// Words of a unit.
pub(crate) const UNIT_WORDS_MAX: usize = 6;
/// Rows and columns of a matrix that is worked out.
pub(crate) const MATRIX_SIDE_MAX: usize = 8;
/// Characters of a value in plain notation.
pub(crate) const PLAIN_CHARS_MAX: usize = 120;
/// Accepted answers in one label.
pub(crate) const LABELS_MAX: usize = 64;
/// Elements of one side up to which sets are matched pair by pair, and values of what holds several `\pm`.
pub(crate) const SET_MAX: usize = 32;
/// Characters of an answer shown in an explanation.
pub(crate) const SHOWN_CHARS_MAX: usize = 160;
