//! `printf` on the device: what the C library does with a format, over arguments in a thread's memory.

use crate::error::FaultKind;
use crate::launch::block::BlockContext;
use crate::launch::warp::Warp;
use crate::limits::{PRINTED_BYTES_MAX, PRINTED_STRING_BYTES_MAX, PRINTED_WIDTH_MAX};
use crate::memory::Need;
use crate::operand::{MemoryOperand, Operand, Space, sign_extend};
use crate::program::PrintCall;

/// One conversion of a format: `%-8.3f`.
#[derive(Debug, Default, Clone, Copy)]
struct PrintDirective {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zeros: bool,
    width: usize,
    precision: Option<usize>,
    wide: bool,
    /// The bits of `hh` and `h`.
    short: Option<u32>,
    letter: u8,
}

impl Warp {
    /// Prints; gives the bytes that were read and written, which is what it costs.
    pub(crate) fn print(
        &mut self,
        context: &mut BlockContext<'_>,
        shared: &mut [u8],
        call: PrintCall,
        lane: usize,
    ) -> Result<u64, FaultKind> {
        let mut reader =
            ArgumentReader { warp: self, context, shared, lane, next: 0, count: 0, cost: 0 };
        let format = reader.number((Space::Local, call.format), 8)?;
        reader.next = reader.number((Space::Local, call.arguments), 8)?;
        let format = reader.string(format)?;
        let text = reader.formatted(&format)?;
        let (count, cost) = (reader.count, reader.cost + text.len() as u64);
        context.memory.printed.push(&text);
        if let Some(result) = call.result {
            let place = (Space::Local, result);
            let bytes = self.view(context, shared, place, 4, lane, Need::Write)?;
            bytes.copy_from_slice(&u32::to_le_bytes(count));
        }
        Ok(cost)
    }
}

struct FormatText<'f> {
    rest: &'f [u8],
}

impl FormatText<'_> {
    fn next(&mut self) -> Option<u8> {
        let (byte, after) = self.rest.split_first()?;
        self.rest = after;
        Some(*byte)
    }

    fn take(&mut self, accepted: &[u8]) -> Option<u8> {
        self.rest.first().filter(|byte| accepted.contains(byte))?;
        self.next()
    }
}

struct ArgumentReader<'r, 'c> {
    warp: &'r mut Warp,
    context: &'r mut BlockContext<'c>,
    shared: &'r mut [u8],
    lane: usize,
    /// The generic address of the next argument.
    next: u64,
    count: u32,
    cost: u64,
}

impl ArgumentReader<'_, '_> {
    fn number(&mut self, place: (Space, u64), bytes: u64) -> Result<u64, FaultKind> {
        let (context, shared) = (&mut *self.context, &mut *self.shared);
        let found = self.warp.view(context, shared, place, bytes, self.lane, Need::Read)?;
        Ok(crate::launch::access::number(found))
    }

    fn at(&self, address: u64) -> (Space, u64) {
        let base = Operand::Immediate(address);
        let operand = MemoryOperand { space: Space::Generic, base, offset: 0 };
        self.warp.place(self.context, operand, self.lane)
    }

    fn argument(&mut self, bytes: u64) -> Result<u64, FaultKind> {
        let address = self.next.checked_next_multiple_of(bytes).unwrap_or(0);
        self.next = address.wrapping_add(bytes);
        self.count += 1;
        let place = self.at(address);
        self.number(place, bytes)
    }

    /// Up to its NUL. A string that is too long is cut.
    fn string(&mut self, address: u64) -> Result<Vec<u8>, FaultKind> {
        let mut text = Vec::new();
        while text.len() < PRINTED_STRING_BYTES_MAX {
            let place = self.at(address.wrapping_add(text.len() as u64));
            match self.number(place, 1)? as u8 {
                0 => break,
                byte => text.push(byte),
            }
        }
        self.cost += text.len() as u64;
        Ok(text)
    }

    fn formatted(&mut self, format: &[u8]) -> Result<Vec<u8>, FaultKind> {
        let mut text = Vec::new();
        let mut format = FormatText { rest: format };
        while let Some(byte) = format.next().filter(|_| text.len() < PRINTED_BYTES_MAX) {
            if byte != b'%' {
                text.push(byte);
                continue;
            }
            let directive = self.directive(&mut format)?;
            match directive.letter {
                0 => break,
                b'%' => text.push(b'%'),
                _ => text.extend(self.converted(directive)?),
            }
        }
        Ok(text)
    }

    fn directive(&mut self, format: &mut FormatText<'_>) -> Result<PrintDirective, FaultKind> {
        let mut directive = PrintDirective::default();
        while let Some(flag) = format.take(b"-+ #0") {
            match flag {
                b'-' => directive.left = true,
                b'+' => directive.plus = true,
                b' ' => directive.space = true,
                b'#' => directive.alternate = true,
                _ => directive.zeros = true,
            }
        }
        let width = self.width(format)?;
        directive.left |= width < 0;
        directive.width = (width.unsigned_abs() as usize).min(PRINTED_WIDTH_MAX);
        if format.take(b".").is_some() {
            let precision = usize::try_from(self.width(format)?).ok();
            directive.precision = precision.map(|precision| precision.min(PRINTED_WIDTH_MAX));
        }
        while let Some(length) = format.take(b"hlLjzt") {
            match length {
                b'h' => directive.short = Some(if directive.short.is_some() { 8 } else { 16 }),
                _ => directive.wide = true,
            }
        }
        directive.letter = format.next().unwrap_or(0);
        Ok(directive)
    }

