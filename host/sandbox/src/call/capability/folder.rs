//! Storage in a local folder, for golden cases on an author's machine: each folder in it is a root.

use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use assay_core::id::Digest;
use assay_core::limits;
use assay_exec::ObjectCache;
use nix::errno::Errno;

use super::storage::{ObjectError, Storage};

/// Read at once.
const CHUNK_BYTES: usize = 1 << 20;

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

    /// The canonical path of the root that a name begins with.
    fn root(&self, name: &str) -> Result<PathBuf, ObjectError> {
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
        let unreadable = |problem: io::Error| unreadable(root, &problem);
        let path = path.canonicalize().map_err(unreadable)?;
        match path.metadata().map_err(unreadable)?.is_dir() {
            true => Ok(path),
            false => Err(ObjectError::Unavailable(format!("the root `{root}` is not a folder"))),
        }
    }

    /// The canonical path of an object or a folder, and what it is.
    fn find(&self, name: &str) -> Result<(PathBuf, Metadata), ObjectError> {
        let root = self.root(name)?;
        let missing = |problem: io::Error| match is_absence(&problem) {
            true => ObjectError::NotFound(name.to_owned()),
            false => unreadable(name, &problem),
        };
        let path = self.path.join(name).canonicalize().map_err(missing)?;
        if !path.starts_with(&root) {
            return Err(ObjectError::NotFound(name.to_owned()));
        }
        let metadata = path.metadata().map_err(missing)?;
        Ok((path, metadata))
    }

    fn open(&self, name: &str, bytes_max: u64) -> Result<File, ObjectError> {
        let (path, metadata) = self.find(name)?;
        if !metadata.is_file() {
            return Err(ObjectError::NotFound(name.to_owned()));
        }
        let file = File::open(&path).map_err(|problem| unreadable(name, &problem))?;
        let bytes = file.metadata().map_err(|problem| unreadable(name, &problem))?.len();
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
        let (path, metadata) = self.find(folder)?;
        if !metadata.is_dir() {
            return Err(ObjectError::NotFound(folder.to_owned()));
        }
        let mut names = Vec::new();
        let mut folders = vec![(path, folder.to_owned())];
        while let Some((path, folder)) = folders.pop() {
            if Instant::now() >= deadline {
                return Err(ObjectError::Deadline);
            }
            list(&root, &path, &folder, &mut names, &mut folders)
                .map_err(|problem| unreadable(&folder, &problem))?;
            if names.len() > limits::OBJECT_NAMES_MAX {
                let max = limits::OBJECT_NAMES_MAX;
                return Err(ObjectError::Unavailable(format!("there are more than {max} objects")));
            }
        }
        names.sort_unstable();
        Ok(names)
    }
}

/// Adds what lies directly in a folder. A link to a file of the same root is an object; folders are
/// not followed through links, which could go round in circles.
fn list(
    root: &Path,
    path: &Path,
    folder: &str,
    names: &mut Vec<String>,
    folders: &mut Vec<(PathBuf, String)>,
) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let name = format!("{folder}/{name}");
        let kind = entry.file_type()?;
        if kind.is_file() || kind.is_symlink() && leads_to_object(root, &entry.path())? {
            names.push(name);
        } else if kind.is_dir() {
            folders.push((entry.path(), name));
        }
    }
    Ok(())
}

fn leads_to_object(root: &Path, link: &Path) -> io::Result<bool> {
    let target = match link.canonicalize() {
        Err(problem) if is_absence(&problem) => return Ok(false),
        target => target?,
    };
    Ok(target.starts_with(root) && target.metadata()?.is_file())
}

/// Whether the path leads nowhere. Any other error is one of the machine.
fn is_absence(problem: &io::Error) -> bool {
    let absences = [Errno::ENOENT, Errno::ENOTDIR, Errno::ELOOP, Errno::ENAMETOOLONG];
    absences.iter().any(|absence| problem.raw_os_error() == Some(*absence as i32))
}

fn unreadable(name: &str, problem: &io::Error) -> ObjectError {
    ObjectError::Unavailable(format!("`{name}` cannot be read: {}", problem.kind()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::time::Duration;

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
