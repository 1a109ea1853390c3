//! Storage roots: an operator's folders and buckets, from which plugins read test cases and
//! reference data.
//!
//! A file names the roots and the tenants that each is granted to ([`roots`]); a root is a local
//! folder ([`folder`]) or a bucket ([`bucket`]). Objects are only ever read, names never lead out of
//! their root, and a tenant cannot tell a root that it was not granted from one that does not exist.
//! A store that cannot be read is unavailable, which is never the same as an object that is not there.

mod bucket;
mod folder;
mod roots;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use assay_model::id::TenantId;
use assay_model::limits;
use bytes::Bytes;
use futures_util::stream::{self, BoxStream};
use futures_util::{Stream, StreamExt as _};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::store::{Store, StoreError};
pub use roots::{Root, Roots};

const WAIT_MAX: Duration = Duration::from_secs(limits::OBJECT_WAIT_SECONDS_MAX);
/// A store that is away fails many reads; one line in this time says so.
const TOLD_EVERY: Duration = Duration::from_secs(10);

/// Why an object or a listing cannot be had; the text is for whoever wrote the plugin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StorageError {
    #[error("there is no storage root `{0}`, or it was not granted to your tenant")]
    Denied(String),
    #[error("{0}")]
    NotFound(String),
    #[error("{0}")]
    TooLarge(String),
    #[error("the storage root `{0}` cannot be read just now")]
    Unavailable(String),
}

/// What became of a read, before it is known whose.
#[derive(Debug)]
enum Trouble {
    NotFound,
    TooLarge(u64),
    TooMany,
    /// For the operator; free of secrets.
    Unavailable(String),
}

type Chunks = BoxStream<'static, Result<Bytes, Trouble>>;

/// An object as it is now.
struct Content {
    version: String,
    size: u64,
    /// None when the caller has this version already.
    chunks: Option<Chunks>,
}

/// Held while a store is read; so many are read at once.
type Turn = Arc<OwnedSemaphorePermit>;

/// An object on its way to a worker.
pub struct Fetched {
    pub version: String,
    pub size: u64,
    /// Together `size` bytes of this version, or an error at last. None when the caller has it.
    pub chunks: Option<BoxStream<'static, Result<Bytes, StorageError>>>,
}

/// The roots and who may read them.
pub struct Storage {
    roots: Roots,
    store: Store,
    /// Tenants keep their names.
    names: Mutex<HashMap<TenantId, Arc<str>>>,
    turns: Arc<Semaphore>,
}

impl Storage {
    #[must_use]
    pub fn new(roots: Roots, store: Store) -> Self {
        let turns = Arc::new(Semaphore::new(limits::OBJECT_READS_MAX));
        Self { roots, store, names: Mutex::default(), turns }
    }

    /// `known_version` is what the caller has; empty when that is nothing.
    pub async fn fetch(
        &self,
        tenant: TenantId,
        name: &str,
        known_version: &str,
    ) -> Result<Fetched, StorageError> {
        let (root_name, path) = split(name);
        let root = self.granted(tenant, root_name).await?;
        check_path(path).map_err(StorageError::NotFound)?;
        let turn = self.turn(&root).await?;
        let fetched = root.place.fetch(path, known_version, Arc::clone(&turn));
        let content = tokio::time::timeout(WAIT_MAX, fetched).await;
        let content = content.unwrap_or_else(|_| Err(silent()));
        root.count("fetch", content.as_ref().err());
        let Content { version, size, chunks } =
            content.map_err(|trouble| root.explain(name, trouble))?;
        let chunks = chunks.map(|chunks| {
            if size > limits::OBJECT_BYTES_MAX {
                let error = root.explain(name, Trouble::TooLarge(size));
                return stream::once(async { Err(error) }).boxed();
            }
            root.watched(Reading { chunks, left: size, _turn: turn }).boxed()
        });
        Ok(Fetched { version, size, chunks })
    }

    /// The names of all objects below a folder, sorted, each as [`Storage::fetch`] takes it.
    pub async fn list(&self, tenant: TenantId, folder: &str) -> Result<Vec<String>, StorageError> {
        let (root_name, path) = split(folder);
        let root = self.granted(tenant, root_name).await?;
        if folder != root_name {
            check_path(path).map_err(StorageError::NotFound)?;
        }
        let turn = self.turn(&root).await?;
        let listed = root.list(path, turn).await;
        root.count("list", listed.as_ref().err());
        let mut names = listed.map_err(|trouble| root.explain(folder, trouble))?;
        names.sort_unstable();
        Ok(names.into_iter().map(|name| format!("{root_name}/{name}")).collect())
    }

    async fn granted(&self, tenant: TenantId, root: &str) -> Result<Arc<Root>, StorageError> {
        let shown: String = root.chars().take(80).collect();
        let found = self.roots.find(root).ok_or_else(|| StorageError::Denied(shown.clone()))?;
        let tenant_name = match self.tenant_name(tenant).await {
            Ok(name) => name,
            Err(error) => {
                tracing::warn!("whose storage roots are read cannot be found out: {error}");
                return Err(StorageError::Unavailable(shown));
            }
        };
        if found.is_granted(&tenant_name) { Ok(found) } else { Err(StorageError::Denied(shown)) }
    }

    async fn tenant_name(&self, tenant: TenantId) -> Result<Arc<str>, StoreError> {
        let names = || self.names.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(name) = names().get(&tenant) {
            return Ok(Arc::clone(name));
        }
        let name: Arc<str> = self.store.tenant_name(tenant).await?.into();
        names().insert(tenant, Arc::clone(&name));
        Ok(name)
    }

