//! A local folder as a storage root.
//!
//! The kernel keeps every path below the folder (`RESOLVE_BENEATH`): a link that leads out of it does
//! not open, even if it is changed during the call.

use std::fs::{File, Metadata};
use std::io::{ErrorKind, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use assay_core::limits;
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use nix::dir::{Dir, Type};
use nix::errno::Errno;
use nix::fcntl::{OFlag, OpenHow, ResolveFlag, openat2};

use crate::error::ReadError;
use crate::name::check_path;
use crate::reading::{Chunks, Content, ReadPermit};

/// A file that changed within this time may change again without a new modification time.
const FRESH: Duration = Duration::from_secs(2);
/// The kernel asks for another try when something was renamed under it.
const TRIES_MAX: usize = 16;
/// The flags to open a file. Not blocking: a pipe that nobody writes to would hold the thread.
const READ: OFlag = OFlag::O_NONBLOCK.union(OFlag::O_NOCTTY);

pub(super) struct Folder {
    path: Arc<Path>,
}

/// An open file and the number of bytes that are left to read.
struct OpenFile {
    file: File,
    version: String,
    left: u64,
    /// Held until the last byte is read, even if nobody waits for it any more.
    _turn: ReadPermit,
}

impl Folder {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path: path.into() }
    }

    pub(super) async fn fetch(
        &self,
        path: &str,
        known: &str,
        turn: ReadPermit,
    ) -> Result<Content, ReadError> {
        let (root, path, known) = (Arc::clone(&self.path), path.to_owned(), known.to_owned());
        apart(move || {
            let file = File::from(open(&open_root(&root)?, &path, READ)?);
            let metadata = file.metadata().map_err(unreadable)?;
            if !metadata.is_file() {
                return Err(ReadError::NotFound);
            }
            let (version, size) = (version(&metadata), metadata.len());
            if version == known {
                return Ok(Content { version, size, chunks: None });
            }
            let told = if is_fresh(&metadata) { unrepeatable(&version) } else { version.clone() };
            let chunks = Some(chunks(OpenFile { file, version, left: size, _turn: turn }));
            Ok(Content { version: told, size, chunks })
        })
        .await
    }

    pub(super) async fn list(
        &self,
        path: &str,
        turn: ReadPermit,
    ) -> Result<Vec<String>, ReadError> {
        let (root, path) = (Arc::clone(&self.path), path.to_owned());
        apart(move || {
            let _until_done = turn;
            list(&open_root(&root)?, path)
        })
        .await
    }
}

/// Reads on a thread that may block.
async fn apart<T: Send + 'static>(
    read: impl FnOnce() -> Result<T, ReadError> + Send + 'static,
) -> Result<T, ReadError> {
    let ended = tokio::task::spawn_blocking(read).await;
    ended
        .unwrap_or_else(|error| Err(ReadError::Unavailable(format!("a read ended early: {error}"))))
}

fn unreadable(error: std::io::Error) -> ReadError {
    ReadError::Unavailable(error.to_string())
}

/// Opens the root for each read, because the folder may be mounted late or again.
fn open_root(root: &Path) -> Result<OwnedFd, ReadError> {
    let mut options = std::fs::OpenOptions::new();
    let flags = (OFlag::O_DIRECTORY | OFlag::O_PATH).bits();
    let opened = std::os::unix::fs::OpenOptionsExt::custom_flags(options.read(true), flags)
        .open(root)
        .map(OwnedFd::from);
    opened.map_err(|error| ReadError::Unavailable(format!("{}: {error}", root.display())))
}

/// Opens a path for reading; the kernel refuses paths that lead out of the root.
fn open(root: &OwnedFd, path: &str, flags: OFlag) -> Result<OwnedFd, ReadError> {
    let how = OpenHow::new()
        .flags(OFlag::O_RDONLY | OFlag::O_CLOEXEC | flags)
        .resolve(ResolveFlag::RESOLVE_BENEATH | ResolveFlag::RESOLVE_NO_MAGICLINKS);
    let path = if path.is_empty() { "." } else { path };
    let mut tries = std::iter::repeat_with(|| openat2(root, path, how)).take(TRIES_MAX);
    let opened = tries.find(|opened| !matches!(opened, Err(Errno::EAGAIN)));
    match opened.unwrap_or(Err(Errno::EAGAIN)) {
        Ok(file) => Ok(file),
        // EXDEV: a link leads out of the root. ENXIO: a socket, or a device that is not there.
        Err(
            Errno::ENOENT
            | Errno::ENOTDIR
            | Errno::EXDEV
            | Errno::ELOOP
            | Errno::ENAMETOOLONG
            | Errno::ENXIO,
        ) => Err(ReadError::NotFound),
        Err(error) => Err(ReadError::Unavailable(format!("{path}: {}", error.desc()))),
    }
}

/// The version of a file, as far as the file system can tell.
fn version(file: &Metadata) -> String {
    format!(
        "{:x}-{:x}-{:x}.{:x}-{:x}.{:x}",
        file.ino(),
        file.len(),
        file.mtime(),
        file.mtime_nsec(),
        file.ctime(),
        file.ctime_nsec()
    )
}

