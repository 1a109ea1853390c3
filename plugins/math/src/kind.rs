//! The kinds of tokens.

use num_rational::BigRational;

use crate::expression::Function;
use crate::polynomial::Atom;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind<'a> {
    Number(BigRational),
    /// Written with a point or an exponent.
    Decimal(BigRational),
    Atom(Atom),
    Infinity,
    Function(Function),
    Logarithm,
    Fraction,
    Binomial,
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
    /// `,`, `;`, `or`, `and`.
    Separator,
    Equal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Union,
    In,
    EmptySet,
    Currency,
    /// A word that may begin a unit: letters, `\text{...}`, a degree sign.
    Word(&'a str),
    /// A factor such as `million`.
    Scale(i64),
    Begin,
    End,
    Cell,
    Row,
}
