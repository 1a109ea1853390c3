//! Every limit, in one place. Whoever meets one gets an error that names it and its number.

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

// What a trainer sends.
/// The body of one HTTP request (an array of items, or a whole NDJSON stream).
pub const BODY_BYTES_MAX: usize = 256 * MIB;
/// The body of an HTTP request that carries neither requests nor a plugin.
pub const SMALL_BODY_BYTES_MAX: usize = 256 * KIB;
/// One item with all its fields, as JSON.
pub const ITEM_BYTES_MAX: usize = 4 * MIB;
pub const KEY_BYTES_MAX: usize = 256;
pub const GROUP_BYTES_MAX: usize = 256;
pub const RUN_BYTES_MAX: usize = 256;
pub const PROMPT_BYTES_MAX: usize = MIB;
pub const RESPONSE_BYTES_MAX: usize = 2 * MIB;
pub const LABEL_BYTES_MAX: usize = MIB;
pub const METADATA_BYTES_MAX: usize = 256 * KIB;
pub const SETTINGS_BYTES_MAX: usize = 64 * KIB;
pub const BATCH_REQUESTS_MAX: u32 = 131_072;
pub const OPEN_BATCHES_PER_TENANT_MAX: usize = 20_000;
/// Items of one submit that share a group commit's acknowledgement.
pub const SUBMIT_CHUNK_ITEMS_MAX: usize = 512;

// What the server holds at once.
/// Requests that wait or run, over all batches; further submits wait for room.
pub const LIVE_REQUESTS_MAX: usize = 1_000_000;
/// Bytes of their bodies.
pub const LIVE_BYTES_MAX: usize = 4 << 30;
pub const CONNECTIONS_MAX: usize = 4_096;
pub const CONCURRENT_CALLS_MAX: usize = 4_096;
pub const PAGE_ITEMS_MAX: u32 = 10_000;
pub const PAGE_ITEMS_DEFAULT: u32 = 1_000;

// How long things may take.
pub const LONG_POLL_SECONDS_MAX: u64 = 300;
/// A client that sends no byte for this long loses its connection.
pub const HEADER_READ_SECONDS_MAX: u64 = 30;
/// A submit that finds no room or no database for this long is refused, to be sent again.
pub const ADMISSION_SECONDS_MAX: u64 = 30;
/// A batch to which nothing happens for this long expires.
pub const ANNOUNCED_SECONDS_MAX: u64 = 3_600;
pub const OPEN_IDLE_SECONDS_MAX: u64 = 24 * 3_600;
/// A worker silent for this long is lost.
pub const HEARTBEAT_SECONDS_MAX: u64 = 10;
pub const HEARTBEAT_SECONDS: u64 = 2;
/// On top of a stage's own timeout before its worker is killed.
pub const LEASE_GRACE_MS: u64 = 1_000;
/// Retries after a lost worker, on top of a plugin's own retries.
pub const WORKER_LOST_RETRIES_MAX: u32 = 3;

// What a plugin is and returns.
pub const PLUGIN_BYTES_MAX: usize = 128 * MIB;
pub const PLUGIN_NAME_BYTES_MAX: usize = 64;
pub const VERSION_BYTES_MAX: usize = 64;
pub const SUMMARY_BYTES_MAX: usize = 1_024;
pub const SCHEMA_BYTES_MAX: usize = 64 * KIB;
pub const STAGES_MAX: usize = 16;
pub const STAGE_TIMEOUT_MS_MAX: u32 = 3_600_000;
pub const STAGE_MEMORY_BYTES_MAX: u64 = 1 << 30;
pub const STAGE_RETRIES_MAX: u32 = 10;
pub const ARTIFACT_BYTES_MAX: usize = 16 * MIB;
pub const VERDICT_BYTES_MAX: usize = 64;
pub const EXPLANATION_BYTES_MAX: usize = 4 * KIB;
pub const COMPONENTS_MAX: usize = 32;
pub const COMPONENT_NAME_BYTES_MAX: usize = 64;
pub const ERROR_MESSAGE_BYTES_MAX: usize = 4 * KIB;
pub const LOG_LINES_MAX: usize = 64;
pub const LOG_LINE_BYTES_MAX: usize = KIB;
/// What is kept of a guest's standard output and error, each.
pub const GUEST_OUTPUT_BYTES_MAX: usize = 16 * KIB;
/// Guest stack; a deeper recursion is an error of the plugin.
pub const GUEST_STACK_BYTES_MAX: usize = MIB;
pub const GUEST_TABLE_ELEMENTS_MAX: usize = 20_000;
/// Address space of the process that compiles uploaded plugins.
pub const COMPILE_MEMORY_BYTES_MAX: u64 = 4 << 30;
pub const COMPILE_SECONDS_MAX: u64 = 120;

// Scheduling.
/// A worker may hold further leases while those in its hand are expected to take less than this.
pub const IN_HAND_MICROS_MAX: u64 = 2_000;
pub const IN_HAND_LEASES_MAX: usize = 128;
/// A lease that waits in a worker's hand behind a stage which runs longer than this is taken back.
pub const IN_HAND_STALL_MS: u64 = 20;
