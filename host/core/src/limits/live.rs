//! Limits of one view of the running service, of incidents and of simulations.

use super::MIB;

/// The live batches in one list, of a tenant or of all tenants.
pub const LIVE_BATCHES_SHOWN_MAX: usize = 200;
/// The batches in the list of a pool's queue.
pub const QUEUED_BATCHES_SHOWN_MAX: usize = 50;
/// The stages in the list of queues.
pub const STAGE_QUEUES_SHOWN_MAX: usize = 200;
/// The incidents of an overview.
pub const INCIDENTS_SHOWN_MAX: u32 = 20;
/// The incidents of one page unless the call names another number.
pub const INCIDENT_ITEMS_DEFAULT: u32 = 100;
/// The incidents of one page.
pub const INCIDENT_ITEMS_MAX: u32 = 1_000;
/// The incidents of one kind that are stored for a tenant in one minute; further ones are counted in one
/// more row.
pub const INCIDENTS_PER_MINUTE_MAX: u32 = 60;
/// The incidents that wait to be written to the database; further ones are dropped.
pub const INCIDENTS_PENDING_MAX: usize = 4_096;
/// The seconds without a request after which a batch that waits for its trainer is an incident.
pub const TRAINER_SILENT_SECONDS: u64 = 300;
/// The incidents that are read to be grouped.
pub const INCIDENTS_GROUPED_MAX: u32 = 1_000;
/// The days for which incidents are kept.
pub const INCIDENT_DAYS_KEPT: u32 = 30;
/// The longest time for which incidents are muted, in hours.
pub const INCIDENT_MUTE_HOURS_MAX: u32 = 30 * 24;
/// The days for which samples of the pools' capacity are kept.
pub const CAPACITY_SAMPLE_DAYS_KEPT: u32 = 7;
/// The capacity samples of one pool in one answer.
pub const CAPACITY_POINTS_MAX: u32 = 500;
/// The plan decisions of one pool in one answer.
pub const PLAN_DECISIONS_MAX: u32 = 100;
/// The open event streams of one key or one person.
pub const LIVE_STREAMS_PER_CALLER_MAX: usize = 16;
/// The open event streams of one tenant.
pub const LIVE_STREAMS_PER_TENANT_MAX: usize = 128;
/// The open event streams of all callers.
pub const LIVE_STREAMS_MAX: usize = 512;
/// The calls at the same time that wait for the end of a batch, or follow it; tenants share them.
pub const LONG_CALLS_MAX: usize = 12_288;
/// The events that a feed keeps; a reader that missed no more than these can continue.
pub const LIVE_EVENTS_KEPT_MAX: usize = 256;
/// The bytes of the events that a feed keeps.
pub const LIVE_BYTES_KEPT_MAX: usize = MIB;
/// The period in seconds in which an open stream's key or session is looked up again.
pub const STREAM_CHECK_SECONDS: u64 = 10;
/// The tenants with a line of their own in each metric by tenant.
pub const METRICS_TENANTS_MAX: usize = 50;
/// The simulations that run at the same time.
pub const SIMULATIONS_MAX: usize = 2;
/// The batches that one simulation replays.
pub const SIMULATED_BATCHES_MAX: u32 = 20;
/// The requests that one simulation replays.
pub const SIMULATED_REQUESTS_MAX: u32 = 100_000;
/// The workers that one simulation may use.
pub const SIMULATED_WORKERS_MAX: u32 = 10_000;
/// The points of a simulation's curves.
pub const SIMULATED_POINTS_MAX: usize = 500;
/// The longest time that one simulation may take, in seconds.
pub const SIMULATION_SECONDS_MAX: u64 = 30;
