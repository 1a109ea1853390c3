//! The user the server runs as: the caller, or, because PostgreSQL refuses root, somebody else.

use std::{
    io,
    os::unix::fs::{MetadataExt, lchown},
    path::{Path, PathBuf},
    process::Command as PlainCommand,
};

use nix::unistd::{Uid, User, geteuid};
use tokio::process::Command;

use crate::error::{Error, FileContext};

/// The user who owns the cluster's files and runs its processes.
#[derive(Debug, Clone)]
pub(crate) enum Owner {
    Caller { uid: u32 },
    Other { uid: u32, gid: u32 },
}

impl Owner {
    /// The owner of an existing cluster; for a new one the caller, or for root the user `postgres`
    /// or else `nobody`.
    pub(crate) fn of(cluster: &Path) -> Result<Self, Error> {
        let caller = geteuid().as_raw();
        let existing = match cluster.metadata() {
            Ok(found) => Some((found.uid(), found.gid())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(source) => {
                return Err(Error::Files { doing: "look at", path: cluster.into(), source });
            }
        };
        let wrong = |uid: u32, hint: String| Error::WrongOwner { path: cluster.into(), uid, hint };
        match (caller, existing) {
            (0, Some((0, _))) => {
                Err(wrong(0, format!("give it away with `chown -R nobody {}`", cluster.display())))
            }
            (0, Some((uid, gid))) => Ok(Self::Other { uid, gid }),
            (0, None) => Self::unprivileged(),
            (_, Some((uid, _))) if uid != caller => {
                Err(wrong(uid, "run as that user or as root, or choose another data folder".into()))
            }
            (uid, _) => Ok(Self::Caller { uid }),
        }
    }

    fn unprivileged() -> Result<Self, Error> {
        ["postgres", "nobody"]
            .into_iter()
            .find_map(|name| User::from_name(name).ok().flatten())
            .filter(|user| !user.uid.is_root())
            .map(|user| Self::Other { uid: user.uid.as_raw(), gid: user.gid.as_raw() })
            .ok_or(Error::NoUser)
    }

    pub(crate) fn uid(&self) -> u32 {
        match self {
            Self::Caller { uid } | Self::Other { uid, .. } => *uid,
        }
    }

    /// Makes the owner own one file or folder.
    pub(crate) fn give(&self, path: &Path) -> Result<(), Error> {
        match self {
            Self::Caller { .. } => Ok(()),
            Self::Other { uid, gid } => {
                // A link itself changes its owner, and not the file that it leads to.
                lchown(path, Some(*uid), Some(*gid)).doing("change the owner of", path)
            }
        }
    }

    /// A command that runs as the owner, in `directory`, without the caller's settings for
    /// PostgreSQL and in the C locale.
    pub(crate) fn command(&self, program: &Path, directory: &Path) -> Command {
        let mut command = PlainCommand::new(program);
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("PG") || text.starts_with("LC_") || text == "LANG" {
                command.env_remove(&name);
            }
        }
        command.env("LC_ALL", "C").current_dir(directory).stdin(std::process::Stdio::null());
        let mut command = Command::from(command);
        if let Self::Other { uid, gid } = self {
            // The standard library also drops the supplementary groups here.
            command.uid(*uid).gid(*gid);
        }
        command
    }

    /// Sees to it that the owner can run `program` in `directory`.
    pub(crate) async fn check_reach(&self, program: &Path, directory: &Path) -> Result<(), Error> {
        let tried = self.command(program, directory).arg("--version").output().await;
        match tried {
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => Err(Error::Program {
                program: program.into(),
                output: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            }),
            Err(source) => match self.blocking_directory(&[directory, program]) {
                Some(directory) if source.kind() == io::ErrorKind::PermissionDenied => {
                    Err(Error::Blocked { directory, user: self.name() })
                }
                _ => Err(Error::Files { doing: "run", path: program.into(), source }),
            },
        }
    }

    /// The outermost directory on the way to any of `paths` that the owner may not pass.
    fn blocking_directory(&self, paths: &[&Path]) -> Option<PathBuf> {
        let Self::Other { uid, gid } = self else { return None };
        let blocks = |directory: &Path| {
            directory.metadata().is_ok_and(|found| {
                let bit = match () {
                    () if found.uid() == *uid => 0o100,
                    () if found.gid() == *gid => 0o010,
                    () => 0o001,
                };
                found.is_dir() && found.mode() & bit == 0
            })
        };
        paths.iter().find_map(|path| {
            let mut ancestors: Vec<&Path> = path.ancestors().collect();
            ancestors.reverse();
            ancestors.into_iter().find(|directory| blocks(directory)).map(Path::to_path_buf)
        })
    }

    fn name(&self) -> String {
        User::from_uid(Uid::from_raw(self.uid()))
            .ok()
            .flatten()
            .map_or_else(|| self.uid().to_string(), |user| user.name)
    }
}
