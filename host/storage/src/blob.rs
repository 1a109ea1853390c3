//! Objects stored by content: the name is the SHA-256 of the bytes, so nothing is overwritten and
//! everything is verified when it is read.

use std::path::Path;
use std::sync::Arc;

use assay_core::id::Digest;
use bytes::Bytes;
use futures_util::{Stream, stream};
use object_store::local::LocalFileSystem;
use object_store::path::Path as ObjectPath;
use object_store::{ObjectStore, ObjectStoreExt};
use sha2::{Digest as _, Sha256};

#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    #[error("there is no object {0}")]
    NotFound(Digest),
    #[error("the object {0} was damaged where it is stored")]
    Damaged(Digest),
    #[error("the object store failed: {0}")]
    Store(#[from] object_store::Error),
    #[error("the folder {0} cannot be made: {1}")]
    Folder(String, std::io::Error),
}

#[derive(Clone)]
pub struct Blobs {
    store: Arc<dyn ObjectStore>,
}

#[must_use]
pub fn digest(bytes: &[u8]) -> Digest {
    Digest(Sha256::digest(bytes).into())
}

fn place(digest: Digest) -> ObjectPath {
    let name = digest.to_string();
    ObjectPath::from_iter([&name[..2], &name])
}

impl Blobs {
    /// Opens the objects in a local folder.
    pub fn in_folder(folder: &Path) -> Result<Self, BlobError> {
        std::fs::create_dir_all(folder)
            .map_err(|error| BlobError::Folder(folder.display().to_string(), error))?;
        let store = LocalFileSystem::new_with_prefix(folder)?.with_fsync(true);
        Ok(Self { store: Arc::new(store) })
    }

    pub async fn put(&self, bytes: Bytes) -> Result<Digest, BlobError> {
        let digest = digest(&bytes);
        self.store.put(&place(digest), bytes.into()).await?;
        Ok(digest)
    }

    pub async fn get(&self, wanted: Digest) -> Result<Bytes, BlobError> {
        let found = match self.store.get(&place(wanted)).await {
            Ok(found) => found.bytes().await?,
            Err(object_store::Error::NotFound { .. }) => return Err(BlobError::NotFound(wanted)),
            Err(error) => return Err(error.into()),
        };
        if digest(&found) != wanted {
            return Err(BlobError::Damaged(wanted));
        }
        Ok(found)
    }

    /// The bytes after an offset, in pieces that fit a message. They are not verified: the receiver may have the
    /// bytes before them, and compares the whole with the digest.
    pub async fn read_after(
        &self,
        wanted: Digest,
        offset: u64,
    ) -> Result<impl Stream<Item = Result<Bytes, BlobError>> + Send + use<>, BlobError> {
        let size = match self.store.head(&place(wanted)).await {
            Ok(object) => object.size,
            Err(object_store::Error::NotFound { .. }) => return Err(BlobError::NotFound(wanted)),
            Err(error) => return Err(error.into()),
        };
        let store = Arc::clone(&self.store);
        Ok(stream::try_unfold(offset, move |start| {
            let store = Arc::clone(&store);
            async move {
                if start >= size {
                    return Ok(None);
                }
                let end = size.min(start + assay_wire::CHUNK_BYTES as u64);
                let piece = store.get_range(&place(wanted), start..end).await?;
                Ok(Some((piece, end)))
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use futures_util::TryStreamExt as _;

    use super::*;

    #[tokio::test]
    async fn a_reader_goes_on_in_the_middle() {
        let folder = tempfile::tempdir().expect("a folder");
        let blobs = Blobs::in_folder(folder.path()).expect("opens");
        let whole: Vec<u8> = (0..assay_wire::CHUNK_BYTES * 2 + 77).map(|i| i as u8).collect();
        let digest = blobs.put(whole.clone().into()).await.expect("puts");
        let size = whole.len();
        for offset in [0, 1, assay_wire::CHUNK_BYTES, size - 1, size, size + 1] {
            let pieces = blobs.read_after(digest, offset as u64).await.expect("is there");
            let pieces: Vec<Bytes> = pieces.try_collect().await.expect("reads");
            assert!(pieces.iter().all(|piece| piece.len() <= assay_wire::CHUNK_BYTES));
            assert_eq!(pieces.concat(), whole.get(offset..).unwrap_or_default());
        }
        let missing = blobs.read_after(super::digest(b"other"), 0).await;
        assert!(matches!(missing.err(), Some(BlobError::NotFound(_))));
    }

    #[tokio::test]
    async fn what_was_damaged_is_not_returned() {
        let folder = tempfile::tempdir().expect("a folder");
        let blobs = Blobs::in_folder(folder.path()).expect("opens");
        let digest = blobs.put(Bytes::from_static(b"component")).await.expect("puts");
        assert_eq!(blobs.get(digest).await.expect("gets"), "component");

        let name = digest.to_string();
        std::fs::write(folder.path().join(&name[..2]).join(&name), b"changed").expect("writes");
        assert!(matches!(blobs.get(digest).await, Err(BlobError::Damaged(_))));
        let other = super::digest(b"other");
        assert!(matches!(blobs.get(other).await, Err(BlobError::NotFound(_))));
    }
}
