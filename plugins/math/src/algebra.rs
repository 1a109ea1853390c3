//! Reads an expression: sums, products written or implied, powers, roots, fractions, functions.
//!
//! `1/2x` is `(1/2)x`; `-x^2` is `-(x^2)`; `3\frac{1}{2}` and `3 1/2` are mixed numbers; `e` is
//! Euler's number and `i` the imaginary unit; `\log` without a base is to base 10.

use crate::expression::Expression;
use crate::function::Function;
use crate::kind::Kind;
use crate::measure::is_scale_of_degrees;
use crate::parse::{Degrees, Parser};
use crate::polynomial::{Atom, Symbol};
use crate::unreadable::{Result, Unreadable};

fn pair(
    make: fn(Box<Expression>, Box<Expression>) -> Expression,
    left: Expression,
    right: Expression,
) -> Expression {
    make(Box::new(left), Box::new(right))
}

fn negate(inner: Expression) -> Expression {
    match inner {
        Expression::Number(value) => Expression::Number(-value),
        Expression::Decimal(value) => Expression::Decimal(-value),
        inner => Expression::Negate(Box::new(inner)),
    }
}

pub(crate) fn degrees(angle: Expression) -> Expression {
    let degree = pair(Expression::Quotient, Expression::Atom(Atom::Pi), Expression::integer(180));
    pair(Expression::Product, angle, degree)
}

/// `\sin^{-1} x`; where a function has no inverse of its own, by those that there are.
fn inverse(function: Function, argument: Expression) -> Expression {
    let call = |function, argument| Expression::Call(function, Box::new(argument));
    let one = || Expression::integer(1);
    // ln(x + sqrt(x^2 + add))
    let logarithm = |argument: Expression, add: i64| {
        let square = pair(Expression::Power, argument.clone(), Expression::integer(2));
        let radicand = pair(Expression::Sum, square, Expression::integer(add));
        let root = pair(Expression::Root, radicand, Expression::integer(2));
        call(Function::Ln, pair(Expression::Sum, argument, root))
    };
    match function {
        Function::Sin => call(Function::Arcsin, argument),
        Function::Cos => call(Function::Arccos, argument),
        Function::Tan => call(Function::Arctan, argument),
        Function::Csc => call(Function::Arcsin, pair(Expression::Quotient, one(), argument)),
        Function::Sec => call(Function::Arccos, pair(Expression::Quotient, one(), argument)),
        Function::Cot => {
            let right =
                pair(Expression::Quotient, Expression::Atom(Atom::Pi), Expression::integer(2));
            pair(Expression::Sum, right, negate(call(Function::Arctan, argument)))
        }
        Function::Sinh => logarithm(argument, 1),
        Function::Cosh => logarithm(argument, -1),
        function => pair(Expression::Power, call(function, argument), Expression::integer(-1)),
    }
}

