//! The meaning of signs, words and LaTeX commands: tables, no state.

use crate::function::Function;
use crate::kind::{Environment, Join, Kind};
use crate::polynomial::{Atom, Symbol};

/// Short words of prose, which are no products of variables.
pub(crate) const WORDS: &[&str] = &[
    "yes", "no", "the", "is", "are", "of", "to", "so", "if", "not", "all", "per", "for", "at",
    "by", "it", "as", "an", "sq", "cu", "YES", "NO", "pct", "AM", "PM", "am", "pm", "but", "we",
    "in", "on", "th", "st", "nd", "rd",
];

pub(crate) fn letter_atom(letter: char) -> Atom {
    match letter {
        'e' => Atom::E,
        'i' => Atom::I,
        letter => Atom::Symbol(Symbol::new(letter)),
    }
}

/// A sign of one or two characters, and its length.
pub(crate) fn sign(c: char, rest: &str) -> Option<(Kind<'static>, usize)> {
    let two = match rest.as_bytes() {
        [b'<', b'=', ..] => Some(Kind::LessEqual),
        [b'>', b'=', ..] => Some(Kind::GreaterEqual),
        [b'!', b'=', ..] => Some(Kind::NotEqual),
        [b'*', b'*', ..] => Some(Kind::Power),
        [b'=', b'=', ..] => Some(Kind::Equal),
        _ => None,
    };
    if let Some(kind) = two {
        return Some((kind, 2));
    }
    let kind = match c {
        '+' => Kind::Plus,
        '-' => Kind::Minus,
        '*' => Kind::Times,
        '/' => Kind::Divide,
        '^' => Kind::Power,
        '_' => Kind::Index,
        '!' => Kind::Bang,
        '%' => Kind::Percent,
        '|' => Kind::Bar,
        '(' | '[' | '{' => Kind::Open(c),
        ')' | ']' | '}' => Kind::Close(c),
        ',' => Kind::Separator(Join::Comma),
        ';' => Kind::Separator(Join::Semicolon),
        ':' => Kind::Colon,
        '=' => Kind::Equal,
        '<' => Kind::Less,
        '>' => Kind::Greater,
        '&' => Kind::Cell,
        'π' => Kind::Atom(Atom::Pi),
        '或' => Kind::Separator(Join::Or),
        '和' => Kind::Separator(Join::And),
        '°' => Kind::Word("°"),
        '€' | '£' | '¥' | '₹' | '₩' | '₽' | '₪' | '¢' => Kind::Currency,
        'α'..='ω' | 'Α'..='Ω' => Kind::Atom(letter_atom(c)),
        _ => return None,
    };
    Some((kind, c.len_utf8()))
}

/// `^\circ` and its kin.
pub(crate) fn degree_length(rest: &str) -> Option<usize> {
    [
        "^\\circ",
        "^{\\circ}",
        "^\\degree",
        "^{\\degree}",
        "^°",
        "^{°}",
        "^{\\ \\circ}",
        "^ \\circ",
        "^{ \\circ }",
        "^{\\circ }",
    ]
    .into_iter()
    .find(|form| rest.starts_with(form))
    .map(str::len)
}

