//! The meaning of signs, words and LaTeX commands: tables, no state.

use num_rational::BigRational;

use crate::expression::Function;
use crate::kind::Kind;
use crate::polynomial::{Atom, Symbol};

/// Short words of prose, which are no products of variables.
pub(crate) const WORDS: &[&str] = &[
    "yes", "no", "the", "is", "are", "of", "to", "so", "if", "not", "all", "per", "for", "at",
    "by", "it", "as", "an", "sq", "cu", "YES", "NO",
];

pub(crate) fn letter_atom(letter: char) -> Atom {
    match letter {
        'e' => Atom::E,
        'i' => Atom::I,
        letter => Atom::Symbol(Symbol { letter, index: None }),
    }
}

pub(crate) fn whole(value: i64) -> Kind<'static> {
    Kind::Number(BigRational::from_integer(value.into()))
}

pub(crate) fn sign(c: char, rest: &str) -> Option<Kind<'static>> {
    Some(match c {
        '+' => Kind::Plus,
        '-' | '−' | '–' => Kind::Minus,
        '±' => Kind::PlusMinus,
        '*' if rest.starts_with("**") => Kind::Power,
        '*' | '×' | '·' | '⋅' => Kind::Times,
        '/' | '÷' => Kind::Divide,
        '^' => Kind::Power,
        '_' => Kind::Index,
        '!' => Kind::Bang,
        '%' => Kind::Percent,
        '|' => Kind::Bar,
        '(' | '[' | '{' => Kind::Open(c),
        ')' | ']' | '}' => Kind::Close(c),
        ',' | ';' => Kind::Separator,
        '=' | '≈' => Kind::Equal,
        '<' if rest.starts_with("<=") => Kind::LessEqual,
        '>' if rest.starts_with(">=") => Kind::GreaterEqual,
        '<' => Kind::Less,
        '>' => Kind::Greater,
        '≤' => Kind::LessEqual,
        '≥' => Kind::GreaterEqual,
        '&' => Kind::Cell,
        '√' => Kind::Root,
        'π' => Kind::Atom(Atom::Pi),
        '∞' => Kind::Infinity,
        '∪' => Kind::Union,
        '∈' => Kind::In,
        '∅' => Kind::EmptySet,
        '°' => Kind::Word("°"),
        '€' | '£' => Kind::Currency,
        'ℝ' | 'α'..='ω' => Kind::Atom(letter_atom(c)),
        _ => return None,
    })
}

/// The names that mean the same in plain text and after a backslash.
pub(crate) fn named(name: &str) -> Option<Kind<'static>> {
    Some(match name {
        "pi" => Kind::Atom(Atom::Pi),
        "inf" | "infty" | "infinity" | "oo" => Kind::Infinity,
        "sqrt" => Kind::Root,
        "log" | "lg" => Kind::Logarithm,
        "or" | "and" => Kind::Separator,
        "hundred" => Kind::Scale(100),
        "thousand" => Kind::Scale(1_000),
        "million" => Kind::Scale(1_000_000),
        "billion" => Kind::Scale(1_000_000_000),
        "trillion" => Kind::Scale(1_000_000_000_000),
        _ => Kind::Function(match name {
            "sin" => Function::Sin,
            "cos" => Function::Cos,
            "tan" => Function::Tan,
            "cot" => Function::Cot,
            "sec" => Function::Sec,
            "csc" => Function::Csc,
            "arcsin" | "asin" => Function::Arcsin,
            "arccos" | "acos" => Function::Arccos,
            "arctan" | "atan" => Function::Arctan,
            "sinh" => Function::Sinh,
            "cosh" => Function::Cosh,
            "tanh" => Function::Tanh,
            "ln" => Function::Ln,
            "exp" => Function::Exp,
            "abs" => Function::Abs,
            "floor" => Function::Floor,
            "ceil" => Function::Ceil,
            _ => return None,
        }),
    })
}

pub(crate) fn command_kind(name: &str) -> Option<Kind<'static>> {
    Some(match name {
        "frac" | "dfrac" | "tfrac" | "cfrac" => Kind::Fraction,
        "binom" | "dbinom" | "tbinom" => Kind::Binomial,
        "cdot" | "times" | "ast" => Kind::Times,
        "div" => Kind::Divide,
        "pm" => Kind::PlusMinus,
        "cup" => Kind::Union,
        "in" => Kind::In,
        "emptyset" | "varnothing" => Kind::EmptySet,
        "approx" | "equiv" => Kind::Equal,
        "lt" => Kind::Less,
        "gt" => Kind::Greater,
        "le" | "leq" | "leqslant" => Kind::LessEqual,
        "ge" | "geq" | "geqslant" => Kind::GreaterEqual,
        "vert" | "lvert" | "rvert" => Kind::Bar,
        "lbrace" => Kind::Open('s'),
        "rbrace" => Kind::Close('s'),
        "lfloor" => Kind::Open('f'),
        "rfloor" => Kind::Close('f'),
        "lceil" => Kind::Open('c'),
        "rceil" => Kind::Close('c'),
        "langle" => Kind::Open('('),
        "rangle" => Kind::Close(')'),
        "circ" | "degree" => Kind::Word("°"),
        "alpha" => greek('α'),
        "beta" => greek('β'),
        "gamma" => greek('γ'),
        "delta" => greek('δ'),
        "epsilon" | "varepsilon" => greek('ε'),
        "theta" => greek('θ'),
        "lambda" => greek('λ'),
        "mu" => greek('μ'),
        "rho" => greek('ρ'),
        "sigma" => greek('σ'),
        "tau" => greek('τ'),
        "phi" | "varphi" => greek('φ'),
        "omega" => greek('ω'),
        _ => return None,
    })
}

fn greek(letter: char) -> Kind<'static> {
    Kind::Atom(letter_atom(letter))
}
