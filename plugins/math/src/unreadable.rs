//! Texts that are no mathematics.

/// The reason why a text is no mathematics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unreadable(pub(crate) &'static str);

pub(crate) type Result<T> = std::result::Result<T, Unreadable>;
