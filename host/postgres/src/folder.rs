//! The data folder: where it is by default, what lies where in it, and the lock on it.
//!
//! The lock is the kernel's (`flock`), so it ends with its holder however that dies. It must be held
//! by whoever changes anything under `<data>/postgres`.

use std::{
    env,
    fs::{self, DirBuilder, File, OpenOptions, Permissions, TryLockError},
    hash::{DefaultHasher, Hash, Hasher},
    io::{self, Read, Write},
    os::unix::{
        ffi::OsStrExt,
        fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    },
    path::{Path, PathBuf},
};

use nix::unistd::geteuid;

use crate::{
    error::{Error, FileContext},
    owner::Owner,
};

/// The longest path of a Unix socket, its closing zero left out (`sockaddr_un`).
const SOCKET_PATH_BYTES_MAX: usize = 107;
/// The longest name that PostgreSQL puts into the socket folder.
const SOCKET_FILE_NAME: &str = ".s.PGSQL.5432.lock";

/// The data folder when none is named: `$ASSAY_DATA`; for root `/var/lib/assay`; otherwise
/// `$XDG_DATA_HOME/assay` or `~/.local/share/assay`.
///
/// # Errors
/// [`Error::NoHome`] when none of the variables is set and the caller is not root.
pub fn default_data_folder() -> Result<PathBuf, Error> {
    let named = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(folder) = named("ASSAY_DATA") {
        return std::path::absolute(&folder).doing("make absolute", folder);
    }
    if geteuid().is_root() {
        return Ok("/var/lib/assay".into());
    }
    named("XDG_DATA_HOME")
        .filter(|folder| folder.is_absolute())
        .or_else(|| named("HOME").map(|home| home.join(".local/share")))
        .map(|folder| folder.join("assay"))
        .ok_or(Error::NoHome)
}

/// The paths of the parts of a cluster.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    /// The data folder, canonical.
    pub(crate) data: PathBuf,
    /// The folder for all files of PostgreSQL.
    pub(crate) home: PathBuf,
    /// PostgreSQL's data directory.
    pub(crate) cluster: PathBuf,
    pub(crate) log: PathBuf,
    /// Tells this cluster's processes from any other's on the machine.
    pub(crate) name: String,
}

impl Layout {
    /// Makes the data folder where it is missing.
    pub(crate) fn make(data: &Path) -> Result<Self, Error> {
        if !data.exists() {
            // Root's server runs as another user, who must pass through but need not look around.
            let mode = if geteuid().is_root() { 0o711 } else { 0o700 };
            DirBuilder::new().recursive(true).create(data).doing("make the folder", data)?;
            set_mode(data, mode)?;
        }
        let data = data.canonicalize().doing("find", data)?;
        let home = data.join("postgres");
        let cluster = home.join("cluster");
        let mut hasher = DefaultHasher::new();
        cluster.as_os_str().as_bytes().hash(&mut hasher);
        let name = format!("assay-{:016x}", hasher.finish());
        Ok(Self { log: home.join("server.log"), data, home, cluster, name })
    }

    /// Takes the folder for this process.
    pub(crate) fn lock(&self) -> Result<Lock, Error> {
        let path = self.data.join("assay.lock");
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .doing("open", &path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                // The holder writes its id just after it has the lock; without it the error is shorter.
                let _ = file.read_to_string(&mut text);
                return Err(Error::Locked {
                    folder: self.data.clone(),
                    pid: text.trim().parse().ok(),
                });
            }
            Err(TryLockError::Error(source)) => {
                return Err(Error::Files { doing: "lock", path, source });
            }
        }
        file.set_len(0).doing("write", &path)?;
        writeln!(file, "{}", std::process::id()).doing("write", &path)?;
        Ok(Lock { _file: file })
    }

    /// Makes the folder of everything that PostgreSQL owns.
    pub(crate) fn make_home(&self, owner: &Owner) -> Result<(), Error> {
        if !self.home.exists() {
            fs::create_dir(&self.home).doing("make the folder", &self.home)?;
        }
        set_mode(&self.home, 0o700)?;
        owner.give(&self.home)
    }

    /// Makes the folder of the socket: in the data folder where the path is plain and short enough
    /// for a socket, otherwise a private one under /tmp.
    pub(crate) fn make_socket_folder(&self, owner: &Owner) -> Result<PathBuf, Error> {
        let inside = self.home.join("socket");
        let folder =
            if fits_a_socket(&inside) { inside } else { Path::new("/tmp").join(&self.name) };
        match DirBuilder::new().mode(0o700).create(&folder) {
            Ok(()) => owner.give(&folder)?,
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(source) => {
                return Err(Error::Files { doing: "make the folder", path: folder, source });
            }
        }
        // /tmp is everybody's: a folder laid there by someone else would hand them the database.
        let found = fs::symlink_metadata(&folder).doing("look at", &folder)?;
        if !found.is_dir() || found.uid() != owner.uid() || found.mode() & 0o077 != 0 {
            return Err(Error::WrongOwner {
                path: folder.clone(),
                uid: found.uid(),
                hint: format!(
                    "the socket's folder must be a directory with mode 0700 of user id {}; remove it",
                    owner.uid()
                ),
            });
        }
        Ok(folder)
    }
}

/// The lock on a data folder; let go of when dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

/// Plain characters alone, so that neither the settings file nor a URL has to quote the path.
fn fits_a_socket(folder: &Path) -> bool {
    let bytes = folder.as_os_str().as_bytes();
    bytes.len() + 1 + SOCKET_FILE_NAME.len() <= SOCKET_PATH_BYTES_MAX
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"/_.-".contains(byte))
}

fn set_mode(path: &Path, mode: u32) -> Result<(), Error> {
    fs::set_permissions(path, Permissions::from_mode(mode)).doing("set the permissions of", path)
}

pub(crate) fn remove_if_there(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::Files { doing: "remove", path: path.into(), source: error })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_and_odd_paths_leave_the_data_folder() {
        let long = format!("/{}/socket", "a".repeat(90));
        for (path, fits) in [
            ("/var/lib/assay/postgres/socket", true),
            ("/home/ada/my data/postgres/socket", false),
            ("/home/o'brien/postgres/socket", false),
            ("/home/ada/a,b/postgres/socket", false),
            (long.as_str(), false),
        ] {
            assert_eq!(fits_a_socket(Path::new(path)), fits, "{path}");
        }
        let longest = SOCKET_PATH_BYTES_MAX - 1 - SOCKET_FILE_NAME.len();
        let at_the_limit = |length: usize| format!("/{}", "b".repeat(length - 1));
        assert!(fits_a_socket(Path::new(&at_the_limit(longest))));
        assert!(!fits_a_socket(Path::new(&at_the_limit(longest + 1))));
    }
}
