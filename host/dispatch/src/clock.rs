//! The host's clock, the only one that the dispatcher reads.

use assay_core::time::Micros;

/// The host's clock.
#[must_use]
pub fn now() -> Micros {
    Micros::from_datetime(time::OffsetDateTime::now_utc())
}
