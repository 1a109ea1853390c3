//! The dispatcher's questions to the database: a trait, so that a simulation can put rows in memory in its place.

use std::time::Duration;

use assay_core::id::{BatchId, TenantId};
use sqlx::PgConnection;

use super::admissions::{self, Admitted};
use super::connection::{ANSWER_MAX, in_time};
use super::operations::IncidentRow;
use super::outcomes::{self, Recorded};
use super::restore::{LiveBatchRow, LiveRequestRow};
use super::single::{self, SingleRow};
use super::{Store, StoreError, is_connection_loss};

/// The longest wait for a commit, after which the connection counts as lost: much longer than a slow disk takes, because
/// a commit that takes longer whenever it is repeated would never be done.
const COMMIT_MAX: Duration = Duration::from_secs(if cfg!(test) { 5 } else { 60 });

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
        Ok(in_time(ANSWER_MAX, self.writer()).await?)
    }

    async fn write_admissions(
        connection: &mut PgConnection,
        group: &[&Admitted],
    ) -> Result<(), CommitError> {
        Ok(in_time(COMMIT_MAX, admissions::write(connection, group)).await?)
    }

    async fn write_records(
        connection: &mut PgConnection,
        group: &[&Recorded],
    ) -> Result<(), CommitError> {
        Ok(in_time(COMMIT_MAX, outcomes::write(connection, group)).await?)
    }

    async fn write_singles(
        connection: &mut PgConnection,
        group: &[&SingleRow],
    ) -> Result<(), CommitError> {
        Ok(in_time(COMMIT_MAX, single::write(connection, group)).await?)
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

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use assay_core::id::BatchId;
    use assay_core::time::Micros;
    use tokio::net::{TcpListener, UnixStream};
    use tokio::sync::{mpsc, watch};

    use super::*;
    use crate::admissions::{Admission, BatchMark};
    use crate::group_commit::{self, Weigh, Write};
    use crate::test_cluster::TestCluster;

    /// Forwards connections to the database's socket until `silent` is true. Those that there are then say nothing more
    /// and stay open, and so does what connects before it is false again.
    async fn forward(listener: TcpListener, socket: PathBuf, silent: watch::Receiver<bool>) {
        loop {
            let (mut client, _) = listener.accept().await.expect("a connection");
            let (socket, mut silent) = (socket.clone(), silent.clone());
            tokio::spawn(async move {
                let mut database = UnixStream::connect(socket).await.expect("it listens");
                let copied = tokio::select! {
                    biased;
                    () = async { drop(silent.wait_for(|silent| *silent).await) } => None,
                    copied = tokio::io::copy_bidirectional(&mut client, &mut database) => Some(copied),
                };
                if copied.is_none() {
                    std::future::pending::<()>().await;
                }
            });
        }
    }

    /// A write that changes no row.
    #[derive(Debug)]
    struct Nothing(Admitted);

    impl Nothing {
        fn new() -> Self {
            let at = Micros::from_secs(1_790_000_000);
            let mark = BatchMark { first_request_at: Some(at), sealed_at: None };
            let admission = Admission { mark, ..Admission::default() };
            let (tenant, batch) = (TenantId::generate(), BatchId::generate());
            Self(Admitted { tenant, batch, at, admission })
        }
    }

    impl Weigh for Nothing {
        fn rows(&self) -> usize {
            self.0.rows()
        }

        fn bytes(&self) -> usize {
            self.0.bytes()
        }
    }

    impl Write for Nothing {
        fn batch(&self) -> BatchId {
            self.0.batch
        }

        async fn write<S: DispatchStore>(
            connection: &mut S::Connection,
            group: &[Self],
        ) -> Result<(), CommitError> {
            let rows: Vec<_> = group.iter().map(|write| &write.0).collect();
            S::write_admissions(connection, &rows).await
        }
    }

    #[tokio::test]
    async fn connections_that_are_lost_without_a_word_hold_up_no_commit() {
        let cluster = TestCluster::start().await;
        let socket = cluster.url().split(['=', '&']).nth(1).expect("the socket's folder");
        let socket = PathBuf::from(socket).join(".s.PGSQL.5432");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("a port");
        let (silent, silence) = watch::channel(false);
        tokio::spawn(forward(listener, socket, silence));

        let url = format!("postgres://assay@{address}/assay?sslmode=disable");
        let store = Store::connect(&url).await.expect("it answers");
        let mut lock = store.try_lock().await.expect("answers").expect("it is free");
        let (writes, gathered) = mpsc::unbounded_channel();
        let (commits, mut committed) = mpsc::unbounded_channel();
        let commit = move |group: Vec<Nothing>| commits.send(group.len()).expect("it is read");
        let refused = |_: Nothing, reason: &str| panic!("{reason}");
        tokio::spawn(group_commit::run(store.clone(), "nothing", gathered, commit, refused));
        writes.send(Nothing::new()).expect("it is read");
        assert_eq!(committed.recv().await, Some(1));

        silent.send_replace(true);
        writes.send(Nothing::new()).expect("it is read");
        let (connected, checked) = tokio::join!(store.connect(), lock.check());
        let refused = connected.map(drop);
        assert!(matches!(refused, Err(CommitError::Lost(_))), "{refused:?}");
        assert!(matches!(checked, Err(StoreError::Unavailable(_))), "{checked:?}");
        assert!(matches!(store.try_lock_again(&lock).await, Err(StoreError::Unavailable(_))));
        silent.send_replace(false);
        assert_eq!(committed.recv().await, Some(1));
        // The database has not noticed it yet, and the former session keeps the lock.
        let again = store.try_lock_again(&lock).await.expect("it answers");
        again.expect("the lock is its own").check().await.expect("it is held");
        cluster.stop().await;
    }
}
