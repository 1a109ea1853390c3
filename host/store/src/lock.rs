//! The lock of the one dispatcher of a database, and the fence that keeps a former one from writing.
//!
//! The lock is an advisory lock of a session. Group commits write only on connections that were opened while the
//! dispatcher of this process held the lock. A server that takes the lock ends all such connections first. So a server that
//! hung, and wakes up after another one has taken its place, commits nothing: its connections are gone, and new ones
//! are refused. It does so also if the other one has ended by then: each server that takes the lock begins an epoch,
//! and one that lost the lock takes it again only in its own epoch.

use std::io;
use std::time::Duration;

use sqlx::{ConnectOptions as _, Connection as _, PgConnection};
use time::OffsetDateTime;
use tokio::time::Instant;

use super::connection::{ANSWER_MAX, Session, in_time};
use super::{Store, StoreError};

/// The key of the advisory lock.
const DISPATCHER_LOCK: i64 = 0x4153_5341_5900;
/// Settings of the lock's session, by which the database ends it when the other side is gone without a word: it asks after
/// 2 s of silence, every second, and ends the session when 3 of these or 5 s of data had no answer. It also ends a session
/// that waits for the lock and whose program has ended. The wait has no limit, whatever the database's own settings are.
const LOCK_SETTINGS: [(&str, &str); 7] = [
    ("statement_timeout", "0"),
    ("lock_timeout", "0"),
    ("tcp_keepalives_idle", "2"),
    ("tcp_keepalives_interval", "1"),
    ("tcp_keepalives_count", "3"),
    ("tcp_user_timeout", "5s"),
    ("client_connection_check_interval", "1s"),
];
/// The name of the connections that write group commits.
const WRITERS: &str = "assay group commits";
/// Settings of these connections. A repeat that waits for the rows of a try which the database has not ended yet gives up
/// before its own time is over: otherwise each repeat would leave one more session that waits.
const WRITER_SETTINGS: [(&str, &str); 1] = [("lock_timeout", "10s")];
const NOT_HELD: &str = "this server does not hold the dispatcher's lock";
/// The longest wait for the end of another session, in milliseconds.
const END_MS_MAX: i64 = 10_000;
/// The longest wait for the ends of all sessions of a former dispatcher.
const WRITERS_END_MAX: Duration = Duration::from_secs(30);
/// The pause between two looks at them.
const END_PERIOD: Duration = Duration::from_millis(20);

/// The server that dispatches, as another one sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockHolder {
    session: Session,
    /// The time of its last word; `None` if the database does not tell.
    spoke: Option<OffsetDateTime>,
}

/// Whether the server that dispatches still speaks. It counts looks, not time: a database that hangs delays the words of
/// the holder and the looks alike.
#[derive(Debug, Default)]
pub struct HolderWatch {
    last: Option<LockHolder>,
    silent_looks: u32,
}

impl HolderWatch {
    /// Takes a look at the holder; returns for how many looks it has said nothing.
    pub fn look(&mut self, holder: Option<LockHolder>) -> u32 {
        let is_silent = holder.is_some_and(|it| it.spoke.is_some()) && holder == self.last;
        self.silent_looks = if is_silent { self.silent_looks + 1 } else { 0 };
        self.last = holder;
        self.silent_looks
    }
}

impl Store {
    /// Takes the dispatcher's lock on a connection of its own, or returns `None` while another server
    /// holds it. The lock is held as long as the connection lives.
    pub async fn try_lock(&self) -> Result<Option<DispatcherLock>, StoreError> {
        let (connection, taken) = self.ask_for_lock().await?;
        if taken { self.begin_epoch(connection).await.map(Some) } else { Ok(None) }
    }

    /// Takes the dispatcher's lock on a connection of its own, as soon as no other server holds it.
    pub async fn wait_for_lock(&self) -> Result<DispatcherLock, StoreError> {
        let mut connection = self.lock_connection().await?;
        sqlx::query!("select pg_advisory_lock($1)", DISPATCHER_LOCK)
            .execute(&mut connection)
            .await?;
        self.begin_epoch(connection).await
    }

