//! Limits of the JSON schemas that plugins declare, and of the work that they may cause in the server.

use super::KIB;

/// The levels of a schema with every `$ref` replaced by its target.
pub const SCHEMA_DEPTH_MAX: usize = 64;
/// The JSON values of a schema with every `$ref` replaced by its target.
pub const SCHEMA_NODES_MAX: u64 = 8_192;
/// The patterns of a schema with every `$ref` replaced by its target.
pub const SCHEMA_PATTERNS_MAX: u64 = 32;
/// The bytes of a compiled pattern.
pub const SCHEMA_PATTERN_BYTES_MAX: usize = 64 * KIB;
/// The steps of a validation that is done at once, within a few milliseconds; one that may take more is done on another
/// thread.
pub const SCHEMA_QUICK_STEPS_MAX: u64 = 1 << 18;
/// The JSON values that errors may copy; where more could be, the error names no field.
pub const SCHEMA_COPIES_MAX: u64 = 1 << 21;
/// The steps that a validation may take; a value that may take more is not validated.
pub const SCHEMA_STEPS_MAX: u64 = 1 << 26;
/// The long validations at the same time.
pub const SCHEMA_THREADS_MAX: usize = 2;
/// The plugin versions whose compiled schemas are kept.
pub const SCHEMAS_CACHED_MAX: usize = 1_024;
/// The JSON values of all compiled schemas that are kept.
pub const SCHEMAS_CACHED_NODES_MAX: u64 = 1 << 18;
