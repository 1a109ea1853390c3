//! Limits of exported samples.

/// The exports of samples that run at the same time.
pub const SAMPLE_EXPORTS_MAX: usize = 4;
/// The batches of a run that an export reads at once.
pub const SAMPLE_BATCHES_READ: u32 = 100;
/// The requests that an export reads at once.
pub const SAMPLES_READ: u32 = 256;
/// The bytes of requests after which an export reads no further ones at once.
pub const SAMPLE_BYTES_READ: u32 = 2 << 20;
/// Seconds within which the reader of an export must take its next piece.
pub const SAMPLE_READ_SECONDS_MAX: u64 = 60;
