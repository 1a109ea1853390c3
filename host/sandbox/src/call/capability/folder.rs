//! Storage in a local folder, for golden cases: each folder in it is a root.
//!
//! The kernel keeps every path below its root (`RESOLVE_BENEATH`): a link that leads out of it does not open, even
//! if it is changed during the call. A server reads the roots of its tenants here, and tenants may write to them.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use assay_core::id::Digest;
use assay_core::limits;
use assay_exec::ObjectCache;
use nix::dir::{Dir, Type};
use nix::errno::Errno;
use nix::fcntl::{OFlag, OpenHow, ResolveFlag, openat2};

use super::storage::{ObjectError, Storage};

/// Read at once.
const CHUNK_BYTES: usize = 1 << 20;
/// The kernel asks for another try when something was renamed under it.
const TRIES_MAX: usize = 16;
/// The flags to open a file. Not blocking: a pipe that nobody writes to would hold the thread.
const READ: OFlag = OFlag::O_NONBLOCK.union(OFlag::O_NOCTTY);

/// A folder of roots. Nothing outside of a root is read: a link that leads out of it is no object.
pub struct FolderStorage {
    path: PathBuf,
    objects: Arc<ObjectCache>,
}

impl FolderStorage {
    /// `objects` is where programs read what was located.
    #[must_use]
    pub fn new(path: PathBuf, objects: Arc<ObjectCache>) -> Self {
        Self { path, objects }
    }

    /// Opens the root that a name begins with. It may be a link to anywhere.
    fn root(&self, name: &str) -> Result<OwnedFd, ObjectError> {
        let root = name.split('/').next().unwrap_or_default();
        let path = self.path.join(root);
        match path.symlink_metadata() {
            Err(problem) if is_absence(&problem) => {
                return Err(ObjectError::Denied(format!("there is no root `{root}`")));
            }
            Err(problem) => return Err(unreadable(root, &problem)),
            Ok(_) => {}
        }
        // The root was granted, so that whatever is wrong with it is the operator's: a folder that is not mounted.
        let flags = (OFlag::O_PATH | OFlag::O_DIRECTORY).bits();
        let opened = File::options().read(true).custom_flags(flags).open(&path);
        opened.map(OwnedFd::from).map_err(|problem| match problem.kind() {
            io::ErrorKind::NotADirectory => {
                ObjectError::Unavailable(format!("the root `{root}` is not a folder"))
            }
            _ => unreadable(root, &problem),
        })
    }

    fn open(&self, name: &str, bytes_max: u64) -> Result<File, ObjectError> {
        let root = self.root(name)?;
        let file = File::from(open(&root, name, READ).map_err(|problem| missing(name, &problem))?);
        let metadata = file.metadata().map_err(|problem| unreadable(name, &problem))?;
        if !metadata.is_file() {
            return Err(ObjectError::NotFound(name.to_owned()));
        }
        let bytes = metadata.len();
        if bytes > bytes_max { Err(ObjectError::TooLarge(bytes)) } else { Ok(file) }
    }

    fn copy(&self, file: &mut File, deadline: Instant) -> io::Result<Option<Digest>> {
        let mut writer = self.objects.writer()?;
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            if Instant::now() >= deadline {
                return Ok(None);
            }
            match file.read(&mut chunk)? {
                0 => return writer.finish().map(Some),
                read => writer.write(&chunk[..read])?,
            }
        }
    }
}

impl Storage for FolderStorage {
    fn get(&self, name: &str, _deadline: Instant) -> Result<Vec<u8>, ObjectError> {
        let file = self.open(name, limits::OBJECT_GET_BYTES_MAX)?;
        let mut bytes = Vec::new();
        file.take(limits::OBJECT_GET_BYTES_MAX)
            .read_to_end(&mut bytes)
            .map_err(|problem| unreadable(name, &problem))?;
        Ok(bytes)
    }

    fn locate(&self, name: &str, deadline: Instant) -> Result<Digest, ObjectError> {
        let mut file = self.open(name, limits::OBJECT_BYTES_MAX)?;
        self.copy(&mut file, deadline)
            .map_err(|problem| unreadable(name, &problem))?
            .ok_or(ObjectError::Deadline)
    }

