//! Cuts an answer into tokens: LaTeX as models write it, and plain text with the usual Unicode
//! signs. Layout (`\left`, `\displaystyle`, spaces, `$`) is dropped here.
//!
//! A comma between a digit and exactly three more is a thousands separator outside brackets, where
//! `(1,234)` is a pair; `{,}`, `\,` and `\!` between digits always are.

use num_bigint::BigInt;
use num_rational::BigRational;

use crate::kind::Kind;
use crate::limits;
use crate::names::{WORDS, command_kind, letter_atom, named, sign, whole};
use crate::polynomial::Atom;
use crate::units;

#[derive(Debug, Clone)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind<'a>,
    pub(crate) start: usize,
    /// White space stands before it.
    pub(crate) spaced: bool,
}

/// The reason why a text is no mathematics, for the author of the label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unreadable(pub(crate) &'static str);

pub(crate) type Result<T> = std::result::Result<T, Unreadable>;

pub(crate) fn tokens(text: &str) -> Result<Vec<Token<'_>>> {
    if text.len() > limits::ANSWER_BYTES_MAX {
        return Err(Unreadable("too long"));
    }
    let mut lexer = Lexer { text, at: 0, spaced: false, brackets: 0, tokens: Vec::new() };
    while lexer.at < text.len() {
        lexer.step()?;
    }
    Ok(lexer.tokens)
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    spaced: bool,
    /// Open brackets other than LaTeX's groups.
    brackets: usize,
    tokens: Vec<Token<'a>>,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn push(&mut self, kind: Kind<'a>, length: usize) {
        match kind {
            Kind::Open('{') | Kind::Close('}') => {}
            Kind::Open(_) => self.brackets += 1,
            Kind::Close(_) => self.brackets = self.brackets.saturating_sub(1),
            _ => {}
        }
        self.tokens.push(Token { kind, start: self.at, spaced: self.spaced });
        self.spaced = false;
        self.at += length;
    }

    fn skip(&mut self, length: usize) {
        self.at += length;
        self.spaced = true;
    }

    fn step(&mut self) -> Result<()> {
        let rest = self.rest();
        let Some(c) = rest.chars().next() else { return Ok(()) };
        match c {
            '0'..='9' => return self.number(false),
            '.' if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => {
                return self.number(false);
            }
            '\\' => return self.command(),
            c if c.is_ascii_alphabetic() => return self.word(),
            '^' => {
                if let Some(length) = degree_length(rest) {
                    self.push(Kind::Word("°"), length);
                    return Ok(());
                }
            }
            '$' => {
                let amount = rest[1..].trim_start_matches(['-', ' ', '.']);
                let prefix = amount.starts_with(|c: char| c.is_ascii_digit());
                let closes = self.text[..self.at].contains('$');
                match prefix && !closes && !rest[1..].contains('$') {
                    true => self.push(Kind::Currency, 1),
                    false => self.skip(1),
                }
                return Ok(());
            }
            _ => {}
        }
        let length = c.len_utf8();
        if let Some(kind) = sign(c, rest) {
            let length =
                if matches!(rest.get(..2), Some("<=" | ">=" | "**" | "==")) { 2 } else { length };
            self.push(kind, length);
            return Ok(());
        }
        match c {
            c if c.is_whitespace() => self.skip(length),
            '~' | '*' | '`' => self.skip(length),
            '.' if rest[1..].trim_start().is_empty() => self.skip(length),
            '²' | '³' => {
                self.push(Kind::Power, 0);
                self.push(whole(if c == '²' { 2 } else { 3 }), length);
            }
            '½' | '¼' | '¾' => {
                let (over, under) =
                    if c == '¾' { (3, 4) } else { (1, if c == '½' { 2 } else { 4 }) };
                self.push(Kind::Fraction, 0);
                self.push(whole(over), 0);
                self.push(whole(under), length);
            }
            _ => return Err(Unreadable("a sign that is no mathematics")),
        }
        Ok(())
    }

    /// Digits with separators, a decimal part, an exponent.
    fn number(&mut self, single: bool) -> Result<()> {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let mut digits = String::new();
        let mut decimals: Option<i64> = None;
        let mut at = 0;
        while at < bytes.len() {
            match bytes[at] {
                digit @ b'0'..=b'9' => {
                    digits.push(digit.into());
                    decimals = decimals.map(|count| count + 1);
                    at += 1;
                }
                _ if single => break,
                b'.' if decimals.is_none() && bytes.get(at + 1).is_some_and(u8::is_ascii_digit) => {
                    decimals = Some(0);
                    at += 1;
                }
                b'.' if decimals.is_none() && at > 0 && rest[at + 1..].trim().is_empty() => {
                    at += 1;
                    break;
                }
                _ => match self
                    .separator_length(&bytes[at..])
                    .filter(|_| decimals.is_none() && at > 0)
                {
                    Some(length) => at += length,
                    None => break,
                },
            }
            if single {
                break;
            }
            if digits.len() > limits::DIGITS_MAX {
                return Err(Unreadable("a number with too many digits"));
            }
        }
        let (exponent, length) = match single {
            true => (None, 0),
            false => exponent(&bytes[at..])?,
        };
        let rounded = decimals.is_some() || exponent.is_some();
        let power = exponent.unwrap_or(0) - decimals.unwrap_or(0);
        let mantissa = match digits.parse::<u64>() {
            Ok(small) => BigInt::from(small),
            Err(_) => digits.parse().map_err(|_| Unreadable("a number without digits"))?,
        };
        let tens = num_traits::pow(BigInt::from(10), power.unsigned_abs() as usize);
        let value = match power < 0 {
            true => BigRational::new(mantissa, tens),
            false => BigRational::from_integer(mantissa * tens),
        };
        self.push(if rounded { Kind::Decimal(value) } else { Kind::Number(value) }, at + length);
        Ok(())
    }

    /// The length of the thousands separator here, if there is one: exactly three digits must follow it.
    fn separator_length(&self, bytes: &[u8]) -> Option<usize> {
        let length = match bytes {
            [b'{', b',', b'}', ..] => 3,
            [b'\\', b',' | b'!' | b' ', ..] => 2,
            [b',', b'\\', b'!', ..] => 3,
            [b',', ..] if self.brackets == 0 => 1,
            _ => return None,
        };
        let group = bytes.get(length..length + 3)?;
        let ends = !bytes.get(length + 3).is_some_and(u8::is_ascii_digit);
        (group.iter().all(u8::is_ascii_digit) && ends).then_some(length)
    }

    fn word(&mut self) -> Result<()> {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let word = &rest[..end];
        if let Some(kind) = named(word) {
            self.push(kind, end);
            return Ok(());
        }
        // `24 men` counts men; a product of three variables stands close behind its number.
        let counted = end == 3
            && self.spaced
            && self
                .tokens
                .last()
                .is_some_and(|token| matches!(token.kind, Kind::Number(_) | Kind::Decimal(_)));
        let plain = !counted && end <= 3 && !units::is_known(word) && !WORDS.contains(&word);
        let one_case = word.bytes().all(|b| b.is_ascii_lowercase())
            || word.bytes().all(|b| b.is_ascii_uppercase());
        if end > 1 && !(plain && one_case) {
            self.push(Kind::Word(word), end);
            return Ok(());
        }
        for letter in word.chars() {
            self.push(Kind::Atom(letter_atom(letter)), 1);
        }
        Ok(())
    }

    fn command(&mut self) -> Result<()> {
        let rest = self.rest();
        let name_length =
            rest[1..].find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len() - 1);
        if name_length == 0 {
            return self.command_sign();
        }
        let name = &rest[1..=name_length];
        let length = 1 + name_length;
        if let Some(kind) = named(name).or_else(|| command_kind(name)) {
            let digits = match kind {
                Kind::Fraction | Kind::Binomial => 2,
                _ => 0,
            };
            self.push(kind, length);
            return self.single_digits(digits);
        }
        match name {
            "text" | "textbf" | "textit" | "textrm" | "mathrm" | "mbox" | "operatorname" => {
                self.text_group(length)
            }
            "begin" | "end" => {
                let group = rest[length..].strip_prefix('{').and_then(|inner| inner.find('}'));
                let end = group.ok_or(Unreadable("an environment without a name"))? + length + 2;
                let array = rest[length..end].starts_with("{array");
                let columns = rest[end..].starts_with('{') && array && name == "begin";
                let columns = columns.then(|| rest[end..].find('}')).flatten();
                let kind = if name == "begin" { Kind::Begin } else { Kind::End };
                self.push(kind, end + columns.map_or(0, |at| at + 1));
                Ok(())
            }
            "left" | "right" => {
                self.skip(length + usize::from(rest[length..].starts_with('.')));
                Ok(())
            }
            "mathbf" | "mathbb" | "boldsymbol" | "mathit" | "displaystyle" | "big" | "Big"
            | "bigl" | "bigr" | "Bigl" | "Bigr" | "quad" | "qquad" | "limits" | "bf" | "rm" => {
                self.skip(length);
                Ok(())
            }
            _ => Err(Unreadable("an unknown command")),
        }
    }

    /// A backslash and one sign.
    fn command_sign(&mut self) -> Result<()> {
        let Some(c) = self.rest()[1..].chars().next() else {
            return Err(Unreadable("a backslash at the end"));
        };
        let length = 1 + c.len_utf8();
        match c {
            '{' => self.push(Kind::Open('s'), length),
            '}' => self.push(Kind::Close('s'), length),
            '%' => self.push(Kind::Percent, length),
            '$' => self.push(Kind::Currency, length),
            '|' => self.push(Kind::Bar, length),
            '\\' => self.push(Kind::Row, length),
            ',' | ';' | ':' | '!' | ' ' | '(' | ')' | '[' | ']' | '\n' => self.skip(length),
            _ => return Err(Unreadable("an unknown command")),
        }
        Ok(())
    }

    /// `\frac12` takes its digits one by one.
    fn single_digits(&mut self, count: usize) -> Result<()> {
        for _ in 0..count {
            let digit = self.rest().trim_start();
            if !digit.starts_with(|c: char| c.is_ascii_digit()) {
                break;
            }
            self.at = self.text.len() - digit.len();
            self.number(true)?;
        }
        Ok(())
    }

    fn text_group(&mut self, length: usize) -> Result<()> {
        let rest = self.rest();
        let open = rest[length..].trim_start();
        let inner = open.strip_prefix('{').ok_or(Unreadable("text without braces"))?;
        let end = inner.find('}').ok_or(Unreadable("text without an end"))?;
        let whole_length = rest.len() - inner.len() + end + 1;
        let content = inner[..end].trim();
        let kind = match content {
            "" => {
                self.skip(whole_length);
                return Ok(());
            }
            "e" => Kind::Atom(Atom::E),
            "i" => Kind::Atom(Atom::I),
            _ => named(content).unwrap_or(Kind::Word(content)),
        };
        self.push(kind, whole_length);
        Ok(())
    }
}

/// `^\circ` and its kin.
fn degree_length(rest: &str) -> Option<usize> {
    ["^\\circ", "^{\\circ}", "^\\degree", "^{\\degree}", "^°", "^{°}"]
        .into_iter()
        .find(|form| rest.starts_with(form))
        .map(str::len)
}

fn exponent(bytes: &[u8]) -> Result<(Option<i64>, usize)> {
    let [b'e' | b'E', after @ ..] = bytes else { return Ok((None, 0)) };
    let signed = usize::from(matches!(after, [b'+' | b'-', ..]));
    let digits = after[signed..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits == 0 {
        return Ok((None, 0));
    }
    let value = after[signed..signed + digits]
        .iter()
        .fold(0_i64, |value, digit| value.saturating_mul(10).saturating_add((digit - b'0').into()));
    if value > limits::DIGITS_MAX as i64 {
        return Err(Unreadable("an exponent that is too large"));
    }
    let value = if matches!(after, [b'-', ..]) { -value } else { value };
    Ok((Some(value), 1 + signed + digits))
}
