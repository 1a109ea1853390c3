//! Polynomials with rational coefficients over variables and the constants that have no rational
//! value (pi, e, i, square roots): one canonical form for surds, multiples of pi and algebra.
//!
//! Two polynomials are equal when their maps are. Every operation costs [`Work`] and gives `None`
//! past a limit: it must never run long.

mod exact;

use std::collections::BTreeMap;

use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};

pub(crate) use exact::Exact;

use crate::function::Function;
use crate::limits;

/// A variable: `x`, or `x_1` with its index, which is zeros where there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Symbol {
    pub(crate) letter: char,
    pub(crate) index: [u8; limits::INDEX_BYTES_MAX],
}

impl Symbol {
    pub(crate) const fn new(letter: char) -> Self {
        Self { letter, index: [0; limits::INDEX_BYTES_MAX] }
    }

    /// The same variable with more of an index; `None` where that grows too long.
    pub(crate) fn indexed(mut self, more: &str) -> Option<Self> {
        let used = self.index.iter().position(|byte| *byte == 0)?;
        let free = self.index.get_mut(used..used + more.len())?;
        free.copy_from_slice(more.as_bytes());
        Some(self)
    }

    pub(crate) fn index(&self) -> &str {
        let end = self.index.iter().position(|byte| *byte == 0).unwrap_or(self.index.len());
        std::str::from_utf8(&self.index[..end]).unwrap_or_default()
    }
}

/// An indeterminate or constant of a polynomial, which has rational coefficients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Atom {
    Symbol(Symbol),
    Pi,
    E,
    I,
    /// The square root of a square-free number above 1. At most one a monomial, to the power 1.
    Root(u64),
    /// A value without an exact form, such as a sine: the place of its description in [`Work`].
    Opaque(u32),
}

/// The description of an opaque atom: equal descriptions have equal values.
#[derive(Debug, Clone)]
pub(crate) struct Opaque {
    pub(crate) name: OpaqueName,
    pub(crate) inner: [Option<Exact>; 2],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OpaqueName {
    Call(Function),
    Root(u32),
    Power,
    Logarithm,
    Named(char),
}

/// Atoms with their powers, sorted, powers above 0.
type Monomial = Vec<(Atom, u32)>;

/// The work that is left of [`limits::WORK_MAX`], and the opaque values met so far. Two sides of one
/// comparison share it, so that the same opaque value is the same atom.
#[derive(Debug)]
pub(crate) struct Work {
    left: u64,
    opaque: Vec<Opaque>,
}

impl Work {
    pub(crate) fn new() -> Self {
        Self { left: limits::WORK_MAX, opaque: Vec::new() }
    }

    pub(crate) fn has_opaque(&self) -> bool {
        !self.opaque.is_empty()
    }

    /// The atom of an opaque value.
    pub(crate) fn opaque(
        &mut self,
        name: OpaqueName,
        first: Exact,
        second: Option<Exact>,
    ) -> Option<Atom> {
        for at in 0..self.opaque.len() {
            let there = self.opaque[at].clone();
            let [Some(first_there), second_there] = there.inner else { continue };
            if there.name != name || first_there.equals(&first, self) != Some(true) {
                continue;
            }
            let same = match (&second, &second_there) {
                (None, None) => true,
                (Some(here), Some(there)) => here.equals(there, self) == Some(true),
                _ => false,
            };
            if same {
                return u32::try_from(at).ok().map(Atom::Opaque);
            }
        }
        if self.opaque.len() >= limits::OPAQUE_MAX {
            return None;
        }
        self.opaque.push(Opaque { name, inner: [Some(first), second] });
        u32::try_from(self.opaque.len() - 1).ok().map(Atom::Opaque)
    }

    fn spend(&mut self, units: u64) -> Option<()> {
        self.left = self.left.checked_sub(units)?;
        Some(())
    }

    /// The cost of an operation that gave this number; `None` when the number is too large.
    pub(crate) fn charge(&mut self, value: &BigRational) -> Option<()> {
        let bits = value.numer().bits().max(value.denom().bits());
        if bits > limits::BITS_MAX {
            return None;
        }
        self.spend(1 + bits * bits / 4_096)
    }
}

/// Monomials with their coefficients, none of them zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Polynomial(BTreeMap<Monomial, BigRational>);

impl Polynomial {
    pub(crate) fn number(value: BigRational) -> Self {
        let mut terms = BTreeMap::new();
        if !value.is_zero() {
            terms.insert(Monomial::new(), value);
        }
        Self(terms)
    }

    pub(crate) fn atom(atom: Atom) -> Self {
        Self(BTreeMap::from([(vec![(atom, 1)], BigRational::one())]))
    }

