//! A guest's standard output or error: the beginning is kept, the rest dropped without a word to
//! the guest, and nothing ever waits.

use std::sync::Arc;

use assay_core::limits;
use bytes::Bytes;
use parking_lot::Mutex;
use tokio::io::AsyncWrite;
use wasmtime_wasi::async_trait;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

/// The most bytes of one write.
const WRITE_BYTES_MAX: usize = 64 << 10;

/// The kept beginning, shared with every stream that the guest opens on it.
#[derive(Clone, Default)]
pub(crate) struct CapturedOutput(Arc<Mutex<Vec<u8>>>);

impl CapturedOutput {
    /// The kept bytes as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock()).into_owned()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }
}

impl OutputStream for CapturedOutput {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        let mut kept = self.0.lock();
        let room = limits::GUEST_OUTPUT_BYTES_MAX - kept.len();
        kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(WRITE_BYTES_MAX)
    }

    fn write_zeroes(&mut self, _count: usize) -> StreamResult<()> {
        Ok(())
    }
}

#[async_trait]
impl Pollable for CapturedOutput {
    async fn ready(&mut self) {}
}

impl IsTerminal for CapturedOutput {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for CapturedOutput {
    /// The interface of a later WASI, which is not linked.
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(tokio::io::sink())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_is_kept_and_the_rest_is_no_error() {
        let output = CapturedOutput::default();
        assert!(output.is_empty());
        let mut stream = output.clone();
        for _ in 0..10 {
            stream.write(Bytes::from(vec![b'x'; 3_000])).expect("never an error");
        }
        assert_eq!(output.text().len(), limits::GUEST_OUTPUT_BYTES_MAX);
    }
}
