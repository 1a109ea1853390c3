//! Group commit: everything that gathered during one commit is written by the next.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use assay_clock::{now, sleep, sleep_until};
use assay_core::id::BatchId;
use assay_core::time::Micros;
use tokio::sync::mpsc;

use super::{CommitError, DispatchStore};

const ROWS_MAX: usize = 1_000;
/// A smaller group yields to the other tasks once, and gathers again.
const ROWS_FEW: usize = 64;
const BYTES_MAX: usize = 16 << 20;
const RETRY_DELAY_MAX: Duration = Duration::from_secs(1);
/// The time after which refused writes that are kept are tried again.
const KEPT_RETRY: Micros = Micros::from_secs(5);
/// The tries of writes that were kept before others have their turn: each is a commit.
const KEPT_AT_ONCE: usize = 64;

/// A write's share of a commit's size.
pub trait Weigh {
    fn rows(&self) -> usize;
    fn bytes(&self) -> usize;
}

/// One write of a group.
pub trait Write: Weigh + Send + Sync + Sized {
    /// The batch whose writes keep their order among themselves.
    fn batch(&self) -> BatchId;

    /// Writes a group as one transaction; what it commits before that must be repeatable.
    fn write<S: DispatchStore>(
        connection: &mut S::Connection,
        group: &[Self],
    ) -> impl Future<Output = Result<(), CommitError>> + Send;
}

/// Writes everything that comes until the sender is gone. `committed` gets the writes in their order.
///
/// A write fails as a whole on a row which is there already. After a lost connection nobody knows whether the group was
/// committed. Repeated, it either commits or fails on such a row, and both mean that the group is in.
/// (`on conflict do nothing` would look up every row first, and make each commit slower because of
/// that moment.) At a first try such a row means that another dispatcher has written: this process
/// must not write on.
///
/// A group that the database refuses because of its rows is halved until the refused write is alone, so
/// that it delays the others and holds nobody up. `refused` gets it in its place of the order, with the
/// reason. It either answers the caller or returns the write: then the write is kept, with the later ones
/// of its batch, and tried again until the database takes it. Writes that are kept at the end are lost.
///
/// A connection without an answer counts as lost after a minute. The database may still work on its
/// statement: the repeat then waits for the rows of that one, again and again if need be. A transaction of
/// several statements can also be left open by such a connection; `idle_in_transaction_session_timeout`
/// bounds the wait for it. See [`super::Store::connect`].
pub async fn run<S: DispatchStore, W: Write>(
    store: S,
    what: &'static str,
    mut writes: mpsc::UnboundedReceiver<W>,
    mut committed: impl FnMut(Vec<W>),
    mut refused: impl FnMut(W, &str) -> Option<W>,
) {
    let mut writer = Writer { store, what, connection: None };
    let mut kept = KeptWrites::default();
    loop {
        if kept.are_due() {
            kept.retry(&mut writer, &mut committed, KEPT_AT_ONCE).await;
        }
        let first = tokio::select! {
            biased;
            first = writes.recv() => first,
            () = sleep_until(kept.due), if !kept.batches.is_empty() => continue,
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
                Err(reason) => {
                    let again = part.pop().and_then(|write| refused(write, &reason));
                    again.into_iter().for_each(|write| kept.keep(write));
                }
            }
        }
    }
    kept.retry(&mut writer, &mut committed, usize::MAX).await;
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

/// Refused writes that are tried again, with all later writes of their batches in their order. The
/// bounds of the writes under way hold for these as well.
struct KeptWrites<W> {
    batches: BTreeMap<BatchId, VecDeque<W>>,
    due: Micros,
    /// The batch that was tried last; the next round continues after it.
    tried: Option<BatchId>,
}

impl<W> Default for KeptWrites<W> {
    fn default() -> Self {
        Self { batches: BTreeMap::new(), due: now(), tried: None }
    }
}

impl<W: Write> KeptWrites<W> {
    fn are_due(&self) -> bool {
        !self.batches.is_empty() && self.due <= now()
    }

    fn keep(&mut self, write: W) {
        if self.batches.is_empty() {
            self.due = now() + KEPT_RETRY;
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

    /// Writes each batch as far as the database takes it, with so many tries at most. A failure of another kind ends the
    /// round.
    async fn retry<S: DispatchStore>(
        &mut self,
        writer: &mut Writer<S>,
        committed: &mut impl FnMut(Vec<W>),
        tries_max: usize,
    ) {
        let mut ids: Vec<BatchId> = self.batches.keys().copied().collect();
        let next = ids.partition_point(|id| Some(*id) <= self.tried);
        ids.rotate_left(next);
        let (mut tries, mut taken) = (0, 0);
        'round: for id in ids {
            while let Some(write) = self.batches.get_mut(&id).and_then(VecDeque::pop_front) {
                tries += 1;
                self.tried = Some(id);
                match writer.write_once(std::slice::from_ref(&write)).await {
                    // The try before may have been committed on a connection that was lost then.
                    Ok(()) | Err(CommitError::Repeat(_)) => {
                        taken += 1;
                        committed(vec![write]);
                    }
                    Err(error) => {
                        let batch = id;
                        tracing::warn!(%error, %batch, what = writer.what, "a write is refused again");
                        self.batches.entry(id).or_default().push_front(write);
                        match error {
                            CommitError::Rows(_) if tries < tries_max => continue 'round,
                            _ => break 'round,
                        }
                    }
                }
                if tries >= tries_max {
                    break 'round;
                }
            }
        }
        self.batches.retain(|_, writes| !writes.is_empty());
        // The database takes these writes again, so the next need not wait.
        self.due = if taken >= tries_max / 2 { now() } else { now() + KEPT_RETRY };
    }
}

struct Writer<S: DispatchStore> {
    store: S,
    what: &'static str,
    /// One connection, kept: its statements stay prepared and its server process warm.
    connection: Option<S::Connection>,
}

impl<S: DispatchStore> Writer<S> {
    /// Writes until the database has taken or refused it. `in_doubt` says whether an earlier try may have
    /// been committed. An error is the reason of a refusal.
    async fn write_in_time<W: Write>(
        &mut self,
        part: &[W],
        in_doubt: &mut bool,
    ) -> Result<(), String> {
        let what = self.what;
        let mut delay = Duration::from_millis(20);
        while let Err(error) = self.write_once(part).await {
            match error {
                CommitError::Repeat(_) if *in_doubt => break,
                CommitError::Repeat(error) => {
                    tracing::error!(%error, what, "another server writes for this one; stopping at once");
                    self.store.end_usurped();
                }
                CommitError::Rows(error) => {
                    let writes = part.len();
                    tracing::error!(%error, what, writes, "the database refused the rows of a commit");
                    return Err(error);
                }
                CommitError::Lost(error) => {
                    tracing::warn!(%error, what, "the database cannot be reached; trying again");
                }
                CommitError::Other(error) => {
                    tracing::error!(%error, what, "the database refused a commit; trying again");
                }
            }
            *in_doubt = true;
            sleep(delay).await;
            delay = (delay * 2).min(RETRY_DELAY_MAX);
        }
        Ok(())
    }

    async fn write_once<W: Write>(&mut self, part: &[W]) -> Result<(), CommitError> {
        if part.is_empty() {
            return Ok(());
        }
        // Kept again only after a success.
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.store.connect().await?,
        };
        W::write::<S>(&mut connection, part).await?;
        self.connection = Some(connection);
        Ok(())
    }
}
