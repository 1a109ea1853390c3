//! Connections to the database.

use std::str::FromStr;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{Connection, PgConnection};

use super::StoreError;

const CONNECTIONS_MAX: u32 = 12;
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);
const IDLE_IN_TRANSACTION_MAX: &str = "10s";

#[derive(Clone)]
pub struct Store {
    pub(crate) pool: PgPool,
}

impl Store {
    /// Connects and brings the schema up to date.
    pub async fn connect(url: &str) -> Result<Self, StoreError> {
        let options = PgConnectOptions::from_str(url)?
            .application_name("assay")
            // A group commit is planned once, not at each commit.
            .options([("plan_cache_mode", "force_generic_plan")])
            // The server ends the transaction of a client that it lost without noticing, so that a
            // repeat of the group commit does not wait for its locks.
            .options([("idle_in_transaction_session_timeout", IDLE_IN_TRANSACTION_MAX)]);
        // A pool reports a timeout only; a connection fails at once, with the reason.
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
    }
}
