//! Limits of CUDA: sessions, compilations and recordings.

use super::{KIB, MIB};

/// The speed of a simulated device, in lane-instructions a millisecond. It is fixed because a verdict must
/// not depend on the machine's speed; an interpreter on a common core runs twice as many.
pub const GPU_SIMULATED_STEPS_PER_MS: u64 = 50_000;
/// The memory of a simulated device, in bytes.
pub const GPU_SIMULATED_MEMORY_BYTES_MAX: u64 = 1 << 30;
/// The buffers of one recording, and the pairs of one comparison.
pub const GPU_BUFFERS_MAX: usize = 256;
/// The buffers of one session, in which plans of many recordings may run.
pub const GPU_SESSION_BUFFERS_MAX: usize = 32 * GPU_BUFFERS_MAX;
/// The modules of one session.
pub const GPU_MODULES_MAX: usize = 64;
/// The bytes of an image that is loaded, and of one write to or read from a buffer.
pub const GPU_TRANSFER_BYTES_MAX: u64 = 64 << 20;
/// The steps of a plan, whatever a session allows.
pub const GPU_STEPS_MAX: u32 = 4_096;
/// The seeds of one check.
pub const GPU_SEEDS_MAX: usize = 64;
/// The timed runs, and the warm-up runs, of one measurement.
pub const GPU_TRIALS_MAX: u32 = 10_000;
/// The bytes of a session's `printf` output that are kept.
pub const GPU_PRINTED_BYTES_MAX: u32 = 1 << 20;
/// The bytes of one source with its headers.
pub const GPU_SOURCE_BYTES_MAX: usize = 8 * MIB;
/// The headers of one source.
pub const GPU_HEADERS_MAX: usize = 64;
/// The number of options, of name expressions and of entries in one request, for each.
pub const GPU_WORDS_MAX: usize = 128;
/// The bytes of one option, name expression or entry.
pub const GPU_WORD_BYTES_MAX: usize = 1_024;
/// The bytes of a compiler's log that are kept.
pub const GPU_LOG_BYTES_MAX: usize = 64 * KIB;
/// The bytes of a source's machine code, and of its PTX; the interpreter accepts as many.
pub const GPU_IMAGE_BYTES_MAX: u64 = 16 << 20;
/// The kernels of one source.
pub const GPU_KERNELS_MAX: usize = 1_024;
/// The CPU time of a compilation whose request names none (0), in milliseconds.
pub const GPU_COMPILE_CPU_MS: u32 = 30_000;
/// The longest CPU time that a request may name for a compilation, in milliseconds.
pub const GPU_COMPILE_CPU_MS_MAX: u32 = 120_000;
/// The memory of a compilation whose request names none (0), in MiB.
pub const GPU_COMPILE_MEMORY_MIB: u32 = 2_048;
/// The most memory that a request may name for a compilation, in MiB.
pub const GPU_COMPILE_MEMORY_MIB_MAX: u32 = 4_096;
/// The least memory of a compilation, in MiB; no compiler starts with less.
pub const GPU_COMPILE_MEMORY_MIB_MIN: u32 = 512;
/// The bytes of all compilation results that a machine keeps on disk, over all tenants.
pub const GPU_ARTIFACTS_BYTES_MAX: u64 = 2 << 30;
/// The bytes of compilation results that a worker keeps in memory.
pub const GPU_READY_BYTES_MAX: usize = 64 * MIB;
/// The number of compilation results that a worker keeps in memory.
pub const GPU_READY_MAX: usize = 128;
/// The CPU time for recording a host function once, where a request names none, in milliseconds.
pub const GPU_RECORD_CPU_MS: u32 = 2_000;
/// The longest CPU time that a request may name for recording a host function once, in milliseconds.
pub const GPU_RECORD_CPU_MS_MAX: u32 = 20_000;
/// The memory for recording a host function once, in bytes.
pub const GPU_RECORD_MEMORY_BYTES: u64 = 256 << 20;
/// The bytes kept of a host function's standard output, and of its standard error.
pub const GPU_RECORD_SAID_BYTES_MAX: u64 = 64 << 10;
/// The host functions that one source may register.
pub const GPU_ENTRIES_MAX: usize = 256;
/// The arguments of one host function.
pub const GPU_ARGUMENTS_MAX: usize = 192;
/// The dimensions of one tensor.
pub const GPU_DIMENSIONS_MAX: usize = 16;
/// The tensors that a host function returns.
pub const GPU_RETURNED_MAX: usize = 64;
/// The bytes of all buffers of a recording: the memory of a large GPU. A recording allocates none of them.
pub const GPU_DEVICE_BYTES_MAX: u64 = 128 << 30;
/// The bytes of a recording as text.
pub const GPU_TRACE_BYTES_MAX: u64 = 8 << 20;
/// The bytes of one message in a recording, such as the reason why a call is unsupported.
pub const GPU_SENTENCE_BYTES_MAX: u64 = 512;
