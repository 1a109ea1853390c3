//! All SQL. Postgres is the truth: what is acknowledged or shown has been committed here first.
//!
//! One file a table group. Every query on a tenant's table takes a `TenantId`; the exceptions
//! serve the platform itself (key look-up, restore) and say so. Never sees HTTP.

pub mod admissions;
pub mod audit;
pub mod batches;
pub mod capacity;
pub mod channels;
pub mod group_commit;
pub mod history;
pub mod identities;
pub mod keys;
pub mod lone;
pub mod members;
pub mod operations;
pub mod outcomes;
pub mod people;
pub mod plugins;
pub mod requests;
pub mod restore;
pub mod results;
pub mod retention;
pub mod rollups;
pub mod runs;
pub mod seed;
pub mod sessions;
pub mod tenants;
pub mod usage;
pub mod views;

use std::str::FromStr;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{Connection, PgConnection};

const CONNECTIONS_MAX: u32 = 12;
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);
/// Names the advisory lock of the one dispatcher of a database.
const DISPATCHER_LOCK: i64 = 0x4153_5341_5900;

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
        if is_connection_loss(&error) { Self::Unavailable(error) } else { Self::Broken(error) }
    }
}

/// Whether trying again may help: the connection or the server went away.
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

#[derive(Clone)]
pub struct Store {
    pool: PgPool,
}

impl Store {
    /// Connects and brings the schema up to date.
    pub async fn connect(url: &str) -> Result<Self, StoreError> {
        let options = PgConnectOptions::from_str(url)?
            .application_name("assay")
            // A group commit is planned once, not at each commit.
            .options([("plan_cache_mode", "force_generic_plan")]);
        // A pool only says that it timed out; this says why, and at once.
        PgConnection::connect_with(&options).await?.close().await?;
        let pool = PgPoolOptions::new()
            .max_connections(CONNECTIONS_MAX)
            .acquire_timeout(ACQUIRE_TIMEOUT)
            .connect_with(options)
            .await?;
        sqlx::migrate!("../../migrations").run(&pool).await.map_err(|error| {
            StoreError::Conflict(format!("the schema cannot be migrated: {error}"))
        })?;
        Ok(Self { pool })
    }

    /// Whether a database answers, and its version as a number such as 150014; changes nothing.
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

    /// Takes the dispatcher's place on a connection of its own, or returns `None` while another
    /// server has it. The place is held as long as the connection lives.
    pub async fn try_lock(&self) -> Result<Option<DispatcherLock>, StoreError> {
        let mut connection = PgConnection::connect_with(&self.pool.connect_options()).await?;
        let taken =
            sqlx::query_scalar!(r#"select pg_try_advisory_lock($1) as "taken!""#, DISPATCHER_LOCK)
                .fetch_one(&mut connection)
                .await?;
        Ok(taken.then_some(DispatcherLock { connection }))
    }

    pub async fn close(&self) {
        self.pool.close().await;
    }
}

/// The right to dispatch for a database.
pub struct DispatcherLock {
    connection: PgConnection,
}

impl DispatcherLock {
    /// Fails once the connection, and with it the lock, is gone.
    pub async fn check(&mut self) -> Result<(), StoreError> {
        Ok(self.connection.ping().await?)
    }
}
