//! An auto batch: what a trainer sends in one go, as one batch. It knows which calls wait and which of the
//! batch's requests answer them; the batch itself is the dispatcher's.
//!
//! ```text
//!   taking ──(nothing came for the gap, nothing waits or runs; or full; or old)──> closed
//!   closed ──(its batch is sealed and has ended)──> kept for repeats ──> gone
//! ```

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::Duration;

use assay_api::batch::BatchState;
use assay_api::result::ResultItem;
use assay_core::id::{Digest, RequestId};
use assay_core::limits;
use assay_core::outcome::{ErrorCode, Outcome};
use assay_dispatch::committed::CommittedBatch;
use assay_registry::Reference;
use bytes::Bytes;
use parking_lot::Mutex;
use serde::Deserialize;
use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

const OLD_AFTER: Duration = Duration::from_secs(limits::COMPAT_BATCH_SECONDS_MAX);

const BUSY_LOOK_PERIOD: Duration = Duration::from_secs(1);

pub(crate) struct AutoBatch {
    pub committed: Arc<CommittedBatch>,
    /// Number of requests after which it takes no more.
    requests_max: u32,
    since: Instant,
    calls: Mutex<Calls>,
    /// Notified when the auto batch was closed, or may be closed sooner.
    pub closed: Notify,
}

#[derive(Default)]
struct Calls {
    /// Time without calls after which it is closed.
    gap: Duration,
    /// Calls that wait.
    waiting: usize,
    /// The time at which the last call came or left, or the batch had other counts.
    touched: Option<Instant>,
    /// The batch's requests and those that have ended, when they were counted last.
    counted: (u32, u32),
    closed: bool,
    ended: bool,
    /// The requests of each call, by the call's hash; each is one try.
    tries: HashMap<Digest, Vec<Try>>,
    /// Index of each result in the batch's results, by request.
    places: HashMap<u32, usize>,
    wanted: HashMap<u32, Vec<oneshot::Sender<()>>>,
}

impl Calls {
    /// Forgets the last try of a call if it became no requests. A repeat gets the same number, and so the same keys.
    fn forget_refused(&mut self, call: Digest) {
        let Entry::Occupied(mut tries) = self.tries.entry(call) else { return };
        let is_refused =
            |it: &Try| it.waiting == 0 && !it.answered && !it.failed && it.seqs.is_none();
        tries.get_mut().pop_if(|it| is_refused(it));
        if tries.get().is_empty() {
            tries.remove();
        }
    }
}

/// The requests that one call became.
#[derive(Default)]
struct Try {
    waiting: usize,
    /// True if the call's answer was sent.
    answered: bool,
    /// True if the call failed in a way that another try may not meet.
    failed: bool,
    seqs: Option<Arc<[u32]>>,
}

impl AutoBatch {
    pub(crate) fn new(
        committed: Arc<CommittedBatch>,
        gap: Duration,
        requests_max: u32,
    ) -> Arc<Self> {
        let calls = Calls { gap, touched: Some(Instant::now()), ..Calls::default() };
        let (calls, closed) = (Mutex::new(calls), Notify::new());
        Arc::new(Self { committed, requests_max, since: Instant::now(), calls, closed })
    }

    /// Whether calls for this plugin are its own.
    pub(crate) fn fits(&self, plugin: &Reference) -> bool {
        let row = &self.committed.row;
        row.plugin == plugin.name
            && (!plugin.is_version() || row.version == plugin.channel_or_version)
    }

    /// Closes it if it is sealed, full or old.
    fn close_if_full(&self) {
        let takes = self.committed.look(|progress| {
            matches!(progress.state, BatchState::Announced | BatchState::Open)
                && progress.counts.submitted < self.requests_max
        });
        if !takes || self.since.elapsed() > OLD_AFTER {
            self.close();
        }
    }

    /// Joins it without a call; false if it takes no more.
    pub(crate) fn touch(&self) -> bool {
        self.close_if_full();
        let mut calls = self.calls.lock();
        calls.touched = Some(Instant::now());
        !calls.closed
    }

    /// Closes it as soon as nothing waits or runs.
    pub(crate) fn hurry(&self) {
        self.calls.lock().gap = Duration::ZERO;
        self.closed.notify_one();
    }

    /// A guard for a call, unless the auto batch takes no more of them.
    pub(crate) fn join(self: &Arc<Self>, call: Digest) -> Option<CallGuard> {
        self.close_if_full();
        let mut calls = self.calls.lock();
        if calls.closed {
            return None;
        }
        let tries = calls.tries.entry(call).or_default();
        let found = if self.committed.plugin.description.deterministic {
            tries.iter().rposition(|it| !it.failed)
        } else {
            // Calls that are open at the same time are different samples; one that was left is taken
            // up by the next.
            tries.iter().position(|it| it.waiting == 0 && !it.answered && !it.failed)
        };
        let number = found.unwrap_or_else(|| {
            tries.push(Try::default());
            tries.len() - 1
        });
        Some(self.guard(&mut calls, call, number))
    }

    /// A guard for the repeat of a call that got no answer here.
    pub(crate) fn join_again(self: &Arc<Self>, call: Digest) -> Option<CallGuard> {
        let mut calls = self.calls.lock();
        let left = |it: &Try| it.waiting == 0 && !it.answered && !it.failed && it.seqs.is_some();
        let number = calls.tries.get(&call)?.iter().position(left)?;
        Some(self.guard(&mut calls, call, number))
    }

    fn guard(self: &Arc<Self>, calls: &mut Calls, call: Digest, number: usize) -> CallGuard {
        calls.waiting += 1;
        calls.touched = Some(Instant::now());
        if let Some(it) = calls.tries.get_mut(&call).and_then(|tries| tries.get_mut(number)) {
            it.waiting += 1;
        }
        CallGuard { auto_batch: self.clone(), call, number }
    }

