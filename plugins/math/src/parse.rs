//! Reads tokens into a [`Value`]: the parser itself and lists. Brackets and matrices are read by
//! [`crate::collections`], relations by [`crate::relate`], scalars by [`crate::measure`], expressions by
//! [`crate::algebra`], all on the same parser.
//!
//! The recursion is bounded by [`limits::DEPTH_MAX`], the chains by [`limits::OPERATIONS_MAX`]; it
//! must never panic, whatever the tokens.

use crate::condition::{ConditionWords, given, separate};
use crate::kind::{Join, Kind};
use crate::lex::{Token, tokens};
use crate::limits;
use crate::modulus;
use crate::moment::Moment;
use crate::names::{command_name, group_end, is_dress, is_text};
use crate::number::CommaReading;
use crate::relate::{is_relation, relate};
use crate::signs::spread;
use crate::unreadable::{Result, Unreadable};
use crate::value::{Name, Value, is_wordy, plain, with_names_that_differ, words_as_value};

/// Reads an answer; words that are no mathematics are a text.
pub(crate) fn parse(text: &str) -> Result<Value> {
    parse_mathematics(text).or_else(|unreadable| {
        if text.len() > limits::ANSWER_BYTES_MAX {
            return Err(unreadable);
        }
        let plain = plain(text);
        if is_wordy(&plain) { Ok(Value::Text(plain)) } else { Err(unreadable) }
    })
}

/// Reads mathematics; a name that cannot be read may stand before its value.
pub(crate) fn parse_mathematics(text: &str) -> Result<Value> {
    parse_all(text).or_else(|unreadable| match value_of_named(text) {
        Some(value) => read(value, CommaReading::ByPlace),
        None => Err(unreadable),
    })
}

/// Reads a text that is mathematics from its first to its last sign.
pub(crate) fn parse_all(text: &str) -> Result<Value> {
    let text = undressed(text);
    let bare = text.trim().trim_matches('$').trim_end_matches('.').trim();
    let inner = text_content(bare);
    let bare = inner.unwrap_or(bare);
    if let Some(moment) = Moment::read(bare) {
        return Ok(Value::Moment(moment));
    }
    if let Some(value) = words_as_value(bare) {
        return Ok(value);
    }
    // `\text{80 miles}` says what `80 miles` does; words alone stay a text.
    match inner.filter(|inner| inner.contains(|c: char| c.is_ascii_digit() || c == ',')) {
        Some(inner) => {
            read(inner, CommaReading::ByPlace).or_else(|_| read(text, CommaReading::ByPlace))
        }
        None => read(text, CommaReading::ByPlace),
    }
}

/// A text without the bold face, the size and the color of the whole: `x = 5` of `\boldsymbol{x = 5}`.
fn undressed(text: &str) -> &str {
    let mut bare = text;
    // Each turn reads the rest once more, and what is too long is no answer either way.
    if text.len() > limits::ANSWER_BYTES_MAX {
        return bare;
    }
    loop {
        let inner = bare.trim().trim_matches('$').trim();
        let Some(name) = command_name(inner).filter(|name| is_dress(name)) else { return bare };
        let mut rest = &inner[1 + name.len()..];
        if name.ends_with("color") || name == "colorbox" {
            let color = rest.strip_prefix('{').and_then(|rest| rest.split_once('}'));
            let Some((_, after)) = color else { return bare };
            rest = after;
        }
        let Some(group) = rest.trim_start().strip_prefix('{') else { return bare };
        match group_end(group) {
            Some(end) if end + 1 == group.len() => bare = &group[..end],
            _ => return bare,
        }
    }
}

/// The content of a text that is one command for text.
fn text_content(text: &str) -> Option<&str> {
    let (name, rest) = text.strip_prefix('\\')?.split_once('{')?;
    let inner = rest.strip_suffix('}').filter(|inner| !inner.contains(['{', '}']))?;
    is_text(name).then_some(inner)
}

