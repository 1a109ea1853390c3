//! Secrets and seeds from the operating system.

/// Bytes that nobody can guess.
///
/// # Panics
/// When the operating system has no randomness to give.
#[must_use]
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut random = [0; N];
    getrandom::fill(&mut random).expect("the operating system gives randomness");
    random
}
