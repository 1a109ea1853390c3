//! Group commit: whatever has gathered while one commit was under way goes into the next.

use std::time::Duration;

use sqlx::{Connection as _, PgConnection};
use tokio::sync::mpsc;

use super::{Store, is_connection_loss};

const ROWS_MAX: usize = 1_000;
const BYTES_MAX: usize = 16 << 20;
const RETRY_DELAY_MAX: Duration = Duration::from_secs(1);

/// One write, with its share of a commit's size.
pub trait Weigh {
    fn rows(&self) -> usize;
    fn bytes(&self) -> usize;
}

/// Writes what comes until the sender is gone and everything is written. `write` must be one
/// statement or one transaction, and harmless when repeated: after a lost connection nobody knows
/// whether it was committed. `committed` gets the writes in their order.
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
        let group = gather(first, &mut writes);
        let mut delay = Duration::from_millis(20);
        while let Err(error) = write_once(&store, &mut connection, &write, &group).await {
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

fn gather<W: Weigh>(first: W, writes: &mut mpsc::UnboundedReceiver<W>) -> Vec<W> {
    let (mut rows, mut bytes) = (first.rows(), first.bytes());
    let mut group = vec![first];
    while rows < ROWS_MAX && bytes < BYTES_MAX {
        let Ok(next) = writes.try_recv() else { break };
        rows += next.rows();
        bytes += next.bytes();
        group.push(next);
    }
    group
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
