//! Values by the sequence number of a request in its batch.

use std::collections::BTreeMap;
use std::iter;
use std::ops::Index;

const BLOCK: u32 = 32;

/// A map from sequence numbers. They come nearly dense from 0, so that values lie side by side in blocks, where a
/// B-tree filled in order would leave half of each leaf free; yet a wild number costs no more than a block.
#[derive(Debug)]
pub(crate) struct SeqMap<T> {
    blocks: BTreeMap<u32, SeqBlock<T>>,
    len: usize,
}

#[derive(Debug)]
struct SeqBlock<T> {
    /// One place for each number.
    values: Box<[Option<T>]>,
    len: u32,
}

impl<T> Default for SeqMap<T> {
    fn default() -> Self {
        Self { blocks: BTreeMap::new(), len: 0 }
    }
}

impl<T> SeqBlock<T> {
    fn empty() -> Self {
        Self { values: iter::repeat_with(|| None).take(BLOCK as usize).collect(), len: 0 }
    }
}

fn place(seq: u32) -> usize {
    (seq % BLOCK) as usize
}

impl<T> SeqMap<T> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn get(&self, seq: u32) -> Option<&T> {
        self.blocks.get(&(seq / BLOCK))?.values[place(seq)].as_ref()
    }

    pub(crate) fn get_mut(&mut self, seq: u32) -> Option<&mut T> {
        self.blocks.get_mut(&(seq / BLOCK))?.values[place(seq)].as_mut()
    }

    /// Inserts a value where there is none.
    pub(crate) fn insert(&mut self, seq: u32, value: T) {
        let block = self.blocks.entry(seq / BLOCK).or_insert_with(SeqBlock::empty);
        let before = block.values[place(seq)].replace(value);
        debug_assert!(before.is_none(), "{seq} is there already");
        block.len += 1;
        self.len += 1;
    }

    pub(crate) fn remove(&mut self, seq: u32) -> Option<T> {
        let block = self.blocks.get_mut(&(seq / BLOCK))?;
        let value = block.values[place(seq)].take()?;
        block.len -= 1;
        if block.len == 0 {
            self.blocks.remove(&(seq / BLOCK));
        }
        self.len -= 1;
        Some(value)
    }

    /// The values with their numbers, in the order of the numbers.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (u32, &T)> {
        self.blocks.iter().flat_map(|(block, of_block)| {
            let numbers = (0..BLOCK).map(move |place| block * BLOCK + place);
            numbers.zip(&of_block.values).filter_map(|(seq, value)| Some((seq, value.as_ref()?)))
        })
    }

    /// The same, owned.
    pub(crate) fn into_entries(self) -> impl Iterator<Item = (u32, T)> {
        self.blocks.into_iter().flat_map(|(block, of_block)| {
            let numbers = (0..BLOCK).map(move |place| block * BLOCK + place);
            numbers.zip(of_block.values).filter_map(|(seq, value)| Some((seq, value?)))
        })
    }
}

impl<T> Index<u32> for SeqMap<T> {
    type Output = T;

    fn index(&self, seq: u32) -> &T {
        self.get(seq).expect("the number has a value")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::SeqMap;

    #[derive(Debug, Clone, Copy)]
    enum Change {
        Insert(u32),
        Remove(u32),
    }

    fn seqs() -> impl Strategy<Value = u32> {
        prop_oneof![0..100_u32, Just(u32::MAX), any::<u32>()]
    }

    fn changes() -> impl Strategy<Value = Vec<Change>> {
        let change = prop_oneof![seqs().prop_map(Change::Insert), seqs().prop_map(Change::Remove)];
        prop::collection::vec(change, 0..200)
    }

    proptest! {
        #[test]
        fn it_holds_what_a_b_tree_holds(changes in changes()) {
            let (mut map, mut tree) = (SeqMap::default(), BTreeMap::new());
            for (number, change) in changes.into_iter().enumerate() {
                match change {
                    Change::Insert(seq) if !tree.contains_key(&seq) => {
                        map.insert(seq, number);
                        tree.insert(seq, number);
                    }
                    Change::Insert(seq) => prop_assert_eq!(map.get_mut(seq), tree.get_mut(&seq)),
                    Change::Remove(seq) => prop_assert_eq!(map.remove(seq), tree.remove(&seq)),
                }
                prop_assert_eq!((map.len(), map.is_empty()), (tree.len(), tree.is_empty()));
            }
            prop_assert!(tree.iter().all(|(seq, value)| map[*seq] == *value));
            prop_assert!(map.into_entries().eq(tree));
        }
    }
}
