//! Limits of scheduling and planning.

/// The expected time of the leases that a worker holds, in microseconds, below which it may prefetch more.
pub const PREFETCH_MICROS_MAX: u64 = 2_000;
/// The most leases that a worker holds, the running one included.
pub const PREFETCH_LEASES_MAX: usize = 128;
/// The pools of an installation.
pub const POOLS_MAX: usize = 64;
/// The workers of one pool; more than any machine has cores.
pub const POOL_WORKERS_MAX: u32 = 1_024;
/// The completed batches of each run, and of each plugin, that a starting server learns from. A run that is
/// in use keeps as many, however old they are.
pub const HISTORY_BATCHES_EACH: u32 = 4;
/// The completed batches that a starting server reads, over all runs, the latest first.
pub const HISTORY_BATCHES_MAX: u32 = 1_000;
/// The requests of completed batches that the planner keeps, over all runs.
pub const HISTORY_REQUESTS_MAX: u32 = 4_000_000;
/// The completed batches that are deleted in one commit.
pub const HISTORY_FORGOTTEN_AT_ONCE: u32 = 100;
/// The requests that one plan counts with, over all tenants. Those that are there always count; a tenant that announced more
/// to come than its even part of the rest is planned for with fewer of these.
pub const PLANNED_REQUESTS_MAX: usize = 1 << 20;
/// The shortest time between two calls of the planner, in milliseconds.
pub const PLAN_PAUSE_MS: u64 = 100;
/// The time in milliseconds for which a tenant without a worker waits before it takes one from a tenant with
/// several. With the start of a new worker it is served within a second.
pub const PREEMPT_AFTER_MS: u64 = 500;
/// The time for which a stage runs before it may be run a second time, on an idle worker.
pub const HEDGE_AFTER_MS: u64 = 1_000;
/// The time in milliseconds after which a running stage blocks its worker: the leases that the worker prefetched
/// are revoked.
pub const PREFETCH_BLOCKED_MS: u64 = 20;
