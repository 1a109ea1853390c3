//! The settings of an operator.

use assay_core::id::LeaseId;
use assay_core::limits;
use assay_core::time::Micros;

use crate::discipline::Discipline;

/// The operator's options for the scheduler.
#[derive(Debug, Clone)]
pub struct Config {
    /// The order of the queues.
    pub discipline: Discipline,
    /// Every lease's token is larger. The shell takes it from the clock at start, so that tokens
    /// of an earlier life are stale.
    pub leases_after: LeaseId,
    /// The time after which a stage's worker is killed, in multiples of the stage's timeout; `lease_grace` comes on top.
    pub lease_factor: u32,
    /// The time that comes on top of `lease_factor` times the timeout.
    pub lease_grace: Micros,
    /// The time after which a worker is killed that loads the plugin of its running lease.
    pub load_max: Micros,
    /// The retries of a stage whose worker was lost.
    pub worker_lost_retries_max: u32,
    /// An announced batch without requests expires this long after the scheduler heard of it.
    pub announced_max: Micros,
    /// An open batch to which nothing happens expires after this long.
    pub open_idle_max: Micros,
    /// A worker prefetches leases while those that it holds are expected to take less than this.
    pub prefetch_max: Micros,
    /// Plans are asked for at most once in this span.
    pub plan_pause: Micros,
    /// The time after which a tenant without a worker takes one from a tenant with several; `None`: never.
    pub preempt_after: Option<Micros>,
    /// The time for which a stage runs before it may be run a second time, on an idle worker; `None`: never.
    pub hedge_after: Option<Micros>,
    /// The time after which a running stage blocks its worker: the prefetched leases go to others. The round trip to
    /// the worker comes on top.
    pub blocked_after: Micros,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            discipline: Discipline::EBF,
            leases_after: LeaseId(0),
            lease_factor: limits::STAGE_WALL_FACTOR,
            lease_grace: Micros::from_ms(limits::STAGE_WALL_EXTRA_MS + limits::LEASE_GRACE_MS),
            load_max: Micros::from_secs(limits::PLUGIN_LOAD_SECONDS_MAX),
            worker_lost_retries_max: limits::WORKER_LOST_RETRIES_MAX,
            announced_max: Micros::from_secs(limits::ANNOUNCED_SECONDS_MAX),
            open_idle_max: Micros::from_secs(limits::OPEN_IDLE_SECONDS_MAX),
            prefetch_max: Micros(limits::PREFETCH_MICROS_MAX),
            preempt_after: Some(Micros::from_ms(limits::PREEMPT_AFTER_MS)),
            hedge_after: Some(Micros::from_ms(limits::HEDGE_AFTER_MS)),
            plan_pause: Micros::from_ms(limits::PLAN_PAUSE_MS),
            blocked_after: Micros::from_ms(limits::PREFETCH_BLOCKED_MS),
        }
    }
}