fn is_fresh(file: &Metadata) -> bool {
    let changed = Duration::new(file.ctime().max(0).unsigned_abs(), 0);
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH + changed)
        .map_or(true, |age| age < FRESH)
}

/// The caller will not be told that it has this already.
fn unrepeatable(version: &str) -> String {
    format!("{version}-fresh")
}

fn chunks(reading: OpenFile) -> Chunks {
    stream::try_unfold(reading, |reading| async {
        if reading.left == 0 {
            return Ok(None);
        }
        apart(move || read(reading)).await.map(Some)
    })
    .boxed()
}

fn read(mut reading: OpenFile) -> Result<(Bytes, OpenFile), ReadError> {
    let length = reading.left.min(assay_wire::CHUNK_BYTES as u64);
    let mut bytes = vec![0; usize::try_from(length).expect("a chunk is small")];
    let changed = || ReadError::Unavailable("a file changed while it was read".into());
    reading.file.read_exact(&mut bytes).map_err(|error| match error.kind() {
        ErrorKind::UnexpectedEof => changed(),
        _ => unreadable(error),
    })?;
    reading.left -= length;
    if reading.left == 0
        && version(&reading.file.metadata().map_err(unreadable)?) != reading.version
    {
        return Err(changed());
    }
    Ok((bytes.into(), reading))
}

/// The paths of all files below a folder. Links to files count; folders are not entered through
/// links, which may lead in a circle.
fn list(root: &OwnedFd, start: String) -> Result<Vec<String>, ReadError> {
    let mut names = Vec::new();
    let mut seen = 0;
    let mut folders = vec![start];
    while let Some(folder) = folders.pop() {
        let opened = match open(root, &folder, OFlag::O_DIRECTORY) {
            // As in a bucket: a folder without objects is none.
            Err(ReadError::NotFound) => continue,
            opened => opened?,
        };
        let entries = Dir::from_fd(opened).map_err(|error| unreadable(error.into()))?;
        for entry in entries {
            let entry = entry.map_err(|error| unreadable(error.into()))?;
            let Ok(name) = entry.file_name().to_str() else { continue };
            if matches!(name, "." | "..") {
                continue;
            }
            seen += 1;
            // Folders without any file are counted, too: a tree of them has no end either.
            if seen > 2 * limits::OBJECT_NAMES_MAX || names.len() > limits::OBJECT_NAMES_MAX {
                return Err(ReadError::TooMany);
            }
            let path = if folder.is_empty() { name.into() } else { format!("{folder}/{name}") };
            if check_path(&path).is_err() {
                continue;
            }
            match kind_of(root, &path, entry.file_type())? {
                Some(EntryKind::Folder) => folders.push(path),
                Some(EntryKind::File) => names.push(path),
                None => {}
            }
        }
    }
    if names.len() > limits::OBJECT_NAMES_MAX { Err(ReadError::TooMany) } else { Ok(names) }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum EntryKind {
    File,
    Folder,
}

/// The kind of an entry; `None` for one that is neither a file nor a folder, that is gone, or that leads nowhere. Some file
/// systems do not tell it in their lists.
fn kind_of(
    root: &OwnedFd,
    path: &str,
    listed: Option<Type>,
) -> Result<Option<EntryKind>, ReadError> {
    let look = |flags| {
        let opened = match open(root, path, OFlag::O_PATH.union(flags)) {
            Err(ReadError::NotFound) => return Ok(None),
            opened => File::from(opened?),
        };
        let metadata = opened.metadata().map_err(unreadable)?;
        Ok(Some(metadata.file_type()))
    };
    let is_file = |kind: Option<std::fs::FileType>| kind.is_some_and(|kind| kind.is_file());
    let is_link = match listed {
        Some(Type::Directory) => return Ok(Some(EntryKind::Folder)),
        Some(Type::File) => return Ok(Some(EntryKind::File)),
        Some(Type::Symlink) => true,
        Some(_) => return Ok(None),
        None => match look(OFlag::O_NOFOLLOW)? {
            Some(kind) if kind.is_dir() => return Ok(Some(EntryKind::Folder)),
            Some(kind) if kind.is_file() => return Ok(Some(EntryKind::File)),
            kind => kind.is_some_and(|kind| kind.is_symlink()),
        },
    };
    Ok(if is_link && is_file(look(OFlag::empty())?) { Some(EntryKind::File) } else { None })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// As where a file system does not tell kinds in its lists.
    #[test]
    fn an_entry_of_no_known_kind_is_looked_at() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("file"), "x").expect("a file");
        std::fs::create_dir(path("folder")).expect("a folder");
        for (link, to) in
            [("link", "file"), ("round", "folder"), ("out", "/etc/passwd"), ("lost", "none")]
        {
            symlink(to, path(link)).expect("a link");
        }
        nix::unistd::mkfifo(&path("pipe"), nix::sys::stat::Mode::S_IRUSR).expect("a pipe");
        let root = open_root(folder.path()).expect("the root");
        let kind = |name: &str| kind_of(&root, name, None).expect("can be looked at");
        assert!(kind("file") == Some(EntryKind::File) && kind("link") == Some(EntryKind::File));
        assert!(kind("folder") == Some(EntryKind::Folder));
        for name in ["round", "out", "lost", "pipe", "gone"] {
            assert!(kind(name).is_none(), "{name}");
        }
    }
}
