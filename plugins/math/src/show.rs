//! Values in plain notation, for the person who reads an explanation: `1/2`, `sqrt(2) + 1`, `{1, 2}`, `(0, 3]`.
//! Bounded, and never read back.

use num_rational::BigRational;

use crate::expression::Expression;
use crate::function::Function;
use crate::limits;
use crate::polynomial::Atom;
use crate::units::Unit;
use crate::value::{Name, Order, Scalar, Value};

pub(crate) fn show(value: &Value) -> String {
    let mut writer = Writer { text: String::new(), left: limits::PLAIN_CHARS_MAX };
    writer.value(value);
    writer.text
}

struct Writer {
    text: String,
    /// Characters left; at zero all that follows is left out.
    left: usize,
}

impl Writer {
    fn put(&mut self, part: &str) {
        if self.left == 0 {
            return;
        }
        for c in part.chars() {
            if self.left == 0 {
                self.text.push('…');
                return;
            }
            self.text.push(c);
            self.left -= 1;
        }
    }

    fn list(&mut self, items: &[Value], separator: &str) {
        for (at, item) in items.iter().enumerate() {
            if self.left == 0 {
                return;
            }
            if at > 0 {
                self.put(separator);
            }
            self.value(item);
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Scalar(scalar) => self.scalar(scalar),
            Value::Equation { left, right } => {
                self.expression(left, 0);
                self.put(" = ");
                self.scalar(right);
            }
            Value::Set(items) => {
                self.put("{");
                self.list(items, ", ");
                self.put("}");
            }
            Value::Sequence { open, close, items } => {
                self.put(open.encode_utf8(&mut [0; 4]));
                self.list(items, ", ");
                self.put(close.encode_utf8(&mut [0; 4]));
            }
            Value::Union(items) => self.list(items, " or "),
            Value::Matrix(rows) => {
                self.put("[");
                for (at, row) in rows.iter().enumerate() {
                    self.put(if at > 0 { ", [" } else { "[" });
                    self.list(row, ", ");
                    self.put("]");
                }
                self.put("]");
            }
            Value::Chain { sides, orders } => {
                for (at, side) in sides.iter().enumerate() {
                    if let Some(order) = at.checked_sub(1).and_then(|before| orders.get(before)) {
                        self.put(match order {
                            Order::Less => " < ",
                            Order::LessEqual => " <= ",
                            Order::Equal => " = ",
                            Order::NotEqual => " != ",
                        });
                    }
                    self.expression(side, 0);
                }
            }
            Value::Ratio(parts) => {
                for (at, part) in parts.iter().enumerate() {
                    self.put(if at > 0 { ":" } else { "" });
                    self.expression(part, 3);
                }
            }
            Value::Moment(moment) => self.put(&moment.plain()),
            Value::Named { name, value } => {
                match name {
                    Name::Variable(variable) => self.expression(variable, 0),
                    Name::Words(words) => self.put(words),
                }
                self.put(": ");
                self.value(value);
            }
            Value::Given { value, conditions } => {
                self.value(value);
                for (at, condition) in conditions.iter().enumerate() {
                    self.put(if at > 0 { ", " } else { " for " });
                    self.atom(Atom::Symbol(condition.variable));
                    if let Some(domain) = &condition.domain {
                        self.put(" in ");
                        self.value(domain);
                    }
                }
            }
            Value::Choice(letter) => {
                self.put("choice ");
                self.put(letter.encode_utf8(&mut [0; 4]));
            }
            Value::Text(text) => {
                self.put("the text \"");
                self.put(text);
                self.put("\"");
            }
        }
    }

    fn scalar(&mut self, scalar: &Scalar) {
        if let (Expression::Number(value) | Expression::Decimal(value), true) =
            (&scalar.expression, scalar.percent)
        {
            self.number(&(value * BigRational::from_integer(100.into())), true);
            self.put("%");
        } else {
            self.expression(&scalar.expression, 0);
        }
        if let Some(unit) = &scalar.unit {
            self.put(" ");
            self.unit(unit);
        }
    }

    fn unit(&mut self, unit: &Unit) {
        if *unit.factor.numer() != 1 || *unit.factor.denom() != 1 {
            self.put(&format!("* {} ", unit.factor));
        }
        for (at, (name, power)) in unit.dimension.iter().enumerate() {
            self.put(if at > 0 { " " } else { "" });
            self.put(name);
            if *power != 1 {
                self.put(&format!("^{power}"));
            }
        }
    }

    fn number(&mut self, value: &BigRational, decimal: bool) {
        if value.numer().bits() + value.denom().bits() > 2_048 {
            self.put("a number with many digits");
            return;
        }
        match decimal.then(|| decimal_digits(value)).flatten() {
            Some(digits) => self.put(&digits),
            None => self.put(&value.to_string()),
        }
    }

