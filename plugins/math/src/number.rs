//! Reads a number as people write it: thousands separators of several countries, a decimal point or comma,
//! repeating decimals, exponents, and a base as an index.
//!
//! - Outside brackets a comma, space or apostrophe before exactly three digits separates thousands, where the
//!   first group has one to three digits and is not zero; `{,}`, `\,`, `\!` and `,\!` always do.
//! - `1 250,75`, `1.250,75`, `0,125` and `2{,}5` have a decimal comma. Any other single comma separates members
//!   of a list, and is tried as a decimal comma where that fails.

use num_bigint::BigInt;
use num_rational::BigRational;

use crate::limits;
use crate::unreadable::{Result, Unreadable};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Number {
    pub(crate) value: BigRational,
    /// Written with a decimal mark or an exponent.
    pub(crate) rounded: bool,
    pub(crate) length: usize,
}

/// How the commas between the digits of a whole text are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommaReading {
    /// By the digits after them and the brackets round them.
    ByPlace,
    Decimal,
    /// Each separates members, as inside brackets.
    Separator,
}

/// The meaning of commas in a number, from the text around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Commas {
    /// Inside brackets a comma separates members.
    pub(crate) bracketed: bool,
    /// Every comma between digits is taken for a decimal mark.
    pub(crate) decimal: bool,
}

pub(crate) fn read(text: &str, commas: Commas) -> Result<Number> {
    let bytes = text.as_bytes();
    let mut digits = String::new();
    let mut at = take_digits(bytes, 0, &mut digits);
    let first = at;
    let mut spaced = false;
    let dotted = dotted_thousands(bytes, first, commas);
    while let Some((length, mark)) = separator(bytes, at, first, dotted, commas) {
        spaced |= matches!(mark, b' ' | b'.');
        at = take_digits(bytes, at + length, &mut digits);
        limit(&digits)?;
    }
    let whole_digits = digits.len();
    let mut rounded = false;
    let mut value = None;
    if let Some(length) = decimal_mark(bytes, at, first, spaced, commas) {
        rounded = true;
        at = take_digits(bytes, at + length, &mut digits);
        limit(&digits)?;
        if let Some((repeated, length)) = repetend(&text[at..]) {
            at += length;
            rounded = false;
            value = Some(repeating(&digits, repeated, digits.len() - whole_digits)?);
        }
    } else if first > 0 && bytes.get(at) == Some(&b'.') {
        if let Some((repeated, length)) = repetend(&text[at + 1..]) {
            at += 1 + length;
            value = Some(repeating(&digits, repeated, 0)?);
        } else if text[at + 1..].trim().is_empty() {
            at += 1;
        }
    }
    limit(&digits)?;
    let decimals = (digits.len() - whole_digits) as i64;
    let (exponent, length) = exponent(&bytes[at..])?;
    rounded |= exponent.is_some();
    let value = match (value, exponent) {
        (Some(value), _) => value,
        (None, exponent) => scaled(mantissa(&digits)?, exponent.unwrap_or(0) - decimals),
    };
    Ok(Number { value, rounded, length: at + length })
}

/// One digit, as `\frac12` takes them.
pub(crate) fn read_digit(text: &str) -> Result<Number> {
    let digit = text.bytes().next().filter(u8::is_ascii_digit);
    let digit = digit.ok_or(Unreadable("a number without digits"))?;
    Ok(Number {
        value: BigRational::from_integer((digit - b'0').into()),
        rounded: false,
        length: 1,
    })
}

