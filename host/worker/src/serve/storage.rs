//! The objects of a tenant, as the host gives them: kept by content in the machine's cache, and
//! asked for with the version that is there, so that what did not change costs a round trip and no
//! bytes.
//!
//! The host decides what the tenant of a lease may read; nothing is answered from here alone.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use assay_exec::Cache;
use assay_model::id::{Digest, TenantId};
use assay_model::limits;
use assay_sandbox::capability::storage::{Error, Storage};
use assay_wire::proto::{ListRequest, StoredChunk, StoredRequest};
use tokio::sync::{mpsc, oneshot};
use tonic::{Code, Status};

use super::wishes::Wish;

/// Pieces on their way from the connection to the disk.
const PIECES_MAX: usize = 4;
/// A version that is longer is not remembered.
const VERSION_BYTES_MAX: usize = 1_024;

type Pieces = mpsc::Receiver<Result<StoredChunk, Status>>;

/// What all leases of this worker share.
pub(crate) struct Client {
    wishes: mpsc::UnboundedSender<Wish>,
    objects: Arc<Cache>,
    known: Mutex<Known>,
}

/// The storage of one lease's tenant.
pub(crate) struct Leased {
    client: Arc<Client>,
    tenant: TenantId,
    lease: u64,
}

impl Client {
    pub(crate) fn new(wishes: mpsc::UnboundedSender<Wish>, objects: Arc<Cache>) -> Self {
        Self { wishes, objects, known: Mutex::new(Known::new(limits::OBJECTS_KNOWN_MAX)) }
    }

    fn wish(&self, wish: Wish) -> Result<(), Error> {
        self.wishes.send(wish).map_err(|_| gone())
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes an object as it comes; no more than the size that was announced.
    fn keep(&self, first: StoredChunk, name: &str, pieces: &mut Pieces) -> Result<Digest, Error> {
        let not_kept = |problem: std::io::Error| {
            tracing::warn!(%problem, "an object is not kept");
            unavailable("the worker cannot keep the object")
        };
        let mut writer = self.objects.writer().map_err(not_kept)?;
        let mut missing = first.size_bytes;
        let mut next = Some(first);
        while let Some(piece) = next {
            let bytes = piece.bytes.len() as u64;
            missing = missing.checked_sub(bytes).ok_or_else(|| unavailable("it grew meanwhile"))?;
            writer.write(&piece.bytes).map_err(not_kept)?;
            next = piece_after(pieces, name)?;
        }
        if missing > 0 {
            return Err(unavailable("the host sent a part of the object only"));
        }
        writer.finish().map_err(not_kept)
    }
}

impl Leased {
    pub(crate) fn new(client: Arc<Client>, tenant: TenantId, lease: u64) -> Self {
        Self { client, tenant, lease }
    }

    /// Has the object in the cache, unless it is larger than `bytes_max`.
    fn bring(&self, name: &str, bytes_max: u64, deadline: Instant) -> Result<Digest, Error> {
        let key = (self.tenant, name.to_owned());
        let known = self.client.known().get(&key);
        let known = known.filter(|known| self.client.objects.holds(known.digest, known.size_bytes));
        let known_version = known.as_ref().map(|known| known.version.clone()).unwrap_or_default();
        let (pieces, mut coming) = mpsc::channel(PIECES_MAX);
        let (token, name) = (String::new(), name.to_owned());
        let request = StoredRequest { token, lease: self.lease, name, known_version };
        self.client.wish(Wish::Stored { request, deadline, pieces })?;

        let (_, name) = &key;
        let first = piece_after(&mut coming, name)?.ok_or_else(gone)?;
        if first.size_bytes > bytes_max {
            return Err(Error::TooLarge(first.size_bytes));
        }
        if first.unchanged {
            let known = known.ok_or_else(|| unavailable("the host did not send the object"))?;
            return Ok(known.digest);
        }
        let (version, size_bytes) = (first.version.clone(), first.size_bytes);
        let digest = self.client.keep(first, name, &mut coming)?;
        if !version.is_empty() && version.len() <= VERSION_BYTES_MAX {
            self.client.known().put(key, Content { version, size_bytes, digest });
        }
        Ok(digest)
    }
}

impl Storage for Leased {
    fn get(&self, name: &str, deadline: Instant) -> Result<Vec<u8>, Error> {
        // A second time when what was kept turns out to be damaged, or is gone already.
        for _ in 0..2 {
            let digest = self.bring(name, limits::OBJECT_GET_BYTES_MAX, deadline)?;
            if let Some(bytes) = self.client.objects.get(digest) {
                return Ok(bytes);
            }
        }
        Err(unavailable("the worker cannot keep the object"))
    }

