//! Limits of samples: their export, and the rows by which they are listed.

/// The exports of samples that run at the same time.
pub const SAMPLE_EXPORTS_MAX: usize = 4;
/// The batches of a run that an export reads at once.
pub const SAMPLE_BATCHES_READ: u32 = 100;
/// The requests that an export reads at once, and whose samples are written together.
pub const SAMPLES_READ: u32 = 256;
/// The bytes of requests after which an export reads no further ones at once.
pub const SAMPLE_BYTES_READ: u32 = 2 << 20;
/// Seconds within which the reader of an export must take its next piece.
pub const SAMPLE_READ_SECONDS_MAX: u64 = 60;

/// The characters of a prompt, a response and a label that a list of samples shows.
pub const SAMPLE_SHOWN_CHARS_MAX: usize = 240;
/// The characters of a prompt, a response and a label by which samples are sorted.
pub const SAMPLE_SORTED_CHARS_MAX: usize = 40;
/// The characters of a prompt whose words are indexed: half of them from its start, half from its end.
pub const SAMPLE_PROMPT_CHARS_INDEXED: usize = 4_096;
/// The same of a response.
pub const SAMPLE_RESPONSE_CHARS_INDEXED: usize = 16_384;
/// The lists of samples that are sorted, filtered or searched at the same time.
pub const SAMPLE_LISTS_MAX: usize = 4;
/// The samples that a list reads in their order before it sorts all that match.
pub const SAMPLES_WALKED_MAX: u32 = 20_000;
/// The samples of runs that a list sorts where no index has their order, or where few match its filters: the newest.
pub const SAMPLES_SORTED_MAX: u32 = 200_000;
/// The matches of a search up to which all of them are read and sorted.
pub const SAMPLE_MATCHES_SORTED_MAX: u32 = 5_000;
/// The runs of a plugin version whose samples are listed together: those that began last.
pub const SAMPLE_RUNS_MAX: u32 = 256;
/// The batches without samples that are counted.
pub const UNSAMPLED_BATCHES_COUNTED_MAX: u32 = 1_000;

/// The smallest reward that is a pass, in solve rates and in pass@k.
pub const PASS_REWARD: f64 = 1.0;
/// pass@k is computed for the powers of two up to 2 to this power.
pub const PASS_AT_POWER_MAX: u32 = 10;
/// The bins by which prompts are counted by their solve rate.
pub const SOLVE_RATE_BINS: u32 = 10;
/// The components of rewards whose means are kept for a batch.
pub const COMPONENT_MEANS_MAX: usize = 32;
/// The samples of a prompt, the latest ones, from which its solve rates are computed.
pub const PROMPT_SAMPLES_MAX: u32 = 20_000;
/// The promotions of a plugin that mark the curves of a run: the last ones.
pub const PROMOTIONS_SHOWN_MAX: u32 = 100;