/// The names that mean the same in plain text and after a backslash.
pub(crate) fn named(name: &str) -> Option<Kind<'static>> {
    Some(match name {
        "pi" => Kind::Atom(Atom::Pi),
        "inf" | "infty" | "infinity" | "oo" => Kind::Infinity,
        "sqrt" => Kind::Root,
        "log" | "lg" => Kind::Logarithm,
        "or" => Kind::Separator(Join::Or),
        "and" => Kind::Separator(Join::And),
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

/// The set of numbers of a letter, with the signs after it that leave a part of it, and their length.
pub(crate) fn number_set(letter: char, after: &str) -> Option<(Kind<'static>, usize)> {
    let sign = match letter {
        'R' => 'ℝ',
        'Z' => 'ℤ',
        'N' => 'ℕ',
        'Q' => 'ℚ',
        'C' => 'ℂ',
        _ => return None,
    };
    let part = part_of_numbers(after, matches!(letter, 'Z' | 'N'));
    let symbol = part.and_then(|(part, length)| Some((Symbol::new(sign).indexed(part)?, length)));
    Some(match symbol {
        Some((symbol, length)) => (Kind::Atom(Atom::Symbol(symbol)), length),
        None if letter == 'R' => (Kind::Reals, 0),
        None => (Kind::Atom(letter_atom(sign)), 0),
    })
}

/// The part of a set of numbers that `^+`, `_{\ge 0}` or `^*` means, and the length of these signs.
fn part_of_numbers(text: &str, whole: bool) -> Option<(&'static str, usize)> {
    let after = text.strip_prefix(['^', '_'])?;
    let (inner, length) = match after.strip_prefix('{') {
        Some(group) => (group.split_once('}')?.0, group.find('}')? + "_{}".len()),
        None => (after.get(..1)?, "_+".len()),
    };
    let inner = inner.replace(' ', "").replace("\\geqslant", "\\ge").replace("\\geq", "\\ge");
    let part = match inner.as_str() {
        "+" | ">0" => "+",
        "\\ge1" if whole => "+",
        "-" | "<0" => "-",
        "*" | "\\ast" | "\\neq0" | "\\ne0" => "*",
        ">=0" | "\\ge0" => "0",
        _ => return None,
    };
    Some((part, length))
}

/// The name of a command at the start of a text.
pub(crate) fn command_name(text: &str) -> Option<&str> {
    let name = text.strip_prefix('\\')?;
    let end = name.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(name.len());
    (end > 0).then(|| &name[..end])
}

pub(crate) fn command_kind(name: &str) -> Option<Kind<'static>> {
    Some(match name {
        "frac" | "dfrac" | "tfrac" | "cfrac" => Kind::Fraction,
        "binom" | "dbinom" | "tbinom" => Kind::Binomial,
        "over" => Kind::Over,
        "choose" => Kind::Choose,
        "cdot" | "times" | "ast" | "bullet" => Kind::Times,
        "div" => Kind::Divide,
        "pm" => Kind::PlusMinus,
        "cup" | "bigcup" => Kind::Union,
        "setminus" | "backslash" | "smallsetminus" => Kind::SetMinus,
        "in" => Kind::In,
        "emptyset" | "varnothing" => Kind::EmptySet,
        "equiv" => Kind::Equal,
        "approx" | "simeq" | "approxeq" | "cong" => Kind::Approximately,
        "ne" | "neq" => Kind::NotEqual,
        "lt" => Kind::Less,
        "gt" => Kind::Greater,
        "le" | "leq" | "leqslant" | "leqq" => Kind::LessEqual,
        "ge" | "geq" | "geqslant" | "geqq" => Kind::GreaterEqual,
        "vert" | "lvert" | "rvert" | "mid" => Kind::Bar,
        "lor" | "vee" => Kind::Separator(Join::Or),
        "land" | "wedge" => Kind::Separator(Join::And),
        "colon" => Kind::Colon,
        "lbrace" => Kind::Open('s'),
        "rbrace" => Kind::Close('s'),
        "lbrack" => Kind::Open('['),
        "rbrack" => Kind::Close(']'),
        "lfloor" => Kind::Open('f'),
        "rfloor" => Kind::Close('f'),
        "lceil" => Kind::Open('c'),
        "rceil" => Kind::Close('c'),
        "langle" => Kind::Open('('),
        "rangle" => Kind::Close(')'),
        "circ" | "degree" => Kind::Word("°"),
        "bar" | "overline" => Kind::Accent("-"),
        "hat" | "widehat" => Kind::Accent("^"),
        "tilde" | "widetilde" => Kind::Accent("~"),
        "percent" => Kind::Percent,
        _ => Kind::Atom(letter_atom(greek(name)?)),
    })
}

fn greek(name: &str) -> Option<char> {
    Some(match name {
        "alpha" => 'α',
        "beta" => 'β',
        "gamma" => 'γ',
        "delta" => 'δ',
        "epsilon" | "varepsilon" => 'ε',
        "zeta" => 'ζ',
        "eta" => 'η',
        "theta" | "vartheta" => 'θ',
        "kappa" => 'κ',
        "lambda" => 'λ',
        "mu" => 'μ',
        "nu" => 'ν',
        "xi" => 'ξ',
        "rho" => 'ρ',
        "sigma" => 'σ',
        "tau" => 'τ',
        "phi" | "varphi" => 'φ',
        "chi" => 'χ',
        "psi" => 'ψ',
        "omega" => 'ω',
        "Gamma" => 'Γ',
        "Delta" => 'Δ',
        "Theta" => 'Θ',
        "Lambda" => 'Λ',
        "Sigma" => 'Σ',
        "Phi" => 'Φ',
        "Psi" => 'Ψ',
        "Omega" => 'Ω',
        "ell" => 'ℓ',
        _ => return None,
    })
}

/// The place of the brace that closes a group, in the text after its opening one.
pub(crate) fn group_end(inner: &str) -> Option<usize> {
    let mut depth = 0_u32;
    let mut escaped = false;
    for (at, byte) in inner.bytes().enumerate() {
        match byte {
            b'\\' => escaped = !escaped,
            _ if escaped => escaped = false,
            b'{' => depth += 1,
            b'}' if depth == 0 => return Some(at),
            b'}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Commands whose argument is text.
pub(crate) fn is_text(name: &str) -> bool {
    matches!(
        name,
        "text"
            | "textbf"
            | "textit"
            | "textrm"
            | "textnormal"
            | "textsf"
            | "textup"
            | "texttt"
            | "mathrm"
            | "mbox"
            | "hbox"
            | "operatorname"
            | "mathop"
            | "emph"
    )
}

/// Commands that change only how something looks.
pub(crate) fn is_layout(name: &str) -> bool {
    matches!(
        name,
        "mathbf"
            | "boldsymbol"
            | "bm"
            | "mathit"
            | "mathsf"
            | "mathcal"
            | "mathscr"
            | "displaystyle"
            | "textstyle"
            | "scriptstyle"
            | "big"
            | "Big"
            | "bigg"
            | "Bigg"
            | "bigl"
            | "bigr"
            | "Bigl"
            | "Bigr"
            | "biggl"
            | "biggr"
            | "quad"
            | "qquad"
            | "limits"
            | "bf"
            | "rm"
            | "it"
            | "vec"
            | "overrightarrow"
            | "angle"
            | "measuredangle"
            | "triangle"
            | "underline"
            | "boxed"
            | "fbox"
            | "left"
            | "right"
            | "middle"
            | "nobreak"
            | "space"
            | "thinspace"
            | "therefore"
            | "ldotp"
            | "checkmark"
            | "framebox"
            | "tiny"
            | "small"
            | "normalsize"
            | "large"
            | "Large"
            | "LARGE"
            | "huge"
            | "Huge"
    )
}

/// Commands of layout that may stand before a whole answer in braces.
pub(crate) fn is_dress(name: &str) -> bool {
    matches!(
        name,
        "mathbf"
            | "boldsymbol"
            | "bm"
            | "large"
            | "Large"
            | "LARGE"
            | "color"
            | "textcolor"
            | "colorbox"
    )
}

/// Whether a backslash before this name begins a command that answers hold.
pub(crate) fn is_command(name: &str) -> bool {
    name.len() > 1
        && (is_text(name)
            || is_layout(name)
            || matches!(name, "begin" | "end" | "mathbb")
            || command_kind(name).is_some()
            || (name != "or" && name != "and" && named(name).is_some()))
}

pub(crate) fn environment(name: &str) -> Option<Environment> {
    Some(match name.trim_end_matches('*') {
        "pmatrix" | "bmatrix" | "matrix" | "smallmatrix" | "array" | "Bmatrix" => {
            Environment::Matrix
        }
        "vmatrix" => Environment::Determinant,
        "cases" | "aligned" | "align" | "gathered" | "gather" | "split" => Environment::Rows,
        _ => return None,
    })
}

/// `^{\text{th}}` and its kin.
pub(crate) fn ordinal_length(rest: &str) -> Option<usize> {
    let inner = rest.strip_prefix("^{")?;
    let inner = ["\\text{", "\\mathrm{", "\\textnormal{", ""]
        .into_iter()
        .find_map(|start| inner.strip_prefix(start))?;
    let after =
        ["st", "nd", "rd", "th"].into_iter().find_map(|ending| inner.strip_prefix(ending))?;
    let end = after.trim_start_matches('}');
    (end.len() < after.len()).then(|| rest.len() - end.len())
}

/// The length of `[2mm]` after the end of a row.
pub(crate) fn row_space(rest: &str) -> usize {
    let Some(inner) = rest.strip_prefix('[') else { return 0 };
    let Some(end) = inner.find(']') else { return 0 };
    let length = &inner[..end];
    let unit = length.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    if matches!(unit, "mm" | "cm" | "pt" | "ex" | "em") { end + 2 } else { 0 }
}
