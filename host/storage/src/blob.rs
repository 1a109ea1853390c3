//! Objects stored by content: the name is the SHA-256 of the bytes, so nothing is overwritten and
//! everything is verified when it is read.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use assay_core::id::Digest;
use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt as _, TryStreamExt as _, stream};
use object_store::local::LocalFileSystem;
use object_store::path::Path as ObjectPath;
use object_store::prefix::PrefixStore;
use object_store::{GetOptions, GetRange, ObjectStore, ObjectStoreExt};
use sha2::{Digest as _, Sha256};
use tokio::time::Instant;
use uuid::Uuid;

use crate::bucket::{cut, without_queries};

/// The bytes that are hashed at once, which takes a few milliseconds.
const HASHED_AT_ONCE_MAX: usize = 1 << 20;
/// The pause between two tries to read from a store that fails.
const RETRY_PERIOD: Duration = Duration::from_secs(1);

/// Why an object could not be kept or read.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    #[error("there is no object {0}")]
    NotFound(Digest),
    #[error("the object {0} was damaged where it is stored")]
    Damaged(Digest),
    /// In the store's words, without signatures.
    #[error("the object store failed: {0}")]
    Store(String),
    #[error("the folder {0} cannot be made: {1}")]
    Folder(String, std::io::Error),
}

impl From<object_store::Error> for BlobError {
    fn from(error: object_store::Error) -> Self {
        Self::Store(without_queries(&error.to_string().replace('\n', " ")))
    }
}

/// The bytes of an object, in order.
pub type BlobPieces = BoxStream<'static, Result<Bytes, BlobError>>;

/// The server's own objects: components of plugins and their compiled code. In a bucket, servers that take over from each
/// other need no common folder.
#[derive(Clone)]
pub struct Blobs {
    store: Arc<dyn ObjectStore>,
    /// The folder or URL, for people.
    place: String,
}

/// A store's own text would show how it was configured.
impl fmt::Debug for Blobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "objects in {}", self.place)
    }
}

