//! A bounded map that forgets its least recently used entries.

use std::collections::BTreeMap;

/// An ordered map with a limit: a new key replaces the least recently used one. A call of `entry`
/// is a use; reading is none.
#[derive(Debug)]
pub struct LruMap<K, V> {
    limit: usize,
    values: BTreeMap<K, (u64, V)>,
    ages: BTreeMap<u64, K>,
    uses: u64,
}

impl<K: Ord + Clone, V> LruMap<K, V> {
    /// An empty map of at most `limit` entries.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { limit, values: BTreeMap::new(), ages: BTreeMap::new(), uses: 0 }
    }

    /// The value of a key; the call does not count as a use.
    #[must_use]
    pub fn get(&self, key: &K) -> Option<&V> {
        self.values.get(key).map(|(_, value)| value)
    }

    /// The value of a key, to be changed; the call does not count as a use.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.values.get_mut(key).map(|(_, value)| value)
    }

    /// All values, in the order of their keys.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.values.values().map(|(_, value)| value)
    }

    /// Removes the least recently used entry.
    pub fn pop_oldest(&mut self) -> Option<V> {
        let (_, key) = self.ages.pop_first()?;
        self.values.remove(&key).map(|(_, value)| value)
    }

    /// The value of a key, made if it is missing; the call counts as a use.
    pub fn entry(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        self.uses += 1;
        if let Some((used, _)) = self.values.get(&key) {
            self.ages.remove(used);
        } else if self.values.len() == self.limit {
            self.pop_oldest();
        }
        self.ages.insert(self.uses, key.clone());
        let (used, value) = self.values.entry(key).or_insert_with(|| (0, make()));
        *used = self.uses;
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_unused_makes_room() {
        let mut recent = LruMap::new(2);
        *recent.entry("a", || 1) += 10;
        recent.entry("b", || 2);
        recent.entry("a", || 0);
        recent.entry("c", || 3);
        assert_eq!(recent.get(&"a"), Some(&11));
        assert_eq!(recent.get(&"b"), None);
        assert_eq!(recent.get(&"c"), Some(&3));
        assert_eq!(recent.ages.len(), recent.values.len());
    }
}
