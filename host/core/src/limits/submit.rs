//! Limits of what trainers submit: bodies, items and their fields.

use super::{KIB, MIB};

/// The bytes of a body that is a JSON array of items; NDJSON is read line by line and may be longer.
pub const ARRAY_BODY_BYTES_MAX: usize = 32 * MIB;
/// The calls whose whole body is held in memory at the same time; further ones wait.
pub const BUFFERED_CALLS_MAX: usize = 32;
/// The plugin uploads at the same time.
pub const UPLOADS_MAX: usize = 2;
/// The bytes of an HTTP body that carries neither requests nor a plugin.
pub const SMALL_BODY_BYTES_MAX: usize = 256 * KIB;
/// The bytes of one item with all its fields, as JSON.
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
/// The items of one submission that are committed together.
pub const SUBMIT_CHUNK_ITEMS_MAX: usize = 512;
/// The bytes of the items of one submission that are committed together.
pub const SUBMIT_CHUNK_BYTES_MAX: usize = 8 * MIB;
pub const IDEMPOTENCY_KEY_BYTES_MAX: usize = 255;
pub const REASON_BYTES_MAX: usize = 1_024;
pub const KEY_NAME_BYTES_MAX: usize = 128;
