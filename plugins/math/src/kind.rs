//! The kinds of tokens.

use num_rational::BigRational;

use crate::function::Function;
use crate::polynomial::Atom;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind<'a> {
    Number(BigRational),
    /// Written with a decimal mark or an exponent.
    Decimal(BigRational),
    Atom(Atom),
    Infinity,
    /// All real numbers.
    Reals,
    Function(Function),
    Logarithm,
    Fraction,
    Binomial,
    /// Between the parts of a fraction or binomial coefficient in a group: `{3 \over 4}`.
    Over,
    Choose,
    Root,
    Plus,
    Minus,
    PlusMinus,
    Times,
    Divide,
    Power,
    Index,
    Bang,
    Percent,
    Bar,
    /// `(`, `[`, `{` for a group of LaTeX, `s` for the braces of a set, `f` and `c` for floor and
    /// ceiling.
    Open(char),
    Close(char),
    Separator(Join),
    Colon,
    Equal,
    Approximately,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Union,
    SetMinus,
    In,
    EmptySet,
    Currency,
    /// A word that may begin a unit: letters, `\text{...}`, a degree sign.
    Word(&'a str),
    /// A factor such as `million`.
    Scale(i64),
    /// A mark over the variable that follows.
    Accent(&'static str),
    Begin(Environment),
    End,
    Cell,
    Row,
}

/// The separator of the members of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Join {
    Comma,
    Semicolon,
    Or,
    And,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Environment {
    Matrix,
    Determinant,
    /// Rows that belong together, such as those of `cases`.
    Rows,
}
