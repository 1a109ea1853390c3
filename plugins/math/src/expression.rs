//! An expression as written, and its two readings: an exact quotient of polynomials where there is
//! one, a floating-point value at a point otherwise. Neither may panic or run long, whatever was
//! written.

use std::collections::BTreeSet;

use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};

use crate::function::Function;
use crate::limits;
use crate::polynomial::{
    Atom, Exact, OpaqueName, Polynomial, Symbol, Work, exact_root, square_root,
};

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expression {
    Number(BigRational),
    /// Written with a decimal point or in scientific notation: taken as rounded.
    Decimal(BigRational),
    Atom(Atom),
    Infinity,
    /// Plus or minus what it holds: two values.
    PlusMinus(Box<Expression>),
    Negate(Box<Expression>),
    Sum(Box<Expression>, Box<Expression>),
    Product(Box<Expression>, Box<Expression>),
    Quotient(Box<Expression>, Box<Expression>),
    Power(Box<Expression>, Box<Expression>),
    /// The radicand and the degree.
    Root(Box<Expression>, Box<Expression>),
    /// `\log_base`: the base and the argument.
    Logarithm(Box<Expression>, Box<Expression>),
    Binomial(Box<Expression>, Box<Expression>),
    Call(Function, Box<Expression>),
    /// A function without a value, such as `f(x)`: equal when written alike.
    Named(char, Box<Expression>),
}

impl Expression {
    pub(crate) fn integer(value: i64) -> Self {
        Self::Number(BigRational::from_integer(value.into()))
    }

    pub(crate) fn children(&self) -> [Option<&Self>; 2] {
        match self {
            Self::Number(_) | Self::Decimal(_) | Self::Atom(_) | Self::Infinity => [None, None],
            Self::PlusMinus(inner)
            | Self::Negate(inner)
            | Self::Call(_, inner)
            | Self::Named(_, inner) => [Some(inner), None],
            Self::Sum(left, right)
            | Self::Product(left, right)
            | Self::Quotient(left, right)
            | Self::Power(left, right)
            | Self::Root(left, right)
            | Self::Logarithm(left, right)
            | Self::Binomial(left, right) => [Some(left), Some(right)],
        }
    }

    /// Whether `found` holds of this expression or of any inside it.
    pub(crate) fn any(&self, found: &impl Fn(&Self) -> bool) -> bool {
        found(self) || self.children().into_iter().flatten().any(|inner| inner.any(found))
    }

    /// The number of its parts, counted up to about `most`.
    pub(crate) fn size(&self, most: usize) -> usize {
        let mut size = 1;
        for inner in self.children().into_iter().flatten() {
            if size > most {
                break;
            }
            size += inner.size(most);
        }
        size
    }

    pub(crate) fn is_symbol(&self) -> bool {
        matches!(self, Self::Atom(Atom::Symbol(_)) | Self::Named(..))
    }

    /// Whether it only names something, as `x`, `f(2)`, `f^{-1}(x)`, `AB`, `|AB|`, `\angle A`, `\sin 2x`, `\frac{dy}{dx}`
    /// and `\frac{AO}{OB}` do.
    pub(crate) fn is_name(&self) -> bool {
        match self {
            Self::Atom(Atom::Symbol(_)) | Self::Named(..) => true,
            Self::Call(Function::Abs, inner) => inner.is_name(),
            Self::Call(Function::Sin | Function::Cos | Function::Tan, inner) => inner.has_symbols(),
            Self::Product(left, right) => self.is_points() || left.is_inverse_of(right),
            Self::Quotient(left, right) => {
                ((left.is_points() || left.is_name()) && (right.is_points() || right.is_name()))
                    || (left.is_differential() && right.is_differential())
            }
            _ => false,
        }
    }

    /// Whether it is made of capital letters, as the points of a line, or of the `m` of an angle and its points.
    fn is_points(&self) -> bool {
        match self {
            Self::Atom(Atom::Symbol(symbol)) => symbol.letter.is_uppercase(),
            Self::Product(left, right) => {
                (left.is_points() || left.is_letter(&['m'])) && right.is_points()
            }
            _ => false,
        }
    }

    fn is_letter(&self, letters: &[char]) -> bool {
        matches!(self, Self::Atom(Atom::Symbol(symbol)) if letters.contains(&symbol.letter))
    }

    /// `f^{-1}` before its argument.
    fn is_inverse_of(&self, argument: &Self) -> bool {
        let single = matches!(argument, Self::Number(_) | Self::Atom(_));
        matches!(self, Self::Power(base, exponent)
            if single && base.is_letter(&['f', 'g', 'h', 'F', 'G']) && **exponent == Self::integer(-1))
    }

    /// `dx`.
    fn is_differential(&self) -> bool {
        matches!(self, Self::Product(left, right)
            if left.is_letter(&['d']) && matches!(**right, Self::Atom(Atom::Symbol(_))))
    }

