//! The cause of an error that says most.

use std::error::Error;

/// The deepest cause of an error, or the error itself where it has none: libraries that wrap errors say what they were
/// doing, and the last one what went wrong.
pub fn deepest<'a>(error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("reading the file")]
    struct Outer(#[from] std::io::Error);

    #[test]
    fn the_last_one_is_found() {
        let error = Outer(std::io::Error::other("no such file"));
        assert_eq!(deepest(&error).to_string(), "no such file");
        assert_eq!(deepest(&std::fmt::Error).to_string(), std::fmt::Error.to_string());
    }
}
