//! Results that take long to make and that many tests need, such as a compiled guest: made by the first
//! test, kept in a file, read by the others. It works across processes, since a test runner may start one
//! for each test.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// A folder of results of one build of a program.
#[derive(Debug)]
pub struct Once {
    folder: PathBuf,
}

impl Once {
    /// Results of `program`, kept below `folder`. Results of an earlier build are deleted.
    ///
    /// # Errors
    /// When the program is missing or the folder cannot be written.
    pub fn new(folder: &Path, program: &Path) -> io::Result<Self> {
        let built = fs::metadata(program)?;
        let age = built.modified()?.duration_since(UNIX_EPOCH).map_err(io::Error::other)?;
        let build = format!("{}-{}", age.as_nanos(), built.len());
        let this = Self { folder: folder.join(&build) };
        if !this.folder.exists() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                if entry.file_name() != *build {
                    // Another test may delete it at the same time.
                    let _ = fs::remove_dir_all(entry.path());
                }
            }
            fs::create_dir_all(&this.folder)?;
        }
        Ok(this)
    }

    /// The bytes kept under this name. Where there are none, they are made, while other tests that need
    /// them wait. A result is whole or missing, wherever its maker was killed.
    ///
    /// # Errors
    /// When the folder cannot be read or written.
    pub fn get(&self, name: &str, make: impl FnOnce() -> Vec<u8>) -> io::Result<Vec<u8>> {
        let file = self.folder.join(name);
        let lock = File::create(file.with_extension("lock"))?;
        // Given back as the file is closed, also when `make` panics.
        lock.lock()?;
        match fs::read(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            kept => return kept,
        }
        let made = make();
        let fresh = file.with_extension("new");
        fs::write(&fresh, &made)?;
        fs::rename(&fresh, &file)?;
        Ok(made)
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn program(folder: &Path, text: &str) -> PathBuf {
        let program = folder.join("program");
        fs::write(&program, text).unwrap();
        program
    }

    #[test]
    fn is_made_by_one_of_many() {
        let scratch = tempfile::tempdir().unwrap();
        let program = program(scratch.path(), "one");
        let made = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let once = Once::new(&scratch.path().join("kept"), &program).unwrap();
                    let make = || {
                        made.fetch_add(1, Ordering::Relaxed);
                        b"result".to_vec()
                    };
                    assert_eq!(once.get("name", make).unwrap(), b"result");
                });
            }
        });
        assert_eq!(made.into_inner(), 1);
    }

    #[test]
    fn is_made_again_after_a_failure() {
        let scratch = tempfile::tempdir().unwrap();
        let once = Once::new(scratch.path(), &std::env::current_exe().unwrap()).unwrap();
        let failed = catch_unwind(AssertUnwindSafe(|| once.get("name", || panic!("no result"))));
        assert!(failed.is_err());
        assert_eq!(once.get("name", || b"result".to_vec()).unwrap(), b"result");
    }

    #[test]
    fn another_build_starts_anew() {
        let scratch = tempfile::tempdir().unwrap();
        let kept = scratch.path().join("kept");
        let get = |text: &str| {
            let once = Once::new(&kept, &program(scratch.path(), text)).unwrap();
            once.get("name", || text.into()).unwrap()
        };
        assert_eq!(get("one"), b"one");
        assert_eq!(get("another"), b"another");
        assert_eq!(fs::read_dir(&kept).unwrap().count(), 1, "the earlier build is deleted");
    }
}
