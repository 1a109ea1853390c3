//! A cache of objects by the SHA-256 of their content, in a folder that several processes share.
//!
//! Every object is verified when it is read: a damaged one is deleted and counts as absent. The least recently
//! used objects are deleted when the folder exceeds its limit, so a caller must be able to fetch any again.

use std::io;
use std::path::Path;

use assay_core::id::Digest;
use sha2::{Digest as _, Sha256};

use crate::file_cache::{Draft, FileCache};

/// A cache of objects by content.
#[derive(Debug)]
pub struct ObjectCache {
    files: FileCache,
}

/// Writes an object that comes in chunks. Nothing is stored if it is dropped before [`Self::finish`].
pub struct ObjectWriter<'a> {
    files: &'a FileCache,
    draft: Draft,
    hash: Sha256,
}

impl ObjectCache {
    /// Opens the folder, and makes it if it does not exist. Each process that writes to it may exceed the limit by
    /// one sixty-fourth for a while.
    pub fn open(folder: &Path, bytes_max: u64) -> io::Result<Self> {
        Ok(Self { files: FileCache::open(folder, bytes_max)? })
    }

    /// The object, verified; marks it as used.
    #[must_use]
    pub fn get(&self, digest: Digest) -> Option<Vec<u8>> {
        let name = digest.to_string();
        let bytes = self.files.read(&name)?;
        if Digest::of(&bytes) != digest {
            tracing::warn!(object.digest = %digest, "a damaged file was removed from the cache");
            self.files.remove(&name);
            return None;
        }
        Some(bytes)
    }

    /// The size of the object.
    #[must_use]
    pub fn size(&self, digest: Digest) -> Option<u64> {
        self.files.size(&digest.to_string())
    }

    /// Whether the object is there with this size; marks it as used. Its content is not verified.
    #[must_use]
    pub fn holds(&self, digest: Digest, bytes: u64) -> bool {
        self.files.touch(&digest.to_string(), bytes)
    }

    /// Stores an object; returns its digest.
    pub fn put(&self, bytes: &[u8]) -> io::Result<Digest> {
        let digest = Digest::of(bytes);
        let name = digest.to_string();
        if !self.files.touch(&name, bytes.len() as u64) {
            let mut draft = self.files.draft()?;
            draft.write(bytes)?;
            self.files.keep(draft, &name)?;
        }
        Ok(digest)
    }

    /// Starts an object that comes in chunks.
    pub fn writer(&self) -> io::Result<ObjectWriter<'_>> {
        Ok(ObjectWriter { files: &self.files, draft: self.files.draft()?, hash: Sha256::new() })
    }
}

impl ObjectWriter<'_> {
    /// Adds a chunk.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hash.update(bytes);
        self.draft.write(bytes)
    }

    /// Stores the object; returns its digest.
    pub fn finish(self) -> io::Result<Digest> {
        let digest = Digest(self.hash.finalize().into());
        self.files.keep(self.draft, &digest.to_string())?;
        Ok(digest)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::thread;
    use std::time::{Duration, SystemTime};

    use super::*;

    const MIB: u64 = 1 << 20;

    fn age(folder: &Path, digest: Digest, seconds: u64) {
        let file = fs::File::open(folder.join(digest.to_string())).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
    }

    #[test]
    fn what_was_put_in_comes_out() {
        let folder = tempfile::tempdir().unwrap();
        let cache = ObjectCache::open(folder.path(), MIB).unwrap();
        let digest = cache.put(b"data").unwrap();
        assert_eq!(cache.get(digest).unwrap(), b"data");
        let mut writer = cache.writer().unwrap();
        writer.write(b"da").unwrap();
        writer.write(b"ta").unwrap();
        assert_eq!(writer.finish().unwrap(), digest);
        assert_eq!(cache.get(Digest::of(b"other")), None);
    }

    #[test]
    fn a_damaged_file_is_absent_and_can_be_put_again() {
        let folder = tempfile::tempdir().unwrap();
        let cache = ObjectCache::open(folder.path(), MIB).unwrap();
        for damage in [&b"dat"[..], b"dato", b""] {
            let digest = cache.put(b"data").unwrap();
            fs::write(folder.path().join(digest.to_string()), damage).unwrap();
            assert_eq!(cache.get(digest), None);
            assert!(!folder.path().join(digest.to_string()).exists());
        }
        let digest = cache.put(b"data").unwrap();
        assert_eq!(cache.get(digest).unwrap(), b"data");
    }

    #[test]
    fn the_least_recently_used_go() {
        let folder = tempfile::tempdir().unwrap();
        let cache = ObjectCache::open(folder.path(), 8 * MIB).unwrap();
        let block = |byte: u8| vec![byte; MIB as usize];
        let digests: Vec<_> = (0..8).map(|byte| cache.put(&block(byte)).unwrap()).collect();
        for (place, digest) in digests.iter().enumerate() {
            age(folder.path(), *digest, 100 - place as u64);
        }
        assert!(cache.get(digests[0]).is_some(), "used just now");
        let last = cache.put(&block(8)).unwrap();
        assert!(cache.get(digests[1]).is_none() && cache.get(digests[2]).is_none());
        assert!(cache.get(digests[0]).is_some() && cache.get(last).is_some());
        assert!(digests[3..].iter().all(|digest| cache.get(*digest).is_some()));
    }

    #[test]
    fn small_files_are_bounded_in_number() {
        let folder = tempfile::tempdir().unwrap();
        let cache = ObjectCache::open(folder.path(), MIB).unwrap();
        for number in 0..1_000_u32 {
            cache.put(&number.to_le_bytes()).unwrap();
        }
        let files = fs::read_dir(folder.path()).unwrap().count() as u64;
        assert!(files <= MIB / (16 << 10) + 1, "{files}");
    }

    #[test]
    fn one_that_can_never_fit_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let cache = ObjectCache::open(folder.path(), 1_000).unwrap();
        let error = cache.put(&[0; 1_001]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "no draft is left");
    }

    #[test]
    fn several_share_one_folder() {
        let folder = tempfile::tempdir().unwrap();
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let cache = ObjectCache::open(folder.path(), MIB).unwrap();
                    for number in 0..400_u32 {
                        let bytes = number.to_le_bytes().repeat(1_000);
                        let digest = cache.put(&bytes).unwrap();
                        // Another may have pushed it out, but never left half of it.
                        if let Some(found) = cache.get(digest) {
                            assert_eq!(found, bytes);
                        }
                    }
                });
            }
        });
        let names = fs::read_dir(folder.path()).unwrap();
        assert!(names.flatten().all(|entry| !entry.file_name().to_string_lossy().starts_with('.')));
    }

    #[test]
    fn a_draft_of_the_dead_is_removed_and_one_of_the_living_is_not() {
        let folder = tempfile::tempdir().unwrap();
        for (name, seconds) in [(".draft-old", 7_200), (".draft-new", 60)] {
            let file = fs::File::create(folder.path().join(name)).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
        }
        ObjectCache::open(folder.path(), MIB).unwrap();
        assert!(!folder.path().join(".draft-old").exists());
        assert!(folder.path().join(".draft-new").exists());
    }
}
