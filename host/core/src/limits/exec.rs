//! Limits of programs that plugins run in boxes.

use super::{KIB, MIB};

/// The files of one source, and the files placed beside one run.
pub const EXEC_FILES_MAX: usize = 256;
/// The bytes of all files of one source.
pub const EXEC_SOURCE_BYTES_MAX: u64 = 64 << 20;
/// The bytes of the files that are placed for one run; they do not count against the run's own limits.
pub const EXEC_PLACED_BYTES_MAX: u64 = 512 << 20;
/// The bytes of one file's path.
pub const EXEC_PATH_BYTES_MAX: usize = 256;
/// The parts of one file's path.
pub const EXEC_PATH_PARTS_MAX: usize = 16;
/// The number of a compiler's options, of a program's arguments and of its environment variables, for each.
pub const EXEC_WORDS_MAX: usize = 256;
/// The bytes of all of a compiler's options, a program's arguments or its environment variables, for each.
pub const EXEC_WORDS_BYTES_MAX: usize = 64 * KIB;
/// The files of one run that are returned.
pub const EXEC_COLLECTED_FILES_MAX: usize = 64;
/// The bytes of all files of one run that are returned; what is beyond them is cut, as is what is beyond the run's
/// limit on disk space.
pub const EXEC_COLLECTED_BYTES_MAX: u64 = 256 << 20;
/// The cases of one batch of runs.
pub const EXEC_CASES_MAX: usize = 4_096;
/// The bytes of output and files that one batch of runs returns; a longer output is cut and marked as cut.
pub const EXEC_RETURNED_BYTES_MAX: usize = 64 * MIB;
/// The bytes of one compiled program.
pub const EXEC_ARTIFACT_BYTES_MAX: u64 = 64 << 20;
/// The bytes of all compiled programs that a machine keeps on disk, over all tenants.
pub const EXEC_ARTIFACTS_BYTES_MAX: u64 = 4 << 30;
/// The bytes of compiled programs that a worker keeps in memory, ready to run.
pub const EXEC_READY_BYTES_MAX: u64 = 128 << 20;
/// The number of compiled programs that a worker keeps in memory, ready to run.
pub const EXEC_READY_MAX: usize = 128;
/// The least number of bytes that a file in a cache on disk counts for.
pub const EXEC_CACHE_COST_BYTES_MIN: u64 = 16 << 10;
/// The bytes of a toolchain's description file.
pub const TOOLCHAIN_FILE_BYTES_MAX: u64 = 64 << 10;
/// The bytes of a word that can be compared as a number; a longer word is compared as text.
pub const COMPARED_NUMBER_BYTES_MAX: usize = 1_024;
/// The pause in seconds before a helper that refused to work is asked again.
pub const EXEC_REFUSED_SECONDS: u64 = 10;
