//! Units after an answer: `5 km`, `\text{ m/s}^2`, `\$18`, `12 apples`.
//!
//! Known units convert (1.5 km is 1500 m); an unknown word is a unit of its own, singular or
//! plural. Nothing here decides what a missing unit means: comparison does.

use std::collections::BTreeMap;

use num_rational::Ratio;
use num_traits::{CheckedMul, One};

use crate::kind::Kind;
use crate::names::{command_kind, command_name, group_end, is_text, named};
use crate::polynomial::Symbol;

/// A unit: its dimension, and the number of base units in one of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unit {
    /// Base units with their powers, none zero.
    pub(crate) dimension: BTreeMap<String, i32>,
    pub(crate) factor: Ratio<i128>,
}

/// Names, base unit, its power, and how many of it: a fraction.
type Row = (&'static [&'static str], &'static str, i32, i128, i128);

const TABLE: &[Row] = &[
    (&["m", "meter", "metre"], "m", 1, 1, 1),
    (&["km", "kilometer", "kilometre"], "m", 1, 1_000, 1),
    (&["cm", "centimeter", "centimetre"], "m", 1, 1, 100),
    (&["mm", "millimeter", "millimetre"], "m", 1, 1, 1_000),
    (&["in", "inch"], "m", 1, 254, 10_000),
    (&["ft", "foot", "feet"], "m", 1, 3_048, 10_000),
    (&["yd", "yard"], "m", 1, 9_144, 10_000),
    (&["mi", "mile"], "m", 1, 1_609_344, 1_000),
    (&["l", "liter", "litre"], "m", 3, 1, 1_000),
    (&["ml", "milliliter", "millilitre"], "m", 3, 1, 1_000_000),
    (&["s", "sec", "second"], "s", 1, 1, 1),
    (&["ms", "millisecond"], "s", 1, 1, 1_000),
    (&["min", "minute"], "s", 1, 60, 1),
    (&["h", "hr", "hour"], "s", 1, 3_600, 1),
    (&["day"], "s", 1, 86_400, 1),
    (&["week"], "s", 1, 604_800, 1),
    (&["month"], "month", 1, 1, 1),
    (&["year", "yr"], "month", 1, 12, 1),
    (&["g", "gram"], "g", 1, 1, 1),
    (&["kg", "kilogram"], "g", 1, 1_000, 1),
    (&["mg", "milligram"], "g", 1, 1, 1_000),
    (&["ton", "tonne"], "g", 1, 1_000_000, 1),
    (&["lb", "pound"], "lb", 1, 1, 1),
    (&["oz", "ounce"], "lb", 1, 1, 16),
    (&["dollar", "usd", "$"], "$", 1, 1, 1),
    (&["cent", "¢"], "$", 1, 1, 100),
    (&["euro", "eur", "€"], "€", 1, 1, 1),
    (&["gbp", "£"], "£", 1, 1, 1),
    (&["degree", "deg", "°"], "°", 1, 1, 1),
    (&["rad", "radian"], "rad", 1, 1, 1),
    // Their letters alone, as of `n^2`, are variables elsewhere.
    (&["newton"], "n", 1, 1, 1),
    (&["joule"], "j", 1, 1, 1),
    (&["watt"], "w", 1, 1, 1),
    (&["volt"], "v", 1, 1, 1),
    (&["mole"], "mol", 1, 1, 1),
    (&["pascal"], "pa", 1, 1, 1),
    (&["hertz"], "hz", 1, 1, 1),
];

fn row(name: &str) -> Option<&'static Row> {
    TABLE.iter().find(|(names, ..)| names.contains(&name))
}

fn singular(name: &str) -> &str {
    let stem = match name.strip_suffix('s') {
        Some(stem) if stem.len() > 1 && !stem.ends_with('s') => stem,
        _ => name,
    };
    // `boxes` and `inches`.
    match stem.strip_suffix('e') {
        Some(short) if ["x", "ch", "sh"].iter().any(|end| short.ends_with(end)) => short,
        _ => stem,
    }
}

