//! Limits of what trainers submit: bodies, items and their fields.

use super::{KIB, MIB};

/// The bytes of a body that is a JSON array of items; NDJSON is read line by line and may be longer.
pub const ARRAY_BODY_BYTES_MAX: usize = 32 * MIB;
/// The bytes of a body that a call holds before it takes its turn among the calls whose body is held in memory.
pub const BODY_BYTES_WITHOUT_TURN_MAX: usize = 64 * KIB;
/// The calls whose whole body is held in memory at the same time; tenants share them, and further ones wait.
pub const BUFFERED_CALLS_MAX: usize = 32;
/// The plugin uploads at the same time; tenants share them, and further ones wait.
pub const UPLOADS_MAX: usize = 4;
/// The bytes of an HTTP body that carries neither requests nor a plugin.
pub const SMALL_BODY_BYTES_MAX: usize = 256 * KIB;
/// The bytes of an HTTP body of a call that needs neither a key nor a session, such as a sign-in.
pub const OPEN_BODY_BYTES_MAX: usize = 8 * KIB;
/// The bytes of one item with all its fields, as JSON.
pub const ITEM_BYTES_MAX: usize = 4 * MIB;
/// The bytes of a request's key.
pub const KEY_BYTES_MAX: usize = 256;
/// The bytes of a group's name.
pub const GROUP_BYTES_MAX: usize = 256;
/// The time that a request is expected to take, in milliseconds: a day.
pub const EXPECTED_MS_MAX: u32 = 86_400_000;
/// The bytes of a run's name.
pub const RUN_BYTES_MAX: usize = 256;
/// The bytes of a prompt.
pub const PROMPT_BYTES_MAX: usize = MIB;
/// The bytes of a response.
pub const RESPONSE_BYTES_MAX: usize = 2 * MIB;
/// The bytes of a label, as JSON.
pub const LABEL_BYTES_MAX: usize = MIB;
/// The bytes of metadata, as JSON.
pub const METADATA_BYTES_MAX: usize = 256 * KIB;
/// The bytes of a run's settings, as JSON.
pub const SETTINGS_BYTES_MAX: usize = 64 * KIB;
/// The requests of a batch.
pub const BATCH_REQUESTS_MAX: u32 = 131_072;
/// The batches of a tenant that have not ended.
pub const OPEN_BATCHES_PER_TENANT_MAX: usize = 20_000;
/// The items of one submission that are committed together.
pub const SUBMIT_CHUNK_ITEMS_MAX: usize = 512;
/// The bytes of the items of one submission that are committed together.
pub const SUBMIT_CHUNK_BYTES_MAX: usize = 8 * MIB;
/// The bytes of an idempotency key.
pub const IDEMPOTENCY_KEY_BYTES_MAX: usize = 255;
/// The bytes of the reason for a yank.
pub const REASON_BYTES_MAX: usize = 1_024;
/// The bytes of an API key's name.
pub const KEY_NAME_BYTES_MAX: usize = 128;
/// The number of requests that the database refused last and that are known, so that a repeat that was under way with
/// one of them is not acknowledged.
pub const REFUSED_REQUESTS_KNOWN_MAX: usize = 100_000;
