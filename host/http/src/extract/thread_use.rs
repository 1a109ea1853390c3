//! The use of the few threads that serve all calls.

use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::problem::ApiError;

/// The time for which one call may keep such a thread.
const KEPT_MAX: Duration = Duration::from_millis(2);
/// Bodies from which on reading takes longer than that.
const LONG_BYTES: usize = 256 << 10;

/// A call's use of the thread that serves it, in a loop of which no turn need wait for anything.
pub(crate) struct ThreadUse {
    since: Instant,
}

impl ThreadUse {
    pub(crate) fn begin() -> Self {
        Self { since: Instant::now() }
    }

    /// Lets others have the thread, if the call has kept it for long.
    pub(crate) async fn share(&mut self) {
        if self.since.elapsed() >= KEPT_MAX {
            tokio::task::yield_now().await;
            self.since = Instant::now();
        }
    }
}

/// Reads a body, on another thread where it is long.
pub(crate) async fn read<T: Send + 'static>(
    body: &Bytes,
    read: impl FnOnce(&[u8]) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    if body.len() < LONG_BYTES {
        return read(body);
    }
    let body = body.clone();
    let reading = tokio::task::spawn_blocking(move || read(&body));
    reading.await.unwrap_or_else(|_| Err(ApiError::internal()))
}
