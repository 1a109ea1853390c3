//! Errors of the store.

use assay_core::time::Micros;
use sqlx::error::BoxDynError;

/// The metric that counts the calls that failed because the database could not be reached.
pub const DATABASE_FAILURES: &str = "assay_database_failures_total";

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("there is no such {0}")]
    NotFound(&'static str),
    #[error("{0}")]
    Conflict(String),
    /// Retention deletes the rows of the batch, since this time.
    #[error("the rows of the batch are deleted")]
    Expired(Micros),
    #[error("the database cannot be reached: {0}")]
    Unavailable(sqlx::Error),
    /// A statement reached its limit of time. A repeat may succeed when the database has less to do.
    #[error("the database took too long: {0}")]
    TooSlow(sqlx::Error),
    #[error("the database refused a query: {0}")]
    Broken(sqlx::Error),
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        if is_connection_loss(&error) {
            metrics::counter!(DATABASE_FAILURES).increment(1);
            Self::Unavailable(error)
        } else if is_cancelled(&error) {
            Self::TooSlow(error)
        } else {
            Self::Broken(error)
        }
    }
}

impl StoreError {
    /// A column holds what this program does not read.
    pub(crate) fn undecodable(error: impl Into<BoxDynError>) -> Self {
        Self::Broken(sqlx::Error::Decode(error.into()))
    }

    /// The words of a database that starts or stops, as after a crash, and takes no connections meanwhile.
    #[must_use]
    pub fn restarting(&self) -> Option<&str> {
        let Self::Unavailable(error) = self else { return None };
        let error = error.as_database_error()?;
        // admin_shutdown, crash_shutdown, cannot_connect_now
        let codes = ["57P01", "57P02", "57P03"];
        codes.contains(&&*error.code()?).then(|| error.message())
    }
}

/// Whether the database ended the statement (`query_canceled`), as it does at the statement's limit of time.
fn is_cancelled(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(|error| error.code().is_some_and(|code| code == "57014"))
}

/// Whether a repeat may succeed, because the connection or the server was lost.
#[must_use]
pub fn is_connection_loss(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::Protocol(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed => true,
        // 57P: shutting down or starting up; 53: out of resources; 08: connection; 40: serialisation; 25P03: idle in a
        // transaction, as where the server stood still; 25006: read only, as what was the primary after a failover.
        sqlx::Error::Database(error) => error.code().is_some_and(|code| {
            ["57P", "53", "08", "40", "25P03", "25006"].iter().any(|class| code.starts_with(class))
        }),
        _ => false,
    }
}
