//! The dispatcher's questions to the database: a trait, so that a simulation can put rows in memory in its place.

use assay_core::id::{BatchId, TenantId};
use sqlx::PgConnection;

use super::admissions::{self, Admitted};
use super::operations::IncidentRow;
use super::outcomes::{self, Recorded};
use super::restore::{LiveBatchRow, LiveRequestRow};
use super::single::{self, SingleRow};
use super::{Store, StoreError, is_connection_loss};

/// The database of a dispatcher. A write that returned `Ok` is durable; one that failed with
/// [`CommitError::Repeat`] or [`CommitError::Rows`] changed nothing. After any other error nobody knows.
pub trait DispatchStore: Clone + Send + Sync + 'static {
    /// A connection for group commits.
    type Connection: Send;

    /// A connection for group commits; fails unless this server dispatches.
    fn connect(&self) -> impl Future<Output = Result<Self::Connection, CommitError>> + Send;

    /// Writes everything together; fails on a row that is there already.
    fn write_admissions(
        connection: &mut Self::Connection,
        group: &[&Admitted],
    ) -> impl Future<Output = Result<(), CommitError>> + Send;

    /// Writes artifacts and logs, which a repeat skips, then outcomes and ends together, which fails on an outcome that
    /// is there already.
    fn write_records(
        connection: &mut Self::Connection,
        group: &[&Recorded],
    ) -> impl Future<Output = Result<(), CommitError>> + Send;

    /// Writes everything together; fails on a row that is there already.
    fn write_singles(
        connection: &mut Self::Connection,
        group: &[&SingleRow],
    ) -> impl Future<Output = Result<(), CommitError>> + Send;

    /// The batches of all tenants that have not ended, the oldest first.
    fn live_batches(&self) -> impl Future<Output = Result<Vec<LiveBatchRow>, StoreError>> + Send;

    /// The requests of such a batch, in the order of admission.
    fn live_requests(
        &self,
        tenant: TenantId,
        batch: BatchId,
    ) -> impl Future<Output = Result<Vec<LiveRequestRow>, StoreError>> + Send;

    /// Writes an incident and returns its number.
    fn insert_incident(
        &self,
        row: &IncidentRow,
    ) -> impl Future<Output = Result<i64, StoreError>> + Send;

    /// Adds to an incident and returns its count.
    fn add_to_incident(
        &self,
        id: i64,
        row: &IncidentRow,
    ) -> impl Future<Output = Result<u32, StoreError>> + Send;

    /// Ends this server, because another one has written in its place.
    fn end_usurped(&self) -> !;
}

/// Why a group was not committed, or may not have been.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    /// A row is there already, so that nothing was written.
    #[error("{0}")]
    Repeat(String),
    /// The database refused what the rows hold: it would refuse the same rows again, and might take others.
    #[error("{0}")]
    Rows(String),
    /// The connection or the server was lost.
    #[error("{0}")]
    Lost(String),
    #[error("{0}")]
    Other(String),
}

impl From<sqlx::Error> for CommitError {
    fn from(error: sqlx::Error) -> Self {
        let is_repeat =
            error.as_database_error().is_some_and(sqlx::error::DatabaseError::is_unique_violation);
        // The message alone is about these rows, and no others.
        let message = error.as_database_error().map(|it| it.message().to_owned());
        let message = message.unwrap_or_else(|| error.to_string());
        if is_repeat {
            Self::Repeat(message)
        } else if is_of_the_rows(&error) {
            Self::Rows(message)
        } else if is_connection_loss(&error) {
            Self::Lost(error.to_string())
        } else {
            Self::Other(error.to_string())
        }
    }
}

fn is_of_the_rows(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Encode(_) => true,
        // 21, 22: values; 23, 44: constraints; 54: a value that is too large or too deep; P0: a trigger;
        // XX: a damaged table or index.
        sqlx::Error::Database(error) => error.code().is_some_and(|code| {
            ["21", "22", "23", "44", "54", "P0", "XX"].iter().any(|class| code.starts_with(class))
        }),
        _ => false,
    }
}

impl DispatchStore for Store {
    type Connection = PgConnection;

    async fn connect(&self) -> Result<PgConnection, CommitError> {
        Ok(self.writer().await?)
    }

    async fn write_admissions(
        connection: &mut PgConnection,
        group: &[&Admitted],
    ) -> Result<(), CommitError> {
        Ok(admissions::write(connection, group).await?)
    }

    async fn write_records(
        connection: &mut PgConnection,
        group: &[&Recorded],
    ) -> Result<(), CommitError> {
        Ok(outcomes::write(connection, group).await?)
    }

    async fn write_singles(
        connection: &mut PgConnection,
        group: &[&SingleRow],
    ) -> Result<(), CommitError> {
        Ok(single::write(connection, group).await?)
    }

    async fn live_batches(&self) -> Result<Vec<LiveBatchRow>, StoreError> {
        self.live_batches().await
    }

    async fn live_requests(
        &self,
        tenant: TenantId,
        batch: BatchId,
    ) -> Result<Vec<LiveRequestRow>, StoreError> {
        self.live_requests(tenant, batch).await
    }

    async fn insert_incident(&self, row: &IncidentRow) -> Result<i64, StoreError> {
        self.insert_incident(row).await
    }

    async fn add_to_incident(&self, id: i64, row: &IncidentRow) -> Result<u32, StoreError> {
        self.add_to_incident(id, row).await
    }

    fn end_usurped(&self) -> ! {
        std::process::abort();
    }
}
