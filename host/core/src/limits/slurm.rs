//! Limits of workers that are jobs of Slurm.

/// The pause between two questions to Slurm while something changes, in seconds; it doubles with each failure.
pub const SLURM_POLL_SECONDS_MIN: u64 = 2;
/// The pause between two questions to Slurm while nothing changes, in seconds.
pub const SLURM_POLL_SECONDS_MAX: u64 = 15;
/// The time after a change of a job for which Slurm is asked often, in seconds.
pub const SLURM_RECENT_SECONDS: u64 = 60;
/// The time for an answer of a command of Slurm, in seconds.
pub const SLURM_COMMAND_SECONDS_MAX: u64 = 30;
/// The most that a command of Slurm may print, in bytes.
pub const SLURM_OUTPUT_BYTES_MAX: u64 = 16 << 20;
/// The most jobs that are submitted at once; others wait.
pub const SLURM_SUBMITS_MAX: usize = 4;
/// The jobs that one `scancel` ends; one runs at a time.
pub const SLURM_CANCELS_AT_ONCE: usize = 100;
/// The number of answers in a row that lack a job, after which it is gone.
pub const SLURM_MISSING_ANSWERS: u32 = 2;
/// The time after which a job that is to end counts as ended though Slurm does not say so, in seconds.
pub const SLURM_STOP_SECONDS_MAX: u64 = 15;
/// The length of a ticket in the name of a job, in bytes.
pub const SLURM_TICKET_BYTES: usize = 36;
/// The length of a text of Slurm that is shown, in characters.
pub const SLURM_TEXT_CHARS_MAX: usize = 300;
/// The end of a job's output that is shown when the job fails, in bytes.
pub const SLURM_LOG_BYTES_MAX: u64 = 2_048;
/// The time for reading a job's output, in seconds.
pub const SLURM_LOG_SECONDS_MAX: u64 = 5;
/// The longest walltime of a job, in minutes.
pub const SLURM_MINUTES_MAX: u32 = 30 * 24 * 60;
/// The longest time for the start of a job's worker that a pool may have, in seconds.
pub const SLURM_START_SECONDS_MAX: u32 = 3_600;
/// The most options of one kind for a pool's jobs.
pub const SLURM_OPTIONS_MAX: usize = 64;
/// The length of one option of a pool's jobs, in bytes.
pub const SLURM_OPTION_BYTES_MAX: usize = 1_024;