    async fn turn(&self, root: &Root) -> Result<Turn, StorageError> {
        let turn = tokio::time::timeout(WAIT_MAX, Arc::clone(&self.turns).acquire_owned()).await;
        let turn = turn.map_err(|_| {
            let busy = "all reads that may run at once wait for their stores";
            root.explain("", Trouble::Unavailable(busy.into()))
        })?;
        Ok(Arc::new(turn.expect("the semaphore is never closed")))
    }
}

/// Where the objects of a root are.
enum Place {
    Folder(folder::Folder),
    Bucket(bucket::Bucket),
}

impl Place {
    async fn fetch(&self, path: &str, known: &str, turn: Turn) -> Result<Content, Trouble> {
        match self {
            Self::Folder(folder) => folder.fetch(path, known, turn).await,
            Self::Bucket(bucket) => bucket.fetch(path, known).await,
        }
    }

    async fn list(&self, path: &str, turn: Turn) -> Result<Vec<String>, Trouble> {
        match self {
            Self::Folder(folder) => folder.list(path, turn).await,
            Self::Bucket(bucket) => bucket.list(path).await,
        }
    }
}

impl Root {
    async fn list(&self, path: &str, turn: Turn) -> Result<Vec<String>, Trouble> {
        let listed = tokio::time::timeout(WAIT_MAX, self.place.list(path, turn)).await;
        listed.unwrap_or_else(|_| Err(silent()))
    }

    /// Whether it can be read, for the operator: how many objects it has, or why not.
    pub async fn check(&self) -> Result<String, String> {
        let turn = Arc::new(Semaphore::new(1)).acquire_owned().await;
        let turn = Arc::new(turn.expect("the semaphore is not closed"));
        match self.list("", turn).await {
            Ok(names) => Ok(format!("{} objects", names.len())),
            Err(Trouble::TooMany) => Ok(format!("more than {} objects", limits::OBJECT_NAMES_MAX)),
            Err(Trouble::Unavailable(reason)) => Err(reason),
            Err(Trouble::NotFound | Trouble::TooLarge(_)) => Err("it does not exist".into()),
        }
    }

    /// What a plugin's author is told; what an operator has to know is logged.
    fn explain(&self, name: &str, trouble: Trouble) -> StorageError {
        match trouble {
            Trouble::NotFound => StorageError::NotFound(format!("there is no object `{name}`")),
            Trouble::TooLarge(bytes) => StorageError::TooLarge(format!(
                "`{name}` has {bytes} bytes, the limit is {}",
                limits::OBJECT_BYTES_MAX
            )),
            Trouble::TooMany => StorageError::TooLarge(format!(
                "there are more than {} objects in `{name}`; list a folder of it",
                limits::OBJECT_NAMES_MAX
            )),
            Trouble::Unavailable(reason) => {
                let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
                if told.is_none_or(|at| at.elapsed() >= TOLD_EVERY) {
                    *told = Some(Instant::now());
                    tracing::warn!(storage.root = self.name, "storage cannot be read: {reason}");
                }
                StorageError::Unavailable(self.name.clone())
            }
        }
    }

    fn count(&self, call: &'static str, trouble: Option<&Trouble>) {
        let outcome = match trouble {
            None => "ok",
            Some(Trouble::NotFound) => "not_found",
            Some(Trouble::TooLarge(_) | Trouble::TooMany) => "too_large",
            Some(Trouble::Unavailable(_)) => "unavailable",
        };
        let labels = [("kind", self.kind), ("call", call), ("outcome", outcome)];
        metrics::counter!("assay_storage_calls_total", &labels).increment(1);
    }

    /// Counts the bytes and holds the store to what it said.
    fn watched(
        self: Arc<Self>,
        reading: Reading,
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

/// An object that is being read, from its beginning to its end.
struct Reading {
    chunks: Chunks,
    left: u64,
    /// Given back when this is dropped.
    _turn: Turn,
}

impl Reading {
    /// The next chunk, or the end; neither too early nor too late.
    fn admit(&mut self, chunk: Option<Bytes>) -> Result<Option<Bytes>, Trouble> {
        let length = chunk.as_ref().map_or(0, |chunk| chunk.len() as u64);
        if length > self.left || (chunk.is_none() && self.left > 0) {
            return Err(Trouble::Unavailable("an object has another size than was said".into()));
        }
        self.left -= length;
        Ok(chunk)
    }
}

fn silent() -> Trouble {
    Trouble::Unavailable(format!("no answer within {} s", WAIT_MAX.as_secs()))
}

/// The root's name and the path within it.
fn split(name: &str) -> (&str, &str) {
    name.split_once('/').unwrap_or((name, ""))
}

/// A path has plain parts between single slashes; nothing else can be the name of an object.
fn check_path(path: &str) -> Result<(), String> {
    let explain = |why: &str| {
        let shown: String = path.chars().take(80).collect();
        Err(format!("`{shown}` {why}; an object is named root/path/of/the/object"))
    };
    if path.len() > limits::OBJECT_NAME_BYTES_MAX {
        return explain(&format!("is longer than {} bytes", limits::OBJECT_NAME_BYTES_MAX));
    }
    if path.contains(|letter: char| letter.is_control() || letter == '\\') {
        return explain("holds a letter that no name has");
    }
    if path.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return explain("has an empty part, `.` or `..`");
    }
    Ok(())
}

#[cfg(test)]
mod tests;
