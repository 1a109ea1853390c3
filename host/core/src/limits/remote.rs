//! Limits of workers of other machines.

use super::KIB;

/// The lifetime of a worker's certificate, in seconds.
pub const WORKER_CERTIFICATE_SECONDS: u64 = 24 * 3_600;
/// The shortest lifetime that an operator may choose, in seconds.
pub const WORKER_CERTIFICATE_SECONDS_MIN: u64 = 2;
/// The longest lifetime that an operator may choose, in seconds.
pub const WORKER_CERTIFICATE_SECONDS_MAX: u64 = 30 * 24 * 3_600;
/// The time in which a token to join must be used unless the caller says otherwise, in seconds.
pub const WORKER_TOKEN_SECONDS_DEFAULT: u32 = 600;
/// The longest time in which a token to join may be used, in seconds.
pub const WORKER_TOKEN_SECONDS_MAX: u32 = 24 * 3_600;
/// The most tokens to join that are not used and not expired.
pub const WORKER_TOKENS_MAX: i64 = 1_000;
/// The most workers of other machines with a valid certificate.
pub const REMOTE_WORKERS_MAX: i64 = 4_096;
/// The length of the name of a worker's machine, in bytes.
pub const MACHINE_NAME_BYTES_MAX: usize = 64;
/// The most connections of one worker of another machine at once.
pub const REMOTE_WORKER_CONNECTIONS_MAX: usize = 4;
/// The most connections at once whose peer has not shown the certificate of a known worker, those within
/// their handshake included. For one more, the oldest one of the owner that has most of them is closed.
pub const UNPROVEN_WORKERS_MAX: usize = 256;
/// The most tokens to join that are checked at once; others wait.
pub const WORKER_JOINS_MAX: usize = 2;
/// The most calls at once on one connection of a worker of another machine.
pub const REMOTE_WORKER_CALLS_MAX: u32 = 16;
/// The most outcomes, and the most loads, in one message of a worker; it holds far fewer leases.
pub const WORKER_MESSAGE_ITEMS_MAX: usize = 4_096;
/// The parts of one message of a worker, counted before they take memory: more than it can tell of all leases that it holds.
pub const WORKER_MESSAGE_PARTS_MAX: usize = 65_536;
/// The most addresses at which a worker looks for its server.
pub const WORKER_SERVERS_MAX: usize = 8;
/// The longest time of a handshake with a worker, in seconds.
pub const WORKER_HANDSHAKE_SECONDS_MAX: u64 = 10;
/// The age at which a connection of a peer that is no known worker is closed, in seconds.
pub const UNPROVEN_WORKER_SECONDS_MAX: u64 = 30;
/// The largest message of a peer that is no known worker, in bytes.
pub const UNPROVEN_MESSAGE_BYTES_MAX: usize = 16 * KIB;
/// The first pause of a worker between two tries to reach its server, in milliseconds; it doubles with each failure.
pub const WORKER_RECONNECT_MS_MIN: u64 = 100;
/// The longest pause of a worker between two tries to reach its server, in milliseconds.
pub const WORKER_RECONNECT_MS_MAX: u64 = 10_000;
