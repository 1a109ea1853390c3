//! Storage in a local folder, for golden cases on an author's machine: each folder in it is a root.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use assay_core::id::Digest;
use assay_core::limits;
use assay_exec::ObjectCache;

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
        let denied = || ObjectError::Denied(format!("there is no root `{root}`"));
        let path = self.path.join(root).canonicalize().map_err(|_| denied())?;
        if path.is_dir() { Ok(path) } else { Err(denied()) }
    }

    fn open(&self, name: &str, bytes_max: u64) -> Result<File, ObjectError> {
        let root = self.root(name)?;
        let not_found = || ObjectError::NotFound(name.to_owned());
        let path = self.path.join(name).canonicalize().map_err(|_| not_found())?;
        if !path.starts_with(&root) || !path.is_file() {
            return Err(not_found());
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
        let path = self.path.join(folder).canonicalize();
        let path = path.map_err(|_| ObjectError::NotFound(folder.to_owned()))?;
        if !path.starts_with(&root) || !path.is_dir() {
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
        let is_object = kind.is_file()
            || kind.is_symlink()
                && entry.path().canonicalize().is_ok_and(|to| to.starts_with(root) && to.is_file());
        if is_object {
            names.push(name);
        } else if kind.is_dir() {
            folders.push((entry.path(), name));
        }
    }
    Ok(())
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
        assert_eq!(digest, crate::digest_of(&bytes));
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
