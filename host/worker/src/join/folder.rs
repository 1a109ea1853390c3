//! The folder of a worker that joined: its socket, and its cache if none was named.
//!
//! A worker that is killed cannot delete its folder: the next one of the same user on this machine does. A worker keeps a
//! file of its folder locked while it lives, and no folder is deleted whose file is missing or locked.

use std::fs::{File, Metadata, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use nix::unistd::geteuid;
use tempfile::TempDir;

const PREFIX: &str = "assay-worker-";
const LOCK: &str = "lock";

/// Deleted when dropped.
pub(super) struct WorkerFolder {
    folder: TempDir,
    _lock: File,
}

impl WorkerFolder {
    /// Makes a folder in `parent` with mode 0700, and deletes those there that killed workers left.
    pub(super) fn make(parent: &Path) -> std::io::Result<Self> {
        let own = Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new().prefix(PREFIX).permissions(own).tempdir_in(parent)?;
        // Nobody may find the file before it is locked. Some file systems have no locks: a folder there stays.
        let unlocked = folder.path().join("unlocked");
        let lock = File::create_new(&unlocked)?;
        if lock.lock().is_ok() {
            std::fs::rename(unlocked, folder.path().join(LOCK))?;
        }
        // One that may not be read is nothing to clean up.
        for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
            let is_folder = entry.file_name().to_string_lossy().starts_with(PREFIX);
            if is_folder && is_left(&entry.path()) {
                // Another worker may do so at this moment.
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
        Ok(Self { folder, _lock: lock })
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }
}

fn is_left(folder: &Path) -> bool {
    let is_own = |found: Metadata| found.is_dir() && found.uid() == geteuid().as_raw();
    folder.symlink_metadata().is_ok_and(is_own)
        && File::open(folder.join(LOCK)).is_ok_and(|lock| lock.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parent_that_cannot_be_listed_has_room_all_the_same() {
        let parent = tempfile::tempdir().expect("a folder");
        std::fs::set_permissions(parent.path(), Permissions::from_mode(0o300)).expect("is ours");
        let made = WorkerFolder::make(parent.path());
        std::fs::set_permissions(parent.path(), Permissions::from_mode(0o700)).expect("is ours");
        assert!(made.is_ok(), "{:?}", made.err());
    }

    #[test]
    fn the_folder_of_a_killed_worker_is_deleted_by_the_next_one() {
        let parent = tempfile::tempdir().expect("a folder");
        let lives = WorkerFolder::make(parent.path()).expect("a folder");
        let killed = WorkerFolder::make(parent.path()).expect("a folder");
        let WorkerFolder { folder, _lock: lock } = killed;
        let left = folder.keep();
        std::fs::write(left.join("cache"), "code").expect("a file");
        drop(lock);
        let next = WorkerFolder::make(parent.path()).expect("a folder");
        assert!(!left.exists());
        assert!(lives.path().exists() && next.path().exists());
        assert_eq!(next.path().metadata().expect("is there").mode() & 0o777, 0o700);
        drop((lives, next));
        assert_eq!(std::fs::read_dir(parent.path()).expect("is there").count(), 0);
    }
}
