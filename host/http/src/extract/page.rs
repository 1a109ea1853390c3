//! Pages of lists: how many rows a caller asks for.

use assay_core::limits;

/// The number of rows that a page has at most.
pub(crate) fn limit(asked: Option<u32>) -> u32 {
    asked.unwrap_or(limits::LIST_ITEMS_DEFAULT).clamp(1, limits::LIST_ITEMS_MAX)
}
