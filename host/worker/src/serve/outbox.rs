//! Finished stages and what else the host is told of leases, on its way to the conversation.
//!
//! Waking the conversation after each of many trivial stages would cost more than the stages. So it is woken when the
//! queue is empty or some stages have gathered, and it looks by itself a millisecond after it took some: a long stage
//! never delays the answers before it. Where nothing has gathered in that millisecond it stops looking, so that a long
//! stage costs nothing, and the next answer wakes it.

use assay_wire::proto::{Finished, Load};
use parking_lot::Mutex;
use tokio::sync::Notify;

const GATHERED_MAX: usize = 32;

#[derive(Default)]
pub(crate) struct Outbox {
    state: Mutex<OutboxState>,
    ready: Notify,
}

#[derive(Default)]
struct OutboxState {
    gathered: Vec<Progress>,
    /// Whether the conversation looks by itself.
    watched: bool,
    closed: bool,
}

/// An event of a lease. Events are sent to the host in their order: a stage that is loaded and finished at once
/// was loaded first.
pub(crate) enum Progress {
    Finished(Finished),
    Load(Load),
    /// The lease had been started when it was revoked.
    Started(u64),
}

impl Outbox {
    pub(crate) fn put(&self, finished: Finished, queue_is_empty: bool) {
        let mut state = self.state.lock();
        state.gathered.push(Progress::Finished(finished));
        let wake = queue_is_empty || !state.watched || state.gathered.len() >= GATHERED_MAX;
        drop(state);
        if wake {
            self.ready.notify_one();
        }
    }

    /// Queues an event that the host must know at once and wakes the sender.
    pub(crate) fn tell(&self, progress: Progress) {
        self.state.lock().gathered.push(progress);
        self.ready.notify_one();
    }

    /// Says that nothing more will be put.
    pub(crate) fn close(&self) {
        self.state.lock().closed = true;
        self.ready.notify_one();
    }

    /// Waits until stages should be sent.
    pub(crate) async fn ready(&self) {
        self.ready.notified().await;
    }

    /// Whether somebody must look, since the next answer might not wake the sender.
    pub(crate) fn is_watched(&self) -> bool {
        self.state.lock().watched
    }

    /// Takes what has gathered; `None` once the outbox is closed and empty.
    pub(crate) fn take(&self) -> Option<Vec<Progress>> {
        let mut state = self.state.lock();
        state.watched = !state.gathered.is_empty();
        if state.gathered.is_empty() && state.closed {
            return None;
        }
        Some(std::mem::take(&mut state.gathered))
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    fn put(outbox: &Outbox, lease: u64, queue_is_empty: bool) {
        outbox.put(Finished { lease, ..Finished::default() }, queue_is_empty);
    }

    #[tokio::test]
    async fn the_last_of_a_hand_wakes_and_takes_the_others_along() {
        let outbox = Outbox::default();
        put(&outbox, 1, false);
        put(&outbox, 2, true);
        outbox.ready().await;
        assert_eq!(outbox.take().map(|gathered| gathered.len()), Some(2));
        assert_eq!(outbox.take().map(|gathered| gathered.len()), Some(0));
    }

    #[tokio::test]
    async fn an_answer_wakes_who_does_not_look() {
        let outbox = Outbox::default();
        put(&outbox, 1, false);
        outbox.ready().await;
        assert!(outbox.take().is_some() && outbox.is_watched());
        put(&outbox, 2, false);
        assert!(outbox.ready().now_or_never().is_none(), "who looks is not woken");
        assert!(outbox.take().is_some() && outbox.is_watched());
        assert!(outbox.take().is_some() && !outbox.is_watched(), "nothing has gathered");
        put(&outbox, 3, false);
        outbox.ready().await;
    }

    #[tokio::test]
    async fn a_handful_wakes_before_the_hand_is_empty() {
        let outbox = Outbox::default();
        (0..GATHERED_MAX as u64).for_each(|lease| put(&outbox, lease, false));
        outbox.ready().await;
        assert_eq!(outbox.take().map(|gathered| gathered.len()), Some(GATHERED_MAX));
    }

    #[test]
    fn a_closed_outbox_ends_when_it_is_empty() {
        let outbox = Outbox::default();
        put(&outbox, 1, false);
        outbox.close();
        assert_eq!(outbox.take().map(|gathered| gathered.len()), Some(1));
        assert!(outbox.take().is_none());
    }
}
