//! Quotients of polynomials.

use num_rational::BigRational;
use num_traits::One;

use super::{Polynomial, Work};
use crate::limits;

/// An exact quotient; the denominator is not zero.
#[derive(Debug, Clone)]
pub(crate) struct Exact {
    pub(crate) numerator: Polynomial,
    pub(crate) denominator: Polynomial,
}

impl Exact {
    pub(crate) fn whole(numerator: Polynomial) -> Self {
        Self { numerator, denominator: Polynomial::number(BigRational::one()) }
    }

    pub(crate) fn number(value: BigRational) -> Self {
        Self::whole(Polynomial::number(value))
    }

    pub(crate) fn as_number(&self) -> Option<BigRational> {
        let numerator = self.numerator.as_number()?;
        Some(numerator / self.denominator.as_number()?)
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.denominator.as_number().is_some_and(|value| value.is_one())
    }

    pub(crate) fn equals(&self, other: &Self, work: &mut Work) -> Option<bool> {
        if self.denominator == other.denominator {
            return Some(self.numerator == other.numerator);
        }
        let left = self.numerator.multiply(&other.denominator, work)?;
        Some(left == other.numerator.multiply(&self.denominator, work)?)
    }

    pub(crate) fn subtract(self, other: Self, work: &mut Work) -> Option<Self> {
        self.add(Self { numerator: other.numerator.negate(), ..other }, work)
    }

    pub(crate) fn add(self, other: Self, work: &mut Work) -> Option<Self> {
        if self.denominator == other.denominator {
            let numerator = self.numerator.add(&other.numerator, work)?;
            return Some(Self { numerator, denominator: self.denominator });
        }
        let left = self.numerator.multiply(&other.denominator, work)?;
        let right = other.numerator.multiply(&self.denominator, work)?;
        let denominator = self.denominator.multiply(&other.denominator, work)?;
        Some(Self { numerator: left.add(&right, work)?, denominator })
    }

    pub(crate) fn multiply(&self, other: &Self, work: &mut Work) -> Option<Self> {
        let numerator = self.numerator.multiply(&other.numerator, work)?;
        if self.is_whole() && other.is_whole() {
            return Some(Self::whole(numerator));
        }
        let denominator = self.denominator.multiply(&other.denominator, work)?;
        Some(Self { numerator, denominator })
    }

    pub(crate) fn divide(self, other: Self, work: &mut Work) -> Option<Self> {
        if other.numerator.is_zero() {
            return None;
        }
        if let Some(divisor) = other.as_number() {
            return self.multiply(&Self::number(divisor.recip()), work);
        }
        let inverse = Self { numerator: other.denominator, denominator: other.numerator };
        self.multiply(&inverse, work)
    }

    pub(crate) fn power(self, exponent: i64, work: &mut Work) -> Option<Self> {
        if self.numerator.is_zero() {
            return (exponent > 0).then_some(self);
        }
        let magnitude = exponent.unsigned_abs();
        let mut base = match exponent < 0 {
            true => Self::number(BigRational::one()).divide(self, work)?,
            false => self,
        };
        if let Some(value) = base.as_number() {
            let bits = value.numer().bits().max(value.denom().bits()).saturating_sub(1);
            if bits.saturating_mul(magnitude) > limits::BITS_MAX {
                return None;
            }
        }
        let mut result = Self::number(BigRational::one());
        let mut left = magnitude;
        while left > 0 {
            if left & 1 == 1 {
                result = result.multiply(&base, work)?;
            }
            left >>= 1;
            if left > 0 {
                base = base.multiply(&base, work)?;
            }
        }
        Some(result)
    }
}