    /// In brackets where the operator binds less than `least`: 1 for sums, 2 for products, 3 for powers.
    fn expression(&mut self, expression: &Expression, least: u8) {
        let own = match expression {
            Expression::Sum(..) | Expression::Negate(_) | Expression::PlusMinus(_) => 1,
            Expression::Product(..) | Expression::Quotient(..) => 2,
            Expression::Number(value) if !value.is_integer() => 2,
            Expression::Number(value) | Expression::Decimal(value)
                if *value < num_traits::Zero::zero() =>
            {
                1
            }
            Expression::Power(..) => 3,
            _ => 4,
        };
        if self.left == 0 {
            return;
        }
        let bracketed = own < least;
        self.put(if bracketed { "(" } else { "" });
        match expression {
            Expression::Number(value) => self.number(value, false),
            Expression::Decimal(value) => self.number(value, true),
            Expression::Atom(atom) => self.atom(*atom),
            Expression::Infinity => self.put("infinity"),
            Expression::PlusMinus(inner) => {
                self.put("+-");
                self.expression(inner, 2);
            }
            Expression::Negate(inner) => {
                self.put("-");
                self.expression(inner, 2);
            }
            Expression::Sum(left, right) => match &**right {
                Expression::Negate(right) => self.binary((left, 1), " - ", (right, 2)),
                right => self.binary((left, 1), " + ", (right, 1)),
            },
            Expression::Product(left, right) => self.binary((left, 2), "*", (right, 2)),
            Expression::Quotient(left, right) => self.binary((left, 2), "/", (right, 3)),
            Expression::Power(left, right) => self.binary((left, 4), "^", (right, 4)),
            Expression::Root(radicand, degree) => match **degree == Expression::integer(2) {
                true => self.call("sqrt", &[radicand]),
                false => self.call("root", &[radicand, degree]),
            },
            Expression::Logarithm(base, argument) => self.call("log", &[base, argument]),
            Expression::Binomial(from, choose) => self.call("binomial", &[from, choose]),
            Expression::Call(Function::Factorial, inner) => {
                self.expression(inner, 4);
                self.put("!");
            }
            Expression::Call(function, inner) => {
                let name = format!("{function:?}").to_ascii_lowercase();
                self.call(&name, &[inner]);
            }
            Expression::Named(letter, inner) => {
                self.call(letter.encode_utf8(&mut [0; 4]), &[inner]);
            }
        }
        self.put(if bracketed { ")" } else { "" });
    }

    fn binary(&mut self, left: (&Expression, u8), sign: &str, right: (&Expression, u8)) {
        self.expression(left.0, left.1);
        self.put(sign);
        self.expression(right.0, right.1);
    }

    fn call(&mut self, name: &str, arguments: &[&Expression]) {
        self.put(name);
        self.put("(");
        for (at, argument) in arguments.iter().enumerate() {
            self.put(if at > 0 { ", " } else { "" });
            self.expression(argument, 0);
        }
        self.put(")");
    }

    fn atom(&mut self, atom: Atom) {
        match atom {
            Atom::Pi => self.put("pi"),
            Atom::E => self.put("e"),
            Atom::I => self.put("i"),
            Atom::Root(radicand) => self.put(&format!("sqrt({radicand})")),
            Atom::Opaque(_) => self.put("?"),
            Atom::Symbol(symbol) => {
                self.put(symbol.letter.encode_utf8(&mut [0; 4]));
                if !symbol.index().is_empty() {
                    self.put("_");
                    self.put(symbol.index());
                }
            }
        }
    }
}

/// A rational whose denominator divides a power of ten, with a decimal point.
fn decimal_digits(value: &BigRational) -> Option<String> {
    let ten = num_bigint::BigInt::from(10);
    let mut power = num_bigint::BigInt::from(1);
    for places in 0..40 {
        let shifted = value * BigRational::from_integer(power.clone());
        if shifted.is_integer() {
            let digits = shifted.to_integer().magnitude().to_string();
            let sign = if shifted < num_traits::Zero::zero() { "-" } else { "" };
            if places == 0 {
                return Some(format!("{sign}{digits}"));
            }
            let padded = format!("{digits:0>width$}", width = places + 1);
            let (whole, part) = padded.split_at(padded.len() - places);
            return Some(format!("{sign}{whole}.{part}"));
        }
        power *= &ten;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse;

    #[test]
    fn shows_plain_notation() {
        let check = |text: &str, plain: &str| {
            assert_eq!(show(&parse(text).expect(text)), plain, "{text}");
        };
        check(r"\frac{1}{2}", "1/2");
        check(r"\frac{1+\sqrt{5}}{2}", "(1 + sqrt(5))/2");
        check("-x^2 - 3x + 1", "-x^2 - 3*x + 1");
        check("0.50", "0.5");
        check(r"12.5\%", "12.5%");
        check(r"5\text{ km}", "5 * 1000 m");
        check("1, 2", "{1, 2}");
        check(r"x \le 3", "(-infinity, 3]");
        check(r"x < 1 \text{ or } x > 2", "(-infinity, 1) or (2, infinity)");
        check(r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", "[[1, 2], [3, 4]]");
        check(r"(2+x)\cdot 3^{n+1}", "(2 + x)*3^(n + 1)");
        check("y = 2x", "y = 2*x");
        check("3:4:5", "3:4:5");
        check("a - (b - c)", "a - (b - c)");
        check("Monday morning", "the text \"mondaymorning\"");
        assert!(show(&parse(&"1+".repeat(90)[..179]).expect("a sum")).chars().count() <= 121);
    }
}
