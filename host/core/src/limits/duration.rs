//! Limits of time: timeouts, pauses between tries, and retries.

use std::time::Duration;

use super::MIB;

/// The longest wait of one long poll, in seconds.
pub const LONG_POLL_SECONDS_MAX: u64 = 300;
/// The silence in the middle of a call, in seconds, after which the client's connection is closed.
pub const READ_SECONDS_MAX: u64 = 30;
/// The age in seconds at which a connection is closed on which no call had a valid key or session.
pub const UNPROVEN_CONNECTION_SECONDS_MAX: u64 = 60;
/// The period of pings on a connection of HTTP/2, in seconds.
pub const HTTP2_PING_SECONDS: u64 = 30;
/// The bytes a second that a body must come with; it may lag [`READ_SECONDS_MAX`] behind.
pub const BODY_BYTES_PER_SECOND_MIN: u32 = 1_024;
/// The longest time for which a body is read that is held in memory as a whole, in seconds.
pub const WHOLE_BODY_SECONDS_MAX: u64 = 120;
/// The bytes of a refused body that are read and discarded; without that the connection would be reset and
/// its client could not read the error.
pub const UNREAD_BYTES_MAX: usize = 16 * MIB;
/// The longest time for which a refused body is read and discarded, in seconds.
pub const UNREAD_SECONDS_MAX: u64 = 10;
/// The longest wait of a submission for admission budget or for the database, in seconds; then it is
/// refused and the client may send it again.
pub const ADMISSION_SECONDS_MAX: u64 = 30;
/// The time without any event after which an announced batch expires, in seconds.
pub const ANNOUNCED_SECONDS_MAX: u64 = 3_600;
/// The time without any event after which an open batch expires, in seconds.
pub const OPEN_IDLE_SECONDS_MAX: u64 = 24 * 3_600;
/// The time in seconds by which the end that is recorded of a batch, that of its last request, may lie before its sealing:
/// less than the shortest retention.
pub const END_AGE_SECONDS_MAX: u64 = 12 * 3_600;
/// The time from its start in which a worker must join, in seconds; then the start counts as failed.
pub const WORKER_START_SECONDS_MAX: u64 = 30;
/// The first pause between two tries to start workers of a pool, in milliseconds; it doubles with each
/// failure.
pub const WORKER_RETRY_MS_MIN: u64 = 50;
/// The longest pause between two tries to start workers of a pool, in milliseconds.
pub const WORKER_RETRY_MS_MAX: u64 = 10_000;
/// The time in seconds for which a worker lives, unless it ended a stage before, after which its start counts as a success.
/// One that ends unasked before counts as a failed start.
pub const WORKER_PROVEN_SECONDS: u64 = 5;
/// The time after which an idle worker that was asked to stop is killed, in seconds.
pub const WORKER_STOP_SECONDS_MAX: u64 = 5;
/// The time between two comparisons of the expected workers with those that exist, in seconds.
pub const WORKERS_RECONCILE_SECONDS: u64 = 60;
/// The time in seconds for which workers of the server before this one may come again, from the time at which this one
/// listens and knows of them.
pub const WORKERS_RETURN_SECONDS_MAX: u64 = 60;
/// The longest time in seconds for the answer which workers the server before this one had.
pub const WORKERS_FIND_SECONDS_MAX: u64 = 30;
/// The pause in seconds before that is asked again.
pub const WORKERS_FIND_AGAIN_SECONDS: u64 = 5;
/// The age in seconds of the last proof that this server dispatches from which its orders to Slurm and Kubernetes wait for a
/// new one. No other server takes over sooner.
pub const TENURE_PROOF_SECONDS_MAX: u64 = 4;
/// The time without a message after which a worker counts as lost, in seconds.
pub const HEARTBEAT_SECONDS_MAX: u64 = 10;
/// The period of a worker's heartbeats, in seconds.
pub const HEARTBEAT_SECONDS: u64 = 2;
/// The wall time that a stage may take, in multiples of its timeout; [`STAGE_WALL_EXTRA_MS`] comes on top. A stage's timeout
/// counts the time that it used, which is less than what passed where the machine is overloaded.
pub const STAGE_WALL_FACTOR: u32 = 3;
/// The wall time that a stage may take on top of that, in milliseconds.
pub const STAGE_WALL_EXTRA_MS: u64 = 30_000;
/// The time past a stage's limit of wall time after which its worker is killed, in milliseconds.
pub const LEASE_GRACE_MS: u64 = 1_000;

/// The longest time for which a worker may fetch and load the plugin of a lease, in seconds; then it is killed.
pub const PLUGIN_LOAD_SECONDS_MAX: u64 = 600;

/// The wall time after which a stage with this timeout ends as a failure of ours.
#[must_use]
pub const fn stage_wall_max(timeout: Duration) -> Duration {
    timeout
        .saturating_mul(STAGE_WALL_FACTOR)
        .saturating_add(Duration::from_millis(STAGE_WALL_EXTRA_MS))
}

/// The retries of a stage after lost workers, on top of the plugin's own retries.
pub const WORKER_LOST_RETRIES_MAX: u32 = 3;
