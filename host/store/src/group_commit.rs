//! Group commit: everything that gathered during one commit is written by the next.

use std::time::Duration;

use sqlx::{Connection as _, PgConnection};
use tokio::sync::mpsc;

use super::{Store, is_connection_loss};

const ROWS_MAX: usize = 1_000;
/// A smaller group yields to the other tasks once, and gathers again.
const ROWS_FEW: usize = 64;
const BYTES_MAX: usize = 16 << 20;
const RETRY_DELAY_MAX: Duration = Duration::from_secs(1);

/// One write, with its share of a commit's size.
pub trait Weigh {
    fn rows(&self) -> usize;
    fn bytes(&self) -> usize;
}

/// Writes everything that comes until the sender is gone. `committed` gets the writes in their order.
///
/// `write` is one transaction that fails as a whole on a row which is there already; what it commits
/// before that must be repeatable. After a lost connection nobody knows whether the group was
/// committed. Repeated, it either commits or fails on such a row, and both mean that the group is in.
/// (`on conflict do nothing` would look up every row first, and make each commit dearer for the sake
/// of that moment.) At a first try such a row means that another dispatcher has written: this process
/// must not write on.
///
/// A transaction of several statements can be left open by a connection that is lost without a word,
/// and the repeat then waits for its locks. `idle_in_transaction_session_timeout` bounds that wait;
/// see [`Store::connect`].
pub async fn run<W: Weigh>(
    store: Store,
    what: &'static str,
    mut writes: mpsc::UnboundedReceiver<W>,
    write: impl AsyncFn(&mut PgConnection, &[W]) -> Result<(), sqlx::Error>,
    mut committed: impl FnMut(Vec<W>),
) {
    // One connection, kept: its statements stay prepared and its server process warm.
    let mut connection = None;
    while let Some(first) = writes.recv().await {
        let mut group = Group::of(first);
        group.gather(&mut writes);
        if group.rows < ROWS_FEW {
            // Other tasks that are ready to write get into this commit. One commit for many costs
            // little more than one for one, and a busy machine keeps up only that way.
            tokio::task::yield_now().await;
            group.gather(&mut writes);
        }
        let group = group.writes;
        let mut delay = Duration::from_millis(20);
        let mut in_doubt = false;
        while let Err(error) = write_once(&store, &mut connection, &write, &group).await {
            if is_repeat(&error) {
                if in_doubt {
                    break;
                }
                tracing::error!(%error, what, "another server writes for this one; stopping at once");
                std::process::abort();
            }
            in_doubt = true;
            if is_connection_loss(&error) {
                tracing::warn!(%error, what, "the database cannot be reached; trying again");
            } else {
                tracing::error!(%error, what, "the database refused a commit; trying again");
            }
            tokio::time::sleep(delay).await;
            delay = (delay * 2).min(RETRY_DELAY_MAX);
        }
        committed(group);
    }
}

fn is_repeat(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(sqlx::error::DatabaseError::is_unique_violation)
}

/// The writes that share a commit.
struct Group<W> {
    writes: Vec<W>,
    rows: usize,
    bytes: usize,
}

impl<W: Weigh> Group<W> {
    fn of(first: W) -> Self {
        Self { rows: first.rows(), bytes: first.bytes(), writes: vec![first] }
    }

    fn gather(&mut self, writes: &mut mpsc::UnboundedReceiver<W>) {
        while self.rows < ROWS_MAX && self.bytes < BYTES_MAX {
            let Ok(next) = writes.try_recv() else { break };
            self.rows += next.rows();
            self.bytes += next.bytes();
            self.writes.push(next);
        }
    }
}

async fn write_once<W>(
    store: &Store,
    kept: &mut Option<PgConnection>,
    write: &impl AsyncFn(&mut PgConnection, &[W]) -> Result<(), sqlx::Error>,
    group: &[W],
) -> Result<(), sqlx::Error> {
    // Kept again only after a success.
    let mut connection = match kept.take() {
        Some(connection) => connection,
        None => PgConnection::connect_with(&store.upkeep.connect_options()).await?,
    };
    write(&mut connection, group).await?;
    *kept = Some(connection);
    Ok(())
}
