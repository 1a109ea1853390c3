//! Objects of storage roots for tenants. The grant is checked before anything is read.

use std::collections::HashMap;
use std::sync::Arc;

use assay_core::id::TenantId;
use assay_core::limits;
use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use parking_lot::Mutex;

use crate::error::{ReadError, StorageError, WAIT_MAX, silent};
use crate::name::{check_path, split};
use crate::reading::{Content, ObjectStream, ReadPermit};
use crate::root::Root;
use crate::roots::Roots;
use assay_store::{Store, StoreError};

/// An object on its way to a worker.
pub struct FetchedObject {
    pub version: String,
    pub size: u64,
    /// The `size` bytes of this version, or an error at the end; `None` if the caller has it.
    pub chunks: Option<BoxStream<'static, Result<Bytes, StorageError>>>,
}

/// The roots, and the names of tenants to check grants by. It bounds no reads: each takes a turn of its caller's, who shares
/// them between tenants.
pub struct Storage {
    roots: Roots,
    store: Store,
    /// Names of tenants, which never change.
    names: Mutex<HashMap<TenantId, Arc<str>>>,
}

impl Storage {
    #[must_use]
    pub fn new(roots: Roots, store: Store) -> Self {
        Self { roots, store, names: Mutex::default() }
    }

    /// Fetches an object. `known_version` is the version that the caller has; empty if it has none. The read waits for
    /// its turn once the grant is checked, and holds it up to its end.
    pub async fn fetch(
        &self,
        tenant: TenantId,
        name: &str,
        known_version: &str,
        turn: impl Future<Output: Send + Sync + 'static>,
    ) -> Result<FetchedObject, StorageError> {
        let (root_name, path) = split(name);
        let root = self.granted(tenant, root_name).await?;
        check_path(path).map_err(StorageError::NotFound)?;
        let turn = permitted(&root, turn).await?;
        let fetched = root.place.fetch(path, known_version, Arc::clone(&turn));
        let content = tokio::time::timeout(WAIT_MAX, fetched).await;
        let content = content.unwrap_or_else(|_| Err(silent()));
        root.count("fetch", content.as_ref().err());
        let Content { version, size, chunks } =
            content.map_err(|trouble| root.explain(name, trouble))?;
        let chunks = chunks.map(|chunks| {
            if size > limits::OBJECT_BYTES_MAX {
                let error = root.explain(name, ReadError::TooLarge(size));
                return stream::once(async { Err(error) }).boxed();
            }
            root.watched(ObjectStream { chunks, left: size, _turn: turn }).boxed()
        });
        Ok(FetchedObject { version, size, chunks })
    }

    /// The names of all objects below a folder, sorted, each as [`Storage::fetch`] takes it, with a turn as there.
    pub async fn list(
        &self,
        tenant: TenantId,
        folder: &str,
        turn: impl Future<Output: Send + Sync + 'static>,
    ) -> Result<Vec<String>, StorageError> {
        let (root_name, path) = split(folder);
        let root = self.granted(tenant, root_name).await?;
        if folder != root_name {
            check_path(path).map_err(StorageError::NotFound)?;
        }
        let turn = permitted(&root, turn).await?;
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
                tracing::warn!(
                    "the name of the tenant that reads storage cannot be looked up: {error}"
                );
                return Err(StorageError::Unavailable(shown));
            }
        };
        if found.is_granted(&tenant_name) { Ok(found) } else { Err(StorageError::Denied(shown)) }
    }

    async fn tenant_name(&self, tenant: TenantId) -> Result<Arc<str>, StoreError> {
        if let Some(name) = self.names.lock().get(&tenant) {
            return Ok(Arc::clone(name));
        }
        let name: Arc<str> = self.store.tenant_name(tenant).await?.into();
        self.names.lock().insert(tenant, Arc::clone(&name));
        Ok(name)
    }
}

async fn permitted(
    root: &Root,
    turn: impl Future<Output: Send + Sync + 'static>,
) -> Result<ReadPermit, StorageError> {
    match tokio::time::timeout(WAIT_MAX, turn).await {
        Ok(turn) => Ok(Arc::new(turn)),
        Err(_) => {
            let busy = "all permitted reads are waiting for their stores";
            Err(root.explain("", ReadError::Unavailable(busy.into())))
        }
    }
}

#[cfg(test)]
mod tests;
