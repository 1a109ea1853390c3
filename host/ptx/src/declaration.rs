//! The parser's part for variables, parameters and numbers.

use crate::error::{ParseProblem, ParseResult};
use crate::limits::DATA_BYTES_MAX;
use crate::operand::{Space, Type};
use crate::syntax::{PtxParser, Variable};
use crate::token::TokenKind;

impl<'a> PtxParser<'a> {
    pub(crate) fn kind(&mut self) -> ParseResult<Type> {
        match self.peek() {
            Some(TokenKind::Word(word)) if word.starts_with('.') => match Type::parse(&word[1..]) {
                Some(kind) => {
                    self.at += 1;
                    Ok(kind)
                }
                None => Err(self.fault(ParseProblem::Unsupported("this type".into()))),
            },
            _ => self.syntax("a type was expected"),
        }
    }

    pub(crate) fn number(&mut self) -> ParseResult<u64> {
        let Some(TokenKind::Word(word)) = self.peek() else {
            return self.syntax("a number was expected");
        };
        match integer(word) {
            Some(number) => {
                self.at += 1;
                Ok(number)
            }
            None => self.syntax("a number was expected"),
        }
    }

    pub(crate) fn signed(&mut self) -> ParseResult<u64> {
        if self.takes('-') { Ok(self.number()?.wrapping_neg()) } else { self.number() }
    }

    pub(crate) fn params(&mut self) -> ParseResult<Vec<Variable<'a>>> {
        let mut params = Vec::new();
        self.expect('(')?;
        while !self.takes(')') {
            if self.peek() != Some(TokenKind::Word(".param")) {
                return Err(self.fault(ParseProblem::Unsupported("parameters in registers".into())));
            }
            self.at += 1;
            let (kind, align) = self.type_and_align()?;
            params.push(self.variable(Space::Param, kind, align)?);
            if !self.takes(',') && self.peek() != Some(TokenKind::Mark(')')) {
                return self.syntax("a comma was expected");
            }
        }
        Ok(params)
    }

    pub(crate) fn variables(&mut self) -> ParseResult<Vec<Variable<'a>>> {
        let space = match self.word()? {
            ".global" => Space::Global,
            ".const" => Space::Constant,
            ".shared" => Space::Shared,
            ".local" => Space::Local,
            _ => Space::Param,
        };
        let (kind, align) = self.type_and_align()?;
        let mut variables = Vec::new();
        loop {
            variables.push(self.variable(space, kind, align)?);
            if !self.takes(',') {
                self.expect(';')?;
                return Ok(variables);
            }
        }
    }

    /// In any order: `.align n`, the type; then `.ptr .space .align n`, of what a pointer leads to.
    fn type_and_align(&mut self) -> ParseResult<(Type, u64)> {
        let (mut kind, mut align, mut leads) = (None, None, false);
        while let Some(TokenKind::Word(word)) = self.peek() {
            if self.takes_word(".align") {
                let number = self.number()?;
                if !number.is_power_of_two() || number > 128 {
                    return self.syntax("an alignment is a power of two, up to 128");
                }
                if !leads {
                    align = Some(number);
                }
            } else if matches!(word, ".ptr" | ".global" | ".const" | ".shared" | ".local")
                && kind.is_some()
            {
                leads |= word == ".ptr";
                self.at += 1;
            } else if word.starts_with('.') && kind.is_none() {
                kind = Some(self.kind()?);
            } else {
                break;
            }
        }
        match kind {
            Some(kind) if kind != Type::PREDICATE => Ok((kind, align.unwrap_or(kind.bytes()))),
            _ => self.syntax("a type with a size was expected"),
        }
    }

    fn variable(&mut self, space: Space, kind: Type, align: u64) -> ParseResult<Variable<'a>> {
        let line = self.line();
        let name = self.word()?;
        let mut bytes = kind.bytes();
        let mut open = false;
        while self.takes('[') {
            if self.takes(']') {
                open = true;
                continue;
            }
            let count = self.number()?;
            bytes = bytes.saturating_mul(count);
            self.expect(']')?;
        }
        if bytes > DATA_BYTES_MAX {
            return Err(self.fault(ParseProblem::Limit("bytes", DATA_BYTES_MAX)));
        }
        let mut data = Vec::new();
        if self.takes('=') {
            self.initialiser(kind, &mut data)?;
        }
        if open && space == Space::Shared {
            bytes = 0;
        } else if open {
            return Err(self.fault(ParseProblem::Unsupported("arrays without a size".into())));
        }
        if data.len() as u64 > bytes {
            return self.syntax("more initial values than elements");
        }
        Ok(Variable { line, space, name, align, bytes, open, data })
    }

    /// Nested braces are flattened: NVRTC writes flat ones.
    fn initialiser(&mut self, kind: Type, data: &mut Vec<u8>) -> ParseResult<()> {
        let list = self.takes('{');
        loop {
            let negative = self.takes('-');
            let Some(TokenKind::Word(word)) = self.peek() else {
                return self.syntax("a value was expected");
            };
            let Some(value) = literal(word, negative, kind) else {
                return Err(self.fault(ParseProblem::Unsupported("this initial value".into())));
            };
            self.at += 1;
            data.extend(&value.to_le_bytes()[..kind.bytes() as usize]);
            if !list {
                return Ok(());
            }
            if !self.takes(',') {
                return self.expect('}');
            }
        }
    }
}

/// Decimal, hexadecimal, octal, binary; with or without the `U` that says unsigned.
pub fn integer(word: &str) -> Option<u64> {
    let digits = word.strip_suffix('U').unwrap_or(word);
    if let Some(digits) = digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        u64::from_str_radix(digits, 16).ok()
    } else if let Some(digits) = digits.strip_prefix("0b").or(digits.strip_prefix("0B")) {
        u64::from_str_radix(digits, 2).ok()
    } else if digits.len() > 1 && digits.starts_with('0') {
        u64::from_str_radix(digits, 8).ok()
    } else if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        digits.parse().ok()
    } else {
        None
    }
}

/// The bits of a literal as a value of `kind`, if it is one.
pub fn literal(word: &str, negative: bool, kind: Type) -> Option<u64> {
    let sign = |bits: u64, top: u32| if negative { bits ^ (1 << top) } else { bits };
    let hex = |digits: &str, count: usize| {
        (digits.len() == count).then(|| u64::from_str_radix(digits, 16).ok())?
    };
    if let Some(digits) = word.strip_prefix("0f").or(word.strip_prefix("0F")) {
        return (kind.width() == 32 && !kind.pair).then(|| Some(sign(hex(digits, 8)?, 31)))?;
    }
    if let Some(digits) = word.strip_prefix("0d").or(word.strip_prefix("0D")) {
        let bits = sign(hex(digits, 16)?, 63);
        // A double literal of a single instruction is converted.
        return match (kind.is_real(), kind.bits) {
            (_, 64) => Some(bits),
            (true, 32) => Some(u64::from((f64::from_bits(bits) as f32).to_bits())),
            _ => None,
        };
    }
    if kind.is_real() {
        let starts = word.starts_with(|letter: char| letter.is_ascii_digit());
        let value: f64 =
            if starts && word.contains('.') { word.parse().ok()? } else { return None };
        let value = if negative { -value } else { value };
        return match kind.bits {
            64 => Some(value.to_bits()),
            32 => Some(u64::from((value as f32).to_bits())),
            _ => None,
        };
    }
    let value = integer(word)?;
    let value = if negative { value.wrapping_neg() } else { value };
    Some(value & crate::operand::mask(kind.width()))
}
