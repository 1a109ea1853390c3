//! A burst: what a trainer sends in one go, as one batch. It knows which calls wait and which of the
//! batch's requests answer them; the batch itself is the dispatcher's.
//!
//! ```text
//!   taking ──(nothing came for the gap, nothing waits or runs; or full; or old)──> closed
//!   closed ──(its batch is sealed and has ended)──> kept for repeats ──> gone
//! ```

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use assay_model::api::{BatchState, ResultItem};
use assay_model::id::{Digest, RequestId};
use assay_model::limits;
use assay_model::outcome::{ErrorCode, Outcome};
use bytes::Bytes;
use serde::Deserialize;
use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

use crate::dispatch::board::Published;

const OLD_AFTER: Duration = Duration::from_secs(limits::COMPAT_BATCH_SECONDS_MAX);

pub(super) struct Burst {
    pub published: Arc<Published>,
    gap: Duration,
    since: Instant,
    desk: Mutex<Desk>,
    /// Told when it was closed.
    pub closed: Notify,
}

#[derive(Default)]
struct Desk {
    /// Calls that wait.
    waiting: usize,
    /// When the last one came or left.
    touched: Option<Instant>,
    closed: bool,
    ended: bool,
    /// By the hash of a call: its requests, of one try each.
    tries: HashMap<Digest, Vec<Try>>,
    /// By seq: where the result stands among the batch's.
    places: HashMap<u32, usize>,
    wanted: HashMap<u32, Vec<oneshot::Sender<()>>>,
}

/// The requests that one call became.
#[derive(Default)]
struct Try {
    waiting: usize,
    /// Its answer went out.
    told: bool,
    /// It ended in a failure that another try may not meet.
    failed: bool,
    seqs: Option<Arc<[u32]>>,
}

impl Burst {
    pub(super) fn new(published: Arc<Published>, gap: Duration) -> Arc<Self> {
        let desk = Desk { touched: Some(Instant::now()), ..Desk::default() };
        let (desk, closed) = (Mutex::new(desk), Notify::new());
        Arc::new(Self { published, gap, since: Instant::now(), desk, closed })
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        // No code that holds the lock panics half-way through a change.
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A seat for a call, unless the burst takes no more of them.
    pub(super) fn sit(self: &Arc<Self>, call: Digest) -> Option<Seat> {
        let takes = self.published.look(|standing| {
            matches!(standing.state, BatchState::Announced | BatchState::Open)
                && standing.counts.submitted < limits::COMPAT_BATCH_REQUESTS_MAX
        });
        if !takes || self.since.elapsed() > OLD_AFTER {
            self.close();
        }
        let mut desk = self.desk();
        if desk.closed {
            return None;
        }
        let tries = desk.tries.entry(call).or_default();
        let found = if self.published.plugin.description.deterministic {
            tries.iter().rposition(|it| !it.failed)
        } else {
            // Calls that are open at the same time are different samples; one that was left is taken
            // up by the next.
            tries.iter().position(|it| it.waiting == 0 && !it.told && !it.failed)
        };
        let number = found.unwrap_or_else(|| {
            tries.push(Try::default());
            tries.len() - 1
        });
        Some(self.seat(&mut desk, call, number))
    }

    /// A seat for the repeat of a call that got no answer here.
    pub(super) fn sit_again(self: &Arc<Self>, call: Digest) -> Option<Seat> {
        let mut desk = self.desk();
        let left = |it: &Try| it.waiting == 0 && !it.told && !it.failed && it.seqs.is_some();
        let number = desk.tries.get(&call)?.iter().position(left)?;
        Some(self.seat(&mut desk, call, number))
    }

    fn seat(self: &Arc<Self>, desk: &mut Desk, call: Digest, number: usize) -> Seat {
        desk.waiting += 1;
        desk.touched = Some(Instant::now());
        if let Some(it) = desk.tries.get_mut(&call).and_then(|tries| tries.get_mut(number)) {
            it.waiting += 1;
        }
        Seat { burst: self.clone(), call, number }
    }

    /// It takes no more calls.
    pub(super) fn close(&self) {
        self.desk().closed = true;
        self.closed.notify_one();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.desk().closed
    }

    /// Closes it if nothing has come for the gap and nothing waits or runs; returns when to look again.
    pub(super) fn close_if_idle(&self) -> Instant {
        let idle =
            self.published.look(|standing| standing.counts.submitted == standing.counts.finished());
        let mut desk = self.desk();
        let now = Instant::now();
        let since = desk.touched.unwrap_or(now);
        if idle && desk.waiting == 0 && now >= since + self.gap {
            desk.closed = true;
        }
        // While it is busy the gap has not begun.
        if idle && desk.waiting == 0 { since + self.gap } else { now + self.gap }
    }

    /// Takes note of results that came since `seen`; returns how many there are.
    pub(super) fn note(&self, seen: usize) -> usize {
        #[derive(Deserialize)]
        struct Ended {
            id: RequestId,
        }
        let new: Vec<Bytes> = self.published.look(|standing| standing.results[seen..].to_vec());
        let mut desk = self.desk();
        for (at, json) in new.iter().enumerate() {
            let Ok(Ended { id }) = serde_json::from_slice(json) else { continue };
            desk.places.insert(id.seq, seen + at);
            for waiter in desk.wanted.remove(&id.seq).unwrap_or_default() {
                // It may have given up.
                let _ = waiter.send(());
            }
        }
        seen + new.len()
    }

    /// Its batch has ended, or nobody follows it any more: what has no result gets none.
    pub(super) fn end(&self) {
        let mut desk = self.desk();
        desk.closed = true;
        desk.ended = true;
        desk.wanted.clear();
    }

    fn result(&self, seq: u32) -> Option<ResultItem> {
        let place = self.desk().places.get(&seq).copied()?;
        let json = self.published.look(|standing| standing.results.get(place).cloned())?;
        serde_json::from_slice(&json).ok()
    }

    /// Waits for a request's result; `None` when none will come.
    async fn wait(&self, seq: u32) -> Option<ResultItem> {
        let arrival = {
            let mut desk = self.desk();
            if desk.places.contains_key(&seq) || desk.ended {
                None
            } else {
                let (send, arrival) = oneshot::channel();
                desk.wanted.entry(seq).or_default().push(send);
                Some(arrival)
            }
        };
        if let Some(arrival) = arrival {
            // Dropped with the burst's end: then there is a last look.
            let _ = arrival.await;
        }
        self.result(seq)
    }
}

/// A call's place at its burst; given back when the call ends, however it does.
pub(super) struct Seat {
    pub burst: Arc<Burst>,
    call: Digest,
    number: usize,
}

impl Seat {
    /// The key of one of the call's requests: a repeat has the same, also after a restart.
    pub(super) fn key(&self, item: usize) -> String {
        format!("{}-{}-{item}", self.call, self.number)
    }

