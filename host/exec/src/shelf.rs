//! A folder of files that may be lost: what both caches are made of.
//!
//! Several processes share one. A file is written beside and renamed, so that a name has whole bytes
//! or none, unless the machine lost power; what is read must be verified by its reader. The file's
//! time of change is when it was last used. Nothing here may ever be the only copy of something.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use assay_model::limits::EXEC_CACHE_COST_BYTES_MIN;
use tempfile::NamedTempFile;

const DRAFT_PREFIX: &str = ".draft-";
/// A draft this old was left by a process that died.
const DRAFT_AGE_MAX: Duration = Duration::from_secs(3_600);

#[derive(Debug)]
pub struct Shelf {
    folder: PathBuf,
    bytes_max: u64,
    /// By this process since it last looked at the folder as a whole.
    written: AtomicU64,
}

/// A file that has no name yet.
pub struct Draft {
    file: NamedTempFile,
    bytes: u64,
    bytes_max: u64,
}

impl Draft {
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.bytes += bytes.len() as u64;
        if self.bytes > self.bytes_max {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("more than the {} bytes that the whole cache may hold", self.bytes_max),
            ));
        }
        self.file.write_all(bytes)
    }
}

impl Shelf {
    pub fn open(folder: &Path, bytes_max: u64) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let shelf = Self { folder: folder.to_owned(), bytes_max, written: AtomicU64::new(0) };
        shelf.trim()?;
        Ok(shelf)
    }

    /// Reads a file and marks it as used.
    pub fn read(&self, name: &str) -> Option<Vec<u8>> {
        let mut file = File::open(self.folder.join(name)).ok()?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).ok()?;
        // Fails on a folder that this user may only read; its files then go in the order they came.
        let _ = file.set_modified(SystemTime::now());
        Some(bytes)
    }

    /// Whether the file is there with this size; marks it as used.
    pub fn touch(&self, name: &str, bytes: u64) -> bool {
        let Ok(file) = File::open(self.folder.join(name)) else { return false };
        let there = file.metadata().is_ok_and(|meta| meta.len() == bytes);
        there && file.set_modified(SystemTime::now()).is_ok()
    }

    pub fn remove(&self, name: &str) {
        // Another process may have been faster.
        let _ = fs::remove_file(self.folder.join(name));
    }

    pub fn draft(&self) -> io::Result<Draft> {
        let file = tempfile::Builder::new().prefix(DRAFT_PREFIX).tempfile_in(&self.folder)?;
        Ok(Draft { file, bytes: 0, bytes_max: self.bytes_max })
    }

    /// Gives the draft its name, in place of what had it.
    pub fn keep(&self, draft: Draft, name: &str) -> io::Result<()> {
        draft.file.as_file().set_modified(SystemTime::now())?;
        draft.file.persist(self.folder.join(name)).map_err(|failed| failed.error)?;
        let cost = cost(draft.bytes);
        // Looking at every file is dear: it is done once a sixty-fourth of the limit was written, by
        // which each process may therefore exceed it.
        if self.written.fetch_add(cost, Ordering::Relaxed) + cost > self.bytes_max / 64 {
            self.trim()?;
        }
        Ok(())
    }

    /// Removes the least recently used while there is too much, to seven eighths of the limit.
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

/// Bounds the number of files as well.
fn cost(bytes: u64) -> u64 {
    bytes.max(EXEC_CACHE_COST_BYTES_MIN)
}
