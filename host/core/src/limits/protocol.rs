//! Limits of the trainers' own protocols (`/compat/<protocol>/`).

/// The calls that wait for rewards at the same time, over all tenants, which share them. Each may have a connection of its
/// own, so the limit leaves some connections for other calls.
pub const COMPAT_WAITING_MAX: usize = 3_072;
/// The KiB of the bodies that waiting calls of NeMo-Gym repeat in their answers, over all tenants, which share them;
/// further calls wait.
pub const COMPAT_REPEATED_KIB_MAX: usize = 1 << 20;
/// The samples of one call.
pub const COMPAT_LIST_ITEMS_MAX: usize = 8_192;
/// The messages of one prompt, or of one response.
pub const COMPAT_MESSAGES_MAX: usize = 4_096;
/// The parts of one message.
pub const COMPAT_PARTS_MAX: usize = 4_096;
/// The requests of one auto batch; further ones open the next batch.
pub const COMPAT_BATCH_REQUESTS_MAX: u32 = 16_384;
/// The longest time for which an auto batch is open, in seconds; later calls open the next batch.
pub const COMPAT_BATCH_SECONDS_MAX: u64 = 3_600;
/// The time without a call after which an auto batch is sealed, in seconds, unless the trainer's address
/// names another.
pub const COMPAT_GAP_SECONDS: u64 = 10;
/// The longest such time that a trainer's address may name, in seconds.
pub const COMPAT_GAP_SECONDS_MAX: u64 = 3_600;
/// The time after its end in which a call whose answer was lost may be repeated, in seconds.
pub const COMPAT_REPEAT_SECONDS: u64 = 600;
/// The latest batches of a run that are searched for the first try of a repeated call.
pub const COMPAT_REPEAT_BATCHES_MAX: usize = 4;
/// The longest time for which a server that cannot work yet holds a call, in seconds: shorter than any trainer waits.
pub const COMPAT_HOLD_SECONDS: u64 = 10;
/// The samples that are known to have got no reward, so that a repeated call or poll counts none of them again.
pub const COMPAT_TOLD_MAX: usize = 65_536;
/// The samples that ROLL submitted and that are followed until it gives up, over all tenants, which share them.
pub const COMPAT_FOLLOWED_MAX: usize = 65_536;
/// The refused calls of trainers that a server which cannot work yet keeps until it can record them.
pub const COMPAT_REFUSED_KEPT_MAX: usize = 4_096;
/// The tries of one call, each after the failure of the one before.
pub const COMPAT_TRIES_MAX: usize = 16;
/// The runs of a tenant (or steps of runs) that have an auto batch or had one recently.
pub const COMPAT_RUNS_MAX: usize = 10_000;
/// The longest deadline that a client may name, in seconds.
pub const COMPAT_SECONDS_MAX: u64 = 3_600;
/// The bytes of one field of an address or call, such as the run's name.
pub const COMPAT_FIELD_BYTES_MAX: usize = 256;
/// The rows of which NeMo-Gym's metrics are computed in one call.
pub const METRIC_ROWS_MAX: usize = 131_072;
/// The columns of numbers in such a call, each counted once for every task that has a row with it.
pub const METRIC_COLUMNS_MAX: usize = 131_072;
