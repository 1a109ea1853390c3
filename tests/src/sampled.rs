//! Test cases that only `make test-long` runs all of.

/// True if every case is to be run.
#[must_use]
pub fn long() -> bool {
    std::env::var_os("ASSAY_TEST_LONG").is_some_and(|set| set == "1")
}

/// One of so many, the first among them, or all where ASSAY_TEST_LONG is 1.
///
/// # Panics
/// When `every` is 0.
pub fn sampled<T>(every: usize, all: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
    all.into_iter().step_by(if long() { 1 } else { every })
}
