//! Names by which the host calls functions of a response.

use crate::limits::{FUNCTION_BYTES_MAX, NAME_BYTES_MAX};
use crate::verdict::{Failure, Verdict, beginning};

/// Fails for a name that the host calls no function by: none of C++, such as a text that a module binds one to.
pub(crate) fn check_callable(name: &str) -> Result<(), Failure> {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let begins = name.starts_with(|letter: char| !letter.is_ascii_digit());
    if begins && name.bytes().all(is_letter) && name.len() <= FUNCTION_BYTES_MAX {
        return Ok(());
    }
    let shown = beginning(name, NAME_BYTES_MAX).escape_debug().to_string();
    let reason = format!("`{shown}` is no name of a function that can be called here");
    Err(Failure::new(Verdict::Unsupported, reason))
}
