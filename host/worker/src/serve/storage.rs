//! The objects of a tenant. They are kept by content in the machine's cache; a request to the host names the cached
//! version, so that an unchanged object costs a round trip but no bytes.
//!
//! The host decides what the tenant of a lease may read; the cache alone never answers.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

use assay_core::id::{Digest, TenantId};
use assay_core::limits;
use assay_exec::ObjectCache;
use assay_sandbox::capability::storage::{ObjectError, Storage};
use assay_wire::proto::{ListRequest, StoredChunk, StoredRequest};
use lru::LruCache;
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};
use tonic::{Code, Status};

use super::host_request::HostRequest;

/// The most pieces of an object between the connection and the disk.
const PIECES_MAX: usize = 4;
/// The longest version that is remembered, in bytes.
const VERSION_BYTES_MAX: usize = 1_024;

type Pieces = mpsc::Receiver<Result<StoredChunk, Status>>;

/// The part of the storage that all leases of a worker share.
pub(crate) struct StorageClient {
    host_requests: mpsc::UnboundedSender<HostRequest>,
    objects: Arc<ObjectCache>,
    known: Mutex<KnownVersions>,
}

/// The storage of one lease's tenant.
pub(crate) struct LeasedStorage {
    client: Arc<StorageClient>,
    tenant: TenantId,
    lease: u64,
}

impl StorageClient {
    pub(crate) fn new(
        host_requests: mpsc::UnboundedSender<HostRequest>,
        objects: Arc<ObjectCache>,
    ) -> Self {
        Self { host_requests, objects, known: Mutex::new(LruCache::new(KNOWN_MAX)) }
    }

    fn request(&self, request: HostRequest) -> Result<(), ObjectError> {
        self.host_requests.send(request).map_err(|_| gone())
    }

    /// Writes an object to the cache as it comes; fails if it is larger or smaller than announced.
    fn keep(
        &self,
        first: StoredChunk,
        name: &str,
        pieces: &mut Pieces,
    ) -> Result<Digest, ObjectError> {
        let not_kept = |problem: std::io::Error| {
            tracing::warn!(%problem, "an object is not kept");
            unavailable("the worker cannot keep the object")
        };
        let mut writer = self.objects.writer().map_err(not_kept)?;
        let mut missing = first.size_bytes;
        let mut next = Some(first);
        while let Some(piece) = next {
            let bytes = piece.bytes.len() as u64;
            missing = missing
                .checked_sub(bytes)
                .ok_or_else(|| unavailable("the object is larger than the host announced"))?;
            writer.write(&piece.bytes).map_err(not_kept)?;
            next = piece_after(pieces, name)?;
        }
        if missing > 0 {
            return Err(unavailable("the host sent only a part of the object"));
        }
        writer.finish().map_err(not_kept)
    }
}

impl LeasedStorage {
    pub(crate) fn new(client: Arc<StorageClient>, tenant: TenantId, lease: u64) -> Self {
        Self { client, tenant, lease }
    }

    /// Gets an object into the cache; fails if it is larger than `bytes_max`.
    fn bring(&self, name: &str, bytes_max: u64, deadline: Instant) -> Result<Digest, ObjectError> {
        let key = (self.tenant, name.to_owned());
        let known = self.client.known.lock().get(&key).cloned();
        let known = known.filter(|known| self.client.objects.holds(known.digest, known.size_bytes));
        let known_version = known.as_ref().map(|known| known.version.clone()).unwrap_or_default();
        let (pieces, mut coming) = mpsc::channel(PIECES_MAX);
        let (ticket, name) = (String::new(), name.to_owned());
        let request = StoredRequest { ticket, lease: self.lease, name, known_version };
        self.client.request(HostRequest::Stored { request, deadline, pieces })?;

        let (_, name) = &key;
        let first = piece_after(&mut coming, name)?.ok_or_else(gone)?;
        if first.size_bytes > bytes_max {
            return Err(ObjectError::TooLarge(first.size_bytes));
        }
        if first.unchanged {
            let known = known.ok_or_else(|| unavailable("the host did not send the object"))?;
            return Ok(known.digest);
        }
        let (version, size_bytes) = (first.version.clone(), first.size_bytes);
        let digest = self.client.keep(first, name, &mut coming)?;
        if !version.is_empty() && version.len() <= VERSION_BYTES_MAX {
            self.client.known.lock().put(key, ObjectVersion { version, size_bytes, digest });
        }
        Ok(digest)
    }
}

impl Storage for LeasedStorage {
    fn get(&self, name: &str, deadline: Instant) -> Result<Vec<u8>, ObjectError> {
        // A second try, in case the cached object is damaged or was deleted meanwhile.
        for _ in 0..2 {
            let digest = self.bring(name, limits::OBJECT_GET_BYTES_MAX, deadline)?;
            if let Some(bytes) = self.client.objects.get(digest) {
                return Ok(bytes);
            }
        }
        Err(unavailable("the worker cannot keep the object"))
    }

    fn locate(&self, name: &str, deadline: Instant) -> Result<Digest, ObjectError> {
        self.bring(name, limits::OBJECT_BYTES_MAX, deadline)
    }

    fn names(&self, folder: &str, deadline: Instant) -> Result<Vec<String>, ObjectError> {
        let (ticket, folder) = (String::new(), folder.to_owned());
        let request = ListRequest { ticket, lease: self.lease, folder: folder.clone() };
        let (answer, answered) = oneshot::channel();
        self.client.request(HostRequest::Names { request, deadline, answer })?;
        let names = answered.blocking_recv().map_err(|_| gone())?;
        names.map_err(|status| refused(&status, &folder))
    }
}

/// The next piece; `None` after the last.
fn piece_after(pieces: &mut Pieces, name: &str) -> Result<Option<StoredChunk>, ObjectError> {
    pieces.blocking_recv().transpose().map_err(|status| refused(&status, name))
}

fn refused(status: &Status, name: &str) -> ObjectError {
    match status.code() {
        Code::NotFound => ObjectError::NotFound(name.to_owned()),
        Code::PermissionDenied => ObjectError::Denied(status.message().to_owned()),
        // The call ends, even if the machine stood still meanwhile: a plugin that saw it could make a reward of it.
        Code::DeadlineExceeded => ObjectError::Deadline,
        _ => ObjectError::Unavailable(status.message().to_owned()),
    }
}

fn gone() -> ObjectError {
    unavailable("the host is gone")
}

fn unavailable(problem: &str) -> ObjectError {
    ObjectError::Unavailable(problem.to_owned())
}

/// A tenant and the name of one of its objects.
type Key = (TenantId, String);

/// The versions of the most recently used objects.
type KnownVersions = LruCache<Key, ObjectVersion>;

const KNOWN_MAX: NonZeroUsize =
    NonZeroUsize::new(limits::OBJECTS_KNOWN_MAX).expect("the limit is not 0");

/// The version and content of an object when it was last read.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ObjectVersion {
    version: String,
    size_bytes: u64,
    digest: Digest,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::host_request::too_late;

    #[test]
    fn a_deadline_ends_the_call_and_is_no_answer() {
        assert_eq!(refused(&too_late(), "judge/a"), ObjectError::Deadline);
        let down = refused(&Status::unavailable("down"), "judge/a");
        assert_eq!(down, ObjectError::Unavailable("down".to_owned()));
    }
}
