//! Limits of plugins: their size, what they describe and return, and the resources they use.

use super::{KIB, MIB};

/// The bytes of a component.
pub const PLUGIN_BYTES_MAX: usize = 128 * MIB;
/// The versions of a tenant's plugins. They are kept for ever, as are their components.
pub const PLUGIN_VERSIONS_MAX: i64 = 10_000;
/// The bytes of the name of a plugin, a channel, a pool, a stage or a tenant.
pub const PLUGIN_NAME_BYTES_MAX: usize = 64;
/// The bytes of a plugin's version.
pub const VERSION_BYTES_MAX: usize = 64;
/// The bytes of a plugin's summary.
pub const SUMMARY_BYTES_MAX: usize = 1_024;
/// The bytes of a schema of settings or labels.
pub const SCHEMA_BYTES_MAX: usize = 64 * KIB;
/// The stages of a plugin.
pub const STAGES_MAX: usize = 16;
/// The timeout of a stage, in milliseconds.
pub const STAGE_TIMEOUT_MS_MAX: u32 = 3_600_000;
/// The memory of a stage, in bytes.
pub const STAGE_MEMORY_BYTES_MAX: u64 = 1 << 30;
/// The retries of a stage.
pub const STAGE_RETRIES_MAX: u32 = 10;
/// The bytes that a stage returns for the next one.
pub const ARTIFACT_BYTES_MAX: usize = 16 * MIB;
/// The bytes of an artifact's content type.
pub const CONTENT_TYPE_BYTES_MAX: usize = 256;
/// The bytes of a verdict.
pub const VERDICT_BYTES_MAX: usize = 64;
/// The bytes of the explanation of a reward.
pub const EXPLANATION_BYTES_MAX: usize = 4 * KIB;
/// The components of a reward.
pub const COMPONENTS_MAX: usize = 32;
/// The bytes of a component's name.
pub const COMPONENT_NAME_BYTES_MAX: usize = 64;
/// The bytes of an error message.
pub const ERROR_MESSAGE_BYTES_MAX: usize = 4 * KIB;
/// The log lines that are kept of one run of a stage.
pub const LOG_LINES_MAX: usize = 64;
/// The bytes of a log line.
pub const LOG_LINE_BYTES_MAX: usize = KIB;
/// The bytes that are kept of a guest's standard output, and of its standard error.
pub const GUEST_OUTPUT_BYTES_MAX: usize = 16 * KIB;
/// The bytes of a guest's stack; a deeper recursion is an error of the plugin.
pub const GUEST_STACK_BYTES_MAX: usize = MIB;
/// The elements of a guest's table.
pub const GUEST_TABLE_ELEMENTS_MAX: usize = 20_000;
/// The handles (streams, pollables, requests) that a guest may hold at the same time. Each may stand for some bytes that
/// the host stores outside the guest's memory, most of all for two writes to a request's body.
pub const GUEST_HANDLES_MAX: usize = 512;
/// The random bytes that a guest may get in one call.
pub const GUEST_RANDOM_BYTES_MAX: usize = MIB;
/// The longest time that a plugin may take to describe itself, in milliseconds.
pub const DESCRIBE_MS_MAX: u64 = 5_000;
/// The memory that a plugin may use to describe itself, in bytes.
pub const DESCRIBE_MEMORY_BYTES_MAX: u64 = 512 << 20;
/// The memory that the compilation of an uploaded plugin may use, in bytes. A component of 100 KiB can be made to need
/// far more.
pub const COMPILE_RESIDENT_BYTES_MAX: u64 = 2 << 30;
/// The address space of the process that compiles uploaded plugins, in bytes. More than its memory, because each thread
/// reserves some.
pub const COMPILE_MEMORY_BYTES_MAX: u64 = 4 << 30;
/// The processor time that the compilation of an uploaded plugin may use, in seconds.
pub const COMPILE_CPU_SECONDS_MAX: u64 = 240;
/// The wall time after which a compilation is given up, in seconds; the machine is at fault then.
pub const COMPILE_WALL_SECONDS_MAX: u64 = 3 * COMPILE_CPU_SECONDS_MAX;
/// The bytes of a compiled plugin that is sent to a worker.
pub const COMPILED_BYTES_MAX: usize = 1 << 30;
/// The bytes of all compiled plugins that a machine keeps on disk for its workers.
pub const COMPILED_CACHE_BYTES_MAX: u64 = 4 << 30;
/// The bytes of single functions that an author's machine keeps compiled for components that are built anew.
pub const COMPILED_FUNCTIONS_BYTES_MAX: usize = 256 << 20;
/// The plugins that a worker keeps loaded.
pub const LOADED_PLUGINS_MAX: usize = 32;
/// The plugins of live batches that a worker loads when it joins, before it has a request for them.
pub const PRELOADED_PLUGINS_MAX: usize = 8;
/// The golden cases that travel with one version.
pub const GOLDEN_CASES_MAX: usize = 256;
/// The bytes of one golden case.
pub const GOLDEN_CASE_BYTES_MAX: usize = 256 * KIB;
/// The bytes of all golden cases of one version.
pub const GOLDEN_CASES_BYTES_MAX: usize = 4 * MIB;
/// The bytes of a golden case's file name, and those of its own name.
pub const GOLDEN_NAME_BYTES_MAX: usize = 256;
/// The bytes of the reason that is kept of a golden case that did not pass.
pub const GOLDEN_REASON_BYTES_MAX: usize = KIB;
/// The time that all golden cases of a version may use, in seconds: processor time, and time that they choose to wait.
pub const GOLDEN_SECONDS_MAX: u64 = 300;
/// The wall time after which golden cases are given up, in seconds; the machine is at fault then.
pub const GOLDEN_WALL_SECONDS_MAX: u64 = 2 * GOLDEN_SECONDS_MAX;
/// The uploads whose golden cases run at the same time. Of two a tenant has one; of more it would have several.
pub const GOLDEN_RUNS_MAX: usize = 2;
/// The uploads that wait until their golden cases may run.
pub const GOLDEN_WAITING_MAX: usize = 8;
/// The uploads of one tenant among them.
pub const GOLDEN_WAITING_TENANT_MAX: usize = 4;
/// The longest time for which an upload waits until its golden cases may run, in seconds.
pub const GOLDEN_WAIT_SECONDS_MAX: u64 = 60;
