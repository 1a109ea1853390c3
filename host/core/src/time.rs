//! Time as a number: the pure crates take it as an argument, the shell reads the clock.

use std::fmt;
use std::ops::{Add, Sub};
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Microseconds: a point in time since the Unix epoch, or a span. Trivial stages take tens of
/// them, so milliseconds would be too coarse for the scheduler's estimates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Micros(pub u64);

impl Micros {
    /// No time, or the epoch.
    pub const ZERO: Self = Self(0);
    /// The latest point in time.
    pub const MAX: Self = Self(u64::MAX);

    /// A number of milliseconds; the greatest span if there are too many.
    #[must_use]
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms.saturating_mul(1_000))
    }

    /// A number of seconds; the greatest span if there are too many.
    #[must_use]
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(1_000_000))
    }

    /// A number of days of 24 hours.
    #[must_use]
    pub const fn from_days(days: u32) -> Self {
        Self::from_secs(days as u64 * 24 * 3_600)
    }

    /// The nearest span to a number of milliseconds; zero for a number that is negative or not a number.
    #[must_use]
    pub fn from_ms_f64(ms: f64) -> Self {
        Self((ms * 1e3).round() as u64)
    }

    /// The nearest span to a number of seconds; zero for a number that is negative or not a number.
    #[must_use]
    pub fn from_secs_f64(secs: f64) -> Self {
        Self((secs * 1e6).round() as u64)
    }

    /// The number of milliseconds.
    #[must_use]
    pub fn as_ms_f64(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// The number of seconds.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// The span from `earlier` to this point; zero when it is not earlier.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }

    /// This span times a factor; a negative one gives zero.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        // Most spans are not scaled at all, and stay exact.
        if factor == 1.0 { self } else { Self((self.0 as f64 * factor) as u64) }
    }

    /// This point in time as a calendar date and time, UTC.
    #[must_use]
    pub fn to_datetime(self) -> OffsetDateTime {
        OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.0) * 1_000)
            .unwrap_or(OffsetDateTime::UNIX_EPOCH)
    }

    /// A date and time in microseconds since the epoch; the epoch for any earlier one.
    #[must_use]
    pub fn from_datetime(at: OffsetDateTime) -> Self {
        Self(u64::try_from(at.unix_timestamp_nanos() / 1_000).unwrap_or(0))
    }
}

/// The span in whole microseconds; the greatest span if it is longer.
impl From<Duration> for Micros {
    fn from(span: Duration) -> Self {
        Self(u64::try_from(span.as_micros()).unwrap_or(u64::MAX))
    }
}

impl From<Micros> for Duration {
    fn from(span: Micros) -> Self {
        Self::from_micros(span.0)
    }
}

impl Add for Micros {
    type Output = Self;

    fn add(self, span: Self) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl Sub for Micros {
    type Output = Self;

    fn sub(self, span: Self) -> Self {
        self.since(span)
    }
}

impl fmt::Display for Micros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_datetime().format(&Rfc3339).map_err(|_| fmt::Error)?)
    }
}

/// A point in time is RFC 3339 text in JSON.
impl Serialize for Micros {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Micros {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        let at = OffsetDateTime::parse(&text, &Rfc3339).map_err(serde::de::Error::custom)?;
        Ok(Self::from_datetime(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_in_time_survives_json() {
        let at = Micros(1_790_000_000_123_456);
        let text = serde_json::to_string(&at).expect("plain");
        assert_eq!(text, "\"2026-09-21T14:13:20.123456Z\"");
        assert_eq!(serde_json::from_str::<Micros>(&text).expect("plain"), at);
    }

    #[test]
    fn a_span_survives_its_milliseconds() {
        for micros in [0, 1, 7, 999, 1_001, 123_456_789, 3_600_000_001] {
            assert_eq!(Micros::from_ms_f64(Micros(micros).as_ms_f64()), Micros(micros));
            assert_eq!(Micros::from_secs_f64(Micros(micros).as_secs_f64()), Micros(micros));
        }
        for none in [-1.0, f64::NAN, f64::NEG_INFINITY] {
            assert_eq!(Micros::from_ms_f64(none), Micros::ZERO);
            assert_eq!(Micros::from_secs_f64(none), Micros::ZERO);
        }
    }

    #[test]
    fn a_duration_becomes_whole_microseconds() {
        for (span, micros) in [
            (Duration::ZERO, Micros::ZERO),
            (Duration::from_nanos(1_999), Micros(1)),
            (Duration::from_micros(u64::MAX), Micros::MAX),
            (Duration::MAX, Micros::MAX),
        ] {
            assert_eq!(Micros::from(span), micros, "{span:?}");
        }
        assert_eq!(Duration::from(Micros::from_ms(7)), Duration::from_millis(7));
    }

    #[test]
    fn spans_never_wrap() {
        assert_eq!(Micros(1).since(Micros(2)), Micros::ZERO);
        assert_eq!(Micros::MAX + Micros(1), Micros::MAX);
    }
}