    /// Digits, or an argument for `*`.
    fn width(&mut self, format: &mut FormatText<'_>) -> Result<i64, FaultKind> {
        if format.take(b"*").is_some() {
            return Ok(sign_extend(self.argument(4)?, 32));
        }
        let mut width = 0_i64;
        while let Some(digit) = format.take(b"0123456789") {
            width = (width * 10 + i64::from(digit - b'0')).min(PRINTED_WIDTH_MAX as i64);
        }
        Ok(width)
    }

    fn converted(&mut self, directive: PrintDirective) -> Result<Vec<u8>, FaultKind> {
        let bytes = if directive.wide { 8 } else { 4 };
        Ok(match directive.letter {
            b'd' | b'i' => {
                let bits = directive.short.unwrap_or(8 * bytes as u32);
                let value = sign_extend(self.argument(bytes)?, bits);
                directive.integer(value < 0, &value.unsigned_abs().to_string())
            }
            b'u' | b'x' | b'X' | b'o' => {
                let value = self.argument(bytes)?;
                let value = value & crate::operand::mask(directive.short.unwrap_or(64));
                let digits = match directive.letter {
                    b'u' => value.to_string(),
                    b'o' => format!("{value:o}"),
                    b'x' => format!("{value:x}"),
                    _ => format!("{value:X}"),
                };
                directive.integer(false, &digits)
            }
            b'c' => directive.padded("", vec![self.argument(4)? as u8], false),
            b's' => {
                let address = self.argument(8)?;
                let mut text = self.string(address)?;
                text.truncate(directive.precision.unwrap_or(text.len()));
                directive.padded("", text, false)
            }
            b'p' => {
                let address = self.argument(8)?;
                directive.padded("", format!("{address:#x}").into_bytes(), false)
            }
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' => {
                let value = f64::from_bits(self.argument(8)?);
                directive.real(value)
            }
            // As CUDA does: what it does not know is printed as it stands.
            other => vec![b'%', other],
        })
    }
}

impl PrintDirective {
    fn sign(self, negative: bool) -> &'static str {
        match (negative, self.plus, self.space) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (_, _, true) => " ",
            _ => "",
        }
    }

    fn padded(self, head: &str, body: Vec<u8>, zeros: bool) -> Vec<u8> {
        let missing = self.width.saturating_sub(head.len() + body.len());
        let pad = |byte: u8| std::iter::repeat_n(byte, missing);
        if self.left {
            head.bytes().chain(body).chain(pad(b' ')).collect()
        } else if zeros && self.zeros {
            head.bytes().chain(pad(b'0')).chain(body).collect()
        } else {
            pad(b' ').chain(head.bytes()).chain(body).collect()
        }
    }

    fn integer(self, negative: bool, digits: &str) -> Vec<u8> {
        let zero = digits == "0";
        let head = match self.letter {
            b'd' | b'i' => self.sign(negative),
            b'x' if self.alternate && !zero => "0x",
            b'X' if self.alternate && !zero => "0X",
            b'o' if self.alternate && !zero => "0",
            _ => "",
        };
        let digits = if zero && self.precision == Some(0) { "" } else { digits };
        let body = format!("{digits:0>count$}", count = self.precision.unwrap_or(1));
        self.padded(head, body.into_bytes(), self.precision.is_none())
    }

    fn real(self, value: f64) -> Vec<u8> {
        let upper = self.letter.is_ascii_uppercase();
        let size = value.abs();
        let precision = self.precision.unwrap_or(6);
        let body = if !value.is_finite() {
            if value.is_nan() { "nan".to_owned() } else { "inf".to_owned() }
        } else {
            match self.letter.to_ascii_lowercase() {
                b'f' => format!("{size:.precision$}"),
                b'e' => exponential(size, precision),
                _ => general(size, precision.max(1), self.alternate),
            }
        };
        let body = if upper { body.to_ascii_uppercase() } else { body };
        let head = self.sign(value.is_sign_negative() && !value.is_nan());
        self.padded(head, body.into_bytes(), value.is_finite())
    }
}

/// With two digits of the exponent at the least, as C has it.
fn exponential(size: f64, precision: usize) -> String {
    let text = format!("{size:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, digits) = match exponent.strip_prefix('-') {
        Some(digits) => ('-', digits),
        None => ('+', exponent),
    };
    format!("{mantissa}e{sign}{digits:0>2}")
}

fn general(size: f64, precision: usize, keeps_zeros: bool) -> String {
    let shown = exponential(size, precision - 1);
    let exponent: i64 = shown.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let trimmed = |text: &str| {
        let cut = text.contains('.') && !keeps_zeros;
        let text = if cut { text.trim_end_matches('0').trim_end_matches('.') } else { text };
        text.to_owned()
    };
    if exponent < -4 || exponent >= precision as i64 {
        let (mantissa, exponent) = shown.split_once('e').unwrap_or((&shown, "+00"));
        return format!("{}e{exponent}", trimmed(mantissa));
    }
    let after = (precision as i64 - 1 - exponent).max(0) as usize;
    trimmed(&format!("{size:.after$}"))
}
