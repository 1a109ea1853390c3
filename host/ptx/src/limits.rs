//! Everything that a module or a launch may ask for is bounded here.

/// Bytes of the text of a module.
pub const TEXT_BYTES_MAX: usize = 16 << 20;
/// Words, marks and strings of a module's text. Dense assembly has one for about four bytes.
pub const TOKENS_MAX: usize = TEXT_BYTES_MAX / 3;
/// Bytes of a word of a module that is simulated: names are compared again for each call of a function.
pub const WORD_BYTES_MAX: usize = 4 << 10;
/// Modifiers of an instruction.
pub const MODIFIERS_MAX: usize = 32;
/// Bytes of the names that instructions use, counted in each scope where one is looked for and at each call, with
/// [`LOOKUP_BYTES`] more for each: instructions may share their text, and have many names.
pub const LOOKED_UP_BYTES_MAX: usize = 256 << 20;
/// The bytes that a look-up counts as in addition to its name.
pub const LOOKUP_BYTES: usize = 16;
/// Instructions of a module, with the bodies of called functions counted at each call.
pub const INSTRUCTIONS_MAX: usize = 200_000;
/// Statements of a module, with those of called functions counted at each call: declarations, labels, braces and
/// calls as well, which need not become instructions.
pub const STATEMENTS_MAX: usize = 4 * INSTRUCTIONS_MAX;
/// Scopes that are open in one another in the text of a function; a name is looked for in each.
pub const SCOPE_DEPTH_MAX: usize = 128;
/// Registers of a thread, as declared: PTX has them without bound, a real assembler spills.
pub const REGISTERS_MAX: u32 = 16_384;
/// Functions that are under way in one another.
pub const CALL_DEPTH_MAX: usize = 16;
/// Local memory of a thread, with the parameters of its calls.
pub const LOCAL_BYTES_MAX: u64 = 64 << 10;
/// Bytes of all parameters of a kernel.
pub const PARAM_BYTES_MAX: u64 = 4096;
/// Shared memory that a kernel declares.
pub const STATIC_SHARED_BYTES_MAX: u64 = 48 << 10;
/// Shared memory of a block, dynamic and static together.
pub const SHARED_BYTES_MAX: u64 = 227 << 10;
/// Initialised or zeroed data of a module.
pub const DATA_BYTES_MAX: u64 = 64 << 20;
/// Threads of a block, and its sizes.
pub const BLOCK_THREADS_MAX: u32 = 1024;
pub const BLOCK_SIZE_MAX: [u32; 3] = [1024, 1024, 64];
/// Blocks of a grid in each direction.
pub const GRID_SIZE_MAX: [u32; 3] = [i32::MAX as u32, 65_535, 65_535];
/// Lanes of a warp.
pub const WARP_LANES: usize = 32;
/// Named barriers of a block.
pub const BARRIERS_MAX: u64 = 16;
/// Copies of a lane that are under way; with more, the oldest one is done.
pub const COPIES_MAX: usize = 256;
/// Bytes of printed text that wait to be taken. Text beyond them is lost.
pub const PRINTED_BYTES_MAX: usize = 1 << 20;
/// Bytes of a format or a string that is printed.
pub const PRINTED_STRING_BYTES_MAX: usize = 4096;
/// The width and the precision of a printed number.
pub const PRINTED_WIDTH_MAX: usize = 256;
/// Instructions that a warp runs before the next one has its turn.
pub const TURN_INSTRUCTIONS: u32 = 4096;
