//! The store of compiled CUDA: on disk for all workers of a machine, and the most recent in memory.
//!
//! It may be lost at any time, so nothing here fails: if it cannot be read or written, the source is compiled again.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use assay_core::id::{Digest, TenantId};
use assay_core::limits::{GPU_ARTIFACTS_BYTES_MAX, GPU_READY_BYTES_MAX, GPU_READY_MAX};
use assay_exec::file_cache::FileCache;

use super::toolkit::Installed;
use super::{CompileRequest, CudaArtifact};

const DIGEST_BYTES: usize = 32;

pub(super) struct CudaStore {
    folder: PathBuf,
    /// The folder, opened at its first use; the inner `None` if it cannot be used.
    files: Option<Option<FileCache>>,
    /// The artifacts in memory, the most recently used last.
    ready: Vec<(String, Arc<CudaArtifact>)>,
}

/// The file name of a tenant's artifact. It contains the tenant, so that nobody can read another's.
pub(super) fn name(
    tenant: TenantId,
    toolkit: &Installed,
    program: &Path,
    request: &CompileRequest,
) -> String {
    // The program holds headers of its own: another build may give another result.
    let build = program.metadata().map(|meta| (meta.len(), meta.modified().ok())).ok();
    let recipe = postcard::to_stdvec(&(&toolkit.identity, build, request));
    let recipe = recipe.expect("plain data is encoded");
    format!("{tenant}.{}", Digest::of(&recipe))
}

impl CudaStore {
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, files: None, ready: Vec::new() }
    }

    pub fn get(&mut self, name: &str) -> Option<CudaArtifact> {
        let found = match self.ready.iter().position(|(known, _)| known == name) {
            Some(place) => self.ready.remove(place).1,
            None => Arc::new(self.read(name)?),
        };
        self.keep_ready(name, Arc::clone(&found));
        Some(CudaArtifact { cached: true, ..(*found).clone() })
    }

    pub fn put(&mut self, name: &str, artifact: &CudaArtifact) {
        let body = postcard::to_stdvec(artifact).expect("plain data is encoded");
        if let Some(files) = self.files() {
            let written = files.draft().and_then(|mut draft| {
                draft.write(&Digest::of(&body).0)?;
                draft.write(&body)?;
                files.keep(draft, name)
            });
            if let Err(error) = written {
                tracing::warn!(%error, "compiled CUDA could not be written to disk");
            }
        }
        self.keep_ready(name, Arc::new(artifact.clone()));
    }

    fn read(&mut self, name: &str) -> Option<CudaArtifact> {
        let files = self.files()?;
        let bytes = files.read(name)?;
        let artifact = decode(&bytes);
        if artifact.is_none() {
            tracing::warn!("a damaged file was deleted from the folder of compiled CUDA");
            files.remove(name);
        }
        artifact
    }

    fn keep_ready(&mut self, name: &str, artifact: Arc<CudaArtifact>) {
        self.ready.push((name.to_owned(), artifact));
        let mut bytes: usize = self.ready.iter().map(|(_, artifact)| size(artifact)).sum();
        while bytes > GPU_READY_BYTES_MAX || self.ready.len() > GPU_READY_MAX {
            bytes -= size(&self.ready.remove(0).1);
        }
    }

    fn files(&mut self) -> Option<&FileCache> {
        let folder = &self.folder;
        let files = self.files.get_or_insert_with(|| {
            let files = FileCache::open(folder, GPU_ARTIFACTS_BYTES_MAX);
            if let Err(error) = &files {
                let folder = folder.display();
                tracing::warn!(%error, "compiled CUDA is not stored: the folder {folder} cannot be used");
            }
            files.ok()
        });
        files.as_ref()
    }
}

fn size(artifact: &CudaArtifact) -> usize {
    artifact.image.len()
        + artifact.ptx.len()
        + artifact.log.len()
        + artifact.host_object.as_ref().map_or(0, Vec::len)
}

/// `None` if the bytes are damaged.
fn decode(bytes: &[u8]) -> Option<CudaArtifact> {
    let (digest, body) = bytes.split_at_checked(DIGEST_BYTES)?;
    if Digest::of(body).0 != *digest {
        return None;
    }
    postcard::from_bytes(body).ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn artifact(bytes: usize) -> CudaArtifact {
        CudaArtifact {
            image: vec![7; bytes],
            ptx: "ptx".into(),
            host_object: Some(vec![1]),
            kernels: vec![],
            lowered_names: vec!["a".into()],
            log: "warning".into(),
            toolchain: "nvrtc 13.0".into(),
            arch: "sm_90".into(),
            cached: false,
        }
    }

    #[test]
    fn another_worker_finds_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = CudaStore::new(folder.path().join("cuda"));
        assert_eq!(store.get("a"), None);
        store.put("a", &artifact(10));
        let expected = CudaArtifact { cached: true, ..artifact(10) };
        assert_eq!(store.get("a").as_ref(), Some(&expected));
        let mut other = CudaStore::new(folder.path().join("cuda"));
        assert_eq!(other.get("a").as_ref(), Some(&expected));
        assert_eq!(other.get("b"), None);
    }

    #[test]
    fn damage_is_a_miss() {
        let folder = tempfile::tempdir().unwrap();
        CudaStore::new(folder.path().to_owned()).put("a", &artifact(10));
        let path = folder.path().join("a");
        let good = fs::read(&path).unwrap();
        for place in 0..=good.len() {
            let mut bad = good.clone();
            match bad.get_mut(place) {
                Some(byte) => *byte ^= 1,
                None => bad.push(0),
            }
            for bad in [&bad[..], &good[..place.min(good.len() - 1)]] {
                fs::write(&path, bad).unwrap();
                assert_eq!(CudaStore::new(folder.path().to_owned()).get("a"), None);
                assert!(!path.exists());
            }
        }
    }

    #[test]
    fn memory_is_bounded_and_a_folder_that_cannot_be_had_costs_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let mut store = CudaStore::new(file.join("cuda"));
        for number in 0..GPU_READY_MAX + 10 {
            store.put(&number.to_string(), &artifact(10));
        }
        assert_eq!(store.ready.len(), GPU_READY_MAX);
        assert!(store.get("0").is_none() && store.get("100").is_some());
        store.put("large", &artifact(GPU_READY_BYTES_MAX));
        assert!(store.get("large").is_none());
    }
}
