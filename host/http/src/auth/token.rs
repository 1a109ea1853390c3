//! Random tokens.

/// A token of 32 random bytes, as hexadecimal digits.
///
/// # Panics
/// When the operating system has no randomness to give.
#[must_use]
pub(crate) fn random_token() -> String {
    let mut random = [0u8; 32];
    getrandom::fill(&mut random).expect("the operating system gives randomness");
    hex::encode(random)
}
