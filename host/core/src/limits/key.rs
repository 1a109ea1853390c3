//! Limits of API keys.

/// The longest time for which a key's old secret may work beside the new one, in hours.
pub const KEY_OVERLAP_HOURS_MAX: u32 = 30 * 24;
/// The time for which a key's old secret works beside the new one unless the call names another, in hours.
pub const KEY_OVERLAP_HOURS_DEFAULT: u32 = 24;
/// The shortest time between two writes of a key's last use, in seconds.
pub const KEY_USE_SECONDS: u64 = 60;
/// The plugins that one key may be restricted to.
pub const KEY_PLUGINS_MAX: usize = 64;
/// The personal keys of one person in one tenant that work at a time.
pub const PERSONAL_KEYS_MAX: i64 = 20;
