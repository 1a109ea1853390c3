//! A pool's queue within SIMULATE: a first-come line for each rank, the lowest rank first.

use std::collections::VecDeque;

const BITS: usize = u64::BITS as usize;

#[derive(Debug, Clone)]
pub(crate) struct Lanes<T> {
    /// Each line's entries lie side by side: who is next is in the cache.
    lines: Vec<VecDeque<T>>,
    /// A bit for each line that is not empty.
    filled: Vec<u64>,
    /// No word before this one has a bit.
    first_word: usize,
    waiting: usize,
}

impl<T: Clone> Lanes<T> {
    pub(crate) fn new(ranks: usize) -> Self {
        Self {
            lines: vec![VecDeque::new(); ranks],
            filled: vec![0; ranks.div_ceil(BITS)],
            first_word: 0,
            waiting: 0,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    pub(crate) fn clear(&mut self) {
        self.lines.iter_mut().for_each(VecDeque::clear);
        self.filled.fill(0);
        self.first_word = 0;
        self.waiting = 0;
    }

    pub(crate) fn push(&mut self, rank: u32, entry: T) {
        let rank = rank as usize;
        self.filled[rank / BITS] |= 1 << (rank % BITS);
        self.first_word = self.first_word.min(rank / BITS);
        self.lines[rank].push_back(entry);
        self.waiting += 1;
    }

    pub(crate) fn pop(&mut self) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        self.waiting -= 1;
        while self.filled[self.first_word] == 0 {
            self.first_word += 1;
        }
        let word = &mut self.filled[self.first_word];
        let line = &mut self.lines[self.first_word * BITS + word.trailing_zeros() as usize];
        let entry = line.pop_front();
        if line.is_empty() {
            *word &= *word - 1;
        }
        entry
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_rank_goes_first_and_within_it_who_came_first() {
        let mut lanes = Lanes::new(200);
        for (rank, request) in [(130, 0), (3, 1), (130, 2), (3, 3), (64, 4)] {
            lanes.push(rank, request);
        }
        assert_eq!(lanes.pop(), Some(1));
        lanes.push(0, 5);
        assert!(!lanes.is_empty());
        let rest: Vec<u32> = std::iter::from_fn(|| lanes.pop()).collect();
        assert_eq!(rest, [5, 3, 4, 0, 2]);
        assert!(lanes.is_empty());
        lanes.push(199, 6);
        assert_eq!(lanes.pop(), Some(6));
        assert_eq!(lanes.pop(), None);
    }
}
