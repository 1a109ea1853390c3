//! A pool's queue within SIMULATE: a first-come line for each rank, the lowest rank first.
//!
//! Lines are linked through one array over all requests, as a request waits in one at a time.

const NONE: u32 = u32::MAX;
const BITS: usize = u64::BITS as usize;

/// The successor of each waiting request in its line.
#[derive(Debug)]
pub(super) struct Links(Vec<u32>);

impl Links {
    pub(super) fn new(requests: usize) -> Self {
        Self(vec![NONE; requests])
    }
}

#[derive(Debug, Clone)]
pub(super) struct Lanes {
    lines: Vec<Line>,
    /// A bit for each line that is not empty.
    filled: Vec<u64>,
    /// No word before this one has a bit.
    first_word: usize,
}

#[derive(Debug, Clone, Copy)]
struct Line {
    head: u32,
    tail: u32,
}

impl Lanes {
    pub(super) fn new(ranks: usize) -> Self {
        Self {
            lines: vec![Line { head: NONE, tail: NONE }; ranks],
            filled: vec![0; ranks.div_ceil(BITS)],
            first_word: 0,
        }
    }

    pub(super) fn clear(&mut self) {
        self.lines.fill(Line { head: NONE, tail: NONE });
        self.filled.fill(0);
        self.first_word = 0;
    }

    pub(super) fn push(&mut self, links: &mut Links, rank: u32, request: u32) {
        let rank = rank as usize;
        let line = &mut self.lines[rank];
        links.0[request as usize] = NONE;
        if line.head == NONE {
            line.head = request;
            self.filled[rank / BITS] |= 1 << (rank % BITS);
            self.first_word = self.first_word.min(rank / BITS);
        } else {
            links.0[line.tail as usize] = request;
        }
        line.tail = request;
    }

    pub(super) fn pop(&mut self, links: &Links) -> Option<u32> {
        while *self.filled.get(self.first_word)? == 0 {
            self.first_word += 1;
        }
        let word = &mut self.filled[self.first_word];
        let bit = word.trailing_zeros() as usize;
        let line = &mut self.lines[self.first_word * BITS + bit];
        let request = line.head;
        line.head = links.0[request as usize];
        if line.head == NONE {
            *word &= *word - 1;
        }
        Some(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_rank_goes_first_and_within_it_who_came_first() {
        let (mut links, mut lanes) = (Links::new(8), Lanes::new(200));
        for (rank, request) in [(130, 0), (3, 1), (130, 2), (3, 3), (64, 4)] {
            lanes.push(&mut links, rank, request);
        }
        assert_eq!(lanes.pop(&links), Some(1));
        lanes.push(&mut links, 0, 5);
        let rest: Vec<u32> = std::iter::from_fn(|| lanes.pop(&links)).collect();
        assert_eq!(rest, [5, 3, 4, 0, 2]);
        lanes.push(&mut links, 199, 6);
        assert_eq!(lanes.pop(&links), Some(6));
        assert_eq!(lanes.pop(&links), None);
    }
}
