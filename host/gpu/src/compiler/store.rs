//! What was compiled before: on disk, shared by the workers of a machine, and the latest in memory.
//!
//! It may be lost at any time, so nothing here fails: what cannot be read or written is compiled anew.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use assay_exec::shelf::Shelf;
use assay_model::id::{Digest, TenantId};
use assay_model::limits::{GPU_ARTIFACTS_BYTES_MAX, GPU_READY_BYTES_MAX, GPU_READY_MAX};
use sha2::{Digest as _, Sha256};

use super::toolkit::Installed;
use super::{Artifact, Request};

const DIGEST_BYTES: usize = 32;

pub(super) struct Store {
    folder: PathBuf,
    /// Once it was needed; none where the folder cannot be had.
    shelf: Option<Option<Shelf>>,
    /// The most recently used last.
    ready: Vec<(String, Arc<Artifact>)>,
}

/// What a tenant's artifact is called. The tenant stands in it, so that nobody gets at another's.
pub(super) fn name(
    tenant: TenantId,
    toolkit: &Installed,
    program: &Path,
    request: &Request,
) -> String {
    // The program holds headers of its own: another build may give another result.
    let build = program.metadata().map(|meta| (meta.len(), meta.modified().ok())).ok();
    let recipe = postcard::to_stdvec(&(&toolkit.identity, build, request));
    let recipe = recipe.expect("plain data is encoded");
    format!("{tenant}.{}", Digest(Sha256::digest(recipe).into()))
}

impl Store {
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, shelf: None, ready: Vec::new() }
    }

    pub fn get(&mut self, name: &str) -> Option<Artifact> {
        let found = match self.ready.iter().position(|(known, _)| known == name) {
            Some(place) => self.ready.remove(place).1,
            None => Arc::new(self.read(name)?),
        };
        self.keep_ready(name, Arc::clone(&found));
        Some(Artifact { cached: true, ..(*found).clone() })
    }

    pub fn put(&mut self, name: &str, artifact: &Artifact) {
        let body = postcard::to_stdvec(artifact).expect("plain data is encoded");
        if let Some(shelf) = self.shelf() {
            let written = shelf.draft().and_then(|mut draft| {
                draft.write(&Sha256::digest(&body))?;
                draft.write(&body)?;
                shelf.keep(draft, name)
            });
            if let Err(error) = written {
                tracing::warn!(%error, "what was compiled could not be written to disk");
            }
        }
        self.keep_ready(name, Arc::new(artifact.clone()));
    }

    fn read(&mut self, name: &str) -> Option<Artifact> {
        let shelf = self.shelf()?;
        let bytes = shelf.read(name)?;
        let artifact = decode(&bytes);
        if artifact.is_none() {
            tracing::warn!("a damaged file was removed from the folder of compiled CUDA");
            shelf.remove(name);
        }
        artifact
    }

    fn keep_ready(&mut self, name: &str, artifact: Arc<Artifact>) {
        self.ready.push((name.to_owned(), artifact));
        let mut bytes: usize = self.ready.iter().map(|(_, artifact)| size(artifact)).sum();
        while bytes > GPU_READY_BYTES_MAX || self.ready.len() > GPU_READY_MAX {
            bytes -= size(&self.ready.remove(0).1);
        }
    }

    fn shelf(&mut self) -> Option<&Shelf> {
        let folder = &self.folder;
        let shelf = self.shelf.get_or_insert_with(|| {
            let shelf = Shelf::open(folder, GPU_ARTIFACTS_BYTES_MAX);
            if let Err(error) = &shelf {
                let folder = folder.display();
                tracing::warn!(%error, "compiled CUDA is not kept: the folder {folder}");
            }
            shelf.ok()
        });
        shelf.as_ref()
    }
}

fn size(artifact: &Artifact) -> usize {
    artifact.image.len()
        + artifact.ptx.len()
        + artifact.log.len()
        + artifact.host_object.as_ref().map_or(0, Vec::len)
}

/// `None` where the bytes are not what was written.
fn decode(bytes: &[u8]) -> Option<Artifact> {
    let (digest, body) = bytes.split_at_checked(DIGEST_BYTES)?;
    if Sha256::digest(body)[..] != *digest {
        return None;
    }
    postcard::from_bytes(body).ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn artifact(bytes: usize) -> Artifact {
        Artifact {
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
        let mut store = Store::new(folder.path().join("cuda"));
        assert_eq!(store.get("a"), None);
        store.put("a", &artifact(10));
        let expected = Artifact { cached: true, ..artifact(10) };
        assert_eq!(store.get("a").as_ref(), Some(&expected));
        let mut other = Store::new(folder.path().join("cuda"));
        assert_eq!(other.get("a").as_ref(), Some(&expected));
        assert_eq!(other.get("b"), None);
    }

    #[test]
    fn damage_is_a_miss() {
        let folder = tempfile::tempdir().unwrap();
        Store::new(folder.path().to_owned()).put("a", &artifact(10));
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
                assert_eq!(Store::new(folder.path().to_owned()).get("a"), None);
                assert!(!path.exists());
            }
        }
    }

    #[test]
    fn memory_is_bounded_and_a_folder_that_cannot_be_had_costs_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let mut store = Store::new(file.join("cuda"));
        for number in 0..GPU_READY_MAX + 10 {
            store.put(&number.to_string(), &artifact(10));
        }
        assert_eq!(store.ready.len(), GPU_READY_MAX);
        assert!(store.get("0").is_none() && store.get("100").is_some());
        store.put("large", &artifact(GPU_READY_BYTES_MAX));
        assert!(store.get("large").is_none());
    }
}
