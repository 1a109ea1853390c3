//! Connections to the database.

use std::io;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{Connection, PgConnection};
use time::OffsetDateTime;

use super::StoreError;

const CONNECTIONS_MAX: u32 = 12;
const UPKEEP_CONNECTIONS_MAX: u32 = 4;
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);
const IDLE_IN_TRANSACTION_MAX: &str = "10s";
/// The longest time of a statement that a call waits for, so that no few slow ones keep all connections from the others.
const STATEMENT_MAX: &str = "15s";
/// The longest wait for an answer that takes a healthy database no time. Without a limit, a connection that is lost without
/// a word is waited for until the system gives it up, after a quarter of an hour.
pub(crate) const ANSWER_MAX: Duration = Duration::from_secs(if cfg!(test) { 5 } else { 20 });
/// Settings of all connections. The database asks a silent client whether it is still there, and ends the session of one
/// that is not. The questions also keep a connection open in routers, which forget those that are silent for minutes.
const KEEPALIVES: [(&str, &str); 4] = [
    ("tcp_keepalives_idle", "60"),
    ("tcp_keepalives_interval", "10"),
    ("tcp_keepalives_count", "3"),
    ("tcp_user_timeout", "90s"),
];

/// A session of the database: its process, and the start of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Session {
    pub(crate) pid: i32,
    pub(crate) since: OffsetDateTime,
}

/// The session that holds the dispatcher's lock, for all clones of a store. `None` before the lock was taken: a store
/// without a dispatcher, as tools have it, is not fenced.
pub(crate) type Holding = Arc<Mutex<Option<Session>>>;

#[derive(Clone)]
pub struct Store {
    /// For calls: their statements end at [`STATEMENT_MAX`], as [`StoreError::TooSlow`].
    pub(crate) pool: PgPool,
    /// For restoring after a start and for deleting what is old, which take as long as they take. Group commits and the
    /// dispatcher's lock have connections of their own with its options.
    pub(crate) upkeep: PgPool,
    pub(crate) holding: Holding,
}

impl Store {
    /// Connects and brings the schema up to date.
    pub async fn connect(url: &str) -> Result<Self, StoreError> {
        let options = PgConnectOptions::from_str(url)?
            .application_name("assay")
            // A group commit is planned once, not at each commit.
            .options([("plan_cache_mode", "force_generic_plan")])
            .options(KEEPALIVES)
            // The server ends the transaction of a client that it lost without noticing, so that a
            // repeat of the group commit does not wait for its locks.
            .options([("idle_in_transaction_session_timeout", IDLE_IN_TRANSACTION_MAX)]);
        // A pool reports a timeout only; a connection fails at once, with the reason.
        let mut connection = PgConnection::connect_with(&options).await?;
        check_encoding(&mut connection).await?;
        connection.close().await?;
        let upkeep = PgPoolOptions::new()
            .max_connections(UPKEEP_CONNECTIONS_MAX)
            .acquire_timeout(ACQUIRE_TIMEOUT)
            .connect_with(options.clone())
            .await?;
        migrate(&upkeep).await?;
        let pool = pool(options, STATEMENT_MAX).await?;
        Ok(Self { pool, upkeep, holding: Holding::default() })
    }

    /// The version of the database as a number such as 150014, if it answers. Changes nothing.
    pub async fn look(url: &str) -> Result<u32, StoreError> {
        let connection = PgConnection::connect(url).await?;
        let version = connection.server_version_num();
        connection.close().await?;
        Ok(version.unwrap_or_default())
    }

    pub async fn ping(&self) -> Result<(), StoreError> {
        sqlx::query!("select 1 as one").fetch_one(&self.pool).await?;
        Ok(())
    }

    pub async fn close(&self) {
        self.pool.close().await;
        self.upkeep.close().await;
    }
}

/// An answer, or the error of a lost connection if there is none within `limit`.
pub(crate) async fn in_time<T, E: From<sqlx::Error>>(
    limit: Duration,
    answer: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    tokio::time::timeout(limit, answer).await.unwrap_or_else(|_| {
        let detail = format!("no answer within {} s", limit.as_secs());
        Err(sqlx::Error::Io(io::Error::new(io::ErrorKind::TimedOut, detail)).into())
    })
}

