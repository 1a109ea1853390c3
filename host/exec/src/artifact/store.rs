//! The store of compiled programs: on disk for all workers of a machine, and in memory, ready to run.

use std::io;
use std::path::Path;
use std::sync::Arc;

use assay_core::id::{Digest, TenantId};
use assay_core::limits::{EXEC_ARTIFACTS_BYTES_MAX, EXEC_READY_BYTES_MAX, EXEC_READY_MAX};

use super::{ArtifactContent, LoadedProgram};
use crate::file_cache::FileCache;

pub(crate) struct ArtifactStore {
    files: FileCache,
    /// The programs in memory, the most recently used last.
    ready: Vec<(TenantId, Digest, Arc<LoadedProgram>)>,
    ready_bytes_max: u64,
}

impl ArtifactStore {
    pub fn open(folder: &Path) -> io::Result<Self> {
        let files = FileCache::open(folder, EXEC_ARTIFACTS_BYTES_MAX)?;
        Ok(Self { files, ready: Vec::new(), ready_bytes_max: EXEC_READY_BYTES_MAX })
    }

    /// The program; `None` if it is not there, or is another tenant's.
    pub fn get(&mut self, tenant: TenantId, key: Digest) -> io::Result<Option<Arc<LoadedProgram>>> {
        let is_it = |entry: &(TenantId, Digest, _)| entry.0 == tenant && entry.1 == key;
        if let Some(place) = self.ready.iter().position(is_it) {
            let entry = self.ready.remove(place);
            let loaded = Arc::clone(&entry.2);
            self.ready.push(entry);
            return Ok(Some(loaded));
        }
        let name = name(tenant, key);
        let Some(encoded) = self.files.read(&name) else { return Ok(None) };
        match LoadedProgram::decode(&encoded) {
            Some(loaded) => Ok(Some(self.keep_ready(tenant, key, loaded?))),
            None => {
                tracing::warn!(artifact.key = %key, "a damaged program was deleted from the cache");
                self.files.remove(&name);
                Ok(None)
            }
        }
    }

    pub fn put(
        &mut self,
        tenant: TenantId,
        key: Digest,
        content: &ArtifactContent<'_>,
    ) -> io::Result<Arc<LoadedProgram>> {
        let encoded = content.encode();
        if let Err(error) = self.write(&name(tenant, key), &encoded) {
            // This worker can still run it from memory.
            tracing::warn!(artifact.key = %key, %error, "a compiled program could not be written to disk");
        }
        let loaded = LoadedProgram::decode(&encoded).expect("what was just encoded decodes")?;
        Ok(self.keep_ready(tenant, key, loaded))
    }

    fn write(&self, name: &str, encoded: &[u8]) -> io::Result<()> {
        let mut draft = self.files.draft()?;
        draft.write(encoded)?;
        self.files.keep(draft, name)
    }

    fn keep_ready(
        &mut self,
        tenant: TenantId,
        key: Digest,
        loaded: LoadedProgram,
    ) -> Arc<LoadedProgram> {
        let loaded = Arc::new(loaded);
        self.ready.push((tenant, key, Arc::clone(&loaded)));
        let mut bytes: u64 = self.ready.iter().map(|(_, _, loaded)| loaded.size_bytes).sum();
        // The newest stays at any size, since it is about to run.
        while self.ready.len() > 1
            && (bytes > self.ready_bytes_max || self.ready.len() > EXEC_READY_MAX)
        {
            bytes -= self.ready.remove(0).2.size_bytes;
        }
        loaded
    }
}

/// The file's name. It contains the tenant, so that a key is useless to others.
fn name(tenant: TenantId, key: Digest) -> String {
    format!("{tenant}.{key}")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::ProgramContent;
    use super::*;
    use crate::outcome::Captured;

    const KEY: Digest = Digest([7; 32]);

    fn content<'a>(log: &'a Captured, bytes: &'a [u8]) -> ArtifactContent<'a> {
        let files = vec![("main.py", bytes), ("a/b.py", b"b")];
        ArtifactContent { toolchain: "cpython-3", main: "main.py", log, binary: false, files }
    }

    #[test]
    fn another_worker_opens_it_and_another_tenant_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let [one, two] = [TenantId::generate(), TenantId::generate()];
        let log = Captured { data: b"warning".to_vec(), truncated: true };
        let mut store = ArtifactStore::open(folder.path()).unwrap();
        store.put(one, KEY, &content(&log, b"a")).unwrap();
        for mut store in [store, ArtifactStore::open(folder.path()).unwrap()] {
            let loaded = store.get(one, KEY).unwrap().unwrap();
            assert_eq!((loaded.toolchain.as_str(), loaded.main.as_str()), ("cpython-3", "main.py"));
            assert_eq!((&loaded.log, loaded.size_bytes), (&log, 2));
            let ProgramContent::Files(files) = &loaded.program else { panic!("files") };
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
        ArtifactStore::open(folder.path()).unwrap().put(tenant, KEY, &content(&log, b"a")).unwrap();
        let good = fs::read(&path).unwrap();
        for place in 0..=good.len() {
            let mut bad = good.clone();
            match bad.get_mut(place) {
                Some(byte) => *byte ^= 1,
                None => bad.push(0),
            }
            for bad in [&bad[..], &good[..place.min(good.len() - 1)]] {
                fs::write(&path, bad).unwrap();
                assert!(
                    ArtifactStore::open(folder.path()).unwrap().get(tenant, KEY).unwrap().is_none()
                );
                assert!(!path.exists());
            }
        }
    }

    #[test]
    fn memory_is_bounded_and_the_disk_has_the_rest() {
        let folder = tempfile::tempdir().unwrap();
        let tenant = TenantId::generate();
        let log = Captured::default();
        let mut store = ArtifactStore::open(folder.path()).unwrap();
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