/// A number in another base, such as `1011_2`, `2A_{16}` or `(1011)_2`.
pub(crate) fn read_based(text: &str) -> Option<Number> {
    let open = text.starts_with('(');
    let inner = &text[usize::from(open)..];
    let end = inner.find(|c: char| !c.is_ascii_alphanumeric())?;
    let written = &inner[..end];
    let mut rest = &inner[end..];
    if open {
        rest = rest.strip_prefix(')')?;
    }
    let index = rest.strip_prefix('_')?.trim_start();
    let (base, after) = match index.strip_prefix('{') {
        Some(group) => {
            let (base, after) = group.split_once('}')?;
            match base.strip_prefix("\\text{") {
                Some(name) => (name.trim(), after.strip_prefix('}')?),
                None => (base.trim(), after),
            }
        }
        None => index.split_at(index.find(|c: char| !c.is_ascii_digit()).unwrap_or(index.len())),
    };
    let base = match base {
        "two" => 2,
        "eight" => 8,
        "ten" => 10,
        "sixteen" => 16,
        digits => digits.parse::<u32>().ok().filter(|base| (2..=36).contains(base))?,
    };
    let lettered = written.bytes().any(|byte| byte.is_ascii_alphabetic());
    if written.is_empty() || (lettered && base <= 10) || written.len() > limits::DIGITS_MAX {
        return None;
    }
    // `A_1` is a variable, `2A_{16}` and `AB_{16}` are numbers.
    if lettered && (written.len() < 2 || written.bytes().any(|byte| byte.is_ascii_lowercase())) {
        return None;
    }
    let value = BigInt::parse_bytes(written.as_bytes(), base)?;
    let length = text.len() - after.len();
    Some(Number { value: BigRational::from_integer(value), rounded: false, length })
}

fn take_digits(bytes: &[u8], from: usize, digits: &mut String) -> usize {
    let mut at = from;
    while let Some(digit) = bytes.get(at).filter(|byte| byte.is_ascii_digit()) {
        digits.push(char::from(*digit));
        at += 1;
        if digits.len() > limits::DIGITS_MAX {
            break;
        }
    }
    at
}

fn limit(digits: &str) -> Result<()> {
    match digits.len() > limits::DIGITS_MAX {
        true => Err(Unreadable("a number with too many digits")),
        false => Ok(()),
    }
}

/// Whether exactly three digits stand here.
fn is_group(bytes: &[u8], at: usize) -> bool {
    bytes.get(at..at + 3).is_some_and(|group| group.iter().all(u8::is_ascii_digit))
        && !bytes.get(at + 3).is_some_and(u8::is_ascii_digit)
}

/// `1.250,75` and `1.234.567`: points that separate thousands.
fn dotted_thousands(bytes: &[u8], first: usize, commas: Commas) -> bool {
    if commas.bracketed || !(1..=3).contains(&first) || bytes[0] == b'0' {
        return false;
    }
    let (mut at, mut groups) = (first, 0);
    while bytes.get(at) == Some(&b'.') && is_group(bytes, at + 1) {
        at += 4;
        groups += 1;
    }
    let comma = bytes.get(at) == Some(&b',') && bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
    (groups > 1 && bytes.get(at) != Some(&b'.'))
        || (groups > 0 && comma && !is_group(bytes, at + 1))
}

/// The length of a thousands separator here and its mark, if there is one.
fn separator(
    bytes: &[u8],
    at: usize,
    first: usize,
    dotted: bool,
    commas: Commas,
) -> Option<(usize, u8)> {
    if first == 0 {
        return None;
    }
    // Nearly every number ends here.
    let mark = *bytes
        .get(at)
        .filter(|byte| matches!(byte, b'{' | b'\\' | b',' | b'.' | b' ' | b'~' | b'\''))?;
    let grouped = first <= 3 && bytes[0] != b'0';
    let length = match bytes.get(at..)? {
        [b'{', b',', b'}', b'\\', b'!', ..] => 5,
        [b'{', b',', b'}', ..] => 3,
        [b'{', b',', b' ', b'}', ..] => 4,
        [b' ', b'{', b',', b' ', b'}', ..] => 5,
        [b'\\', b',' | b'!' | b' ' | b';' | b':', ..] => 2,
        [b',', b'\\', b'!', rest @ ..] => {
            3 + rest.iter().take_while(|byte| **byte == b' ').count().min(2)
        }
        [b',', ..] if !commas.bracketed && !commas.decimal && !dotted && grouped => 1,
        [b'.', ..] if dotted => 1,
        [b' ' | b'~' | b'\'', ..] if grouped && !is_mixed(bytes, at + 4) => 1,
        _ => return None,
    };
    is_group(bytes, at + length).then_some((length, if mark == b'~' { b' ' } else { mark }))
}

/// Whether `3 125/1000` is written: a mixed number.
fn is_mixed(bytes: &[u8], at: usize) -> bool {
    bytes.get(at) == Some(&b'/')
}