    /// The requests of this try, once it was submitted.
    pub(super) fn seqs(&self) -> Option<Arc<[u32]>> {
        let desk = self.burst.desk();
        desk.tries.get(&self.call)?.get(self.number)?.seqs.clone()
    }

    pub(super) fn submitted(&self, seqs: Arc<[u32]>) {
        self.change(|it| it.seqs = Some(seqs));
    }

    /// Whether all of them have ended already.
    pub(super) fn has_ended(&self, seqs: &[u32]) -> bool {
        let desk = self.burst.desk();
        seqs.iter().all(|seq| desk.places.contains_key(seq))
    }

    /// Their results, in order; `None` when one will not come.
    pub(super) async fn results(&self, seqs: &[u32]) -> Option<Vec<ResultItem>> {
        let mut results = Vec::with_capacity(seqs.len());
        for &seq in seqs {
            results.push(self.burst.wait(seq).await?);
        }
        if results.iter().any(|item| may_end_otherwise(&item.outcome)) {
            self.change(|it| it.failed = true);
        }
        Some(results)
    }

    /// The answer goes out.
    pub(super) fn told(&self) {
        self.change(|it| it.told = true);
    }

    fn change(&self, change: impl FnOnce(&mut Try)) {
        let mut desk = self.burst.desk();
        let found = desk.tries.get_mut(&self.call);
        if let Some(it) = found.and_then(|tries| tries.get_mut(self.number)) {
            change(it);
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.change(|it| it.waiting -= 1);
        let mut desk = self.burst.desk();
        desk.waiting -= 1;
        desk.touched = Some(Instant::now());
    }
}

/// Whether the same request may end otherwise when it is submitted anew.
pub(super) fn may_end_otherwise(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Error { code, retryable, .. } => *retryable || *code == ErrorCode::Cancelled,
        Outcome::Scored(_) | Outcome::TimedOut { .. } => false,
    }
}