    /// Takes the lock again whose connection was lost, also from the session of that connection, which the database may
    /// keep for a while. Fails if another server has dispatched since, also while that one holds the lock: what this one
    /// knows is old then.
    pub async fn try_lock_again(
        &self,
        lost: &DispatcherLock,
    ) -> Result<Option<DispatcherLock>, StoreError> {
        let taking = async {
            let (mut connection, mut taken) = self.ask_for_lock().await?;
            let epoch = sqlx::query_scalar!("select epoch from dispatcher_epoch")
                .fetch_one(&mut connection)
                .await?;
            if epoch != lost.epoch {
                return Err(StoreError::Conflict("another server has dispatched since".into()));
            }
            if !taken {
                end_session(&mut connection, lost.session).await?;
                taken = try_advisory_lock(&mut connection).await?;
            }
            if taken { self.hold(connection, epoch).await.map(Some) } else { Ok(None) }
        };
        in_time(ANSWER_MAX, taking).await
    }

    async fn lock_connection(&self) -> Result<PgConnection, sqlx::Error> {
        let options = self.upkeep.connect_options().as_ref().clone().options(LOCK_SETTINGS);
        // A standby's wait is no slow statement.
        PgConnection::connect_with(&options.disable_statement_logging()).await
    }

    /// A connection of its own, and whether it has taken the lock.
    async fn ask_for_lock(&self) -> Result<(PgConnection, bool), sqlx::Error> {
        let mut connection = self.lock_connection().await?;
        let taken = try_advisory_lock(&mut connection).await?;
        Ok((connection, taken))
    }

    /// Dispatches with the lock that `connection` has taken.
    async fn begin_epoch(
        &self,
        mut connection: PgConnection,
    ) -> Result<DispatcherLock, StoreError> {
        let epoch =
            sqlx::query_scalar!("update dispatcher_epoch set epoch = epoch + 1 returning epoch")
                .fetch_one(&mut connection)
                .await?;
        self.hold(connection, epoch).await
    }

    /// From now on group commits write while the lock is held by this connection.
    async fn hold(
        &self,
        mut connection: PgConnection,
        epoch: i64,
    ) -> Result<DispatcherLock, StoreError> {
        let session = sqlx::query_as!(
            Session,
            r#"
            select pid as "pid!", backend_start as "since!"
            from pg_stat_activity where pid = pg_backend_pid()
            "#
        )
        .fetch_one(&mut connection)
        .await?;
        *self.holding.lock() = Some(session);
        Ok(DispatcherLock { connection: Some(connection), session, epoch })
    }

    /// Ends what is left of former dispatchers. Must be called once after the lock was taken for the first time, before
    /// anything is read that they could still change.
    pub async fn end_former_writers(&self) -> Result<(), StoreError> {
        let began = Instant::now();
        loop {
            // Only its absence says that a session has ended: one that ends by itself just now cannot be told to.
            let left = sqlx::query_scalar!(
                r#"
                select count(pg_terminate_backend(pid)) as "left!"
                from pg_stat_activity
                where datname = current_database() and application_name = $1
                "#,
                WRITERS,
            )
            .fetch_one(&self.upkeep)
            .await?;
            if left == 0 {
                return Ok(());
            }
            if began.elapsed() > WRITERS_END_MAX {
                let detail =
                    format!("{left} sessions of a former server do not end in the database");
                return Err(StoreError::Conflict(detail));
            }
            tokio::time::sleep(END_PERIOD).await;
        }
    }

    /// The server that dispatches, if there is one.
    pub async fn lock_holder(&self) -> Result<Option<LockHolder>, StoreError> {
        let mut connection = self.upkeep.acquire().await?;
        Ok(lock_holder(&mut connection).await?)
    }

    /// Ends the session of a server that hangs, so that its lock becomes free.
    pub async fn end_holder(&self, holder: LockHolder) -> Result<(), StoreError> {
        let mut connection = self.upkeep.acquire().await?;
        Ok(end_session(&mut connection, holder.session).await?)
    }