fn decimal_mark(
    bytes: &[u8],
    at: usize,
    first: usize,
    spaced: bool,
    commas: Commas,
) -> Option<usize> {
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    match bytes.get(at)? {
        b'.' if digit(at + 1) => Some(1),
        b'{' if first > 0 && bytes[at..].starts_with(b"{,}") && digit(at + 3) => Some(3),
        b',' if first > 0 && digit(at + 1) => {
            let fraction = first == 1 && bytes[0] == b'0' && at == 1 && is_group(bytes, at + 1);
            (commas.decimal || (!commas.bracketed && (spaced || fraction))).then_some(1)
        }
        _ => None,
    }
}

/// The digits of `\overline{142857}` or `\dot{3}`, and its length.
fn repetend(text: &str) -> Option<(&str, usize)> {
    let inner = ["\\overline{", "\\bar{", "\\dot{"]
        .into_iter()
        .find_map(|start| text.strip_prefix(start))?;
    let end = inner.find('}')?;
    let digits = &inner[..end];
    let sound = !digits.is_empty()
        && digits.len() <= 64
        && digits.bytes().all(|byte| byte.is_ascii_digit());
    sound.then(|| (digits, text.len() - inner.len() + end + 1))
}

/// `before` are all digits up to the repeated ones, the last `decimals` of them behind the point.
fn repeating(before: &str, repeated: &str, decimals: usize) -> Result<BigRational> {
    let tens = |power: usize| num_traits::pow(BigInt::from(10), power);
    let fixed = mantissa(before)?;
    let tail = BigRational::new(mantissa(repeated)?, tens(repeated.len()) - 1);
    Ok((BigRational::from_integer(fixed) + tail) / BigRational::from_integer(tens(decimals)))
}

fn mantissa(digits: &str) -> Result<BigInt> {
    if let Ok(small) = digits.parse::<u64>() {
        return Ok(BigInt::from(small));
    }
    digits.parse().map_err(|_| Unreadable("a number without digits"))
}

fn scaled(mantissa: BigInt, power: i64) -> BigRational {
    if power == 0 {
        return BigRational::from_integer(mantissa);
    }
    let tens = num_traits::pow(BigInt::from(10), power.unsigned_abs() as usize);
    match power < 0 {
        true => BigRational::new(mantissa, tens),
        false => BigRational::from_integer(mantissa * tens),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, value: (i64, i64), length: usize) {
        let number = read(text, Commas { bracketed: false, decimal: false }).expect(text);
        let expected = BigRational::new(value.0.into(), value.1.into());
        assert_eq!((number.value, number.length), (expected, length), "{text}");
    }

    #[test]
    fn reads_numbers_of_several_countries() {
        check("1,234,567 x", (1_234_567, 1), 9);
        check("12 500", (12_500, 1), 6);
        check("1 250,75", (125_075, 100), 8);
        check("1.250,75", (125_075, 100), 8);
        check("1.234.567", (1_234_567, 1), 9);
        check("1.234", (1_234, 1_000), 5);
        check(r"4,\! 300", (4_300, 1), 8);
        check(r"14{,}916", (14_916, 1), 8);
        check("2{,}5", (5, 2), 5);
        check("0,125", (1, 8), 5);
        check("1'234", (1_234, 1), 5);
        check("32, 349", (32, 1), 2);
        check("1,5", (1, 1), 1);
        check("3 125/1000", (3, 1), 1);
        check("1 2", (1, 1), 1);
        check(".5", (1, 2), 2);
        check("5. ", (5, 1), 2);
        check(r"0.\overline{3}", (1, 3), 14);
        check(r"0.1\overline{6}", (1, 6), 15);
        check("1.2e3", (1_200, 1), 5);
    }

    #[test]
    fn reads_bases() {
        let value =
            |text: &str| read_based(text).map(|number| (number.value.to_integer(), number.length));
        assert_eq!(value("1011_2 "), Some((11.into(), 6)));
        assert_eq!(value("(1011)_{2}"), Some((11.into(), 10)));
        assert_eq!(value("2A_{16}"), Some((42.into(), 7)));
        assert_eq!(value(r"12_{\text{eight}}"), Some((10.into(), 17)));
        assert_eq!(value("12_2"), None);
        assert_eq!(value("A_{16}"), None);
        assert_eq!(value("x_2"), None);
        assert_eq!(value("12"), None);
    }
}
