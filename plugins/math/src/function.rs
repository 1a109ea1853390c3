//! The functions that an answer may name.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    Sin,
    Cos,
    Tan,
    Cot,
    Sec,
    Csc,
    Arcsin,
    Arccos,
    Arctan,
    Sinh,
    Cosh,
    Tanh,
    Ln,
    /// The logarithm to base 10, as `\log` and `\lg` are read.
    Log10,
    Exp,
    Abs,
    Floor,
    Ceil,
    Factorial,
}
