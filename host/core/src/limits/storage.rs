//! Limits of the storage objects that plugins read.

use super::MIB;

/// The bytes of an object's name as plugins write it, `root/path`.
pub const OBJECT_NAME_BYTES_MAX: usize = 1_024;
/// The bytes of an object that a plugin reads into its own memory in one call.
pub const OBJECT_GET_BYTES_MAX: u64 = 16 << 20;
/// The bytes of an object that a worker fetches for a program to read.
pub const OBJECT_BYTES_MAX: u64 = 512 << 20;
/// The names in one listing.
pub const OBJECT_NAMES_MAX: usize = 10_000;
/// The reads of objects at the same time, over all workers of a server; tenants share them, and further ones wait.
pub const OBJECT_READS_MAX: usize = 64;
/// The silence of a store in seconds after which it counts as unreachable.
pub const OBJECT_WAIT_SECONDS_MAX: u64 = 15;
/// The storage roots of an installation.
pub const STORAGE_ROOTS_MAX: usize = 64;
/// The objects whose version a worker remembers.
pub const OBJECTS_KNOWN_MAX: usize = 4_096;
/// The bytes of all objects in a machine's object cache.
pub const OBJECT_CACHE_BYTES_MAX: u64 = 8 << 30;
/// The bytes that a plugin may pass in one call of `exec`, all cases of a batch together; larger data is
/// named instead (`blob.stored`).
pub const PROGRAM_CALL_BYTES_MAX: usize = 256 * MIB;
