//! Reads what measures a scalar: a currency before it; a factor, a percent sign or a unit behind it. On the parser of
//! [`crate::parse`].

use num_rational::BigRational;

use crate::expression::Expression;
use crate::kind::{Join, Kind};
use crate::limits;
use crate::parse::{Degrees, Parser};
use crate::polynomial::Atom;
use crate::units::{self, Unit, is_known, is_unit_symbol};
use crate::unreadable::Result;
use crate::value::Scalar;

impl Parser<'_> {
    /// An expression with what measures it: a currency before, a factor, a percent sign or a unit
    /// behind.
    pub(crate) fn scalar(&mut self) -> Result<Scalar> {
        let negative =
            self.peek() == Some(&Kind::Minus) && self.peek_at(1) == Some(&Kind::Currency);
        self.at += usize::from(negative);
        let currency = self.currency();
        let degrees = std::mem::replace(&mut self.degrees, Degrees::Dropped { any: false });
        let mut expression = self.deeper(Self::expression)?;
        let angle = std::mem::replace(&mut self.degrees, degrees) == Degrees::Dropped { any: true };
        if negative {
            expression = Expression::Negate(Box::new(expression));
        }
        while let Some(Kind::Scale(factor)) = self.peek() {
            let factor = Expression::integer(*factor);
            self.at += 1;
            self.operate()?;
            expression = product(expression, factor);
        }
        let percent = self.eat(&Kind::Percent)
            || (matches!(
                self.peek(),
                Some(Kind::Word("percent" | "percents" | "percentage" | "pct"))
            ) && self.next().is_some());
        if percent {
            expression = hundredth(expression);
        }
        let degree = || angle.then(|| Unit::parse("degree")).flatten();
        let unit = match (self.unit(), currency) {
            (Some(unit), Some(currency)) => unit.priced(&currency).or(Some(unit)),
            (unit, currency) => unit.or(currency).or_else(degree),
        };
        let mut measured = Scalar { expression, unit, percent, rounded: None };
        let mut last = measured.unit.clone();
        while let Some(whole) = &last
            && let Some((number, unit)) = self.smaller_part(whole)
        {
            let ratio = measured.unit.as_ref().and_then(|whole| whole.part(&unit));
            let Some(ratio) = ratio else { break };
            let ratio = BigRational::new((*ratio.numer()).into(), (*ratio.denom()).into());
            let part = product(number, Expression::Number(ratio));
            measured.expression = Expression::Sum(Box::new(measured.expression), Box::new(part));
            last = Some(unit);
        }
        Ok(measured)
    }

    /// The `30 \text{ minutes}` after `1 \text{ hour}`: a number of a smaller unit. Takes nothing where none follows.
    fn smaller_part(&mut self, whole: &Unit) -> Option<(Expression, Unit)> {
        let start = self.at;
        let joined = self.eat(&Kind::Separator(Join::And));
        let number = match self.next() {
            Some(Kind::Number(value)) => Some(Expression::Number(value)),
            Some(Kind::Decimal(value)) => Some(Expression::Decimal(value)),
            _ => None,
        };
        let part = number.and_then(|number| Some((number, self.unit()?)));
        let part = part.filter(|(_, unit)| {
            whole.part(unit).is_some() && (!joined || whole.is_time_or_money())
        });
        if part.is_none() {
            self.at = start;
        }
        part
    }

    fn currency(&mut self) -> Option<Unit> {
        let start = self.tokens.get(self.at)?.start;
        if !self.eat(&Kind::Currency) {
            return None;
        }
        match self.text[start..].trim_start_matches('\\').chars().next()? {
            '$' => Unit::parse("dollar"),
            sign => Unit::parse(sign.encode_utf8(&mut [0; 4])),
        }
    }

    fn unit(&mut self) -> Option<Unit> {
        let token = self.tokens.get(self.at)?;
        let start = token.start;
        let begins = matches!(token.kind, Kind::Word(_) | Kind::Currency);
        if !(begins || self.is_unit_letter() || self.is_rate()) {
            return None;
        }
        let mut groups = 0_usize;
        let mut words = 0_usize;
        while let Some(kind) = self.peek() {
            match kind {
                Kind::Word(word) => {
                    let alone = words == 0 && !begins_unit(word);
                    words += word.split_whitespace().count();
                    if alone || !measures(word) || words > limits::UNIT_WORDS_MAX {
                        break;
                    }
                }
                Kind::Open('{') => groups += 1,
                Kind::Close('}') if groups > 0 => groups -= 1,
                Kind::Number(_) | Kind::Minus
                    if matches!(
                        self.tokens[self.at - 1].kind,
                        Kind::Power | Kind::Open('{') | Kind::Minus
                    ) => {}
                Kind::Atom(Atom::Symbol(symbol)) if is_unit_symbol(*symbol) => {}
                Kind::Atom(Atom::Symbol(_)) if self.belongs_to_unit() => {}
                Kind::Currency | Kind::Times | Kind::Divide | Kind::Power => {}
                _ => break,
            }
            self.at += 1;
        }
        let end = self.tokens.get(self.at).map_or(self.text.len(), |token| token.start);
        Unit::parse(&self.text[start..end])
    }

    /// Whether a known unit is divided by: `15/\text{hour}`.
    pub(crate) fn is_rate(&self) -> bool {
        self.peek() == Some(&Kind::Divide)
            && matches!(self.peek_at(1), Some(Kind::Word(word)) if is_known(word))
    }

    /// Whether a letter that is no unit elsewhere goes on with one: `J/K`, `^\circ C`, `\text{ for all } x`.
    fn belongs_to_unit(&self) -> bool {
        match (&self.tokens[self.at - 1].kind, self.peek()) {
            (Kind::Divide, Some(Kind::Atom(Atom::Symbol(symbol)))) => symbol.letter.is_uppercase(),
            (Kind::Word("°"), Some(Kind::Atom(atom))) => is_scale_of_degrees(*atom),
            (Kind::Word(word), _) => word.ends_with(" all") || word.ends_with(" of"),
            _ => false,
        }
    }

    /// A letter that stands for a unit and no variable: `5 m`, `5 m/s`, `5 m²`, but neither `5m` nor
    /// `5 m + 1`.
    pub(crate) fn is_unit_letter(&self) -> bool {
        let letter = |kind: Option<&Kind>| {
            matches!(kind, Some(Kind::Atom(Atom::Symbol(symbol)))
                if is_unit_symbol(*symbol))
        };
        let behind_number = self.at > 0
            && matches!(self.tokens[self.at - 1].kind, Kind::Number(_) | Kind::Decimal(_));
        if !(letter(self.peek()) && self.is_spaced() && behind_number) {
            return false;
        }
        match (self.peek_at(1), self.peek_at(2)) {
            (None | Some(Kind::Separator(_)), _) => true,
            // `1 h 30 min`
            (Some(Kind::Number(_)), Some(Kind::Word(word))) => is_known(word),
            (Some(Kind::Divide), unit) => letter(unit) || matches!(unit, Some(Kind::Word(_))),
            (Some(Kind::Power), Some(Kind::Number(_))) => {
                matches!(self.peek_at(3), None | Some(Kind::Separator(_)))
            }
            (Some(Kind::Power), Some(Kind::Open('{'))) => {
                matches!(self.peek_at(3), Some(Kind::Number(_)))
                    && matches!(self.peek_at(5), None | Some(Kind::Separator(_)))
            }
            _ => false,
        }
    }
}