/// Whether a word of plain text is a unit of the table, rather than a product of variables, as `ML` and `KM` are.
pub(crate) fn is_known(word: &str) -> bool {
    if word.len() <= 2 {
        return word.len() == 2 && (matches!(word, "mL" | "Kg") || row(word).is_some());
    }
    let word = word.to_lowercase();
    let speed = matches!(word.as_str(), "mph" | "kph");
    speed || row(&word).is_some() || row(singular(&word)).is_some()
}

/// Whether two letters are a unit in any case, as the `KM` of `5 KM`.
pub(crate) fn is_known_in_any_case(word: &str) -> bool {
    let Ok(letters) = <[u8; 2]>::try_from(word.as_bytes()) else { return false };
    std::str::from_utf8(&letters.map(|byte| byte.to_ascii_lowercase())).is_ok_and(is_known)
}

/// Whether a unit of two letters is a length, which alone has squares and cubes.
pub(crate) fn is_length(word: &str) -> bool {
    matches!(word, "km" | "cm" | "mm" | "in" | "ft" | "yd" | "mi")
}

/// Whether two letters that name a unit may be one before this text: not in `2ml\omega^2`, `hr^2` and `2lb+2bh`.
pub(crate) fn may_end(word: &str, after: &str, spaced: bool) -> bool {
    if let Some(power) = after.strip_prefix('^') {
        return is_length(word) || power.trim_start_matches(['{', ' ']).starts_with('-');
    }
    let next = after.trim_start();
    let goes_on = match command_name(next) {
        Some("left") => true,
        Some(name) => matches!(
            named(name).or_else(|| command_kind(name)),
            Some(
                Kind::Atom(_)
                    | Kind::Function(_)
                    | Kind::Logarithm
                    | Kind::Fraction
                    | Kind::Binomial
                    | Kind::Root
                    | Kind::Accent(_)
                    | Kind::PlusMinus
            )
        ),
        None => after.starts_with(char::is_alphabetic) || !spaced && next.starts_with(['+', '-']),
    };
    !goes_on
}

/// Words that say nothing of what is measured.
const FILLERS: &[&str] = &["unit", "units", "of", "a", "an", "the", "each", "is", "are"];

