//! Errors of a private cluster. Each message says what to do about it.
//!
//! All of them are for the operator: none is a tenant's or a client's fault.

use std::{io, path::PathBuf};

use thiserror::Error;

/// Why a private cluster could not be started or kept running.
#[derive(Debug, Error)]
pub enum Error {
    #[error(
        "no PostgreSQL server programs found (initdb, postgres and pg_ctl, version 14 or newer{}); \
         looked in {searched}. Install them with `apt-get install postgresql`, or, without root, run \
         `scripts/setup.sh run`; or name their folder in ASSAY_POSTGRES_BIN, or a server of your own \
         in DATABASE_URL",
        wanted.map(|major| format!("; the cluster here was made by version {major}")).unwrap_or_default()
    )]
    NotInstalled {
        /// The places looked in, and what was wrong with the programs found there.
        searched: String,
        /// The version an existing cluster needs.
        wanted: Option<u32>,
    },

    #[error(
        "the cluster in {} was made by PostgreSQL {cluster}, but only version {found} is installed; \
         install version {cluster} (`apt-get install postgresql-{cluster}`), or move the data over \
         with pg_upgrade",
        folder.display()
    )]
    VersionMismatch { folder: PathBuf, cluster: u32, found: u32 },

    #[error(
        "the data folder {} is in use by another Assay{}; stop it first, or choose another folder",
        folder.display(),
        pid.map(|pid| format!(" (process {pid})")).unwrap_or_default()
    )]
    Locked { folder: PathBuf, pid: Option<u32> },

    #[error(
        "PostgreSQL refuses to run as root, so it runs as user `{user}`, who cannot enter {}; allow \
         it with `chmod o+x {}`, or choose another data folder",
        directory.display(),
        directory.display()
    )]
    Blocked { directory: PathBuf, user: String },

    #[error(
        "{} belongs to user id {uid}, which cannot run PostgreSQL here; {hint}",
        path.display()
    )]
    WrongOwner { path: PathBuf, uid: u32, hint: String },

    #[error(
        "neither a user `postgres` nor a user `nobody` exists to run PostgreSQL as; create one"
    )]
    NoUser,

    #[error("no place for data: set ASSAY_DATA, XDG_DATA_HOME or HOME")]
    NoHome,

    #[error("cannot {doing} {}: {source}", path.display())]
    Files { doing: &'static str, path: PathBuf, source: io::Error },

    #[error("{} failed: {output}", program.display())]
    Program { program: PathBuf, output: String },

    #[error("PostgreSQL ended while starting: {log}")]
    Start { log: String },

    #[error("PostgreSQL could not be kept running, {failures} failures in a row; the last: {last}")]
    GaveUp { failures: u32, last: String },
}

/// Adds to a file operation's error what was being done to which file.
pub(crate) trait FileContext<T> {
    fn doing(self, doing: &'static str, path: impl Into<PathBuf>) -> Result<T, Error>;
}

impl<T> FileContext<T> for io::Result<T> {
    fn doing(self, doing: &'static str, path: impl Into<PathBuf>) -> Result<T, Error> {
        self.map_err(|source| Error::Files { doing, path: path.into(), source })
    }
}