/// The `C` of `25^\circ C`.
pub(crate) fn is_scale_of_degrees(atom: Atom) -> bool {
    matches!(atom, Atom::Symbol(symbol) if matches!(symbol.letter, 'C' | 'F'))
}

/// Whether words may be a unit: other answers, parts of one and second thoughts are none.
fn measures(words: &str) -> bool {
    const HEDGES: &[&str] = &[
        "or",
        "not",
        "and",
        "but",
        "maybe",
        "perhaps",
        "possibly",
        "either",
        "neither",
        "nor",
        "wrong",
        "incorrect",
        "except",
        "else",
        "otherwise",
        "instead",
        "if",
        "plus",
        "minus",
        "than",
        "factorial",
        "negative",
        "divided",
        "half",
        "halves",
        "thirds",
        "fourths",
        "fifths",
        "sixths",
        "sevenths",
        "eighths",
        "ninths",
        "tenths",
        "hundredths",
        "thousandths",
    ];
    !units::without_powers(words).contains(|c: char| c.is_ascii_digit())
        && words
            .split(|c: char| !c.is_alphabetic())
            .all(|word| !HEDGES.iter().any(|hedge| word.eq_ignore_ascii_case(hedge)))
}

/// Whether a unit may begin so: `7 over two` and `15 squared` are other numbers.
fn begins_unit(words: &str) -> bool {
    let first = words.split(|c: char| !c.is_alphabetic()).find(|word| !word.is_empty());
    !first.is_some_and(|first| matches!(first, "over" | "squared" | "cubed"))
}

fn product(left: Expression, right: Expression) -> Expression {
    Expression::Product(Box::new(left), Box::new(right))
}

fn hundredth(expression: Expression) -> Expression {
    let scale = |value: BigRational| value / BigRational::from_integer(100.into());
    match expression {
        Expression::Number(value) => Expression::Number(scale(value)),
        Expression::Decimal(value) => Expression::Decimal(scale(value)),
        other => Expression::Quotient(Box::new(other), Box::new(Expression::integer(100))),
    }
}
