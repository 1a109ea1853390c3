//! The lock of the one dispatcher of a database.

use sqlx::{Connection as _, PgConnection};

use super::{Store, StoreError};

/// The key of the advisory lock.
const DISPATCHER_LOCK: i64 = 0x4153_5341_5900;

impl Store {
    /// Takes the dispatcher's lock on a connection of its own, or returns `None` while another server
    /// holds it. The lock is held as long as the connection lives.
    pub async fn try_lock(&self) -> Result<Option<DispatcherLock>, StoreError> {
        let mut connection = PgConnection::connect_with(&self.upkeep.connect_options()).await?;
        let taken =
            sqlx::query_scalar!(r#"select pg_try_advisory_lock($1) as "taken!""#, DISPATCHER_LOCK)
                .fetch_one(&mut connection)
                .await?;
        Ok(taken.then_some(DispatcherLock { connection }))
    }
}

/// The right to dispatch for a database, as an advisory lock.
pub struct DispatcherLock {
    connection: PgConnection,
}

impl DispatcherLock {
    /// Fails once the connection, and with it the lock, is gone.
    pub async fn check(&mut self) -> Result<(), StoreError> {
        Ok(self.connection.ping().await?)
    }
}