/// The digest of bytes that may be long: these are hashed on another thread, as others wait for this one.
pub async fn digest_elsewhere(bytes: &Bytes) -> Digest {
    if bytes.len() < HASHED_AT_ONCE_MAX {
        return Digest::of(bytes);
    }
    let long = bytes.clone();
    // It does not run where the runtime stops.
    tokio::task::spawn_blocking(move || Digest::of(&long))
        .await
        .unwrap_or_else(|_| Digest::of(bytes))
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
        Ok(Self { store: Arc::new(store), place: folder.display().to_string() })
    }

    /// The objects below a prefix of a bucket, which may be empty.
    pub(crate) fn in_bucket(store: Arc<dyn ObjectStore>, prefix: &str, url: &str) -> Self {
        let store = Arc::new(PrefixStore::new(store, prefix));
        Self { store, place: url.to_owned() }
    }

    #[must_use]
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Keeps an object that nobody has, reads it and deletes it.
    ///
    /// # Errors
    /// What does not work, in the store's words.
    pub async fn try_out(&self) -> Result<(), BlobError> {
        let bytes = Bytes::from(Uuid::now_v7().as_bytes().to_vec());
        let kept = self.put(bytes).await?;
        self.get(kept).await?;
        Ok(self.store.delete(&place(kept)).await?)
    }

    pub async fn put(&self, bytes: Bytes) -> Result<Digest, BlobError> {
        let digest = digest_elsewhere(&bytes).await;
        self.store.put(&place(digest), bytes.into()).await?;
        Ok(digest)
    }

    /// Whether there is such an object, damaged or not.
    pub async fn has(&self, wanted: Digest) -> Result<bool, BlobError> {
        match self.store.head(&place(wanted)).await {
            Ok(_) => Ok(true),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    pub async fn get(&self, wanted: Digest) -> Result<Bytes, BlobError> {
        let found = match self.store.get(&place(wanted)).await {
            Ok(found) => found.bytes().await?,
            Err(object_store::Error::NotFound { .. }) => return Err(BlobError::NotFound(wanted)),
            Err(error) => return Err(error.into()),
        };
        if digest_elsewhere(&found).await != wanted {
            return Err(BlobError::Damaged(wanted));
        }
        Ok(found)
    }

    /// The size of an object, and its bytes in pieces. An object that was damaged is known at its end alone, so its last
    /// piece is an error.
    pub async fn read_pieces(&self, wanted: Digest) -> Result<(u64, BlobPieces), BlobError> {
        let found = match self.store.get(&place(wanted)).await {
            Ok(found) => found,
            Err(object_store::Error::NotFound { .. }) => return Err(BlobError::NotFound(wanted)),
            Err(error) => return Err(error.into()),
        };
        let (size, pieces) = (found.meta.size, found.into_stream().map_err(BlobError::from));
        let read = (pieces.fuse().boxed(), Sha256::new(), None);
        let pieces = stream::try_unfold(read, move |(mut pieces, mut hash, mut held)| async move {
            while let Some(piece) = pieces.try_next().await? {
                hash.update(&piece);
                if let Some(before) = held.replace(piece) {
                    return Ok(Some((before, (pieces, hash, held))));
                }
            }
            let Some(last) = held.take() else { return Ok(None) };
            if Digest(hash.finalize_reset().into()) != wanted {
                return Err(BlobError::Damaged(wanted));
            }
            Ok(Some((last, (pieces, hash, None))))
        });
        Ok((size, pieces.boxed()))
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
        // A range behind the end is an error of the store.
        let rest = if offset >= size {
            None
        } else {
            let range = Some(GetRange::Offset(offset));
            let options = GetOptions { range, ..GetOptions::default() };
            Some(self.store.get_opts(&place(wanted), options).await?.into_stream())
        };
        let pieces = stream::iter(rest).flatten();
        Ok(pieces.map_err(BlobError::from).map_ok(|piece| stream::iter(cut(piece))).try_flatten())
    }

    /// As [`Self::read_after`]; a store that fails is asked again until `retry_max` is over.
    pub async fn read_after_retries(
        &self,
        wanted: Digest,
        offset: u64,
        retry_max: Duration,
    ) -> Result<impl Stream<Item = Result<Bytes, BlobError>> + Send + use<>, BlobError> {
        let began = Instant::now();
        loop {
            match self.read_after(wanted, offset).await {
                Err(BlobError::Store(error)) if began.elapsed() < retry_max => {
                    tracing::warn!(error, object = %wanted, "an object cannot be read; trying again");
                    tokio::time::sleep(RETRY_PERIOD).await;
                }
                read => return read,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_damaged_object_has_no_last_piece() {
        let folder = tempfile::tempdir().expect("a folder");
        let blobs = Blobs::in_folder(folder.path()).expect("opens");
        let mut bytes: Vec<u8> = (0..100_000_u32).map(|at| at as u8).collect();
        let kept = blobs.put(bytes.clone().into()).await.expect("is kept");
        let (size, pieces) = blobs.read_pieces(kept).await.expect("is there");
        let read: Vec<Bytes> = pieces.try_collect().await.expect("is whole");
        assert!(size == 100_000 && read.concat() == bytes);
        bytes[0] ^= 1;
        std::fs::write(folder.path().join(place(kept).to_string()), &bytes).expect("writes");
        let (_, pieces) = blobs.read_pieces(kept).await.expect("is there");
        let read: Vec<_> = pieces.collect().await;
        let (last, before) = read.split_last().expect("an error at least");
        assert!(matches!(last, Err(BlobError::Damaged(digest)) if *digest == kept));
        let sent: usize = before.iter().flatten().map(Bytes::len).sum();
        assert!(sent < 100_000, "{sent}");
        let missing = blobs.read_pieces(Digest::of(b"other")).await;
        assert!(matches!(missing, Err(BlobError::NotFound(_))));
    }

    #[tokio::test]
    async fn what_is_tried_out_leaves_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let blobs = Blobs::in_folder(folder.path()).expect("opens");
        blobs.try_out().await.expect("it works");
        let left = blobs.store.list(None).try_collect::<Vec<_>>().await.expect("lists");
        assert!(left.is_empty(), "{left:?}");
    }

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
        let missing = blobs.read_after(Digest::of(b"other"), 0).await;
        assert!(matches!(missing.err(), Some(BlobError::NotFound(_))));
    }

    #[tokio::test]
    async fn a_store_that_fails_for_a_while_is_asked_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let blobs = Blobs::in_folder(folder.path()).expect("opens");
        let digest = blobs.put(Bytes::from_static(b"compiled")).await.expect("puts");
        assert!(blobs.has(digest).await.expect("answers"));
        // A file stands where a folder was: neither found nor missing.
        let (place, away) =
            (folder.path().join(&digest.to_string()[..2]), folder.path().join("away"));
        std::fs::rename(&place, &away).expect("moves");
        std::fs::write(&place, "").expect("writes");
        let failed = blobs.read_after(digest, 0).await.err();
        assert!(matches!(failed, Some(BlobError::Store(_))), "{failed:?}");
        let failed = blobs.read_after_retries(digest, 0, Duration::ZERO).await.err();
        assert!(matches!(failed, Some(BlobError::Store(_))), "{failed:?}");

        let read = blobs.read_after_retries(digest, 0, Duration::from_secs(60));
        tokio::pin!(read);
        let early = tokio::time::timeout(Duration::from_millis(50), &mut read).await;
        assert!(early.is_err(), "it failed or was read");
        std::fs::remove_file(&place).expect("removes");
        std::fs::rename(&away, &place).expect("moves");
        let pieces: Vec<Bytes> = read.await.expect("is there").try_collect().await.expect("reads");
        assert_eq!(pieces.concat(), b"compiled");
        let other = Digest::of(b"other");
        assert!(!blobs.has(other).await.expect("answers"));
        // A missing object is an error at once: only a store that fails is asked again.
        let missing = blobs.read_after_retries(other, 0, Duration::from_secs(3_600)).await;
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
        let other = Digest::of(b"other");
        assert!(matches!(blobs.get(other).await, Err(BlobError::NotFound(_))));
    }
}