    /// Stops taking calls.
    pub(crate) fn close(&self) {
        self.calls.lock().closed = true;
        self.closed.notify_one();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.calls.lock().closed
    }

    /// Closes it if nothing has come for the gap and nothing waits or runs; returns when to look again.
    pub(crate) fn close_if_idle(&self) -> Instant {
        self.close_if_full();
        let counted =
            self.committed.look(|progress| (progress.counts.submitted, progress.counts.finished()));
        let mut calls = self.calls.lock();
        let now = Instant::now();
        if calls.counted != counted {
            calls.counted = counted;
            calls.touched = Some(now);
        }
        let (idle, since) = (counted.0 == counted.1, calls.touched.unwrap_or(now));
        if idle && calls.waiting == 0 && now >= since + calls.gap {
            calls.closed = true;
        }
        // While it is busy the gap has not begun; a change of the batch leads to the next look.
        let busy = !idle || calls.waiting > 0;
        if busy { now + calls.gap.max(BUSY_LOOK_PERIOD) } else { since + calls.gap }
    }

    /// Records the results that came since `seen`; returns their number.
    pub(crate) fn note(&self, seen: usize) -> usize {
        #[derive(Deserialize)]
        struct CallResult {
            id: RequestId,
        }
        let new: Vec<Bytes> = self.committed.look(|progress| progress.results[seen..].to_vec());
        let mut calls = self.calls.lock();
        for (at, json) in new.iter().enumerate() {
            let Ok(CallResult { id }) = serde_json::from_slice(json) else { continue };
            calls.places.insert(id.seq, seen + at);
            for waiter in calls.wanted.remove(&id.seq).unwrap_or_default() {
                // It may have given up.
                let _ = waiter.send(());
            }
        }
        seen + new.len()
    }

    /// Ends the auto batch, because its batch has ended or is followed no more: a request without a result
    /// gets none.
    pub(crate) fn end(&self) {
        let mut calls = self.calls.lock();
        calls.closed = true;
        calls.ended = true;
        calls.wanted.clear();
    }

    fn result(&self, seq: u32) -> Option<ResultItem> {
        let place = self.calls.lock().places.get(&seq).copied()?;
        let json = self.committed.look(|progress| progress.results.get(place).cloned())?;
        serde_json::from_slice(&json).ok()
    }

    /// The results of requests, in order, when they come; `None` when one will not come.
    pub(crate) async fn results(&self, seqs: &[u32]) -> Option<Vec<ResultItem>> {
        let mut results = Vec::with_capacity(seqs.len());
        for &seq in seqs {
            results.push(self.wait(seq).await?);
        }
        Some(results)
    }

    /// Waits for a request's result; `None` when none will come.
    async fn wait(&self, seq: u32) -> Option<ResultItem> {
        let arrival = {
            let mut calls = self.calls.lock();
            if calls.places.contains_key(&seq) || calls.ended {
                None
            } else {
                let (send, arrival) = oneshot::channel();
                calls.wanted.entry(seq).or_default().push(send);
                Some(arrival)
            }
        };
        if let Some(arrival) = arrival {
            // Dropped with the auto batch's end: then there is a last look.
            let _ = arrival.await;
        }
        self.result(seq)
    }
}

/// A call's place at its auto batch; given back when the call ends, however it does.
pub(crate) struct CallGuard {
    pub auto_batch: Arc<AutoBatch>,
    call: Digest,
    number: usize,
}

impl CallGuard {
    /// The key of one of the call's requests: a repeat has the same, also after a restart.
    pub(crate) fn key(&self, item: usize) -> String {
        format!("{}-{}-{item}", self.call, self.number)
    }

    /// The requests of this try, once it was submitted.
    pub(crate) fn seqs(&self) -> Option<Arc<[u32]>> {
        let calls = self.auto_batch.calls.lock();
        calls.tries.get(&self.call)?.get(self.number)?.seqs.clone()
    }

    pub(crate) fn submitted(&self, seqs: Arc<[u32]>) {
        self.change(|it| it.seqs = Some(seqs));
    }

    /// Whether all of them have ended already.
    pub(crate) fn has_ended(&self, seqs: &[u32]) -> bool {
        let calls = self.auto_batch.calls.lock();
        seqs.iter().all(|seq| calls.places.contains_key(seq))
    }

    /// Their results, in order; `None` when one will not come.
    pub(crate) async fn results(&self, seqs: &[u32]) -> Option<Vec<ResultItem>> {
        let results = self.auto_batch.results(seqs).await?;
        if results.iter().any(|item| may_end_otherwise(&item.outcome)) {
            self.change(|it| it.failed = true);
        }
        Some(results)
    }

    /// Notes that the call is being answered.
    pub(crate) fn answered(&self) {
        self.change(|it| it.answered = true);
    }

    fn change(&self, change: impl FnOnce(&mut Try)) {
        let mut calls = self.auto_batch.calls.lock();
        let found = calls.tries.get_mut(&self.call);
        if let Some(it) = found.and_then(|tries| tries.get_mut(self.number)) {
            change(it);
        }
    }
}

impl Drop for CallGuard {
    fn drop(&mut self) {
        self.change(|it| it.waiting -= 1);
        let mut calls = self.auto_batch.calls.lock();
        calls.forget_refused(self.call);
        calls.waiting -= 1;
        calls.touched = Some(Instant::now());
    }
}

/// Whether the same request may end otherwise when it is submitted anew.
pub(crate) fn may_end_otherwise(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Error { code, retryable, .. } => *retryable || *code == ErrorCode::Cancelled,
        Outcome::Scored(_) | Outcome::TimedOut { .. } => false,
    }
}
