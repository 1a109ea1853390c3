//! The leases in the worker's hand that have not been started.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use assay_wire::proto::{Grant, ToWorker};

#[derive(Default)]
pub(crate) struct Hand {
    held: Mutex<Held>,
    changed: Condvar,
}

#[derive(Default)]
struct Held {
    waiting: VecDeque<Grant>,
    draining: bool,
    /// Waking a thread that does not sleep costs a system call.
    asleep: bool,
}

impl Hand {
    /// Takes in what the host says. A revoked lease is forgotten; one that was started already is
    /// not here any more and runs on.
    pub(crate) fn take(&self, message: ToWorker) {
        let mut held = self.lock();
        held.waiting.extend(message.grants);
        if !message.revoked.is_empty() {
            held.waiting.retain(|grant| !message.revoked.contains(&grant.lease));
        }
        held.draining |= message.drain;
        if held.asleep && (held.draining || !held.waiting.is_empty()) {
            held.asleep = false;
            self.changed.notify_one();
        }
    }

    /// The next lease, in the order of their grants; waits for one. None when the hand is empty
    /// and the host wants the worker to leave.
    pub(crate) fn next(&self) -> Option<Grant> {
        let mut held = self.lock();
        loop {
            if let Some(grant) = held.waiting.pop_front() {
                return Some(grant);
            }
            if held.draining {
                return None;
            }
            held.asleep = true;
            held = self.changed.wait(held).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lock().waiting.is_empty()
    }

    /// Whether the runner has something to do.
    pub(crate) fn is_busy(&self) -> bool {
        !self.lock().asleep
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.lock().draining
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grants(leases: &[u64]) -> ToWorker {
        let grants = leases.iter().map(|&lease| Grant { lease, ..Grant::default() }).collect();
        ToWorker { grants, ..ToWorker::default() }
    }

    fn next(hand: &Hand) -> Option<u64> {
        hand.next().map(|grant| grant.lease)
    }

    #[test]
    fn leases_come_in_order_until_the_drain() {
        let hand = Hand::default();
        hand.take(grants(&[1, 2]));
        hand.take(ToWorker { drain: true, ..grants(&[3]) });
        assert_eq!([next(&hand), next(&hand), next(&hand)], [Some(1), Some(2), Some(3)]);
        assert_eq!(next(&hand), None);
        assert!(hand.is_draining());
    }

    #[test]
    fn a_revoked_lease_is_forgotten_unless_it_was_started() {
        let hand = Hand::default();
        hand.take(grants(&[1, 2, 3]));
        assert_eq!(next(&hand), Some(1));
        hand.take(ToWorker { revoked: vec![1, 2, 9], ..ToWorker::default() });
        assert_eq!(next(&hand), Some(3));
    }

    #[test]
    fn a_sleeping_runner_wakes_up() {
        let hand = Hand::default();
        std::thread::scope(|scope| {
            let woken = scope.spawn(|| [next(&hand), next(&hand), next(&hand)]);
            hand.take(grants(&[1]));
            hand.take(grants(&[2]));
            hand.take(ToWorker { drain: true, ..ToWorker::default() });
            assert_eq!(woken.join().expect("no panic"), [Some(1), Some(2), None]);
        });
    }
}
