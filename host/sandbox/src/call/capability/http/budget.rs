//! The budget of all requests of one call together.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use assay_core::limits;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use wasmtime_wasi_http::Error;

/// Shared by all requests of a call.
pub(super) struct HttpBudget {
    requests: AtomicU32,
    at_once: Arc<Semaphore>,
    sent: AtomicU64,
    received: AtomicU64,
}

/// A request under way, until its answer's body is dropped.
pub(super) type UnderWay = OwnedSemaphorePermit;

impl HttpBudget {
    pub(super) fn new() -> Self {
        Self {
            requests: AtomicU32::new(0),
            at_once: Arc::new(Semaphore::new(limits::HTTP_AT_ONCE_MAX)),
            sent: AtomicU64::new(0),
            received: AtomicU64::new(0),
        }
    }

    pub(super) fn start(&self) -> Result<UnderWay, Error> {
        if self.requests.fetch_add(1, Ordering::Relaxed) >= limits::HTTP_REQUESTS_MAX {
            return Err(Error::ConnectionLimitReached);
        }
        Arc::clone(&self.at_once).try_acquire_owned().map_err(|_| Error::ConnectionLimitReached)
    }

    pub(super) fn send(&self, bytes: usize) -> Result<(), Error> {
        let bytes = bytes as u64;
        match self.sent.fetch_add(bytes, Ordering::Relaxed) + bytes {
            sent if sent > limits::HTTP_SENT_BYTES_MAX => {
                Err(Error::HttpRequestBodySize(Some(sent)))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn receive(&self, bytes: usize) -> Result<(), Error> {
        let bytes = bytes as u64;
        match self.received.fetch_add(bytes, Ordering::Relaxed) + bytes {
            received if received > limits::HTTP_RECEIVED_BYTES_MAX => {
                Err(Error::HttpResponseBodySize(Some(received)))
            }
            _ => Ok(()),
        }
    }
}
