//! The running service as server-sent events: a snapshot, then what changes.
//!
//! Callers with the same permissions share one [`feed`]. A reader pulls from it at its own pace; one that
//! falls further behind than the feed's kept events is disconnected, and its browser reconnects and gets a
//! snapshot.

mod feed;
mod feed_state;
mod streams;

pub(crate) use feed::{FeedScope, Feeds, Reader};
pub(crate) use streams::Streams;