/// The same with the comma between its digits as a decimal mark, where it has one such comma.
pub(crate) fn parse_decimal_comma(text: &str) -> Option<Value> {
    let bytes = text.as_bytes();
    let mut commas = (0..bytes.len()).filter(|&at| bytes[at] == b',');
    let (at, None) = (commas.next()?, commas.next()) else { return None };
    let digit = |at: Option<&u8>| at.is_some_and(u8::is_ascii_digit);
    let between = at > 0 && digit(bytes.get(at - 1)) && digit(bytes.get(at + 1));
    let value = between.then(|| read(text, CommaReading::Decimal).ok())??;
    matches!(value, Value::Scalar(_) | Value::Equation { .. }).then_some(value)
}

/// The same with every comma between its members, where it is a list so.
pub(crate) fn parse_separated(text: &str) -> Option<Value> {
    // `1,000` is no list.
    let padded = |after: &str| {
        after.starts_with('0') && after[1..].starts_with(|c: char| c.is_ascii_digit())
    };
    let listed = text.contains(',') && !text.split(',').skip(1).any(padded);
    let value = listed.then(|| read(text, CommaReading::Separator).ok())??;
    matches!(value, Value::Set(_)).then_some(value)
}

fn read(text: &str, commas: CommaReading) -> Result<Value> {
    match modulus::split(text) {
        Some((value, modulus)) => modulus::with_modulus(read_value(value, commas)?, modulus),
        None => read_value(text, commas),
    }
}

fn read_value(text: &str, commas: CommaReading) -> Result<Value> {
    let tokens = tokens(text, commas)?;
    let given = ConditionWords::before_condition(&tokens).and_then(|words| {
        let value =
            read_tokens(&text[..tokens[words.start()].start], tokens[..words.start()].to_vec());
        let mut conditions = parser(text, tokens[words.condition()].to_vec());
        let (items, _) = conditions.items().ok().filter(|_| conditions.peek().is_none())?;
        words.given(value.ok()?, items)
    });
    given.map_or_else(|| read_tokens(text, tokens), Ok)
}

fn parser<'a>(text: &'a str, tokens: Vec<Token<'a>>) -> Parser<'a> {
    let listed = listed(&tokens);
    Parser {
        text,
        tokens,
        listed,
        at: 0,
        depth: 0,
        operations: 0,
        inside_bars: false,
        degrees: Degrees::Dropped { any: false },
    }
}

fn read_tokens(text: &str, tokens: Vec<Token>) -> Result<Value> {
    let mut parser = parser(text, tokens);
    let value = parser.answer()?;
    match parser.peek() {
        None => Ok(value),
        Some(_) => Err(Unreadable("more after a complete answer")),
    }
}

/// The text after the last `=` outside all brackets, where a name that cannot be read stands before it: `5` in
/// `\text{Area of } ABC = 5`.
fn value_of_named(text: &str) -> Option<&str> {
    if text.len() > limits::ANSWER_BYTES_MAX {
        return None;
    }
    let bytes = text.as_bytes();
    let (mut depth, mut last) = (0_i32, None);
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            b'=' if depth == 0
                && at > 0
                && !matches!(bytes[at - 1], b'<' | b'>' | b'!' | b'=' | b'\\')
                && bytes.get(at + 1) != Some(&b'=') =>
            {
                last = Some(at);
            }
            b',' | b';' | b'+' | b'*' | b'/' | b'^' if depth == 0 && last.is_none() => return None,
            b',' | b';' if depth == 0 => return None,
            _ => {}
        }
        if depth < 0 {
            return None;
        }
    }
    let (name, value) = text.split_at(last.filter(|_| depth == 0)?);
    let name = name.trim_matches([' ', '$']);
    let names = name.starts_with(|c: char| c.is_alphabetic() || c == '\\')
        || name.chars().filter(|c| c.is_alphabetic()).count() > 1;
    let ends = name.ends_with(|c: char| c.is_alphanumeric() || matches!(c, ')' | '}' | '\'' | '|'));
    let relation = ["<", ">", "\\le", "\\ge", "\\ne"].into_iter().any(|sign| name.contains(sign));
    (names && ends && !relation).then(|| &value[1..])
}