    /// A connection for group commits; fails unless this store's dispatcher holds the lock.
    pub(crate) async fn writer(&self) -> Result<PgConnection, sqlx::Error> {
        let options = self.upkeep.connect_options().as_ref().clone();
        let options = options.application_name(WRITERS).options(WRITER_SETTINGS);
        let mut connection = PgConnection::connect_with(&options).await?;
        let holding = *self.holding.lock();
        let Some(session) = holding else { return Ok(connection) };
        let holder = lock_holder(&mut connection).await?;
        let holds = holder.is_some_and(|holder| holder.session == session);
        // The lock is taken again, or the server ends: until then it writes nothing.
        if holds { Ok(connection) } else { Err(sqlx::Error::Io(io::Error::other(NOT_HELD))) }
    }
}

async fn try_advisory_lock(connection: &mut PgConnection) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar!(r#"select pg_try_advisory_lock($1) as "taken!""#, DISPATCHER_LOCK)
        .fetch_one(connection)
        .await
}

async fn lock_holder(connection: &mut PgConnection) -> Result<Option<LockHolder>, sqlx::Error> {
    let row = sqlx::query!(
        r#"
        select activity.pid as "pid!", backend_start as "since!", state_change
        from pg_locks
        join pg_stat_activity as activity on activity.pid = pg_locks.pid
        where locktype = 'advisory' and granted and datname = current_database()
            and database = datid
            and classid::bigint << 32 | objid::bigint = $1 and objsubid = 1
        "#,
        DISPATCHER_LOCK,
    )
    .fetch_optional(connection)
    .await?;
    Ok(row.map(|row| LockHolder {
        session: Session { pid: row.pid, since: row.since },
        spoke: row.state_change,
    }))
}

/// Ends a session, if it is still there, and waits for its end.
async fn end_session(connection: &mut PgConnection, session: Session) -> Result<(), sqlx::Error> {
    sqlx::query!(
        r#"
        select pg_terminate_backend(pid, $3) as "ended!"
        from pg_stat_activity where pid = $1 and backend_start = $2
        "#,
        session.pid,
        session.since,
        END_MS_MAX,
    )
    .fetch_optional(connection)
    .await?;
    Ok(())
}

/// The right to dispatch for a database, as an advisory lock.
pub struct DispatcherLock {
    /// `None` once it is lost.
    connection: Option<PgConnection>,
    session: Session,
    /// The number of the acquisition.
    epoch: i64,
}

