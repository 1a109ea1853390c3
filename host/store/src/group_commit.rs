//! Group commit: everything that gathered during one commit is written by the next.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use assay_core::id::BatchId;
use sqlx::PgConnection;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::{Store, is_connection_loss};

const ROWS_MAX: usize = 1_000;
/// A smaller group yields to the other tasks once, and gathers again.
const ROWS_FEW: usize = 64;
const BYTES_MAX: usize = 16 << 20;
const RETRY_DELAY_MAX: Duration = Duration::from_secs(1);
/// The time after which refused writes that are kept are tried again.
const KEPT_RETRY: Duration = Duration::from_secs(5);
/// The writes that were kept and are tried again before others have their turn: each is a commit.
const KEPT_AT_ONCE: usize = 64;

/// A write's share of a commit's size.
pub trait Weigh {
    fn rows(&self) -> usize;
    fn bytes(&self) -> usize;
}

/// One write of a group.
pub trait Write: Weigh {
    /// The batch whose writes keep their order among themselves.
    fn batch(&self) -> BatchId;
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
/// A group that the database refuses because of its rows is halved until the refused write is alone, so
/// that it delays the others and holds nobody up. `refused` gets it in its place of the order, with the
/// reason. It either answers the caller or returns the write: then the write is kept, with the later ones
/// of its batch, and tried again until the database takes it. Writes that are kept at the end are lost.
///
/// A transaction of several statements can be left open by a connection that is lost without a word,
/// and the repeat then waits for its locks. `idle_in_transaction_session_timeout` bounds that wait;
/// see [`Store::connect`].
pub async fn run<W: Write>(
    store: Store,
    what: &'static str,
    mut writes: mpsc::UnboundedReceiver<W>,
    write: impl AsyncFn(&mut PgConnection, &[W]) -> Result<(), sqlx::Error>,
    mut committed: impl FnMut(Vec<W>),
    mut refused: impl FnMut(W, &str) -> Option<W>,
) {
    let mut writer = Writer { store, what, connection: None, write };
    let mut kept = Kept::default();
    loop {
        if kept.are_due() {
            kept.retry(&mut writer, &mut committed).await;
        }
        let first = tokio::select! {
            biased;
            first = writes.recv() => first,
            () = tokio::time::sleep_until(kept.due), if !kept.batches.is_empty() => continue,
        };
        let Some(first) = first else { break };
        let mut group = Group::of(first);
        group.gather(&mut writes);
        if group.rows < ROWS_FEW {
            // Other tasks that are ready to write get into this commit. One commit for many costs
            // little more than one for one, and a busy machine keeps up only that way.
            tokio::task::yield_now().await;
            group.gather(&mut writes);
        }
        let mut in_doubt = false;
        let mut parts = vec![group.writes];
        while let Some(part) = parts.pop() {
            let mut part = kept.without_kept(part);
            match writer.write_in_time(&part, &mut in_doubt).await {
                Ok(()) => committed(part),
                Err(_) if part.len() > 1 => {
                    let later = part.split_off(part.len() / 2);
                    parts.extend([later, part]);
                }
                Err(error) => {
                    let again = part.pop().and_then(|write| refused(write, &reason(&error)));
                    again.into_iter().for_each(|write| kept.keep(write));
                }
            }
        }
    }
    kept.due = Instant::now();
    while kept.are_due() {
        kept.retry(&mut writer, &mut committed).await;
    }
    if !kept.batches.is_empty() {
        tracing::error!(what, batches = kept.batches.len(), "writes that were refused are lost");
    }
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

/// Refused writes that are tried again, with all later writes of their batches in their order. What
/// bounds the writes under way bounds these as well.
struct Kept<W> {
    batches: BTreeMap<BatchId, VecDeque<W>>,
    due: Instant,
}

impl<W> Default for Kept<W> {
    fn default() -> Self {
        Self { batches: BTreeMap::new(), due: Instant::now() }
    }
}

impl<W: Write> Kept<W> {
    fn are_due(&self) -> bool {
        !self.batches.is_empty() && self.due <= Instant::now()
    }

    fn keep(&mut self, write: W) {
        if self.batches.is_empty() {
            self.due = Instant::now() + KEPT_RETRY;
        }
        self.batches.entry(write.batch()).or_default().push_back(write);
    }

    /// Takes the writes that must wait for a kept one of their batch, and returns the others.
    fn without_kept(&mut self, writes: Vec<W>) -> Vec<W> {
        if self.batches.is_empty() {
            return writes;
        }
        let mut free = Vec::with_capacity(writes.len());
        for write in writes {
            match self.batches.get_mut(&write.batch()) {
                Some(kept) => kept.push_back(write),
                None => free.push(write),
            }
        }
        free
    }

    /// Writes each batch as far as the database takes it. A failure of another kind ends the round.
    async fn retry<F>(&mut self, writer: &mut Writer<F>, committed: &mut impl FnMut(Vec<W>))
    where
        F: AsyncFn(&mut PgConnection, &[W]) -> Result<(), sqlx::Error>,
    {
        let ids: Vec<BatchId> = self.batches.keys().copied().collect();
        let mut tried = 0;
        'round: for id in ids {
            while let Some(write) = self.batches.get_mut(&id).and_then(VecDeque::pop_front) {
                tried += 1;
                match writer.write_once(std::slice::from_ref(&write)).await {
                    Err(error) if !is_repeat(&error) => {
                        let batch = id;
                        tracing::warn!(%error, %batch, what = writer.what, "a write is refused again");
                        self.batches.entry(id).or_default().push_front(write);
                        if is_of_the_rows(&error) { continue 'round } else { break 'round }
                    }
                    // The try before may have been committed on a connection that was lost then.
                    Ok(()) | Err(_) => committed(vec![write]),
                }
                if tried >= KEPT_AT_ONCE {
                    self.due = Instant::now();
                    return;
                }
            }
            self.batches.remove(&id);
        }
        self.due = Instant::now() + KEPT_RETRY;
    }
}

struct Writer<F> {
    store: Store,
    what: &'static str,
    /// One connection, kept: its statements stay prepared and its server process warm.
    connection: Option<PgConnection>,
    write: F,
}

impl<F> Writer<F> {
    /// Writes until the database has taken or refused it. `in_doubt` says whether an earlier try may have
    /// been committed.
    async fn write_in_time<W>(&mut self, part: &[W], in_doubt: &mut bool) -> Result<(), sqlx::Error>
    where
        F: AsyncFn(&mut PgConnection, &[W]) -> Result<(), sqlx::Error>,
    {
        let what = self.what;
        let mut delay = Duration::from_millis(20);
        while let Err(error) = self.write_once(part).await {
            if is_repeat(&error) {
                if *in_doubt {
                    break;
                }
                tracing::error!(%error, what, "another server writes for this one; stopping at once");
                std::process::abort();
            }
            if is_of_the_rows(&error) {
                let writes = part.len();
                tracing::error!(%error, what, writes, "the database refused the rows of a commit");
                return Err(error);
            }
            *in_doubt = true;
            if is_connection_loss(&error) {
                tracing::warn!(%error, what, "the database cannot be reached; trying again");
            } else {
                tracing::error!(%error, what, "the database refused a commit; trying again");
            }
            tokio::time::sleep(delay).await;
            delay = (delay * 2).min(RETRY_DELAY_MAX);
        }
        Ok(())
    }

    async fn write_once<W>(&mut self, part: &[W]) -> Result<(), sqlx::Error>
    where
        F: AsyncFn(&mut PgConnection, &[W]) -> Result<(), sqlx::Error>,
    {
        if part.is_empty() {
            return Ok(());
        }
        // Kept again only after a success.
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.store.writer().await?,
        };
        (self.write)(&mut connection, part).await?;
        self.connection = Some(connection);
        Ok(())
    }
}

/// The message alone: it is about these rows, and no others.
fn reason(error: &sqlx::Error) -> String {
    error.as_database_error().map_or_else(|| error.to_string(), |it| it.message().to_owned())
}

fn is_repeat(error: &sqlx::Error) -> bool {
    error.as_database_error().is_some_and(sqlx::error::DatabaseError::is_unique_violation)
}

/// Whether the database refused what the rows hold, so that it would refuse the same rows again, and
/// might take others.
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