impl Unit {
    /// Reads the unit after a number. `None` if it measures nothing, as `units` does.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut unit = Self { dimension: BTreeMap::new(), factor: Ratio::one() };
        let mut sign = 1;
        let mut before = 1;
        let mut words = words(text).into_iter().peekable();
        while let Some(word) = words.next() {
            match word.as_str() {
                "/" | "per" => sign = -1,
                "square" | "sq" => before = 2,
                "cubic" | "cu" => before = 3,
                filler if FILLERS.contains(&filler) => {}
                name => {
                    let after = words.peek().and_then(|next| power(next));
                    if after.is_some() {
                        words.next();
                    }
                    unit.multiply(name, sign * before * after.unwrap_or(1))?;
                    before = 1;
                }
            }
        }
        (!unit.dimension.is_empty() || !unit.factor.is_one()).then_some(unit)
    }

    /// An amount of money for each of what `self` divides by: `\$15/hour`. `None` where `self` does not divide.
    pub(crate) fn priced(&self, currency: &Self) -> Option<Self> {
        let other =
            |(base, power): (&String, &i32)| *power < 0 && !currency.dimension.contains_key(base);
        if !self.dimension.iter().all(other) {
            return None;
        }
        let mut unit = self.clone();
        unit.factor = unit.factor.checked_mul(&currency.factor)?;
        unit.dimension.extend(currency.dimension.clone());
        Some(unit)
    }

    /// Whether both measure the same, where a price may leave out its money: `\$15 per hour` and `15 per hour`.
    pub(crate) fn measures_as(&self, other: &Self) -> bool {
        let is_money = |base: &String| matches!(base.as_str(), "$" | "€" | "£");
        let priced = |unit: &Self| unit.dimension.keys().any(is_money);
        if priced(self) == priced(other) {
            return self.dimension == other.dimension;
        }
        let rest = |unit: &Self| {
            let mut rest = unit.dimension.clone();
            rest.retain(|base, _| !is_money(base));
            rest
        };
        let left = rest(self);
        !left.is_empty() && left == rest(other)
    }

    /// Whether it is made of units of the table alone.
    pub(crate) fn is_known(&self) -> bool {
        self.dimension.keys().all(|name| TABLE.iter().any(|(_, base, ..)| base == name))
    }

    pub(crate) fn is_degree(&self) -> bool {
        self.is_only("°")
    }

    pub(crate) fn is_radian(&self) -> bool {
        self.is_only("rad")
    }

    fn is_only(&self, base: &str) -> bool {
        self.dimension.len() == 1 && self.dimension.get(base) == Some(&1)
    }

    /// How many of a unit `part` of the same measure, and smaller, is one of `self`.
    pub(crate) fn part(&self, part: &Self) -> Option<Ratio<i128>> {
        let smaller = self.dimension == part.dimension && part.factor < self.factor;
        smaller.then(|| part.factor / self.factor)
    }

    /// Whether it measures time or money alone, whose smaller units "and" joins.
    pub(crate) fn is_time_or_money(&self) -> bool {
        self.is_only("s") || self.is_only("$")
    }

    fn multiply(&mut self, name: &str, power: i32) -> Option<()> {
        let known = row(name).or_else(|| row(singular(name)));
        let (base, base_power, numerator, denominator) = match known {
            Some(&(_, base, base_power, numerator, denominator)) => {
                (base, base_power, numerator, denominator)
            }
            None => (singular(name), 1, 1, 1),
        };
        let mut factor = Ratio::new(numerator, denominator);
        if power < 0 {
            factor = factor.recip();
        }
        for _ in 0..power.unsigned_abs() {
            self.factor = self.factor.checked_mul(&factor)?;
        }
        let total = self.dimension.entry(base.into()).or_default();
        *total += base_power * power;
        if *total == 0 {
            self.dimension.remove(base);
        }
        Some(())
    }
}

/// A unit without the powers of those in the table: `m/s` of `m/s^{2}`. The power of another word stays, as in `x^2`.
pub(crate) fn without_powers(text: &str) -> String {
    let mut rest = text;
    let mut kept = String::new();
    while let Some((before, after)) = rest.split_once('^') {
        kept.push_str(before);
        let base = before.trim_end_matches('}').rsplit(|c: char| !c.is_alphabetic()).next();
        let digits = after.trim_start_matches(['{', ' ', '-']);
        let known = base.is_some_and(|base| row(base).is_some() || row(singular(base)).is_some());
        match digits.strip_prefix(['1', '2', '3', '4']).filter(|_| known) {
            Some(after) => rest = after,
            None => {
                kept.push('^');
                rest = after;
            }
        }
    }
    kept + rest
}

/// The length of a fraction of units after the name of its command: `{\text{km}}{\text{h}}`.
pub(crate) fn fraction_length(after: &str) -> Option<usize> {
    let (over, rest) = group(after)?;
    let (under, rest) = group(rest)?;
    let text = |part: &str| command_name(part.trim_start()).is_some_and(is_text);
    (text(over) && text(under)).then(|| after.len() - rest.len())
}

/// The content of the group with which a text begins, and what follows it.
fn group(text: &str) -> Option<(&str, &str)> {
    let inner = text.trim_start().strip_prefix('{')?;
    let end = group_end(inner)?;
    Some((&inner[..end], &inner[end + 1..]))
}

fn power(word: &str) -> Option<i32> {
    match word {
        "squared" => Some(2),
        "cubed" => Some(3),
        _ => {
            let power: i32 = word.strip_prefix('^')?.parse().ok()?;
            (1..=4).contains(&power.abs()).then_some(power)
        }
    }
}

/// Units of a million, which differ from those of a thousandth by their capital alone.
const MEGA: &[&str] = &["MW", "MHz", "MPa", "Mg", "MV", "MJ", "MN", "MA"];