/// Tells for each opening bracket whether a separator is directly inside it.
fn listed(tokens: &[Token]) -> Vec<bool> {
    let mut listed = vec![false; tokens.len()];
    let mut open = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            Kind::Open(_) => open.push(at),
            Kind::Close(_) => {
                open.pop();
            }
            Kind::Separator(_) => {
                if let Some(&opened) = open.last() {
                    listed[opened] = true;
                }
            }
            _ => {}
        }
    }
    listed
}

pub(crate) struct Parser<'a> {
    pub(crate) text: &'a str,
    pub(crate) tokens: Vec<Token<'a>>,
    listed: Vec<bool>,
    /// The next token.
    pub(crate) at: usize,
    depth: usize,
    operations: usize,
    /// True between the bars of an absolute value, where the next bar closes it.
    pub(crate) inside_bars: bool,
    pub(crate) degrees: Degrees,
}

/// The meaning of a degree sign inside an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Degrees {
    /// It measures the whole, as in `90^\circ - \alpha`; whether there was one.
    Dropped { any: bool },
    /// In the argument of a sine it is the number pi/180.
    Number,
}

impl<'a> Parser<'a> {
    pub(crate) fn peek(&self) -> Option<&Kind<'a>> {
        self.peek_at(0)
    }

    pub(crate) fn peek_at(&self, ahead: usize) -> Option<&Kind<'a>> {
        self.tokens.get(self.at + ahead).map(|token| &token.kind)
    }

    pub(crate) fn is_spaced(&self) -> bool {
        self.tokens.get(self.at).is_some_and(|token| token.spaced)
    }

    pub(crate) fn is_listed(&self) -> bool {
        self.listed.get(self.at).copied().unwrap_or(false)
    }

    pub(crate) fn next(&mut self) -> Option<Kind<'a>> {
        let kind = self.tokens.get(self.at)?.kind.clone();
        self.at += 1;
        Some(kind)
    }

    pub(crate) fn eat(&mut self, kind: &Kind) -> bool {
        let found = self.peek() == Some(kind);
        self.at += usize::from(found);
        found
    }

    pub(crate) fn expect(&mut self, kind: &Kind) -> Result<()> {
        if self.eat(kind) { Ok(()) } else { Err(Unreadable("something is not closed")) }
    }

    /// Takes a token out, which may be no bracket of a list.
    pub(crate) fn remove(&mut self, at: usize) {
        self.tokens.remove(at);
        self.listed.remove(at);
    }

    /// Counts an operator or factor.
    pub(crate) fn operate(&mut self) -> Result<()> {
        self.operations += 1;
        if self.operations > limits::OPERATIONS_MAX {
            return Err(Unreadable("too long an expression"));
        }
        Ok(())
    }

    /// Goes one level deeper for the time of `read`.
    pub(crate) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= limits::DEPTH_MAX {
            return Err(Unreadable("nested too deep"));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn answer(&mut self) -> Result<Value> {
        let mut groups = vec![Vec::new()];
        loop {
            let (items, more) = self.items()?;
            let mut items = spread(items);
            match groups.last_mut() {
                Some(group) => group.append(&mut items),
                None => groups.push(items),
            }
            if !more {
                break;
            }
            groups.push(Vec::new());
        }
        Ok(gather(groups))
    }

    /// The members of a list, up to its end or, where a comma separates them too, to a semicolon: then the
    /// second part is true.
    pub(crate) fn items(&mut self) -> Result<(Vec<Value>, bool)> {
        let mut items = Vec::new();
        let mut joins = Vec::new();
        let mut inequalities = true;
        loop {
            let (item, inequality) = self.deeper(Self::item)?;
            inequalities &= inequality;
            items.push(item);
            let Some(Kind::Separator(join)) = self.peek() else { break };
            let join = *join;
            if join == Join::Semicolon && joins.contains(&Join::Comma) {
                self.at += 1;
                return Ok((items, true));
            }
            self.at += 1;
            joins.push(join);
            // `1, and 2` is one separator; `1, 2,` ends in one.
            if let Some(Kind::Separator(join)) = self.peek() {
                joins.push(*join);
                self.at += 1;
            }
            if self.peek().is_none() && join != Join::Comma {
                return Err(Unreadable("a list that does not end"));
            }
            if self.peek().is_none() {
                break;
            }
        }
        let either = !joins.is_empty() && joins.iter().all(|join| *join == Join::Or);
        if either && (inequalities || items.iter().all(Value::is_unbounded)) {
            let parts = with_names_that_differ(spread(items));
            return Ok((vec![Value::Union(parts)], false));
        }
        Ok((items, false))
    }

    /// Sides and the relations between them, and whether it is an inequality.
    pub(crate) fn item(&mut self) -> Result<(Value, bool)> {
        let words = self.skip_words_before_value();
        let mut sides = vec![self.ratio()?];
        let mut relations = Vec::new();
        while let Some(kind) = self.peek().filter(|kind| is_relation(kind)) {
            relations.push(kind.clone());
            self.at += 1;
            self.operate()?;
            sides.push(self.ratio()?);
        }
        let inequality = relations
            .iter()
            .any(|relation| !matches!(relation, Kind::Equal | Kind::Approximately | Kind::In));
        let value = relate(sides, &relations)?;
        Ok(match (words, value) {
            (None, value)
            | (_, value @ (Value::Equation { .. } | Value::Chain { .. } | Value::Named { .. })) => {
                (value, inequality)
            }
            (Some(words), value) => {
                (Value::Named { name: Name::Words(words), value: Box::new(value) }, inequality)
            }
        })
    }

    /// `\text{Area} = 5` is 5, and so are `= 5` and `approximately 5`. Gives the words that name the value.
    fn skip_words_before_value(&mut self) -> Option<String> {
        let words = self.tokens[self.at..]
            .iter()
            .take_while(|token| matches!(token.kind, Kind::Word(_)))
            .count();
        if words > 0 && matches!(self.peek_at(words), Some(Kind::Equal | Kind::Approximately)) {
            let name =
                self.tokens[self.at..self.at + words].iter().filter_map(|token| match token.kind {
                    Kind::Word(word) => Some(plain(word)),
                    _ => None,
                });
            let name = name.collect();
            self.at += words + 1;
            return Some(name);
        } else if matches!(self.peek(), Some(Kind::Equal | Kind::Approximately))
            && self.at == 0
            && self.tokens.len() > 1
        {
            self.at += 1;
        } else if let Some(Kind::Word(word)) = self.peek() {
            let before_number = matches!(
                self.peek_at(1),
                Some(Kind::Number(_) | Kind::Decimal(_) | Kind::Currency | Kind::Fraction)
            );
            let vague =
                ["about", "approximately", "approx", "roughly", "exactly", "USD", "EUR", "Rs"];
            self.at += usize::from(before_number && vague.contains(&word.trim_end_matches('.')));
        }
        None
    }

    /// A side, or a ratio of sides: `3 : 4`.
    fn ratio(&mut self) -> Result<Value> {
        let first = self.side()?;
        if self.peek() != Some(&Kind::Colon) {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.eat(&Kind::Colon) {
            self.operate()?;
            parts.push(self.side()?);
        }
        let parts = parts.into_iter().map(|part| match part {
            Value::Scalar(scalar) => Ok(scalar.expression),
            _ => Err(Unreadable("a ratio of what is no number")),
        });
        Ok(Value::Ratio(parts.collect::<Result<_>>()?))
    }
}

/// One value of the lists between semicolons: `x=1, y=2; x=3, y=4` are two points.
fn gather(mut groups: Vec<Vec<Value>>) -> Value {
    if groups.len() > 1 {
        let points = groups.into_iter().map(|group| match group.len() {
            1 => group.into_iter().map(Value::unnamed).collect(),
            _ => vec![Value::Sequence { open: '(', close: ')', items: group }],
        });
        return Value::Set(points.flatten().collect());
    }
    let (items, conditions) = separate(groups.pop().unwrap_or_default());
    let mut items = with_names_that_differ(items);
    let value = match items.len() {
        1 => items.remove(0),
        _ => Value::Set(items),
    };
    given(value, conditions)
}
