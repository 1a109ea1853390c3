//! Which requests of a batch were ever submitted: one bit each, kept until the batch ends.

use std::collections::BTreeMap;

const BITS: u32 = u64::BITS;

/// A set of sequence numbers. They come nearly dense from 0, yet a wild one costs no more than a
/// word.
#[derive(Debug, Default)]
pub(crate) struct SeqSet {
    words: BTreeMap<u32, u64>,
    len: u32,
}

impl SeqSet {
    /// Whether it was not in the set before.
    pub(crate) fn insert(&mut self, seq: u32) -> bool {
        let word = self.words.entry(seq / BITS).or_default();
        let bit = 1 << (seq % BITS);
        let new = *word & bit == 0;
        *word |= bit;
        self.len += u32::from(new);
        new
    }

    pub(crate) fn len(&self) -> u32 {
        self.len
    }
}

#[cfg(test)]
mod tests {
    use super::SeqSet;

    #[test]
    fn each_is_new_once() {
        let mut set = SeqSet::default();
        for seq in [0, 63, 64, u32::MAX, 1] {
            assert!(set.insert(seq));
            assert!(!set.insert(seq));
        }
        assert_eq!(set.len(), 5);
    }
}