/// Lower-case words, `/`, and `^n`; LaTeX's own commands and braces are left out.
fn words(text: &str) -> Vec<String> {
    if let Some((before, fraction)) = text.split_once("\\frac")
        && let Some((over, rest)) = group(fraction)
        && let Some((under, after)) = group(rest)
    {
        let parts = [before, over, "/", under, after];
        return parts.into_iter().flat_map(words).collect();
    }
    let mut words = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '/' => words.push("/".into()),
            '²' => words.push("^2".into()),
            '³' => words.push("^3".into()),
            '¢' | '€' | '£' | '°' => words.push(c.into()),
            // A bare `$` only ends a formula here.
            '\\' if chars.next_if_eq(&'$').is_some() => words.push("$".into()),
            '\\' => {
                let mut command = String::new();
                while let Some(letter) = chars.next_if(char::is_ascii_alphabetic) {
                    command.push(letter);
                }
                match command.as_str() {
                    "circ" | "degree" => words.push("°".into()),
                    "Omega" => words.push("ohm".into()),
                    _ => {}
                }
            }
            '^' => {
                let mut exponent = String::from("^");
                chars.next_if_eq(&'{');
                while let Some(digit) = chars.next_if(|c| c.is_ascii_digit() || *c == '-') {
                    exponent.push(digit);
                }
                if exponent.len() > 1 {
                    words.push(exponent);
                }
            }
            c if c.is_alphabetic() => {
                let mut word = String::from(c);
                while let Some(letter) = chars.next_if(|c| c.is_alphabetic()) {
                    word.push(letter);
                }
                match word.to_lowercase().as_str() {
                    "mph" => words.extend(["mile", "/", "hour"].map(String::from)),
                    "kph" | "kmph" => words.extend(["km", "/", "hour"].map(String::from)),
                    "celsius"
                        if words
                            .last()
                            .is_some_and(|last| last == "°" || last.starts_with("degree")) =>
                    {
                        words.push("c".into());
                    }
                    "fahrenheit"
                        if words
                            .last()
                            .is_some_and(|last| last == "°" || last.starts_with("degree")) =>
                    {
                        words.push("f".into());
                    }
                    "ω" => words.push("ohm".into()),
                    // A megawatt is no milliwatt.
                    _ if MEGA.contains(&word.as_str()) => words.push(word),
                    lower => words.push(lower.to_owned()),
                }
            }
            _ => {}
        }
    }
    words
}

/// Whether a letter of a formula may be a unit behind a value.
pub(crate) fn is_unit_symbol(symbol: Symbol) -> bool {
    matches!(symbol.letter, 'm' | 's' | 'g' | 'h' | 'L' | 'Ω') && symbol.index().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn converts_within_a_dimension() {
        let check = |left: &str, right: &str, numerator: i128, denominator: i128| {
            let (left, right) = (Unit::parse(left).expect(left), Unit::parse(right).expect(right));
            assert_eq!(left.dimension, right.dimension);
            assert_eq!(left.factor / right.factor, Ratio::new(numerator, denominator));
        };
        check("km", "m", 1_000, 1);
        check(r"\text{ cm}^2", "square meters", 1, 10_000);
        check("km/h", r"\text{m}/\text{s}", 5, 18);
        check("miles per hour", "miles/h", 1, 1);
        check("mph", "miles per hour", 1, 1);
        check("kmph", "km/h", 1, 1);
        check("MPH", "mph", 1, 1);
        check(r"^\circ\text{C}", "degrees Celsius", 1, 1);
        check("boxes", "box", 1, 1);
        check(r"\mathrm{m}^{3}", "L", 1_000, 1);
        check("m s^-2", "m/s^2", 1, 1);
        check("duck eggs", "eggs duck", 1, 1);
        check(r"^\circ", "degrees", 1, 1);
        assert_eq!(Unit::parse("units"), None);
        assert_eq!(Unit::parse(""), None);
    }
}