    fn locate(&self, name: &str, deadline: Instant) -> Result<Digest, Error> {
        self.bring(name, limits::OBJECT_BYTES_MAX, deadline)
    }

    fn names(&self, folder: &str, deadline: Instant) -> Result<Vec<String>, Error> {
        let (token, folder) = (String::new(), folder.to_owned());
        let request = ListRequest { token, lease: self.lease, folder: folder.clone() };
        let (answer, answered) = oneshot::channel();
        self.client.wish(Wish::Names { request, deadline, answer })?;
        let names = answered.blocking_recv().map_err(|_| gone())?;
        names.map_err(|status| refused(&status, &folder))
    }
}

/// The next piece; none after the last.
fn piece_after(pieces: &mut Pieces, name: &str) -> Result<Option<StoredChunk>, Error> {
    pieces.blocking_recv().transpose().map_err(|status| refused(&status, name))
}

fn refused(status: &Status, name: &str) -> Error {
    match status.code() {
        Code::NotFound => Error::NotFound(name.to_owned()),
        Code::PermissionDenied => Error::Denied(status.message().to_owned()),
        _ => Error::Unavailable(status.message().to_owned()),
    }
}

fn gone() -> Error {
    unavailable("the host is gone")
}

fn unavailable(problem: &str) -> Error {
    Error::Unavailable(problem.to_owned())
}

/// An object's name in its tenant's eyes.
type Key = (TenantId, String);

/// What an object was when it was last seen.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Content {
    version: String,
    size_bytes: u64,
    digest: Digest,
}

/// The contents that were seen, the least recently used forgotten.
struct Known {
    seen: HashMap<Key, (Content, u64)>,
    uses: u64,
    entries_max: usize,
}

impl Known {
    fn new(entries_max: usize) -> Self {
        Self { seen: HashMap::new(), uses: 0, entries_max }
    }

    fn get(&mut self, key: &Key) -> Option<Content> {
        self.uses += 1;
        let (content, used) = self.seen.get_mut(key)?;
        *used = self.uses;
        Some(content.clone())
    }

    fn put(&mut self, key: Key, content: Content) {
        self.uses += 1;
        // Looking at all is cheap beside the round trip that brought the new one.
        if self.seen.len() >= self.entries_max
            && !self.seen.contains_key(&key)
            && let Some(oldest) = self.seen.iter().min_by_key(|(_, (_, used))| *used)
        {
            let oldest = oldest.0.clone();
            self.seen.remove(&oldest);
        }
        self.seen.insert(key, (content, self.uses));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> Key {
        (TenantId::try_from(&[1; 16][..]).expect("16 bytes"), name.to_owned())
    }

    fn content(version: &str) -> Content {
        Content { version: version.into(), size_bytes: 1, digest: Digest([0; 32]) }
    }

    #[test]
    fn the_least_recently_used_is_forgotten() {
        let mut known = Known::new(2);
        known.put(key("a"), content("1"));
        known.put(key("b"), content("1"));
        assert_eq!(known.get(&key("a")), Some(content("1")));
        known.put(key("c"), content("1"));
        assert_eq!(known.get(&key("b")), None);
        assert_eq!(known.get(&key("a")), Some(content("1")));
        assert_eq!(known.get(&key("c")), Some(content("1")));
    }

    #[test]
    fn a_new_version_takes_no_other_s_place() {
        let mut known = Known::new(2);
        known.put(key("a"), content("1"));
        known.put(key("b"), content("1"));
        known.put(key("b"), content("2"));
        assert_eq!(known.get(&key("a")), Some(content("1")));
        assert_eq!(known.get(&key("b")), Some(content("2")));
    }

    #[test]
    fn tenants_do_not_share_what_is_known() {
        let mut known = Known::new(2);
        known.put(key("a"), content("1"));
        let other = TenantId::try_from(&[2; 16][..]).expect("16 bytes");
        assert_eq!(known.get(&(other, "a".into())), None);
    }
}