    fn names(&self, folder: &str, deadline: Instant) -> Result<Vec<String>, ObjectError> {
        let root = self.root(folder)?;
        let mut names = Vec::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(name) = folders.pop() {
            if Instant::now() >= deadline {
                return Err(ObjectError::Deadline);
            }
            let opened = match open(&root, &name, OFlag::O_DIRECTORY) {
                // It was removed since its parent was listed.
                Err(problem) if name != folder && is_absence(&problem) => continue,
                opened => opened.map_err(|problem| missing(&name, &problem))?,
            };
            list(&root, opened, &name, &mut names, &mut folders)
                .map_err(|problem| unreadable(&name, &problem))?;
            if names.len() > limits::OBJECT_NAMES_MAX {
                let max = limits::OBJECT_NAMES_MAX;
                return Err(ObjectError::Unavailable(format!("there are more than {max} objects")));
            }
        }
        names.sort_unstable();
        Ok(names)
    }
}

/// Opens what a name leads to below its open root; the kernel refuses what leads out of the root.
fn open(root: &OwnedFd, name: &str, flags: OFlag) -> io::Result<OwnedFd> {
    let how = OpenHow::new()
        .flags(OFlag::O_RDONLY | OFlag::O_CLOEXEC | flags)
        .resolve(ResolveFlag::RESOLVE_BENEATH | ResolveFlag::RESOLVE_NO_MAGICLINKS);
    let path = name.split_once('/').map_or(".", |(_root, path)| path);
    let mut tries = std::iter::repeat_with(|| openat2(root, path, how)).take(TRIES_MAX);
    let opened = tries.find(|opened| !matches!(opened, Err(Errno::EAGAIN)));
    opened.unwrap_or(Err(Errno::EAGAIN)).map_err(io::Error::from)
}

/// Adds what lies directly in a folder. A link to a file of the same root is an object; folders are
/// not followed through links, which could go round in circles.
fn list(
    root: &OwnedFd,
    opened: OwnedFd,
    folder: &str,
    names: &mut Vec<String>,
    folders: &mut Vec<String>,
) -> io::Result<()> {
    for entry in Dir::from_fd(opened)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().to_str() else { continue };
        if matches!(name, "." | "..") {
            continue;
        }
        let name = format!("{folder}/{name}");
        let kind = match entry.file_type() {
            // Some file systems do not tell it in their lists.
            None => kind_of(root, &name, OFlag::O_NOFOLLOW)?,
            told => told,
        };
        let is_object = match kind {
            Some(Type::Symlink) => kind_of(root, &name, OFlag::empty())? == Some(Type::File),
            kind => kind == Some(Type::File),
        };
        if is_object {
            names.push(name);
        } else if kind == Some(Type::Directory) {
            folders.push(name);
        }
    }
    Ok(())
}

/// The kind of what a name leads to, if it leads to a file, a folder or a link of its root.
fn kind_of(root: &OwnedFd, name: &str, flags: OFlag) -> io::Result<Option<Type>> {
    let opened = match open(root, name, OFlag::O_PATH | flags) {
        Err(problem) if is_absence(&problem) => return Ok(None),
        opened => File::from(opened?),
    };
    let kind = opened.metadata()?.file_type();
    Ok(if kind.is_file() {
        Some(Type::File)
    } else if kind.is_dir() {
        Some(Type::Directory)
    } else {
        kind.is_symlink().then_some(Type::Symlink)
    })
}

/// Whether the path leads nowhere in its root. Any other error is one of the machine.
fn is_absence(problem: &io::Error) -> bool {
    let absences = [
        Errno::ENOENT,
        Errno::ENOTDIR,
        Errno::ELOOP,
        Errno::ENAMETOOLONG,
        // A link leads out of the root.
        Errno::EXDEV,
        // A socket, or a device that is not there.
        Errno::ENXIO,
    ];
    absences.iter().any(|absence| problem.raw_os_error() == Some(*absence as i32))
}

fn missing(name: &str, problem: &io::Error) -> ObjectError {
    match is_absence(problem) {
        true => ObjectError::NotFound(name.to_owned()),
        false => unreadable(name, problem),
    }
}

