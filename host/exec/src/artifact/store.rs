//! Where artifacts lie: on disk, shared by the workers of a machine, and in memory, ready to run.

use std::io;
use std::path::Path;
use std::sync::Arc;

use assay_model::id::{Digest, TenantId};
use assay_model::limits::{EXEC_ARTIFACTS_BYTES_MAX, EXEC_READY_BYTES_MAX, EXEC_READY_MAX};

use super::{Content, Loaded};
use crate::shelf::Shelf;

pub(crate) struct Store {
    shelf: Shelf,
    /// The most recently used last.
    ready: Vec<(TenantId, Digest, Arc<Loaded>)>,
    ready_bytes_max: u64,
}

impl Store {
    pub fn open(folder: &Path) -> io::Result<Self> {
        let shelf = Shelf::open(folder, EXEC_ARTIFACTS_BYTES_MAX)?;
        Ok(Self { shelf, ready: Vec::new(), ready_bytes_max: EXEC_READY_BYTES_MAX })
    }

    /// `None` where it is not there (any more), or is another tenant's.
    pub fn get(&mut self, tenant: TenantId, key: Digest) -> io::Result<Option<Arc<Loaded>>> {
        let is_it = |entry: &(TenantId, Digest, _)| entry.0 == tenant && entry.1 == key;
        if let Some(place) = self.ready.iter().position(is_it) {
            let entry = self.ready.remove(place);
            let loaded = Arc::clone(&entry.2);
            self.ready.push(entry);
            return Ok(Some(loaded));
        }
        let name = name(tenant, key);
        let Some(encoded) = self.shelf.read(&name) else { return Ok(None) };
        match Loaded::decode(&encoded) {
            Some(loaded) => Ok(Some(self.keep_ready(tenant, key, loaded?))),
            None => {
                tracing::warn!(artifact.key = %key, "a damaged artifact was removed");
                self.shelf.remove(&name);
                Ok(None)
            }
        }
    }

    pub fn put(
        &mut self,
        tenant: TenantId,
        key: Digest,
        content: &Content<'_>,
    ) -> io::Result<Arc<Loaded>> {
        let encoded = content.encode();
        if let Err(error) = self.write(&name(tenant, key), &encoded) {
            // It can be run all the same, by this worker.
            tracing::warn!(artifact.key = %key, %error, "an artifact could not be written to disk");
        }
        let loaded = Loaded::decode(&encoded).expect("what was just encoded decodes")?;
        Ok(self.keep_ready(tenant, key, loaded))
    }

    fn write(&self, name: &str, encoded: &[u8]) -> io::Result<()> {
        let mut draft = self.shelf.draft()?;
        draft.write(encoded)?;
        self.shelf.keep(draft, name)
    }

    fn keep_ready(&mut self, tenant: TenantId, key: Digest, loaded: Loaded) -> Arc<Loaded> {
        let loaded = Arc::new(loaded);
        self.ready.push((tenant, key, Arc::clone(&loaded)));
        let mut bytes: u64 = self.ready.iter().map(|(_, _, loaded)| loaded.size_bytes).sum();
        // The newest stays, whatever its size: it is about to be run.
        while self.ready.len() > 1
            && (bytes > self.ready_bytes_max || self.ready.len() > EXEC_READY_MAX)
        {
            bytes -= self.ready.remove(0).2.size_bytes;
        }
        loaded
    }
}

/// The tenant stands in the name, so that nobody gets at another's by its key.
fn name(tenant: TenantId, key: Digest) -> String {
    format!("{tenant}.{key}")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::Program;
    use super::*;
    use crate::outcome::Captured;

    const KEY: Digest = Digest([7; 32]);

    fn content<'a>(log: &'a Captured, bytes: &'a [u8]) -> Content<'a> {
        let files = vec![("main.py", bytes), ("a/b.py", b"b")];
        Content { toolchain: "cpython-3", main: "main.py", log, binary: false, files }
    }

    #[test]
    fn another_worker_opens_it_and_another_tenant_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let [one, two] = [TenantId::generate(), TenantId::generate()];
        let log = Captured { data: b"warning".to_vec(), truncated: true };
        let mut store = Store::open(folder.path()).unwrap();
        store.put(one, KEY, &content(&log, b"a")).unwrap();
        for mut store in [store, Store::open(folder.path()).unwrap()] {
            let loaded = store.get(one, KEY).unwrap().unwrap();
            assert_eq!((loaded.toolchain.as_str(), loaded.main.as_str()), ("cpython-3", "main.py"));
            assert_eq!((&loaded.log, loaded.size_bytes), (&log, 2));
            let Program::Files(files) = &loaded.program else { panic!("files") };
            assert_eq!(
                files,
                &[("main.py".into(), b"a".to_vec()), ("a/b.py".into(), b"b".to_vec())]
            );
            assert!(store.get(two, KEY).unwrap().is_none());
            assert!(store.get(one, Digest([8; 32])).unwrap().is_none());
        }
    }

    #[test]
    fn a_damaged_one_is_a_miss_wherever_the_damage_is() {
        let folder = tempfile::tempdir().unwrap();
        let tenant = TenantId::generate();
        let path = folder.path().join(name(tenant, KEY));
        let log = Captured::default();
        Store::open(folder.path()).unwrap().put(tenant, KEY, &content(&log, b"a")).unwrap();
        let good = fs::read(&path).unwrap();
        for place in 0..=good.len() {
            let mut bad = good.clone();
            match bad.get_mut(place) {
                Some(byte) => *byte ^= 1,
                None => bad.push(0),
            }
            for bad in [&bad[..], &good[..place.min(good.len() - 1)]] {
                fs::write(&path, bad).unwrap();
                assert!(Store::open(folder.path()).unwrap().get(tenant, KEY).unwrap().is_none());
                assert!(!path.exists());
            }
        }
    }

    #[test]
    fn memory_is_bounded_and_the_disk_has_the_rest() {
        let folder = tempfile::tempdir().unwrap();
        let tenant = TenantId::generate();
        let log = Captured::default();
        let mut store = Store::open(folder.path()).unwrap();
        store.ready_bytes_max = 1_000;
        for number in 0..20 {
            let bytes = [number; 100];
            store.put(tenant, Digest([number; 32]), &content(&log, &bytes)).unwrap();
            // The first one is used all the time.
            assert!(store.get(tenant, Digest([0; 32])).unwrap().is_some());
        }
        assert!(store.ready.len() < 10);
        assert!(store.ready.iter().any(|entry| entry.1 == Digest([0; 32])));
        for number in 0..20 {
            assert!(store.get(tenant, Digest([number; 32])).unwrap().is_some());
        }
        store.put(tenant, KEY, &content(&log, &[0; 5_000])).unwrap();
        assert_eq!(store.ready.len(), 1);
    }
}
