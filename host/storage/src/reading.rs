//! An object that is being read, with the limits of time and number of reads.

use std::any::Any;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream::BoxStream;

use crate::error::ReadError;

pub(crate) type Chunks = BoxStream<'static, Result<Bytes, ReadError>>;

/// An object as it is now.
pub(crate) struct Content {
    pub version: String,
    pub size: u64,
    /// `None` if the caller has this version already.
    pub chunks: Option<Chunks>,
}

/// The turn of a read, which is held while the store is read.
pub(crate) type ReadPermit = Arc<dyn Any + Send + Sync>;

/// The rest of an object that is being read.
pub(crate) struct ObjectStream {
    pub chunks: Chunks,
    pub left: u64,
    /// Returned when this is dropped.
    pub _turn: ReadPermit,
}

impl ObjectStream {
    /// Checks the next chunk or the end against the announced size.
    pub(crate) fn admit(&mut self, chunk: Option<Bytes>) -> Result<Option<Bytes>, ReadError> {
        let length = chunk.as_ref().map_or(0, |chunk| chunk.len() as u64);
        if length > self.left || (chunk.is_none() && self.left > 0) {
            return Err(ReadError::Unavailable("an object has another size than announced".into()));
        }
        self.left -= length;
        Ok(chunk)
    }
}
