//! Limits of the server's memory, and of the pages of its lists.

use super::{KIB, MIB};

/// The bytes of all waiting and running requests' bodies, over all batches; each request counts for at
/// least [`REQUEST_COST_BYTES_MIN`]. Tenants share them, and further submissions wait.
pub const LIVE_BYTES_MAX: usize = 4 << 30;
/// The least number of bytes that a request counts for.
pub const REQUEST_COST_BYTES_MIN: usize = 4 * KIB;
/// The bytes of artifacts that wait for their next stage. Tenants share them; where half of a tenant's share is taken, no more of
/// its stages start that another stage follows.
pub const ARTIFACT_LIVE_BYTES_MAX: usize = 2 << 30;
/// The bytes of log lines whose rows are not durable yet, as while the database is away. Tenants share them; lines beyond are
/// dropped.
pub const LOG_UNCOMMITTED_BYTES_MAX: usize = 256 * MIB;
/// The bytes of ended batches that are kept in memory, with their results; older ones are read from the database.
pub const ENDED_BATCHES_BYTES_MAX: usize = 256 * MIB;
/// The bytes of the results in one page, which has at least one.
pub const RESULTS_PAGE_BYTES_MAX: usize = 8 * MIB;
/// The bytes of one tenant's outcomes of deterministic plugins that are kept in memory for later equal
/// requests.
pub const SHARED_OUTCOMES_BYTES_MAX: usize = 16 * MIB;
/// The tenants whose outcomes are kept in memory for later equal requests.
pub const SHARED_OUTCOMES_TENANTS_MAX: usize = 16;
/// The open connections on which a call had a valid key or session; tenants share them. More than
/// [`LONG_CALLS_MAX`](super::LONG_CALLS_MAX), so that a call too many is refused and no stream is cut.
pub const PROVEN_CONNECTIONS_MAX: usize = 16_384;
/// The open connections on which no call had a valid key or session yet. For a further one, the oldest one of the address
/// that has most of them is closed.
pub const UNPROVEN_CONNECTIONS_MAX: usize = 1_024;
/// The bytes of the headers of one request.
pub const REQUEST_HEADER_BYTES_MAX: usize = 64 * KIB;
/// The headers of one request.
pub const REQUEST_HEADERS_MAX: usize = 100;
/// The calls at the same time on one connection of HTTP/2.
pub const HTTP2_STREAMS_MAX: u32 = 256;
/// The calls on one connection of HTTP/2 that a client has cancelled and the server has not yet seen; a client that
/// cancels more is disconnected.
pub const HTTP2_RESETS_MAX: usize = 64;
/// The plugin components and artifacts that are sent at the same time; tenants share them, and further ones wait.
pub const DOWNLOADS_MAX: usize = 16;
/// Seconds for which a call waits for its turn among them.
pub const DOWNLOAD_WAIT_SECONDS_MAX: u64 = 30;
/// Seconds within which the reader of a component or an artifact must take its next piece.
pub const DOWNLOAD_READ_SECONDS_MAX: u64 = 60;
/// The bytes of a piece of an artifact.
pub const DOWNLOAD_PIECE_BYTES_MAX: usize = 64 * KIB;
/// The results of one page.
pub const PAGE_ITEMS_MAX: u32 = 10_000;
/// The results of one page unless the call names another number.
pub const PAGE_ITEMS_DEFAULT: u32 = 1_000;
/// The completed batches in one page of a run's history.
pub const RUN_HISTORY_ITEMS_MAX: u32 = 1_000;
/// The completed batches in one page of a run's history unless the call names another number.
pub const RUN_HISTORY_ITEMS_DEFAULT: u32 = 100;
/// The entries in one page of the audit log.
pub const AUDIT_ITEMS_MAX: u32 = 1_000;
/// The entries in one page of the audit log unless the call names another number.
pub const AUDIT_ITEMS_DEFAULT: u32 = 100;
/// The batches on a run's page.
pub const RUN_ITERATIONS_MAX: u32 = 1_000;
/// The batches on a run's page unless the call names another number.
pub const RUN_ITERATIONS_DEFAULT: u32 = 200;
/// The arrival curves in one diagram.
pub const RUN_CURVES_MAX: usize = 8;
/// The points of one arrival curve.
pub const RUN_CURVE_POINTS: usize = 50;
/// The batches of a run that one page of its log lines searches.
pub const LOG_BATCHES_MAX: u32 = 64;
/// The earlier versions of a channel to which it can be rolled back.
pub const CHANNEL_VERSIONS_KEPT_MAX: usize = 32;
/// The rows in one page of a list of runs, batches or requests.
pub const LIST_ITEMS_MAX: u32 = 500;
/// The rows in one page of such a list unless the call names another number.
pub const LIST_ITEMS_DEFAULT: u32 = 100;
/// The rows in one page of a list of tenants, people, members, keys or plugins.
pub const ADMIN_ITEMS_MAX: u32 = 1_000;
/// The bytes of the cursor of a list that is ordered by name.
pub const CURSOR_BYTES_MAX: usize = 1_024;
/// The bytes of a text that a list is searched for.
pub const SEARCH_BYTES_MAX: usize = 256;
/// The requests of a timeline; a larger batch shows a sample of this size.
pub const TIMELINE_REQUESTS_MAX: u32 = 4_096;
/// The latest batches that a plugin version's page sums up.
pub const VERSION_BATCHES_MAX: u32 = 200;
/// The different verdicts that are counted in one batch.
pub const VERDICTS_COUNTED_MAX: usize = 1_024;
/// The different verdicts that a batch summary names.
pub const VERDICTS_TOLD_MAX: usize = 32;
/// The bins of a batch's reward histogram.
pub const REWARD_BINS: usize = 20;
/// The days of usage in one answer.
pub const USAGE_DAYS_MAX: u32 = 400;
/// The days of usage in one answer unless the call names another number.
pub const USAGE_DAYS_DEFAULT: u32 = 30;
/// The longest time after which an idle batch that is joined is sealed, in milliseconds.
pub const JOIN_IDLE_MS_MAX: u32 = 3_600_000;