    pub(crate) fn has_symbols(&self) -> bool {
        self.any(&|inner| inner.is_symbol())
    }

    /// Adds the variables it holds.
    pub(crate) fn collect_symbols(&self, symbols: &mut BTreeSet<Symbol>) {
        if let Self::Atom(Atom::Symbol(symbol)) = self {
            symbols.insert(*symbol);
        }
        for inner in self.children().into_iter().flatten() {
            inner.collect_symbols(symbols);
        }
    }

    /// Whether rounding may leave something near zero where its value is zero, as in `\sin\pi`.
    pub(crate) fn may_cancel(&self) -> bool {
        self.any(&|inner| match inner {
            Self::Sum(..) | Self::Logarithm(..) => true,
            Self::Call(function, _) => !matches!(function, Function::Exp | Function::Factorial),
            _ => false,
        })
    }

    /// Whether it was written as rounded, so that a tolerance is due.
    pub(crate) fn is_rounded(&self) -> bool {
        self.any(&|inner| matches!(inner, Self::Decimal(_)))
    }

    /// The same with each of its operands changed.
    pub(crate) fn with_operands(&self, change: &mut impl FnMut(&Self) -> Self) -> Self {
        let mut one = |inner: &Self| Box::new(change(inner));
        match self {
            Self::Number(_) | Self::Decimal(_) | Self::Atom(_) | Self::Infinity => self.clone(),
            Self::PlusMinus(inner) => Self::PlusMinus(one(inner)),
            Self::Negate(inner) => Self::Negate(one(inner)),
            Self::Call(function, inner) => Self::Call(*function, one(inner)),
            Self::Named(letter, inner) => Self::Named(*letter, one(inner)),
            Self::Sum(left, right) => Self::Sum(one(left), one(right)),
            Self::Product(left, right) => Self::Product(one(left), one(right)),
            Self::Quotient(left, right) => Self::Quotient(one(left), one(right)),
            Self::Power(left, right) => Self::Power(one(left), one(right)),
            Self::Root(left, right) => Self::Root(one(left), one(right)),
            Self::Logarithm(left, right) => Self::Logarithm(one(left), one(right)),
            Self::Binomial(left, right) => Self::Binomial(one(left), one(right)),
        }
    }

    /// The same with another variable in the place of one.
    pub(crate) fn renamed(&self, from: Symbol, to: Symbol) -> Self {
        match self {
            Self::Atom(Atom::Symbol(symbol)) if *symbol == from => Self::Atom(Atom::Symbol(to)),
            other => other.with_operands(&mut |inner| inner.renamed(from, to)),
        }
    }
}

impl Expression {
    /// The exact reading; `None` where there is none within the limits.
    pub(crate) fn exact(&self, work: &mut Work) -> Option<Exact> {
        match self {
            Self::Number(value) | Self::Decimal(value) => {
                work.charge(value)?;
                Some(Exact::number(value.clone()))
            }
            Self::Atom(atom) => Some(Exact::whole(Polynomial::atom(*atom))),
            Self::Infinity | Self::PlusMinus(_) => None,
            Self::Named(letter, inner) => {
                let inner = inner.exact(work)?;
                opaque(OpaqueName::Named(*letter), inner, None, work)
            }
            Self::Logarithm(base, argument) => {
                let (base, argument) = (base.exact(work)?, argument.exact(work)?);
                if let Some(power) = whole_logarithm(&base, &argument, work)? {
                    return Some(Exact::number(power));
                }
                opaque(OpaqueName::Logarithm, base, Some(argument), work)
            }
            Self::Negate(inner) => {
                let inner = inner.exact(work)?;
                Some(Exact { numerator: inner.numerator.negate(), ..inner })
            }
            Self::Sum(left, right) => left.exact(work)?.add(right.exact(work)?, work),
            Self::Product(left, right) => left.exact(work)?.multiply(&right.exact(work)?, work),
            Self::Quotient(left, right) => left.exact(work)?.divide(right.exact(work)?, work),
            Self::Power(base, exponent) => {
                let (base, exponent) = (base.exact(work)?, exponent.exact(work)?);
                match exponent.as_number() {
                    Some(exponent) => raise(base, &exponent, work),
                    None => opaque(OpaqueName::Power, base, Some(exponent), work),
                }
            }
            Self::Root(radicand, degree) => {
                let degree = degree.exact(work)?.as_number()?;
                let exponent = (!degree.is_zero()).then(|| degree.recip())?;
                raise(radicand.exact(work)?, &exponent, work)
            }
            Self::Binomial(from, choose) => {
                let from = from.exact(work)?;
                let choose = small(&choose.exact(work)?)?;
                if from.as_number().is_none() {
                    return choices(&from, choose, work);
                }
                let from = small(&from)?;
                let mut value = BigRational::from_integer(u32::from(choose <= from).into());
                for step in 0..choose.min(from) {
                    value *= BigRational::new((from - step).into(), (step + 1).into());
                    work.charge(&value)?;
                }
                Some(Exact::number(value))
            }
            Self::Call(function, inner) => call_exact(*function, inner.exact(work)?, work),
        }
    }
}

