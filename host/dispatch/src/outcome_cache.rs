//! Outcomes for equal requests that arrive later: for each tenant the most recently used ones, within
//! a limit of bytes.
//!
//! `dedup` owns it. A dropped entry costs one computation and nothing else.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use assay_core::id::TenantId;
use assay_core::limits;

use crate::dedup::{ContentHash, DedupKey, SharedOutcome};

/// Bytes that an entry takes in addition to its outcome.
const ENTRY_BYTES: usize = 256;

#[derive(Debug, Default)]
pub(super) struct OutcomeCache {
    tenants: HashMap<TenantId, Outcomes>,
    uses: u64,
}

/// The cached outcomes of one tenant.
#[derive(Debug, Default)]
struct Outcomes {
    by_content: HashMap<ContentHash, Entry>,
    /// Contents by their last use, the oldest first.
    ages: BTreeMap<u64, ContentHash>,
    bytes: usize,
    used: u64,
}

#[derive(Debug)]
struct Entry {
    known: Arc<SharedOutcome>,
    bytes: usize,
    used: u64,
}

impl OutcomeCache {
    pub(super) fn get(&mut self, (tenant, content): &DedupKey) -> Option<Arc<SharedOutcome>> {
        self.uses += 1;
        self.tenants.get_mut(tenant)?.get(*content, self.uses)
    }

    pub(super) fn insert(
        &mut self,
        (tenant, content): DedupKey,
        known: Arc<SharedOutcome>,
        bytes: usize,
    ) {
        self.uses += 1;
        if !self.tenants.contains_key(&tenant)
            && self.tenants.len() >= limits::SHARED_OUTCOMES_TENANTS_MAX
        {
            let oldest = self.tenants.iter().min_by_key(|(_, outcomes)| outcomes.used);
            let oldest = oldest.map(|(tenant, _)| *tenant);
            oldest.map(|tenant| self.tenants.remove(&tenant));
        }
        let entry = Entry { known, bytes: bytes + ENTRY_BYTES, used: self.uses };
        self.tenants.entry(tenant).or_default().insert(content, entry);
    }

    pub(super) fn forget(&mut self, tenant: TenantId) {
        self.tenants.remove(&tenant);
    }
}

impl Outcomes {
    fn get(&mut self, content: ContentHash, now: u64) -> Option<Arc<SharedOutcome>> {
        self.used = now;
        let entry = self.by_content.get_mut(&content)?;
        self.ages.remove(&entry.used);
        self.ages.insert(now, content);
        entry.used = now;
        Some(Arc::clone(&entry.known))
    }

    fn insert(&mut self, content: ContentHash, entry: Entry) {
        self.used = entry.used;
        self.bytes += entry.bytes;
        self.ages.insert(entry.used, content);
        if let Some(old) = self.by_content.insert(content, entry) {
            self.ages.remove(&old.used);
            self.bytes -= old.bytes;
        }
        while self.bytes > limits::SHARED_OUTCOMES_BYTES_MAX {
            let Some((_, oldest)) = self.ages.pop_first() else { return };
            self.bytes -= self.by_content.remove(&oldest).map_or(0, |entry| entry.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use assay_core::id::{BatchId, RequestId};
    use assay_core::outcome::Outcome;
    use assay_core::time::Micros;
    use uuid::Uuid;

    use super::*;

    fn known(seq: u32) -> Arc<SharedOutcome> {
        let outcome = Outcome::TimedOut { stage: "score".into(), reward: 0.0 };
        let primary = RequestId { batch: BatchId(Uuid::nil()), seq };
        Arc::new(SharedOutcome { primary, outcome, earliest_end: Micros::ZERO })
    }

    fn key(tenant: usize, number: u8) -> DedupKey {
        (TenantId(Uuid::from_u128(tenant as u128)), ContentHash::from_bytes([number; 32]))
    }

    #[test]
    fn the_longest_unused_makes_room() {
        let mut cache = OutcomeCache::default();
        let third = limits::SHARED_OUTCOMES_BYTES_MAX / 3 - ENTRY_BYTES;
        for number in 0..3 {
            cache.insert(key(1, number), known(number.into()), third);
        }
        assert_eq!(cache.get(&key(1, 0)), Some(known(0)));
        cache.insert(key(1, 3), known(3), third);
        assert_eq!(cache.get(&key(1, 1)), None);
        assert_eq!(cache.get(&key(1, 0)), Some(known(0)));
        // Written anew it is counted once.
        cache.insert(key(1, 0), known(9), third);
        assert_eq!(cache.get(&key(1, 0)), Some(known(9)));
        assert_eq!(cache.get(&key(1, 2)), Some(known(2)));
        let outcomes = &cache.tenants[&key(1, 0).0];
        assert_eq!((outcomes.ages.len(), outcomes.by_content.len()), (3, 3));
        assert_eq!(outcomes.bytes, 3 * (third + ENTRY_BYTES));
    }

    #[test]
    fn what_is_larger_than_the_room_is_not_kept() {
        let mut cache = OutcomeCache::default();
        cache.insert(key(1, 0), known(0), limits::SHARED_OUTCOMES_BYTES_MAX);
        assert_eq!(cache.get(&key(1, 0)), None);
        assert_eq!(cache.tenants[&key(1, 0).0].bytes, 0);
    }

    #[test]
    fn tenants_do_not_see_each_others_and_are_few() {
        let mut cache = OutcomeCache::default();
        for tenant in 0..limits::SHARED_OUTCOMES_TENANTS_MAX {
            cache.insert(key(tenant, 0), known(0), 1);
        }
        assert_eq!(cache.get(&key(99, 0)), None);
        assert!(cache.get(&key(0, 0)).is_some());
        cache.insert(key(99, 0), known(0), 1);
        assert_eq!(cache.get(&key(1, 0)), None);
        assert!(cache.get(&key(0, 0)).is_some());
        cache.forget(key(0, 0).0);
        assert_eq!(cache.get(&key(0, 0)), None);
    }
}
