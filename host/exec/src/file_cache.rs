//! A file cache: a folder of files that may be lost. All caches of a worker are made of it.
//!
//! Several processes share one folder. A file is written under a temporary name and renamed when it is complete.
//! After a loss of power it may still be damaged, so readers must verify it. The modification time of a file is
//! the time of its last use. A cache must never hold the only copy of anything.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use assay_core::limits::EXEC_CACHE_COST_BYTES_MIN;
use tempfile::NamedTempFile;

const DRAFT_PREFIX: &str = ".draft-";
/// The prefix of partial files; it begins with [`DRAFT_PREFIX`], so that old ones are deleted like drafts.
const PARTIAL_PREFIX: &str = ".draft-partial-";
/// The age at which a draft counts as left by a process that died.
const DRAFT_AGE_MAX: Duration = Duration::from_secs(3_600);

/// A folder of files with a limit on their total size.
#[derive(Debug)]
pub struct FileCache {
    folder: PathBuf,
    bytes_max: u64,
    /// The bytes that this process has written since it last trimmed the folder.
    written: AtomicU64,
}

/// A file under a temporary name; deleted when it is dropped.
pub struct Draft {
    file: NamedTempFile,
    bytes: u64,
    bytes_max: u64,
}

impl Draft {
    /// Adds bytes; fails if the draft exceeds the limit of the whole cache.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.bytes += bytes.len() as u64;
        if self.bytes > self.bytes_max {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("the file is larger than the limit of the cache, {} bytes", self.bytes_max),
            ));
        }
        self.file.write_all(bytes)
    }
}

/// A file that is fetched piece by piece under a name that all processes know. One process at a time holds it, and the
/// next one goes on where a process stopped that died.
pub struct PartialFile {
    file: File,
    path: PathBuf,
    bytes: u64,
}

impl PartialFile {
    /// Whether nothing was fetched yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// The bytes that are there already.
    pub fn read(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.file.seek(SeekFrom::Start(0))?;
        self.file.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Adds bytes at the end.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.bytes += bytes.len() as u64;
        self.file.write_all(bytes)
    }

    /// Starts anew.
    pub fn clear(&mut self) -> io::Result<()> {
        self.bytes = 0;
        self.file.set_len(0)
    }
}

impl FileCache {
    /// Opens the folder, and makes it if it does not exist.
    pub fn open(folder: &Path, bytes_max: u64) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let cache = Self { folder: folder.to_owned(), bytes_max, written: AtomicU64::new(0) };
        cache.trim()?;
        Ok(cache)
    }

    /// Reads a file and marks it as used.
    pub fn read(&self, name: &str) -> Option<Vec<u8>> {
        let mut file = File::open(self.folder.join(name)).ok()?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).ok()?;
        // Fails in a folder that this user may only read: its files are then deleted in the order of their arrival.
        let _ = file.set_modified(SystemTime::now());
        Some(bytes)
    }

    /// The size of the file.
    pub fn size(&self, name: &str) -> Option<u64> {
        Some(fs::metadata(self.folder.join(name)).ok()?.len())
    }

    /// Whether the file is there with this size; marks it as used.
    pub fn touch(&self, name: &str, bytes: u64) -> bool {
        let Ok(file) = File::open(self.folder.join(name)) else { return false };
        let there = file.metadata().is_ok_and(|meta| meta.len() == bytes);
        there && file.set_modified(SystemTime::now()).is_ok()
    }

    /// Deletes a file.
    pub fn remove(&self, name: &str) {
        // Another process may have deleted it.
        let _ = fs::remove_file(self.folder.join(name));
    }

    /// Starts a file.
    pub fn draft(&self) -> io::Result<Draft> {
        let file = tempfile::Builder::new().prefix(DRAFT_PREFIX).tempfile_in(&self.folder)?;
        Ok(Draft { file, bytes: 0, bytes_max: self.bytes_max })
    }

    /// Gives a draft its name; replaces the file that had it.
    pub fn keep(&self, draft: Draft, name: &str) -> io::Result<()> {
        draft.file.as_file().set_modified(SystemTime::now())?;
        draft.file.persist(self.folder.join(name)).map_err(|failed| failed.error)?;
        self.kept(draft.bytes)
    }

    /// The file of this name, as far as it was fetched. Waits while another process fetches it: look for the complete
    /// file again before going on.
    pub fn partial(&self, name: &str) -> io::Result<PartialFile> {
        let path = self.folder.join(format!("{PARTIAL_PREFIX}{name}"));
        loop {
            let mut options = OpenOptions::new();
            let file = options.read(true).append(true).create(true).open(&path)?;
            file.lock()?;
            let held = file.metadata()?;
            // The process before may have completed the file, which has another name now.
            if fs::metadata(&path).is_ok_and(|there| there.ino() == held.ino()) {
                return Ok(PartialFile { file, path, bytes: held.len() });
            }
        }
    }

    /// Gives a file that was fetched to its end its name.
    pub fn complete(&self, partial: PartialFile, name: &str) -> io::Result<()> {
        fs::rename(&partial.path, self.folder.join(name))?;
        self.kept(partial.bytes)
    }

    /// Deletes a partial file that is not needed.
    pub fn discard(&self, partial: PartialFile) {
        let _ = fs::remove_file(partial.path);
    }

    fn kept(&self, bytes: u64) -> io::Result<()> {
        let cost = cost(bytes);
        // Trimming reads the attributes of every file, so it waits until one sixty-fourth of the limit was written. Each
        // process may exceed the limit by as much.
        if self.written.fetch_add(cost, Ordering::Relaxed) + cost > self.bytes_max / 64 {
            self.trim()?;
        }
        Ok(())
    }

    /// If the folder exceeds its limit, deletes the least recently used files down to seven eighths of it.
    fn trim(&self) -> io::Result<()> {
        self.written.store(0, Ordering::Relaxed);
        let now = SystemTime::now();
        let mut files = Vec::new();
        let mut total = 0;
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            // Another process may trim at the same time.
            let Ok(meta) = entry.metadata() else { continue };
            let Ok(used) = meta.modified() else { continue };
            if entry.file_name().as_encoded_bytes().starts_with(DRAFT_PREFIX.as_bytes()) {
                if now.duration_since(used).is_ok_and(|age| age > DRAFT_AGE_MAX) {
                    let _ = fs::remove_file(entry.path());
                }
                continue;
            }
            total += cost(meta.len());
            files.push((used, cost(meta.len()), entry.path()));
        }
        if total <= self.bytes_max {
            return Ok(());
        }
        files.sort_unstable();
        let goal = self.bytes_max / 8 * 7;
        for (_, bytes, path) in files {
            if total <= goal {
                break;
            }
            let _ = fs::remove_file(path);
            total -= bytes;
        }
        Ok(())
    }
}

