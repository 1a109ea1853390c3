//! Every limit of the plugin's own.

pub(crate) const COMPILE_TIMEOUT_MS: u32 = 180_000;
pub(crate) const EXECUTE_TIMEOUT_MS: u32 = 120_000;

/// A source, the response's or the label's.
pub(crate) const SOURCE_BYTES_MAX: usize = 256 << 10;
pub(crate) const NAME_BYTES_MAX: usize = 64;
pub(crate) const BUFFERS_MAX: usize = 128;
pub(crate) const DIMENSIONS_MAX: usize = 8;
/// Kinds of GPUs with a stated time of the baseline.
pub(crate) const DEVICES_MAX: usize = 16;
/// The text of a task's name.
pub(crate) const TASK_BYTES_MAX: usize = 128;

/// Brackets, operators and blocks of a response's Python inside one another.
pub(crate) const PYTHON_DEPTH_MAX: usize = 64;
/// Functions of it that call one another.
pub(crate) const PYTHON_CALLS_MAX: usize = 12;
/// Statements, expressions and turns of loops that are run.
pub(crate) const PYTHON_STEPS_MAX: usize = 100_000;
/// Elements of a list, and lists inside one another.
pub(crate) const PYTHON_ELEMENTS_MAX: usize = 4_096;
pub(crate) const PYTHON_LISTS_MAX: usize = 3;
/// Entries of a dictionary, files that it writes, and layers of a list of them.
pub(crate) const PYTHON_ENTRIES_MAX: usize = 256;
pub(crate) const PYTHON_OBJECTS_MAX: usize = 256;
/// Layers that it makes, which may stand inside one another.
pub(crate) const PYTHON_LAYERS_MAX: usize = 1_024;
/// Bytes of a parameter's name, before that of another module is put in front of it.
pub(crate) const PYTHON_NAME_BYTES_MAX: usize = 1_024;
/// Bytes of all texts, lists and functions that are made, whether they are kept or not.
pub(crate) const PYTHON_BYTES_MAX: usize = 16 << 20;
/// Extensions that a response compiles.
pub(crate) const EXTENSIONS_MAX: usize = 6;
/// Calls of what it compiled.
pub(crate) const EXTENSION_CALLS_MAX: usize = 64;
/// Functions that an extension names, and the bytes of a name, as the host takes them.
pub(crate) const FUNCTIONS_MAX: usize = 128;
pub(crate) const FUNCTION_BYTES_MAX: usize = 1_024;
/// Arguments of one call, and the values of a list among them, as the host takes them.
pub(crate) const ARGUMENTS_MAX: usize = 192;
/// The task's buffers and the tensors of a response's own in one call, as the host takes them.
pub(crate) const CALL_BUFFERS_MAX: usize = 256;

/// Stated and held out, each.
pub(crate) const SIZES_MAX: usize = 16;
/// The buffers of all checked sizes: they share one session, together with those that host functions
/// allocate.
pub(crate) const SESSION_BUFFERS_MAX: usize = 240;
/// The bytes of all buffers of one size; the checked sizes share one device.
pub(crate) const SIZE_BYTES_MAX: u64 = 8 << 30;
pub(crate) const EXPRESSION_BYTES_MAX: usize = 256;
pub(crate) const BLOCK_THREADS_MAX: i64 = 1_024;

/// One run of the compiler. Two of a response and one of each of the label's sources fit into the stage.
pub(crate) const COMPILE_CPU_MS: u32 = 45_000;
pub(crate) const COMPILE_MEMORY_MIB: u32 = 2_048;
/// One call of a host function, which only says what it would launch.
pub(crate) const RECORD_CPU_MS: u32 = 2_000;
/// An image with its plans; three of them are one artifact between the stages, of at most 16 MiB.
pub(crate) const BUILT_BYTES_MAX: usize = 5 << 20;
/// The bytes that a host function allocates beside the task's buffers.
pub(crate) const SCRATCH_BYTES_MAX: u64 = 4 << 30;

pub(crate) const STEPS_MAX: u32 = 4_096;
pub(crate) const PRINTED_BYTES_MAX: u32 = 4_096;
/// Bytes of printed text in one line of the request's log, after its beginning.
pub(crate) const PRINTED_SHOWN_BYTES_MAX: usize = 900;
/// The time of the session that checks, in milliseconds. Both sessions together end before their stage
/// does.
pub(crate) const CHECK_TOTAL_MS: u32 = 60_000;
/// The time of the session that times, in milliseconds.
pub(crate) const TIMING_TOTAL_MS: u32 = 50_000;
pub(crate) const WARM_UPS: u32 = 3;
/// The timed runs that are also checked; the response cannot know which.
pub(crate) const SPOT_CHECKS: u32 = 4;
/// Timing goes on until its relative error is below this, or its budget spent.
pub(crate) const RELATIVE_ERROR: f64 = 0.02;
pub(crate) const MEASURE_MS: u32 = 20_000;

/// The bytes of an explanation that the platform keeps.
pub(crate) const EXPLANATION_BYTES_MAX: usize = 4_000;
pub(crate) const LOG_SHOWN_BYTES_MAX: usize = 1_500;