fn small(value: &Exact) -> Option<u32> {
    let value = value.as_number()?;
    let whole = value.is_integer().then(|| value.to_u32())??;
    (whole <= limits::FACTORIAL_MAX).then_some(whole)
}

/// `\binom{n}{2}`, which is `n(n-1)/2`.
fn choices(from: &Exact, choose: u32, work: &mut Work) -> Option<Exact> {
    let mut product = Exact::number(BigRational::one());
    for step in 0..choose {
        let number = |value: u32| Exact::number(BigRational::from_integer(value.into()));
        let factor = from.clone().subtract(number(step), work)?.divide(number(step + 1), work)?;
        product = product.multiply(&factor, work)?;
    }
    Some(product)
}

fn opaque(name: OpaqueName, first: Exact, second: Option<Exact>, work: &mut Work) -> Option<Exact> {
    Some(Exact::whole(Polynomial::atom(work.opaque(name, first, second)?)))
}

/// The logarithm of a power of the base, such as 3 for base 2 and 8; `None` past a limit.
fn whole_logarithm(base: &Exact, argument: &Exact, work: &mut Work) -> Option<Option<BigRational>> {
    let (Some(base), Some(argument)) = (base.as_number(), argument.as_number()) else {
        return Some(None);
    };
    if base <= BigRational::one() || !argument.is_positive() {
        return Some(None);
    }
    let inverted = argument < BigRational::one();
    let target = if inverted { argument.recip() } else { argument };
    let mut power = BigRational::one();
    for exponent in 0..=limits::DEGREE_MAX {
        if power == target {
            let exponent = BigRational::from_integer(exponent.into());
            return Some(Some(if inverted { -exponent } else { exponent }));
        }
        if power > target {
            return Some(None);
        }
        power *= &base;
        work.charge(&power)?;
    }
    Some(None)
}

fn raise(base: Exact, exponent: &BigRational, work: &mut Work) -> Option<Exact> {
    if exponent.is_integer() {
        return base.power(exponent.to_i64()?, work);
    }
    let degree = exponent.denom().to_u32().filter(|degree| *degree <= limits::DEGREE_MAX)?;
    let power = exponent.numer().to_i64()?;
    let Some(number) = base.as_number() else {
        return opaque(OpaqueName::Root(degree), base, None, work)?.power(power, work);
    };
    let raised = Exact::number(number).power(power, work)?.as_number()?;
    if degree == 2
        && let Some(root) = square_root(&raised)
    {
        return Some(Exact::whole(root));
    }
    let odd_negative = raised.is_negative() && degree % 2 == 1;
    let magnitude = if odd_negative { -&raised } else { raised.clone() };
    let exact = exact_root(magnitude.numer(), degree)
        .and_then(|over| Some(BigRational::new(over, exact_root(magnitude.denom(), degree)?)));
    match exact {
        Some(root) => Some(Exact::number(if odd_negative { -root } else { root })),
        None if raised.is_negative() => None,
        None => opaque(OpaqueName::Root(degree), Exact::number(raised), None, work),
    }
}

fn call_exact(function: Function, inner: Exact, work: &mut Work) -> Option<Exact> {
    let number = inner.as_number();
    let value = match (function, number) {
        (Function::Factorial, Some(_)) => {
            let mut product = BigRational::one();
            for factor in 2..=small(&inner)? {
                product *= BigRational::from_integer(factor.into());
                work.charge(&product)?;
            }
            product
        }
        (Function::Abs, Some(number)) => number.abs(),
        (Function::Floor, Some(number)) => number.floor(),
        (Function::Ceil, Some(number)) => number.ceil(),
        (Function::Ln | Function::Log10, Some(number)) if number.is_one() => BigRational::zero(),
        (Function::Log10, Some(_)) => {
            let ten = Exact::number(BigRational::from_integer(10.into()));
            match whole_logarithm(&ten, &inner, work)? {
                Some(power) => power,
                None => return opaque(OpaqueName::Call(function), inner, None, work),
            }
        }
        (Function::Sin | Function::Tan, Some(number)) if number.is_zero() => BigRational::zero(),
        (Function::Exp | Function::Cos, Some(number)) if number.is_zero() => BigRational::one(),
        (Function::Exp, Some(number)) => {
            let base = Exact::whole(Polynomial::atom(Atom::E));
            return raise(base, &number, work);
        }
        _ => return opaque(OpaqueName::Call(function), inner, None, work),
    };
    Some(Exact::number(value))
}

