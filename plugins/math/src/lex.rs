//! Cuts an answer into tokens: LaTeX as models write it, and plain text; Unicode signs are folded before
//! ([`crate::fold`]). Layout (`\left`, `\displaystyle`, spaces, `$`) is dropped here.

use crate::kind::{Join, Kind};
use crate::limits;
use crate::names::{
    WORDS, command_kind, command_name, degree_length, environment, group_end, is_layout, is_text,
    letter_atom, named, number_set, ordinal_length, row_space, sign,
};
use crate::number::{CommaReading, Commas, Number, read, read_based, read_digit};
use crate::polynomial::Atom;
use crate::units::{self, is_unit_symbol};
use crate::unreadable::{Result, Unreadable};

#[derive(Debug, Clone)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind<'a>,
    pub(crate) start: usize,
    /// White space stands before it.
    pub(crate) spaced: bool,
}

pub(crate) fn tokens(text: &str, commas: CommaReading) -> Result<Vec<Token<'_>>> {
    if text.len() > limits::ANSWER_BYTES_MAX {
        return Err(Unreadable("too long"));
    }
    let mut lexer = Lexer { text, at: 0, spaced: false, brackets: 0, commas, tokens: Vec::new() };
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
    commas: CommaReading,
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
            '0'..='9' => return self.number(),
            '.' if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => return self.number(),
            '(' if rest[1..].starts_with(|c: char| c.is_ascii_alphanumeric()) => {
                if let Some(number) = read_based(rest) {
                    self.push_number(number);
                    return Ok(());
                }
            }
            '\\' => return self.command(),
            c if c.is_ascii_alphabetic() => return self.word(),
            '^' => {
                if let Some(length) = degree_length(rest) {
                    self.push(Kind::Word("°"), length);
                    return Ok(());
                }
                if let Some(length) = ordinal_length(rest) {
                    self.skip(length);
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
            '\'' => {
                self.prime();
                return Ok(());
            }
            _ => {}
        }
        if c == '*' && rest.starts_with("**") && self.is_bold() {
            self.skip(2);
            return Ok(());
        }
        if let Some((kind, length)) = sign(c, rest) {
            self.push(kind, length);
            return Ok(());
        }
        let length = c.len_utf8();
        match c {
            c if c.is_whitespace() => self.skip(length),
            '~' | '`' | '"' => self.skip(length),
            '.' if rest[1..].trim_matches([' ', '$', '\n']).is_empty() => self.skip(length),
            // `Rs. 500`, `5 sq. ft`.
            '.' if matches!(self.tokens.last(), Some(Token { kind: Kind::Word(_), .. })) => {
                self.skip(length);
            }
            _ => return Err(Unreadable("a sign that is no mathematics")),
        }
        Ok(())
    }

    /// `**5**` is bold, `2**5` a power.
    fn is_bold(&self) -> bool {
        self.tokens.is_empty() || self.rest()[2..].trim().is_empty()
    }

    fn prime(&mut self) {
        if let Some(Token { kind: Kind::Atom(Atom::Symbol(symbol)), .. }) = self.tokens.last_mut()
            && let Some(primed) = symbol.indexed("'")
        {
            *symbol = primed;
        }
        self.at += 1;
    }

    fn push_number(&mut self, number: Number) {
        let Number { value, rounded, length } = number;
        self.push(if rounded { Kind::Decimal(value) } else { Kind::Number(value) }, length);
    }

    fn number(&mut self) -> Result<()> {
        let rest = self.rest();
        if let Some(number) = read_based(rest) {
            self.push_number(number);
            return Ok(());
        }
        let commas = Commas {
            bracketed: self.brackets > 0 || self.commas == CommaReading::Separator,
            decimal: self.commas == CommaReading::Decimal,
        };
        let number = read(rest, commas)?;
        let length = number.length;
        self.push_number(number);
        // `5th` counts, as `5` does; `5st` is a product.
        let last = rest[..length].bytes().next_back();
        let endings: &[&str] = match last {
            Some(b'1') => &["st", "th"],
            Some(b'2') => &["nd", "th"],
            Some(b'3') => &["rd", "th"],
            _ => &["th"],
        };
        let ordinal = endings.iter().any(|ending| {
            rest[length..].strip_prefix(ending).is_some_and(|after| {
                !after.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '^' | '_'))
            })
        });
        self.at += 2 * usize::from(ordinal);
        Ok(())
    }

    fn word(&mut self) -> Result<()> {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let word = &rest[..end];
        if rest.as_bytes()[0].is_ascii_uppercase()
            && let Some(number) = read_based(rest)
        {
            self.push_number(number);
            return Ok(());
        }
        if let Some(kind) = named(word) {
            self.push(kind, end);
            return Ok(());
        }
        let after_number = self.after_number();
        if after_number && matches!(word, "x" | "X") && self.is_times(&rest[1..]) {
            self.push(Kind::Times, 1);
            return Ok(());
        }
        if let Some((kind, length)) = self.glued_join(word) {
            self.push(kind, length);
            return Ok(());
        }
        // `24 men` counts men; a product of three variables stands close behind its number.
        let counted = end == 3 && self.spaced && after_number;
        let plain = !counted && end <= 3 && !self.is_unit(word) && !WORDS.contains(&word);
        let one_case = word.bytes().all(|b| b.is_ascii_lowercase())
            || word.bytes().all(|b| b.is_ascii_uppercase());
        if end > 1 && !(plain && one_case) && (end > 2 || self.is_word_of_two(word)) {
            self.push(Kind::Word(word), end);
            return Ok(());
        }
        for letter in word.chars() {
            self.push(Kind::Atom(letter_atom(letter)), 1);
        }
        Ok(())
    }

    fn after_number(&self) -> bool {
        matches!(self.tokens.last(), Some(Token { kind: Kind::Number(_) | Kind::Decimal(_), .. }))
    }

    /// Whether a word names a unit; in capitals only after a number and a space.
    fn is_unit(&self, word: &str) -> bool {
        units::is_known(word)
            || self.spaced && self.after_number() && units::is_known_in_any_case(word)
    }

    /// Whether two letters that may be a unit or a word of prose stand where one does: behind what they measure, or
    /// among words. In `by + ax`, `\frac{mg}{2}` and `at^2` they are a product.
    fn is_word_of_two(&self, word: &str) -> bool {
        let after = &self.rest()[2..];
        let unit = self.is_unit(word);
        let raised = after.starts_with(['^', '_', '(']);
        let goes_on = raised
            || after.trim_start().starts_with(['+', '-', '*', '/'])
            || command_name(after).is_some_and(|name| !is_text(name));
        let Some(before) = self.tokens.last() else { return !goes_on };
        match before.kind {
            Kind::Separator(_) => !goes_on && !after.trim_start().starts_with([')', ']', '}', ',']),
            // `km/hr`, `5 m/ms`.
            Kind::Times | Kind::Divide => {
                let mut measured = self.tokens.iter().rev().skip(1);
                measured.next().is_some_and(|token| match token.kind {
                    Kind::Word(_) => true,
                    Kind::Atom(Atom::Symbol(symbol)) => token.spaced && is_unit_symbol(symbol),
                    // `\$15/hr`.
                    Kind::Number(_) | Kind::Decimal(_) => {
                        unit && matches!(measured.next(), Some(Token { kind: Kind::Currency, .. }))
                    }
                    _ => false,
                })
            }
            Kind::Number(_)
            | Kind::Decimal(_)
            | Kind::Atom(_)
            | Kind::Word(_)
            | Kind::Close(_)
            | Kind::Bang
            | Kind::Percent
            | Kind::Currency
            | Kind::Scale(_)
            | Kind::Infinity
            | Kind::Reals => {
                let spaced = self.spaced && !self.ends_in_command();
                if unit && (self.adds(word) || !units::may_end(word, after, spaced)) {
                    return false;
                }
                match spaced {
                    true => unit || !raised,
                    // `5kg` and `5 \pi cm` are measured; `2mg`, `2\pi ft` and `3Ce^x` are products.
                    false => {
                        let prose =
                            WORDS.contains(&word) || word.as_bytes()[0].is_ascii_uppercase();
                        !after.starts_with(['_', '('])
                            && !matches!(word, "mg" | "ms" | "ft" | "in")
                            && (unit || !prose)
                    }
                }
            }
            _ => false,
        }
    }

    /// Whether two letters end a sum of products, as in `2bh+2hl+2lb`.
    fn adds(&self, word: &str) -> bool {
        !self.spaced
            && !units::is_length(word)
            && matches!(
                self.tokens.as_slice(),
                [.., Token { kind: Kind::Atom(Atom::Symbol(_)), .. }, sign, number]
                    if matches!(sign.kind, Kind::Plus | Kind::Minus)
                        && matches!(number.kind, Kind::Number(_))
            )
    }

    /// Whether a command such as `\pi` stands before, so that the white space after it only ends its name.
    fn ends_in_command(&self) -> bool {
        let before = self.text[..self.at].trim_end();
        let name = before.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        name.len() < before.len() && name.ends_with('\\')
    }

    /// `3 x 4` and `1.2x10^6` multiply.
    fn is_times(&self, after: &str) -> bool {
        let factor = after.trim_start();
        let spaced = self.spaced && factor.len() < after.len();
        (spaced && factor.starts_with(|c: char| c.is_ascii_digit())) || factor.starts_with("10^")
    }

    /// `(1,2)or(2,1)`, `x=1orx=2`: a word that joins without spaces.
    fn glued_join(&self, word: &str) -> Option<(Kind<'static>, usize)> {
        let behind = matches!(self.tokens.last()?.kind, Kind::Number(_) | Kind::Close(_));
        if self.spaced || !behind {
            return None;
        }
        let joins = [("or", Join::Or), ("and", Join::And)];
        let (name, join) = joins.into_iter().find(|(name, _)| {
            word.strip_prefix(name).is_some_and(|variable| variable.len() == 1)
        })?;
        Some((Kind::Separator(join), name.len()))
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
        // `9.8 \frac{\text{m}}{\text{s}^2}`
        if name == "frac"
            && self.after_number()
            && let Some(end) = units::fraction_length(&rest[length..])
        {
            let end = length + end;
            self.push(Kind::Word(&rest[..end]), end);
            return Ok(());
        }
        if let Some(kind) = named(name).or_else(|| command_kind(name)) {
            let digits = match kind {
                Kind::Fraction | Kind::Binomial => 2,
                _ => 0,
            };
            self.push(kind, length);
            return self.single_digits(digits);
        }
        match name {
            name if is_text(name) => self.text_group(length),
            "begin" | "end" => self.environment(name, length),
            "left" | "right" | "middle" => {
                self.skip(length + usize::from(rest[length..].starts_with('.')));
                Ok(())
            }
            "mathbb" => self.number_set(length),
            // Beside `\pm` its sign is the other one.
            "mp" if !self.text.contains("\\pm") => {
                self.push(Kind::PlusMinus, length);
                Ok(())
            }
            "phantom" | "hspace" | "vspace" | "label" | "tag" | "color" | "textcolor"
            | "colorbox" => {
                let group = rest[length..].strip_prefix('{').and_then(|inner| inner.find('}'));
                self.skip(length + group.map_or(0, |end| end + 2));
                Ok(())
            }
            name if is_layout(name) => {
                self.skip(length);
                Ok(())
            }
            // `\quadx` is a space and a variable.
            name if name.starts_with("quad") => {
                self.skip("\\quad".len());
                Ok(())
            }
            _ => Err(Unreadable("an unknown command")),
        }
    }

    fn environment(&mut self, name: &str, length: usize) -> Result<()> {
        let rest = self.rest();
        let inner = rest[length..].strip_prefix('{');
        let close = inner.and_then(|inner| inner.find('}'));
        let (Some(inner), Some(close)) = (inner, close) else {
            return Err(Unreadable("an environment without a name"));
        };
        let end = length + close + 2;
        let kind = environment(&inner[..close]).ok_or(Unreadable("an unknown environment"))?;
        let columns = rest[end..].starts_with('{') && &inner[..close] == "array" && name == "begin";
        let columns = columns.then(|| rest[end..].find('}')).flatten();
        let kind = if name == "begin" { Kind::Begin(kind) } else { Kind::End };
        self.push(kind, end + columns.map_or(0, |at| at + 1));
        Ok(())
    }

    /// `\mathbb{R}` and its kin.
    fn number_set(&mut self, length: usize) -> Result<()> {
        let after = self.rest()[length..].trim_start_matches(['{', ' ']);
        let letter = after.chars().next().filter(char::is_ascii_uppercase);
        let letter = letter.ok_or(Unreadable("an unknown set of numbers"))?;
        let mut end = self.rest().len() - after.len() + 1;
        end += usize::from(self.rest()[length..].starts_with('{') && after[1..].starts_with('}'));
        let (kind, more) = number_set(letter, &self.rest()[end..])
            .ok_or(Unreadable("an unknown set of numbers"))?;
        self.push(kind, end + more);
        Ok(())
    }

    /// A backslash and one sign.
    fn command_sign(&mut self) -> Result<()> {
        let rest = self.rest();
        let Some(c) = rest[1..].chars().next() else {
            return Err(Unreadable("a backslash at the end"));
        };
        let length = 1 + c.len_utf8();
        match c {
            '{' => self.push(Kind::Open('s'), length),
            '}' => self.push(Kind::Close('s'), length),
            '%' => self.push(Kind::Percent, length),
            '$' => self.push(Kind::Currency, length),
            '|' => self.push(Kind::Bar, length),
            '\\' if rest[2..].trim().is_empty() => self.skip(length),
            '\\' => self.push(Kind::Row, length + row_space(&rest[2..])),
            ',' | ';' | ':' | '!' | ' ' | '(' | ')' | '[' | ']' | '\n' | '/' => self.skip(length),
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
            let number = read_digit(digit)?;
            self.push_number(number);
        }
        Ok(())
    }

    fn text_group(&mut self, length: usize) -> Result<()> {
        let rest = self.rest();
        let open = rest[length..].trim_start();
        let inner = open.strip_prefix('{').ok_or(Unreadable("text without braces"))?;
        let end = group_end(inner).ok_or(Unreadable("text without an end"))?;
        let whole_length = rest.len() - inner.len() + end + 1;
        let content = inner[..end].trim();
        // A formula inside a text is read as one.
        let formula = |c: char| c.is_ascii_digit() || matches!(c, '-' | '$' | '\\' | '(');
        if content.starts_with(formula) && content != "\\%" {
            self.skip(length);
            return Ok(());
        }
        let bare = content.trim_matches([',', ' ', '.']);
        let kind = match bare {
            "" => {
                self.skip(whole_length);
                return Ok(());
            }
            "e" => Kind::Atom(Atom::E),
            "i" => Kind::Atom(Atom::I),
            "%" | "\\%" => Kind::Percent,
            ":" => Kind::Colon,
            _ => named(bare).unwrap_or(Kind::Word(content)),
        };
        // `\text{ million people}` counts millions.
        if let Kind::Word(_) = kind
            && let Some((first, counted)) = bare.split_once(' ')
            && let Some(scale @ Kind::Scale(_)) = named(first)
        {
            // The unit's text begins after it.
            let at = rest[..whole_length].rfind(counted).unwrap_or(0);
            self.push(scale, at);
            self.push(Kind::Word(counted.trim_start()), whole_length - at);
            return Ok(());
        }
        // `\text{ dollars and }` joins what follows.
        if let Kind::Word(_) = kind
            && let Some(unit) = bare.strip_suffix(" and")
        {
            let at = rest[..whole_length].rfind(" and").unwrap_or(whole_length);
            self.push(Kind::Word(unit.trim_end()), at);
            self.push(Kind::Separator(Join::And), whole_length - at);
            return Ok(());
        }
        self.push(kind, whole_length);
        Ok(())
    }
}