fn unreadable(name: &str, problem: &io::Error) -> ObjectError {
    ObjectError::Unavailable(format!("`{name}` cannot be read: {}", problem.kind()))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use nix::fcntl::{RenameFlags, renameat2};
    use nix::sys::stat::Mode;

    use super::*;

    struct Place {
        folder: tempfile::TempDir,
        objects: Arc<ObjectCache>,
    }

    impl Place {
        fn new() -> Self {
            let folder = tempfile::tempdir().expect("a folder");
            let root = folder.path().join("roots/judge");
            fs::create_dir_all(root.join("sum/secret")).expect("created");
            fs::create_dir_all(folder.path().join("roots/other")).expect("created");
            fs::write(root.join("sum/secret/1.in"), "1 2\n").expect("written");
            fs::write(root.join("sum/problem.yaml"), "name: sum\n").expect("written");
            fs::write(folder.path().join("secret"), "out of reach").expect("written");
            fs::write(folder.path().join("roots/other/theirs"), "too").expect("written");
            symlink("secret/1.in", root.join("sum/inside")).expect("linked");
            symlink(folder.path().join("secret"), root.join("sum/outside")).expect("linked");
            symlink("../other", root.join("sideways")).expect("linked");
            symlink("..", root.join("sum/round")).expect("linked");
            symlink("endless", root.join("sum/endless")).expect("linked");
            let objects =
                ObjectCache::open(&folder.path().join("objects"), 1 << 30).expect("a cache");
            Self { folder, objects: Arc::new(objects) }
        }

        fn storage(&self) -> FolderStorage {
            FolderStorage::new(self.folder.path().join("roots"), Arc::clone(&self.objects))
        }
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    #[test]
    fn objects_are_read_listed_and_located() {
        let place = Place::new();
        let storage = place.storage();
        let bytes = b"1 2\n".to_vec();
        for name in ["judge/sum/secret/1.in", "judge/sum/inside"] {
            assert_eq!(storage.get(name, soon()), Ok(bytes.clone()));
        }
        let digest = storage.locate("judge/sum/secret/1.in", soon()).expect("there");
        assert_eq!(digest, Digest::of(&bytes));
        assert_eq!(place.objects.get(digest), Some(bytes));
        let names = storage.names("judge/sum", soon()).expect("a folder");
        assert_eq!(names, ["judge/sum/inside", "judge/sum/problem.yaml", "judge/sum/secret/1.in"]);
        assert_eq!(storage.names("judge", soon()).expect("a root"), names);
    }

    #[test]
    fn nothing_outside_of_a_root_is_there() {
        let place = Place::new();
        let storage = place.storage();
        for name in [
            "judge/sum/outside",
            "judge/sideways/theirs",
            "judge/sum/round/../../secret",
            "judge/sum/problem.yaml/below",
            "judge/sum/endless",
            "judge/sum",
            "judge/nothing",
        ] {
            assert_eq!(storage.get(name, soon()), Err(ObjectError::NotFound(name.into())));
            assert_eq!(storage.locate(name, soon()), Err(ObjectError::NotFound(name.into())));
        }
        let out = storage.names("judge/sideways", soon());
        assert_eq!(out, Err(ObjectError::NotFound("judge/sideways".into())));
        let denied = storage.get("nowhere/x", soon()).expect_err("no root");
        assert!(matches!(denied, ObjectError::Denied(_)), "{denied}");
    }

    /// A tenant that may write to its root exchanges a folder and a link while a case reads.
    #[test]
    fn a_link_that_is_changed_during_a_read_leads_nowhere() {
        let place = Place::new();
        let root = place.folder.path().join("roots/judge");
        fs::create_dir(root.join("folder")).expect("created");
        fs::write(root.join("folder/secret"), "within reach").expect("written");
        symlink(place.folder.path(), root.join("link")).expect("linked");
        let storage = place.storage();
        let is_over = AtomicBool::new(false);
        let (read, listed) = std::thread::scope(|scope| {
            scope.spawn(|| {
                let root = File::open(&root).expect("opened");
                while !is_over.load(Ordering::Relaxed) {
                    let exchange = RenameFlags::RENAME_EXCHANGE;
                    renameat2(&root, "folder", &root, "link", exchange).expect("exchanged");
                }
            });
            let get = |_| storage.get("judge/folder/secret", soon());
            let read: Vec<_> = (0..2_000).map(get).collect();
            let list = |_| storage.names("judge/folder", soon());
            let listed: Vec<_> = (0..200).map(list).collect();
            is_over.store(true, Ordering::Relaxed);
            (read, listed)
        });
        for bytes in read.into_iter().flatten() {
            assert_eq!(bytes, b"within reach");
        }
        for name in listed.into_iter().flatten().flatten() {
            assert_eq!(name, "judge/folder/secret");
        }
    }

    #[test]
    fn a_pipe_is_no_object() {
        let place = Place::new();
        let pipe = place.folder.path().join("roots/judge/pipe");
        nix::unistd::mkfifo(&pipe, Mode::S_IRUSR | Mode::S_IWUSR).expect("made");
        let absent = || ObjectError::NotFound("judge/pipe".into());
        assert_eq!(place.storage().get("judge/pipe", soon()), Err(absent()));
        assert_eq!(place.storage().locate("judge/pipe", soon()), Err(absent()));
        let names = place.storage().names("judge", soon()).expect("a root");
        assert!(!names.contains(&"judge/pipe".to_owned()), "{names:?}");
    }

    /// As where a file system does not tell kinds in its lists.
    #[test]
    fn an_entry_of_no_known_kind_is_looked_at() {
        let place = Place::new();
        let root = place.storage().root("judge").expect("a root");
        let kind = |name: &str| kind_of(&root, name, OFlag::O_NOFOLLOW).expect("can be looked at");
        assert_eq!(kind("judge/sum/problem.yaml"), Some(Type::File));
        assert_eq!(kind("judge/sum"), Some(Type::Directory));
        assert_eq!(kind("judge/sum/outside"), Some(Type::Symlink));
        assert_eq!(kind("judge/nothing"), None);
    }

    /// The server links each granted root, mounted or not.
    #[test]
    fn a_granted_root_that_is_not_there_is_a_failure_of_the_machine() {
        let place = Place::new();
        let roots = place.folder.path().join("roots");
        symlink(place.folder.path().join("not-mounted"), roots.join("gone")).expect("linked");
        symlink(place.folder.path().join("secret"), roots.join("no-folder")).expect("linked");
        symlink("endless", roots.join("endless")).expect("linked");
        let storage = place.storage();
        for root in ["gone", "no-folder", "endless"] {
            let name = format!("{root}/sum/1.in");
            for failed in [
                storage.get(&name, soon()).map(|_| ()),
                storage.locate(&name, soon()).map(|_| ()),
                storage.names(root, soon()).map(|_| ()),
            ] {
                assert!(matches!(failed, Err(ObjectError::Unavailable(_))), "{root}: {failed:?}");
            }
        }
    }

    #[test]
    fn errors_of_the_machine_are_no_absence() {
        for (error, is_absent) in [
            (Errno::ENOENT, true),
            (Errno::ENOTDIR, true),
            (Errno::ELOOP, true),
            (Errno::ENAMETOOLONG, true),
            (Errno::EXDEV, true),
            (Errno::ENXIO, true),
            (Errno::EIO, false),
            (Errno::EACCES, false),
            (Errno::ESTALE, false),
            (Errno::EMFILE, false),
        ] {
            assert_eq!(is_absence(&io::Error::from(error)), is_absent, "{error}");
        }
    }

    #[test]
    fn what_is_too_large_or_too_late_is_not_read() {
        let place = Place::new();
        let storage = place.storage();
        let large = File::create(place.folder.path().join("roots/judge/large")).expect("created");
        let bytes = limits::OBJECT_GET_BYTES_MAX + 1;
        large.set_len(bytes).expect("sparse");
        assert_eq!(storage.get("judge/large", soon()), Err(ObjectError::TooLarge(bytes)));
        let over = Instant::now();
        assert_eq!(storage.locate("judge/large", over), Err(ObjectError::Deadline));
        assert_eq!(storage.names("judge", over), Err(ObjectError::Deadline));
    }
}
