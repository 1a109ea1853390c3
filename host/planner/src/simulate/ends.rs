//! The times at which the workers of a pool become free.
//!
//! A calendar. No end lies further ahead than the longest stage takes, so a ring of buckets, each a
//! span of time, holds them all. A span that has passed is only counted; a bucket is sorted when it
//! matters who of it is first. A heap of all workers costs several times that.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

const BUCKETS: usize = 1024;

#[derive(Debug, Default)]
pub(super) struct Ends {
    /// A bucket's span is two to the power of this.
    shift: u32,
    buckets: Vec<Vec<u64>>,
    /// The number of ends in buckets.
    ahead: usize,
    /// The number of the span that is being emptied; buckets hold what comes after it.
    span: u64,
    /// The ends found in the current span's bucket, sorted so that the first is at the back.
    current: Vec<u64>,
    /// The ends added to the current span since its bucket was emptied.
    added: BinaryHeap<Reverse<u64>>,
}

impl Ends {
    /// A calendar for ends that are at most `longest` ahead when they are added.
    pub(super) fn new(longest: u64) -> Self {
        let mut shift = 0;
        // Counted from anywhere within its span, the furthest end is not in the same bucket.
        while longest >> shift >= BUCKETS as u64 - 1 {
            shift += 1;
        }
        Self {
            shift,
            buckets: vec![Vec::new(); BUCKETS],
            ahead: 0,
            span: 0,
            current: Vec::new(),
            added: BinaryHeap::new(),
        }
    }

    pub(super) fn clear(&mut self) {
        self.buckets.iter_mut().for_each(Vec::clear);
        self.ahead = 0;
        self.span = 0;
        self.current.clear();
        self.added.clear();
    }

    /// Adds an end; time must have been passed to no less than `longest` before it.
    pub(super) fn push(&mut self, end: u64) {
        let span = end >> self.shift;
        if span <= self.span {
            self.added.push(Reverse(end));
        } else {
            self.buckets[span as usize % BUCKETS].push(end);
            self.ahead += 1;
        }
    }

    /// Takes out at least those of spans that lie before this time; says how many.
    pub(super) fn pass(&mut self, now: u64) -> usize {
        let span = now >> self.shift;
        if span <= self.span {
            return 0;
        }
        let mut passed = self.current.len() + self.added.len();
        self.current.clear();
        self.added.clear();
        while self.ahead > 0 && self.span + 1 < span {
            self.span += 1;
            let bucket = &mut self.buckets[self.span as usize % BUCKETS];
            passed += bucket.len();
            self.ahead -= bucket.len();
            bucket.clear();
        }
        self.span = span - 1;
        passed
    }

    /// The first end.
    pub(super) fn first(&mut self) -> Option<u64> {
        while self.current.is_empty() && self.added.is_empty() {
            if self.ahead == 0 {
                return None;
            }
            self.span += 1;
            let bucket = &mut self.buckets[self.span as usize % BUCKETS];
            if !bucket.is_empty() {
                std::mem::swap(&mut self.current, bucket);
                self.ahead -= self.current.len();
                self.current.sort_unstable_by(|a, b| b.cmp(a));
            }
        }
        let added = self.added.peek().map_or(u64::MAX, |Reverse(added)| *added);
        Some(self.current.last().map_or(added, |current| added.min(*current)))
    }

    /// Takes out what `first` said.
    pub(super) fn pop(&mut self) {
        match (self.current.last(), self.added.peek()) {
            (Some(current), Some(Reverse(added))) if added < current => {
                self.added.pop();
            }
            (Some(_), _) => {
                self.current.pop();
            }
            (None, _) => {
                self.added.pop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The ends come in the order in which a heap would give them, whether time passes them or they are
        /// taken one by one.
        #[test]
        fn ends_come_out_in_order(
            longest in 1_u64..5_000_000,
            steps in prop::collection::vec((0_u64..400_000, 0.0..1.0, 0..4_usize), 1..400),
        ) {
            let (mut ends, mut heap) = (Ends::new(longest), BinaryHeap::new());
            let mut now = 0;
            for (gap, share, taken) in steps {
                now += gap;
                for _ in 0..ends.pass(now) {
                    let Reverse(end) = heap.pop().expect("as many as were added");
                    prop_assert!(end <= now);
                }
                for _ in 0..taken {
                    let wanted = heap.pop().map(|Reverse(end)| end);
                    prop_assert_eq!(ends.first(), wanted);
                    if let Some(end) = wanted {
                        ends.pop();
                        now = now.max(end);
                    }
                }
                let end = now + (longest as f64 * share) as u64;
                ends.push(end);
                heap.push(Reverse(end));
            }
            while let Some(Reverse(end)) = heap.pop() {
                prop_assert_eq!(ends.first(), Some(end));
                ends.pop();
            }
            prop_assert_eq!(ends.first(), None);
        }
    }
}
