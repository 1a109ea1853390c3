//! The prefetch queue: leases that were granted and not yet started.

use std::collections::VecDeque;

use assay_wire::proto::{Grant, ToWorker};
use parking_lot::{Condvar, Mutex};

#[derive(Default)]
pub(crate) struct PrefetchQueue {
    held: Mutex<QueueState>,
    changed: Condvar,
}

#[derive(Default)]
struct QueueState {
    waiting: VecDeque<Grant>,
    /// The lease that the runner runs.
    running: Option<u64>,
    draining: bool,
    /// Whether the runner sleeps: waking it costs a system call.
    asleep: bool,
}

impl PrefetchQueue {
    /// Applies a message of the host. A revoked lease is removed; one that was started runs on, and `tell_started` is
    /// called before it can end.
    pub(crate) fn take(&self, message: ToWorker, tell_started: impl FnOnce(u64)) {
        let mut held = self.held.lock();
        held.waiting.extend(message.grants);
        if !message.revoked.is_empty() {
            held.waiting.retain(|grant| !message.revoked.contains(&grant.lease));
            if let Some(lease) = held.running.filter(|lease| message.revoked.contains(lease)) {
                tell_started(lease);
            }
        }
        held.draining |= message.drain;
        if held.asleep && (held.draining || !held.waiting.is_empty()) {
            held.asleep = false;
            self.changed.notify_one();
        }
    }

    /// Waits for the next lease, in the order of their grants. `None` once the queue is empty and draining.
    pub(crate) fn next(&self) -> Option<Grant> {
        let mut held = self.held.lock();
        loop {
            if let Some(grant) = held.waiting.pop_front() {
                held.running = Some(grant.lease);
                return Some(grant);
            }
            if held.draining {
                return None;
            }
            held.asleep = true;
            self.changed.wait(&mut held);
        }
    }

    /// The lease that the runner ran has ended. Returns whether no other waits.
    pub(crate) fn end(&self) -> bool {
        let mut held = self.held.lock();
        held.running = None;
        held.waiting.is_empty()
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.held.lock().draining
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grants(leases: &[u64]) -> ToWorker {
        let grants = leases.iter().map(|&lease| Grant { lease, ..Grant::default() }).collect();
        ToWorker { grants, ..ToWorker::default() }
    }

    fn take(queue: &PrefetchQueue, message: ToWorker) {
        queue.take(message, |lease| panic!("{lease} was not started"));
    }

    fn next(queue: &PrefetchQueue) -> Option<u64> {
        queue.next().map(|grant| grant.lease)
    }

    #[test]
    fn leases_come_in_order_until_the_drain() {
        let queue = PrefetchQueue::default();
        take(&queue, grants(&[1, 2]));
        take(&queue, ToWorker { drain: true, ..grants(&[3]) });
        assert_eq!([next(&queue), next(&queue), next(&queue)], [Some(1), Some(2), Some(3)]);
        assert_eq!(next(&queue), None);
        assert!(queue.is_draining());
    }

    #[test]
    fn a_revoked_lease_is_forgotten_unless_it_was_started() {
        let queue = PrefetchQueue::default();
        take(&queue, grants(&[1, 2, 3]));
        assert_eq!(next(&queue), Some(1));
        let revoke = || ToWorker { revoked: vec![1, 2, 9], ..ToWorker::default() };
        let mut started = Vec::new();
        queue.take(revoke(), |lease| started.push(lease));
        assert_eq!(started, [1]);
        assert!(!queue.end());
        take(&queue, revoke());
        assert_eq!(next(&queue), Some(3));
        assert!(queue.end());
    }

    #[test]
    fn a_sleeping_runner_wakes_up() {
        let queue = PrefetchQueue::default();
        std::thread::scope(|scope| {
            let woken = scope.spawn(|| [next(&queue), next(&queue), next(&queue)]);
            take(&queue, grants(&[1]));
            take(&queue, grants(&[2]));
            take(&queue, ToWorker { drain: true, ..ToWorker::default() });
            assert_eq!(woken.join().expect("no panic"), [Some(1), Some(2), None]);
        });
    }
}
