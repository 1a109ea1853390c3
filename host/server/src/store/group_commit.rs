//! Group commit: whatever has gathered while one commit was under way goes into the next.

use std::time::Duration;

use sqlx::{Connection as _, PgConnection};
use tokio::sync::mpsc;

use super::{Store, is_connection_loss};

const ROWS_MAX: usize = 1_000;
/// A smaller group waits for one turn of the others.
const ROWS_FEW: usize = 64;
const BYTES_MAX: usize = 16 << 20;
const RETRY_DELAY_MAX: Duration = Duration::from_secs(1);

/// One write, with its share of a commit's size.
pub trait Weigh {
    fn rows(&self) -> usize;
    fn bytes(&self) -> usize;
}

/// Writes what comes until the sender is gone and everything is written. `committed` gets the
/// writes in their order.
///
/// `write` ends in one statement that fails on a row which is there already. After a lost
/// connection nobody knows whether it was committed; repeated, it then either commits or fails so,
/// and both mean that the group is in. (Asking for every row first, as `on conflict do nothing`
/// does, would make each commit dearer for the sake of that moment.) At a first try such a row
/// means that another dispatcher has written: this process must not write on.
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
            // Whoever is ready to write, too, gets into this commit: one for many costs little more
            // than one for one, and on a busy machine that is what keeps up.
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

/// What shares a commit.
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
        None => PgConnection::connect_with(&store.pool.connect_options()).await?,
    };
    write(&mut connection, group).await?;
    *kept = Some(connection);
    Ok(())
}
