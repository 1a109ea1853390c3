//! What a plugin may ask for beyond the empty system interface, a file each.

pub mod log;
