//! The keys of a batch's requests.

use std::hash::{BuildHasher as _, RandomState};

use hashbrown::HashTable;

/// The keys by number, and the numbers by key. Each key is held once and the table holds numbers alone, so that a million
/// queued requests stay small.
#[derive(Default)]
pub(super) struct RequestKeys {
    /// By number; empty where the number has no key.
    by_seq: Vec<Box<str>>,
    seqs: HashTable<u32>,
    hasher: RandomState,
}

impl RequestKeys {
    /// The number that the next key gets.
    pub(super) fn next_seq(&self) -> u32 {
        u32::try_from(self.by_seq.len()).expect("a batch is within its limit")
    }

    pub(super) fn get(&self, seq: u32) -> &str {
        self.by_seq.get(seq as usize).map_or("", |key| key)
    }

    pub(super) fn find(&self, key: &str) -> Option<u32> {
        let is_it = |seq: &u32| self.get(*seq) == key;
        self.seqs.find(self.hasher.hash_one(key), is_it).copied()
    }

    /// Adds a key that is not there.
    pub(super) fn push(&mut self, key: String) {
        let (seq, hash) = (self.next_seq(), self.hasher.hash_one(key.as_str()));
        self.by_seq.push(key.into());
        let Self { by_seq, seqs, hasher } = self;
        seqs.insert_unique(hash, seq, |seq| hasher.hash_one(&*by_seq[*seq as usize]));
    }

    /// Leaves the next number without a key.
    pub(super) fn skip(&mut self) {
        self.by_seq.push(Box::default());
    }

    /// Makes a key free; its number is not used again.
    pub(super) fn remove(&mut self, key: &str) {
        let Self { by_seq, seqs, hasher } = self;
        let is_it = |seq: &u32| *by_seq[*seq as usize] == *key;
        if let Ok(found) = seqs.find_entry(hasher.hash_one(key), is_it) {
            let (seq, _) = found.remove();
            by_seq[seq as usize] = Box::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// `None` skips a number; a key that is there is removed.
        #[test]
        fn it_finds_what_was_added(changes in prop::collection::vec(prop::option::of("[a-c]{0,3}"), 0..200)) {
            let (mut keys, mut expected) = (RequestKeys::default(), BTreeMap::new());
            for change in changes {
                let seq = keys.next_seq();
                match change {
                    None => keys.skip(),
                    Some(key) if expected.remove(&key).is_some() => keys.remove(&key),
                    Some(key) => {
                        keys.push(key.clone());
                        expected.insert(key, seq);
                    }
                }
                prop_assert!(expected.iter().all(|(key, seq)| keys.find(key) == Some(*seq)));
                prop_assert!(expected.iter().all(|(key, seq)| keys.get(*seq) == key));
                prop_assert_eq!(keys.seqs.len(), expected.len());
            }
        }
    }
}