impl Expression {
    /// The value where each symbol has the value `at` gives it; NaN where there is no real one.
    pub(crate) fn evaluate(&self, at: &impl Fn(Symbol) -> f64) -> f64 {
        match self {
            Self::Number(value) | Self::Decimal(value) => {
                let nonzero = if value.is_zero() { 0.0 } else { 1.0 };
                kept(value.to_f64().unwrap_or(f64::NAN), [nonzero, 1.0])
            }
            Self::Atom(Atom::Symbol(symbol)) => at(*symbol),
            Self::Atom(Atom::Pi) => std::f64::consts::PI,
            Self::Atom(Atom::E) => std::f64::consts::E,
            Self::Atom(Atom::I | Atom::Opaque(_)) | Self::PlusMinus(_) | Self::Named(..) => {
                f64::NAN
            }
            Self::Atom(Atom::Root(radicand)) => (*radicand as f64).sqrt(),
            Self::Infinity => f64::INFINITY,
            Self::Negate(inner) => -inner.evaluate(at),
            Self::Sum(left, right) => left.evaluate(at) + right.evaluate(at),
            Self::Product(left, right) => {
                let (left, right) = (left.evaluate(at), right.evaluate(at));
                kept(left * right, [left, right])
            }
            Self::Quotient(left, right) => {
                let (left, right) = (left.evaluate(at), right.evaluate(at));
                kept(left / right, [left, right])
            }
            Self::Power(base, exponent) => {
                let (base, exponent) = (base.evaluate(at), exponent.evaluate(at));
                kept(power(base, exponent), [base, exponent])
            }
            Self::Root(radicand, degree) => {
                let (radicand, degree) = (radicand.evaluate(at), degree.evaluate(at));
                match radicand < 0.0 && degree.rem_euclid(2.0) == 1.0 {
                    true => -(-radicand).powf(degree.recip()),
                    false => radicand.powf(degree.recip()),
                }
            }
            Self::Logarithm(base, argument) => argument.evaluate(at).ln() / base.evaluate(at).ln(),
            Self::Binomial(from, choose) => binomial(from.evaluate(at), choose.evaluate(at)),
            Self::Call(function, inner) => call(*function, inner.evaluate(at)),
        }
    }
}

/// The value of an operation, or NaN where it is beyond floating-point numbers: `2017^{-2016}` is not zero.
fn kept(value: f64, operands: [f64; 2]) -> f64 {
    let sound = operands.iter().all(|operand| operand.is_finite() && *operand != 0.0);
    if sound && (value == 0.0 || value.is_infinite()) { f64::NAN } else { value }
}

fn binomial(from: f64, choose: f64) -> f64 {
    let whole = from.fract() == 0.0 && choose.fract() == 0.0;
    if !whole || !(0.0..=from).contains(&choose) || from > f64::from(limits::FACTORIAL_MAX) {
        return f64::NAN;
    }
    (0..choose as u32).map(f64::from).fold(1.0, |value, step| value * (from - step) / (step + 1.0))
}

fn power(base: f64, exponent: f64) -> f64 {
    // (-8)^(1/3) and (-8)^(2/3) are real, as in the exact reading.
    if base < 0.0 && exponent.fract() != 0.0 {
        for degree in [3.0, 5.0, 7.0, 9.0] {
            let over = (exponent * degree).round();
            if (exponent * degree - over).abs() < 1e-12 {
                let magnitude = (-base).powf(exponent);
                return if over.rem_euclid(2.0) == 1.0 { -magnitude } else { magnitude };
            }
        }
    }
    base.powf(exponent)
}

fn call(function: Function, value: f64) -> f64 {
    match function {
        Function::Sin => value.sin(),
        Function::Cos => value.cos(),
        Function::Tan => value.tan(),
        Function::Cot => value.tan().recip(),
        Function::Sec => value.cos().recip(),
        Function::Csc => value.sin().recip(),
        Function::Arcsin => value.asin(),
        Function::Arccos => value.acos(),
        Function::Arctan => value.atan(),
        Function::Sinh => value.sinh(),
        Function::Cosh => value.cosh(),
        Function::Tanh => value.tanh(),
        Function::Ln => value.ln(),
        Function::Log10 => value.log10(),
        Function::Exp => kept(value.exp(), [value, 1.0]),
        Function::Abs => value.abs(),
        Function::Floor => value.floor(),
        Function::Ceil => value.ceil(),
        Function::Factorial => {
            let whole = value >= 0.0 && value.fract() == 0.0;
            match whole && value <= f64::from(limits::FACTORIAL_MAX) {
                true => (1..=value as u32).fold(1.0, |product, factor| product * f64::from(factor)),
                false => f64::NAN,
            }
        }
    }
}