impl Parser<'_> {
    pub(crate) fn expression(&mut self) -> Result<Expression> {
        let first = self.signed_term()?;
        let mut sum = self.in_degrees(first);
        loop {
            let minus = match self.peek() {
                Some(Kind::Plus) => false,
                Some(Kind::Minus) => true,
                Some(Kind::PlusMinus) => {
                    self.operate()?;
                    let term = self.deeper(Self::signed_term)?;
                    sum = pair(Expression::Sum, sum, self.in_degrees(term));
                    continue;
                }
                _ => return Ok(sum),
            };
            self.next();
            self.operate()?;
            let term = self.deeper(Self::signed_term)?;
            let term = self.in_degrees(term);
            sum = pair(Expression::Sum, sum, if minus { negate(term) } else { term });
        }
    }

    /// A term of a sum with the degree sign behind it, if there is one; the sign at the end of a whole is left as
    /// its unit.
    fn in_degrees(&mut self, term: Expression) -> Expression {
        if self.peek() != Some(&Kind::Word("°")) {
            return term;
        }
        match self.degrees {
            Degrees::Number => {
                self.at += 1;
                degrees(term)
            }
            Degrees::Dropped { .. } => {
                let inside = matches!(
                    self.peek_at(1),
                    Some(Kind::Plus | Kind::Minus | Kind::PlusMinus | Kind::Close(_))
                );
                if inside {
                    self.at += 1;
                    self.degrees = Degrees::Dropped { any: true };
                }
                term
            }
        }
    }

    fn signed_term(&mut self) -> Result<Expression> {
        match self.peek() {
            Some(Kind::Plus) => {
                self.next();
                self.deeper(Self::signed_term)
            }
            Some(Kind::Minus) => {
                self.next();
                self.deeper(Self::signed_term).map(negate)
            }
            Some(Kind::PlusMinus) => {
                self.next();
                let inner = self.deeper(Self::signed_term)?;
                Ok(Expression::PlusMinus(Box::new(inner)))
            }
            _ => self.term(),
        }
    }

    fn term(&mut self) -> Result<Expression> {
        let mut product = self.first_factor()?;
        loop {
            self.skip_degree_before_factor();
            let divide = match self.peek() {
                Some(Kind::Times) if matches!(self.peek_at(1), Some(Kind::Begin(_))) => {
                    return Ok(product);
                }
                Some(Kind::Times) => false,
                Some(Kind::Divide) if self.is_rate() => return Ok(product),
                Some(Kind::Divide) => true,
                _ if self.implies_factor() => {
                    self.operate()?;
                    product = pair(Expression::Product, product, self.deeper(Self::factor)?);
                    continue;
                }
                _ => return Ok(product),
            };
            self.next();
            self.operate()?;
            let factor = self.deeper(Self::signed_factor)?;
            product = match (divide, product, factor) {
                // A fraction of whole numbers, the commonest answer there is, is a number.
                (true, Expression::Number(over), Expression::Number(under))
                    if under.numer().bits() > 0 =>
                {
                    Expression::Number(over / under)
                }
                (true, product, factor) => pair(Expression::Quotient, product, factor),
                (false, product, factor) => pair(Expression::Product, product, factor),
            };
        }
    }

    /// `360^\circ k` is a product in degrees.
    fn skip_degree_before_factor(&mut self) {
        let dropped = matches!(self.degrees, Degrees::Dropped { .. });
        let factor = match (self.peek_at(1), self.peek_at(2)) {
            (Some(Kind::Atom(atom)), _) => !is_scale_of_degrees(*atom),
            (Some(Kind::Times), unit) => !matches!(unit, Some(Kind::Word(_))),
            _ => false,
        };
        if dropped && factor && self.eat(&Kind::Word("°")) {
            self.degrees = Degrees::Dropped { any: true };
        }
    }

    fn signed_factor(&mut self) -> Result<Expression> {
        if self.eat(&Kind::Minus) {
            return self.deeper(Self::signed_factor).map(negate);
        }
        self.eat(&Kind::Plus);
        self.factor()
    }

    /// A factor, or a mixed number.
    fn first_factor(&mut self) -> Result<Expression> {
        let whole = matches!(self.peek(), Some(Kind::Number(_)));
        let factor = self.factor()?;
        let Expression::Number(value) = &factor else { return Ok(factor) };
        if !whole || !value.is_integer() {
            return Ok(factor);
        }
        let plain = self.is_spaced()
            && matches!(
                (self.peek(), self.peek_at(1), self.peek_at(2)),
                (Some(Kind::Number(_)), Some(Kind::Divide), Some(Kind::Number(_)))
            );
        let part = if plain {
            let over = self.factor()?;
            self.expect(&Kind::Divide)?;
            pair(Expression::Quotient, over, self.factor()?)
        } else if self.peek() == Some(&Kind::Fraction) {
            self.operate()?;
            self.deeper(Self::factor)?
        } else {
            return Ok(factor);
        };
        let mixed = match &part {
            Expression::Quotient(over, under) => {
                matches!((&**over, &**under), (Expression::Number(_), Expression::Number(_)))
            }
            _ => false,
        };
        let make = if mixed { Expression::Sum } else { Expression::Product };
        Ok(pair(make, factor, part))
    }

    /// Whether a factor follows without a sign for the product.
    fn implies_factor(&self) -> bool {
        match self.peek() {
            Some(Kind::Open(_)) => !self.is_listed(),
            Some(Kind::Bar) => !self.inside_bars,
            Some(Kind::Atom(_)) => !self.is_unit_letter(),
            // `3!7!` and `2^{10} 3^5` are products, `3 7` is none.
            Some(Kind::Number(_)) if self.at > 0 => match self.tokens[self.at - 1].kind {
                Kind::Bang => true,
                Kind::Close('}') => self.peek_at(1) == Some(&Kind::Power),
                _ => false,
            },
            Some(
                Kind::Function(_)
                | Kind::Accent(_)
                | Kind::Logarithm
                | Kind::Fraction
                | Kind::Binomial
                | Kind::Root
                | Kind::Infinity,
            ) => true,
            _ => false,
        }
    }

    fn factor(&mut self) -> Result<Expression> {
        self.operate()?;
        let mut base = self.deeper(Self::atom)?;
        loop {
            if self.eat(&Kind::Bang) {
                self.operate()?;
                base = Expression::Call(Function::Factorial, Box::new(base));
            } else if self.eat(&Kind::Power) {
                self.operate()?;
                let exponent = self.deeper(Self::exponent)?;
                base = pair(Expression::Power, base, exponent);
            } else {
                return Ok(base);
            }
        }
    }

    fn exponent(&mut self) -> Result<Expression> {
        if self.eat(&Kind::Minus) {
            return self.deeper(Self::exponent).map(negate);
        }
        let base = self.deeper(Self::atom)?;
        if self.eat(&Kind::Power) {
            self.operate()?;
            return Ok(pair(Expression::Power, base, self.deeper(Self::exponent)?));
        }
        Ok(base)
    }

    pub(crate) fn atom(&mut self) -> Result<Expression> {
        let listed = self.is_listed();
        match self.next() {
            Some(Kind::Number(value)) => Ok(Expression::Number(value)),
            Some(Kind::Decimal(value)) => Ok(Expression::Decimal(value)),
            Some(Kind::Infinity) => Ok(Expression::Infinity),
            Some(Kind::Atom(Atom::Symbol(symbol))) => self.indexed(symbol),
            Some(Kind::Atom(atom)) => Ok(Expression::Atom(atom)),
            Some(Kind::Accent(mark)) => {
                let argument = self.deeper(Self::argument)?;
                let marked = match argument {
                    // The i of `\hat{i}` is a direction.
                    Expression::Atom(Atom::I) => Expression::Atom(Atom::Symbol(Symbol::new('i'))),
                    argument => argument,
                };
                match marked {
                    Expression::Atom(Atom::Symbol(symbol)) => symbol
                        .indexed(mark)
                        .map(|symbol| Expression::Atom(Atom::Symbol(symbol)))
                        .ok_or(Unreadable("an index that is too long")),
                    // The name of a line, such as `\overline{AB}`.
                    name if name.is_name() => Ok(name),
                    _ => Err(Unreadable("a mark over an expression")),
                }
            }
            Some(Kind::Open(open)) if !listed => self.group(open),
            Some(Kind::Bar) => self.absolute(),
            Some(Kind::Fraction) => {
                let over = self.deeper(Self::argument)?;
                let under = self.deeper(Self::argument)?;
                Ok(pair(Expression::Quotient, over, under))
            }
            Some(Kind::Binomial) => {
                let from = self.deeper(Self::argument)?;
                let choose = self.deeper(Self::argument)?;
                Ok(pair(Expression::Binomial, from, choose))
            }
            Some(Kind::Root) => {
                let degree = match self.eat(&Kind::Open('[')) {
                    true => self.deeper(|parser| parser.group('['))?,
                    false => Expression::integer(2),
                };
                let radicand = self.deeper(Self::argument)?;
                Ok(pair(Expression::Root, radicand, degree))
            }
            Some(Kind::Function(function)) => self.call(function),
            Some(Kind::Logarithm) => {
                let base = match self.eat(&Kind::Index) {
                    true => Some(self.deeper(Self::argument)?),
                    false => None,
                };
                let exponent = match self.eat(&Kind::Power) {
                    true => Some(self.deeper(Self::exponent)?),
                    false => None,
                };
                let argument = self.deeper(Self::function_argument)?;
                let logarithm = match base {
                    Some(base) => pair(Expression::Logarithm, base, argument),
                    None => Expression::Call(Function::Log10, Box::new(argument)),
                };
                Ok(match exponent {
                    Some(exponent) => pair(Expression::Power, logarithm, exponent),
                    None => logarithm,
                })
            }
            _ => Err(Unreadable("a number or variable was expected")),
        }
    }

    /// `x_1`, `a_{n+1}`, `S_{ABC}`.
    fn indexed(&mut self, symbol: Symbol) -> Result<Expression> {
        let mut symbol = symbol;
        let long = Unreadable("an index that is too long");
        if self.eat(&Kind::Index) {
            let group = self.eat(&Kind::Open('{'));
            loop {
                let part = match self.next() {
                    Some(Kind::Number(value)) => value.to_string(),
                    Some(Kind::Atom(Atom::Symbol(index))) => {
                        format!("{}{}", index.letter, index.index())
                    }
                    Some(Kind::Atom(Atom::I)) => "i".to_owned(),
                    Some(Kind::Atom(Atom::E)) => "e".to_owned(),
                    Some(Kind::Word(word)) => word.to_owned(),
                    Some(Kind::Plus) if group => "+".to_owned(),
                    Some(Kind::Minus) if group => "-".to_owned(),
                    Some(Kind::Separator(_)) if group => ",".to_owned(),
                    _ => return Err(Unreadable("an index that is no number or name")),
                };
                symbol = symbol.indexed(&part).ok_or(long)?;
                if !group {
                    break;
                }
                if self.eat(&Kind::Close('}')) {
                    break;
                }
            }
        }
        Ok(Expression::Atom(Atom::Symbol(symbol)))
    }

    /// The expression inside brackets; the opening bracket is already read.
    fn group(&mut self, open: char) -> Result<Expression> {
        let bars = std::mem::replace(&mut self.inside_bars, false);
        let mut inner = self.deeper(Self::expression)?;
        if open == '{' && self.eat(&Kind::Over) {
            inner = pair(Expression::Quotient, inner, self.deeper(Self::expression)?);
        } else if open == '{' && self.eat(&Kind::Choose) {
            inner = pair(Expression::Binomial, inner, self.deeper(Self::expression)?);
        }
        self.inside_bars = bars;
        let close = match open {
            '(' => ')',
            '[' => ']',
            '{' => '}',
            other => other,
        };
        self.expect(&Kind::Close(close))?;
        Ok(match open {
            'f' => Expression::Call(Function::Floor, Box::new(inner)),
            'c' => Expression::Call(Function::Ceil, Box::new(inner)),
            _ => inner,
        })
    }

    fn absolute(&mut self) -> Result<Expression> {
        let bars = std::mem::replace(&mut self.inside_bars, true);
        let inner = self.deeper(Self::expression)?;
        self.inside_bars = bars;
        self.expect(&Kind::Bar)?;
        Ok(Expression::Call(Function::Abs, Box::new(inner)))
    }

    /// The argument of a fraction, root or index: a group, or one atom.
    fn argument(&mut self) -> Result<Expression> {
        self.operate()?;
        self.atom()
    }

    /// `\sin x`, `\sin^2 x`, `\sin^{-1} x`.
    fn call(&mut self, function: Function) -> Result<Expression> {
        let exponent = match self.eat(&Kind::Power) {
            true => Some(self.deeper(Self::exponent)?),
            false => None,
        };
        let angle = matches!(
            function,
            Function::Sin
                | Function::Cos
                | Function::Tan
                | Function::Cot
                | Function::Sec
                | Function::Csc
        );
        let outside = self.degrees;
        if angle {
            self.degrees = Degrees::Number;
        }
        let argument = self.deeper(Self::function_argument);
        self.degrees = outside;
        let mut argument = argument?;
        if angle && self.eat(&Kind::Word("°")) {
            argument = degrees(argument);
        }
        let minus_one = Expression::integer(-1);
        Ok(match exponent {
            Some(exponent) if exponent == minus_one => inverse(function, argument),
            Some(exponent) => {
                let value = Expression::Call(function, Box::new(argument));
                pair(Expression::Power, value, exponent)
            }
            None => Expression::Call(function, Box::new(argument)),
        })
    }

    /// A group, or the factors up to the next sign or function: `\sin 2x`. After a variable a bracket, a root or a
    /// power is another factor: `\cos x(1+\sin x)`.
    fn function_argument(&mut self) -> Result<Expression> {
        let group = matches!(self.peek(), Some(Kind::Open(_)));
        let mut last = match group {
            true => return self.argument(),
            false => self.factor()?,
        };
        let mut product: Option<Expression> = None;
        loop {
            let ends = match self.peek() {
                Some(Kind::Function(_) | Kind::Logarithm) => true,
                Some(Kind::Open('(' | '[') | Kind::Root) => is_variable(&last),
                Some(Kind::Atom(_)) => is_variable(&last) && self.peek_at(1) == Some(&Kind::Power),
                _ => false,
            };
            let following = (!ends && self.implies_factor()).then(|| self.deeper(Self::factor));
            let next = following.transpose()?;
            let so_far = match product.take() {
                Some(product) => pair(Expression::Product, product, last),
                None => last,
            };
            match next {
                Some(next) => (product, last) = (Some(so_far), next),
                None => return Ok(so_far),
            }
        }
    }
}

/// Whether a factor is a variable or a power of one.
fn is_variable(factor: &Expression) -> bool {
    match factor {
        Expression::Power(base, _) => is_variable(base),
        factor => factor.is_symbol(),
    }
}
