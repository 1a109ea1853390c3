//! Errors of the store.

/// The metric that counts the calls that failed because the database could not be reached.
pub const DATABASE_FAILURES: &str = "assay_database_failures_total";

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("there is no such {0}")]
    NotFound(&'static str),
    #[error("{0}")]
    Conflict(String),
    #[error("the database cannot be reached: {0}")]
    Unavailable(sqlx::Error),
    #[error("the database refused a query: {0}")]
    Broken(sqlx::Error),
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        if is_connection_loss(&error) {
            metrics::counter!(DATABASE_FAILURES).increment(1);
            Self::Unavailable(error)
        } else {
            Self::Broken(error)
        }
    }
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
        // 57P: shutting down or starting up; 53: out of resources; 08: connection; 40: serialisation.
        sqlx::Error::Database(error) => error.code().is_some_and(|code| {
            ["57P", "53", "08", "40"].iter().any(|class| code.starts_with(class))
        }),
        _ => false,
    }
}