    /// The value, where no atom is left.
    pub(crate) fn as_number(&self) -> Option<BigRational> {
        match self.0.len() {
            0 => Some(BigRational::zero()),
            1 => self.0.get(&Monomial::new()).cloned(),
            _ => None,
        }
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// `factor * symbol + constant` with rational numbers, where it is that.
    pub(crate) fn linear(&self) -> Option<(BigRational, BigRational)> {
        let constant = self.0.get(&Monomial::new()).cloned();
        let terms = 1 + usize::from(constant.is_some());
        let mut others = self.0.iter().filter(|(monomial, _)| !monomial.is_empty());
        let (monomial, factor) = others.next()?;
        let single = matches!(monomial.as_slice(), [(Atom::Symbol(_), 1)]);
        (single && self.0.len() == terms)
            .then(|| (factor.clone(), constant.unwrap_or_else(BigRational::zero)))
    }

    pub(crate) fn negate(mut self) -> Self {
        for value in self.0.values_mut() {
            *value = -std::mem::take(value);
        }
        self
    }

    pub(crate) fn add(mut self, other: &Self, work: &mut Work) -> Option<Self> {
        for (monomial, value) in &other.0 {
            self.accumulate(monomial.clone(), value.clone(), work)?;
        }
        Some(self)
    }

    pub(crate) fn multiply(&self, other: &Self, work: &mut Work) -> Option<Self> {
        let mut product = Self(BTreeMap::new());
        for (left, left_value) in &self.0 {
            for (right, right_value) in &other.0 {
                let (monomial, factor) = multiply_monomials(left, right)?;
                let mut value = left_value * right_value;
                if !factor.is_one() {
                    value *= factor;
                }
                work.charge(&value)?;
                product.accumulate(monomial, value, work)?;
            }
        }
        Some(product)
    }

    fn accumulate(&mut self, key: Monomial, value: BigRational, work: &mut Work) -> Option<()> {
        let sum = match self.0.remove(&key) {
            Some(before) => before + value,
            None => value,
        };
        work.charge(&sum)?;
        if !sum.is_zero() {
            self.0.insert(key, sum);
        }
        (self.0.len() <= limits::TERMS_MAX).then_some(())
    }

    /// The rational by which `other` must be multiplied to be this, neither being zero.
    pub(crate) fn ratio(&self, other: &Self) -> Option<BigRational> {
        let (left, right) = (self.0.values().next()?, other.0.values().next()?);
        let proportional = self.0.len() == other.0.len()
            && self.0.iter().zip(&other.0).all(|((monomial, value), (monomial_there, there))| {
                monomial == monomial_there && value * right == there * left
            });
        proportional.then(|| left / right)
    }
}

/// The product and the rational that falls out of roots and powers of i.
fn multiply_monomials(left: &Monomial, right: &Monomial) -> Option<(Monomial, BigRational)> {
    let mut powers: BTreeMap<Atom, u32> = BTreeMap::new();
    let mut factor = BigRational::one();
    let mut root = 1_u64;
    for (atom, power) in left.iter().chain(right) {
        match atom {
            Atom::Root(radicand) => {
                let common = root.gcd(radicand);
                factor *= BigRational::from_integer(common.into());
                root = (root / common).checked_mul(radicand / common)?;
            }
            atom => *powers.entry(*atom).or_default() += power,
        }
    }
    if let Some(power) = powers.remove(&Atom::I) {
        if power % 4 >= 2 {
            factor = -factor;
        }
        if power % 2 == 1 {
            powers.insert(Atom::I, 1);
        }
    }
    if root > 1 {
        powers.insert(Atom::Root(root), 1);
    }
    let degree: u32 = powers.values().sum();
    (degree <= limits::DEGREE_MAX).then(|| (powers.into_iter().collect(), factor))
}

/// The square root of a rational: rational, or a rational multiple of one square root. `None`
/// where the number is too large to take its square factors out.
pub(crate) fn square_root(value: &BigRational) -> Option<Polynomial> {
    let magnitude = value.abs();
    let mut root = match (exact_root(magnitude.numer(), 2), exact_root(magnitude.denom(), 2)) {
        (Some(numerator), Some(denominator)) => {
            Polynomial::number(BigRational::new(numerator, denominator))
        }
        _ => {
            let radicand = (magnitude.numer() * magnitude.denom()).to_u64()?;
            let (outside, inside) = take_squares(radicand)?;
            let factor = BigRational::new(outside.into(), magnitude.denom().clone());
            Polynomial(BTreeMap::from([(vec![(Atom::Root(inside), 1)], factor)]))
        }
    };
    if value.is_negative() {
        root = root.multiply(&Polynomial::atom(Atom::I), &mut Work::new())?;
    }
    Some(root)
}

/// The whole `degree`-th root of a number that is not negative, where there is one.
pub(crate) fn exact_root(value: &BigInt, degree: u32) -> Option<BigInt> {
    if degree == 0 || value.is_negative() {
        return None;
    }
    let root = value.nth_root(degree);
    (num_traits::pow(root.clone(), degree as usize) == *value).then_some(root)
}

/// `radicand = outside² · inside`, `inside` square-free.
fn take_squares(radicand: u64) -> Option<(u64, u64)> {
    if radicand > limits::RADICAND_MAX {
        return None;
    }
    let (mut outside, mut inside, mut rest) = (1, 1, radicand);
    let mut prime = 2;
    // Past the cube root at most two primes are left: a square, or square-free.
    while prime * prime * prime <= rest {
        while rest % (prime * prime) == 0 {
            rest /= prime * prime;
            outside *= prime;
        }
        if rest % prime == 0 {
            rest /= prime;
            inside *= prime;
        }
        prime += 1;
    }
    let root = rest.isqrt();
    if root * root == rest {
        return Some((outside * root, inside));
    }
    Some((outside, inside * rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_square_factors_out() {
        for radicand in 1..20_000_u64 {
            let (outside, inside) = take_squares(radicand).expect("within the limit");
            assert_eq!(outside * outside * inside, radicand);
            let square = (2..150).find(|factor| inside % (factor * factor) == 0);
            assert_eq!(square, None, "{radicand} = {outside}² * {inside}");
        }
        assert_eq!(take_squares(999_983 * 999_983), Some((999_983, 1)));
        assert_eq!(take_squares(limits::RADICAND_MAX + 1), None);
    }

    #[test]
    fn roots_multiply_to_numbers() {
        let root =
            |value: i64| square_root(&BigRational::from_integer(value.into())).expect("root");
        let mut work = Work::new();
        assert_eq!(root(8).multiply(&root(2), &mut work), Some(root(16)));
        assert_eq!(root(-2).multiply(&root(-2), &mut work), Some(root(4).negate()));
        assert_eq!(root(6).multiply(&root(10), &mut work), Some(root(60)));
    }
}