/// Refuses a database that cannot keep every text.
async fn check_encoding(connection: &mut PgConnection) -> Result<(), StoreError> {
    let encoding =
        sqlx::query_scalar!(r#"select current_setting('server_encoding') as "encoding!""#)
            .fetch_one(connection)
            .await?;
    let advice = "make one with `create database NAME encoding 'UTF8' template template0`";
    match &*encoding {
        "UTF8" => Ok(()),
        // As Debian makes it where no locale is set: it keeps every text, but cuts and compares bytes.
        "SQL_ASCII" => {
            tracing::warn!(
                "the database's encoding is SQL_ASCII: lists that are sorted or searched by texts may fail; {advice}"
            );
            Ok(())
        }
        _ => Err(StoreError::Conflict(format!("its encoding is {encoding}; {advice}"))),
    }
}

/// Runs the migrations that the database lacks. It may have newer ones, by the next release, unless one of them says
/// that this release does not fit any more.
async fn migrate(upkeep: &PgPool) -> Result<(), StoreError> {
    let mut migrator = sqlx::migrate!("../../migrations");
    migrator.set_ignore_missing(true);
    migrator
        .run(upkeep)
        .await
        .map_err(|error| StoreError::Conflict(format!("the schema cannot be migrated: {error}")))?;
    let newest = migrator.iter().map(|migration| migration.version).max().unwrap_or_default();
    let floor = sqlx::query_scalar::<_, i64>("select migration from schema_floor");
    let floor = floor.fetch_one(upkeep).await?;
    if newest < floor {
        return Err(StoreError::Conflict(format!(
            "a newer release has migrated it: it takes releases with migration {floor}, and this one has them up to \
             {newest}; start the newer release, or restore a backup from before the upgrade"
        )));
    }
    Ok(())
}

/// Connections whose statements end after `statement_max`.
async fn pool(options: PgConnectOptions, statement_max: &str) -> Result<PgPool, sqlx::Error> {
    PgPoolOptions::new()
        .max_connections(CONNECTIONS_MAX)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .connect_with(options.options([("statement_timeout", statement_max)]))
        .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_cluster::TestCluster;

    #[tokio::test]
    async fn a_slow_statement_of_a_call_ends_and_one_of_upkeep_does_not() {
        let cluster = TestCluster::start().await;
        let store = cluster.connect().await;
        let setting = "select current_setting('statement_timeout')";
        let limit = |pool| sqlx::query_scalar::<_, String>(setting).fetch_one(pool);
        assert_eq!(limit(&store.pool).await.expect("a setting"), STATEMENT_MAX);
        assert_eq!(limit(&store.upkeep).await.expect("a setting"), "0");

        // The same pool with a shorter limit.
        let options = store.upkeep.connect_options().as_ref().clone();
        let hasty = pool(options, "50ms").await.expect("it answers");
        let slow = sqlx::query("select pg_sleep(600)").execute(&hasty).await;
        let error = StoreError::from(slow.expect_err("it takes ten minutes"));
        assert!(matches!(error, StoreError::TooSlow(_)), "{error}");
        sqlx::query("select pg_sleep(0.2)").execute(&store.upkeep).await.expect("no limit");
        hasty.close().await;
        store.close().await;
        cluster.stop().await;
    }

    #[tokio::test]
    async fn a_database_that_cannot_keep_every_text_is_refused() {
        let cluster = TestCluster::start().await;
        let mut connection = PgConnection::connect(cluster.url()).await.expect("it answers");
        sqlx::query("create database latin encoding 'LATIN1' template template0")
            .execute(&mut connection)
            .await
            .expect("it is made");
        connection.close().await.expect("it closes");
        let latin = cluster.url().replace("/assay?", "/latin?");
        let refused = Store::connect(&latin).await.err().expect("it keeps no emoji");
        assert!(matches!(&refused, StoreError::Conflict(_)), "{refused}");
        assert!(refused.to_string().contains("LATIN1"), "{refused}");
        cluster.stop().await;
    }
}