/// The bytes that a file counts as; the minimum bounds the number of files.
fn cost(bytes: u64) -> u64 {
    bytes.max(EXEC_CACHE_COST_BYTES_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let names =
            fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.file_name());
        names.map(|name| name.into_string().expect("text")).collect()
    }

    #[test]
    fn a_partial_file_is_gone_on_with_and_gets_its_name_when_it_is_complete() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = FileCache::open(folder.path(), 1 << 20).expect("opened");
        let mut partial = cache.partial("a").expect("a file");
        partial.write(b"one ").expect("written");
        drop(partial);
        let mut partial = cache.partial("a").expect("a file");
        assert_eq!(partial.read().expect("read"), b"one ");
        partial.write(b"two").expect("written");
        assert_eq!(cache.read("a"), None);
        cache.complete(partial, "a").expect("renamed");
        assert_eq!(cache.read("a").expect("there"), b"one two");
        assert_eq!(names(folder.path()), ["a"]);
    }

    #[test]
    fn one_fetches_and_the_others_find_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = FileCache::open(folder.path(), 1 << 20).expect("opened");
        let mut first = cache.partial("a").expect("a file");
        std::thread::scope(|scope| {
            let second = scope.spawn(|| {
                let partial = cache.partial("a").expect("a file");
                let found = cache.read("a");
                cache.discard(partial);
                found
            });
            first.write(b"bytes").expect("written");
            cache.complete(first, "a").expect("renamed");
            assert_eq!(second.join().expect("no panic").as_deref(), Some(&b"bytes"[..]));
        });
        assert_eq!(names(folder.path()), ["a"]);
    }

    #[test]
    fn old_partial_files_are_deleted_at_the_start_and_the_oldest_files_beyond_the_limit() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |age: u64| SystemTime::now() - Duration::from_secs(age);
        let file = |name: &str, age: u64| {
            let file = File::create(folder.path().join(name)).expect("made");
            file.set_len(400_000).expect("sized");
            file.set_modified(at(age)).expect("dated");
        };
        file(".draft-partial-old", 7_200);
        file(".draft-partial-new", 60);
        file("a", 30);
        file("b", 20);
        file("c", 10);
        FileCache::open(folder.path(), 1_000_000).expect("opened");
        let mut left = names(folder.path());
        left.sort();
        assert_eq!(left, [".draft-partial-new", "b", "c"]);
    }
}