impl DispatcherLock {
    /// Fails once the connection, and with it the lock, is gone. Others see by it that this server runs. A connection
    /// without an answer is closed, so that the lock does not stay with it in a database that was away for a while.
    pub async fn check(&mut self) -> Result<(), StoreError> {
        let lost = || StoreError::Unavailable(sqlx::Error::Io(io::Error::other(NOT_HELD)));
        let mut connection = self.connection.take().ok_or_else(lost)?;
        let answer = sqlx::query!("select 1 as one").fetch_one(&mut connection);
        in_time(ANSWER_MAX, answer).await?;
        self.connection = Some(connection);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_cluster::TestCluster;

    fn holder(pid: i32, spoke: Option<i64>) -> Option<LockHolder> {
        let at = |second| OffsetDateTime::from_unix_timestamp(second).expect("a time");
        let session = Session { pid, since: at(0) };
        Some(LockHolder { session, spoke: spoke.map(at) })
    }

    #[test]
    fn a_holder_hangs_that_says_nothing_for_many_looks() {
        let mut watch = HolderWatch::default();
        let looks = |watch: &mut HolderWatch, holders: &[Option<LockHolder>]| {
            holders.iter().map(|holder| watch.look(*holder)).collect::<Vec<_>>()
        };
        let silent = holder(1, Some(5));
        assert_eq!(looks(&mut watch, &[silent, silent, silent]), [0, 1, 2]);
        // It spoke, another one took its place, and nobody holds the lock.
        let others = [holder(1, Some(6)), holder(2, Some(6)), None, None, silent, silent];
        assert_eq!(looks(&mut watch, &others), [0, 0, 0, 0, 0, 1]);
        // The database does not tell.
        assert_eq!(looks(&mut watch, &[holder(1, None), holder(1, None)]), [0, 0]);
    }

    #[tokio::test]
    async fn sessions_that_end_by_themselves_do_not_stand_in_the_way() {
        let cluster = TestCluster::start().await;
        let store = cluster.connect().await;
        // The server is killed during three commits: the database notices it as each of them is done.
        let mut sent = Vec::new();
        for _ in 0..3 {
            let mut writer = store.writer().await.expect("nobody holds the lock");
            sent.push(tokio::spawn(async move {
                let commit = sqlx::query("select pg_sleep(0.06)").execute(&mut writer);
                let killed = tokio::time::timeout(Duration::from_millis(20), commit).await;
                assert!(killed.is_err(), "{killed:?}");
            }));
        }
        for killed in sent {
            killed.await.expect("it was sent");
        }
        store.end_former_writers().await.expect("they end");
        let left = sqlx::query_scalar::<_, i64>(
            "select count(*) from pg_stat_activity where application_name = $1",
        );
        let left = left.bind(WRITERS).fetch_one(&store.upkeep).await.expect("answers");
        assert_eq!(left, 0);
        store.close().await;
        cluster.stop().await;
    }

    #[tokio::test]
    async fn a_former_dispatcher_cannot_write() {
        let cluster = TestCluster::start().await;
        let (first, second) = (cluster.connect().await, cluster.connect().await);
        assert_eq!(first.lock_holder().await.expect("answers"), None);

        let mut lock = first.try_lock().await.expect("answers").expect("it is free");
        first.end_former_writers().await.expect("there are none");
        let mut writer = first.writer().await.expect("it holds the lock");
        assert!(second.try_lock().await.expect("answers").is_none());
        let holder = second.lock_holder().await.expect("answers").expect("the first");
        lock.check().await.expect("it is held");
        let later = second.lock_holder().await.expect("answers").expect("the first");
        assert!(holder.session == later.session && holder.spoke < later.spoke, "{later:?}");

        second.end_holder(later).await.expect("it ends");
        let other = second.try_lock().await.expect("answers").expect("it is free");
        second.end_former_writers().await.expect("they end");
        assert!(lock.check().await.is_err());
        assert!(sqlx::query("select 1").execute(&mut writer).await.is_err());
        let refused = first.writer().await.expect_err("another holds the lock");
        assert!(crate::is_connection_loss(&refused), "{refused}");
        second.writer().await.expect("it holds the lock");
        // It is told at once, not when the lock is free again.
        let refused = first.try_lock_again(&lock).await.err().expect("another has dispatched");
        assert!(matches!(refused, StoreError::Conflict(_)), "{refused}");

        // The former one sleeps through the whole life of the other.
        drop(other);
        let refused = loop {
            match first.try_lock_again(&lock).await {
                // The database has not noticed the end of the connection yet.
                Ok(None) => tokio::task::yield_now().await,
                Ok(Some(_)) => panic!("it has the state of before"),
                Err(error) => break error,
            }
        };
        assert!(matches!(refused, StoreError::Conflict(_)), "{refused}");
        assert!(first.writer().await.is_err());
        // A server that starts anew may.
        let mut again = second.wait_for_lock().await.expect("it becomes free");
        // So may one that lost the database for a while, and nothing else.
        let session = second.lock_holder().await.expect("answers").expect("itself");
        second.end_holder(session).await.expect("it ends");
        assert!(again.check().await.is_err());
        let kept = second.try_lock_again(&again).await.expect("answers").expect("it is free");
        second.writer().await.expect("it holds the lock");
        drop(kept);
        first.close().await;
        second.close().await;
        cluster.stop().await;
    }
}
