//! Reads of one root, which is a folder or a bucket.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use assay_core::limits;
use bytes::Bytes;
use futures_util::stream::{self};
use futures_util::{Stream, StreamExt as _};
use parking_lot::Mutex;

use crate::bucket::Bucket;
use crate::error::{ReadError, StorageError, WAIT_MAX, silent};
use crate::folder::Folder;
use crate::reading::{Content, ObjectStream, ReadPermit};

/// The time between log lines about a store that cannot be read, because it fails many reads.
const TOLD_EVERY: Duration = Duration::from_secs(10);

const ALL_TENANTS: &str = "*";

/// A folder or bucket with a name.
pub struct Root {
    pub name: String,
    pub url: String,
    /// Names of tenants, or `*` for all.
    pub tenants: Vec<String>,
    /// The label in metrics.
    pub(crate) kind: &'static str,
    pub(crate) place: Location,
    /// The time of the last log line about a failed read.
    pub(crate) told: Mutex<Option<Instant>>,
}

impl fmt::Debug for Root {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Display for Root {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenants = match &self.tenants[..] {
            [] => "nobody".to_owned(),
            tenants if tenants.iter().any(|tenant| tenant == ALL_TENANTS) => "all tenants".into(),
            tenants => tenants.join(", "),
        };
        write!(f, "storage root `{}` is {}, for {tenants}", self.name, self.url)
    }
}

impl Root {
    #[must_use]
    pub fn is_granted(&self, tenant: &str) -> bool {
        self.tenants.iter().any(|granted| granted == ALL_TENANTS || granted == tenant)
    }
}

/// The place where the objects of a root are stored.
pub(crate) enum Location {
    Folder(Folder),
    Bucket(Bucket),
}

impl Location {
    pub(crate) async fn fetch(
        &self,
        path: &str,
        known: &str,
        turn: ReadPermit,
    ) -> Result<Content, ReadError> {
        match self {
            Self::Folder(folder) => folder.fetch(path, known, turn).await,
            Self::Bucket(bucket) => bucket.fetch(path, known).await,
        }
    }

    async fn list(&self, path: &str, turn: ReadPermit) -> Result<Vec<String>, ReadError> {
        match self {
            Self::Folder(folder) => folder.list(path, turn).await,
            Self::Bucket(bucket) => bucket.list(path).await,
        }
    }
}

impl Root {
    pub(crate) async fn list(
        &self,
        path: &str,
        turn: ReadPermit,
    ) -> Result<Vec<String>, ReadError> {
        let listed = tokio::time::timeout(WAIT_MAX, self.place.list(path, turn)).await;
        listed.unwrap_or_else(|_| Err(silent()))
    }

    /// Checks for the operator that the root can be read: its number of objects, or the reason.
    pub async fn check(&self) -> Result<String, String> {
        match self.list("", Arc::new(())).await {
            Ok(names) => Ok(format!("{} objects", names.len())),
            Err(ReadError::TooMany) => {
                Ok(format!("more than {} objects", limits::OBJECT_NAMES_MAX))
            }
            Err(ReadError::Unavailable(reason)) => Err(reason),
            Err(ReadError::NotFound | ReadError::TooLarge(_)) => Err("it does not exist".into()),
        }
    }

    /// The error for the plugin's author; the operator's text is logged.
    pub(crate) fn explain(&self, name: &str, trouble: ReadError) -> StorageError {
        match trouble {
            ReadError::NotFound => StorageError::NotFound(format!("there is no object `{name}`")),
            ReadError::TooLarge(bytes) => StorageError::TooLarge(format!(
                "`{name}` has {bytes} bytes, the limit is {}",
                limits::OBJECT_BYTES_MAX
            )),
            ReadError::TooMany => StorageError::TooLarge(format!(
                "there are more than {} objects in `{name}`; list a folder of it",
                limits::OBJECT_NAMES_MAX
            )),
            ReadError::Unavailable(reason) => {
                let mut told = self.told.lock();
                if told.is_none_or(|at| at.elapsed() >= TOLD_EVERY) {
                    *told = Some(Instant::now());
                    tracing::warn!(storage.root = self.name, "storage cannot be read: {reason}");
                }
                StorageError::Unavailable(self.name.clone())
            }
        }
    }

    pub(crate) fn count(&self, call: &'static str, trouble: Option<&ReadError>) {
        let outcome = match trouble {
            None => "ok",
            Some(ReadError::NotFound) => "not_found",
            Some(ReadError::TooLarge(_) | ReadError::TooMany) => "too_large",
            Some(ReadError::Unavailable(_)) => "unavailable",
        };
        let labels = [("kind", self.kind), ("call", call), ("outcome", outcome)];
        metrics::counter!("assay_storage_calls_total", &labels).increment(1);
    }

    /// Counts the bytes and checks the store against the announced size.
    pub(crate) fn watched(
        self: Arc<Self>,
        reading: ObjectStream,
    ) -> impl Stream<Item = Result<Bytes, StorageError>> + Send + use<> {
        stream::try_unfold((self, reading), |(root, mut reading)| async {
            let next = tokio::time::timeout(WAIT_MAX, reading.chunks.next()).await;
            let next = next.unwrap_or_else(|_| Some(Err(silent()))).transpose();
            match next.and_then(|chunk| reading.admit(chunk)) {
                Ok(None) => Ok(None),
                Ok(Some(chunk)) => {
                    let counter =
                        metrics::counter!("assay_storage_bytes_total", "kind" => root.kind);
                    counter.increment(chunk.len() as u64);
                    Ok(Some((chunk, (root, reading))))
                }
                Err(trouble) => Err(root.explain("", trouble)),
            }
        })
    }
}
