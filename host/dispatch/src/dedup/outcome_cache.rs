//! Outcomes for equal requests that arrive later: for each tenant the most recently used ones, within
//! a limit of bytes.
//!
//! `dedup` owns it. A dropped entry costs one computation and nothing else.

use std::num::NonZeroUsize;
use std::sync::Arc;

use assay_core::id::TenantId;
use assay_core::limits;
use lru::LruCache;

use crate::dedup::{ContentHash, DedupKey, SharedOutcome};

/// Bytes that an entry takes in addition to its outcome.
const ENTRY_BYTES: usize = 256;

const TENANTS_MAX: NonZeroUsize =
    NonZeroUsize::new(limits::SHARED_OUTCOMES_TENANTS_MAX).expect("the limit is not 0");

#[derive(Debug)]
pub(super) struct OutcomeCache {
    tenants: LruCache<TenantId, Outcomes>,
}

/// The cached outcomes of one tenant.
#[derive(Debug)]
struct Outcomes {
    by_content: LruCache<ContentHash, Entry>,
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    known: Arc<SharedOutcome>,
    bytes: usize,
}

impl Default for OutcomeCache {
    fn default() -> Self {
        Self { tenants: LruCache::new(TENANTS_MAX) }
    }
}

impl OutcomeCache {
    pub(super) fn get(&mut self, (tenant, content): &DedupKey) -> Option<Arc<SharedOutcome>> {
        let entry = self.tenants.get_mut(tenant)?.by_content.get(content)?;
        Some(Arc::clone(&entry.known))
    }

    pub(super) fn insert(
        &mut self,
        (tenant, content): DedupKey,
        known: Arc<SharedOutcome>,
        bytes: usize,
    ) {
        let empty = || Outcomes { by_content: LruCache::unbounded(), bytes: 0 };
        let outcomes = self.tenants.get_or_insert_mut(tenant, empty);
        outcomes.insert(content, Entry { known, bytes: bytes + ENTRY_BYTES });
    }

    pub(super) fn forget(&mut self, tenant: TenantId) {
        self.tenants.pop(&tenant);
    }
}

impl Outcomes {
    fn insert(&mut self, content: ContentHash, entry: Entry) {
        self.bytes += entry.bytes;
        if let Some(old) = self.by_content.put(content, entry) {
            self.bytes -= old.bytes;
        }
        while self.bytes > limits::SHARED_OUTCOMES_BYTES_MAX {
            let Some((_, oldest)) = self.by_content.pop_lru() else { return };
            self.bytes -= oldest.bytes;
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
        (TenantId(Uuid::from_u128(tenant as u128)), ContentHash::from_bytes([number; 16]))
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
        let outcomes = cache.tenants.peek(&key(1, 0).0).expect("it has outcomes");
        assert_eq!(outcomes.by_content.len(), 3);
        assert_eq!(outcomes.bytes, 3 * (third + ENTRY_BYTES));
    }

    #[test]
    fn what_is_larger_than_the_room_is_not_kept() {
        let mut cache = OutcomeCache::default();
        cache.insert(key(1, 0), known(0), limits::SHARED_OUTCOMES_BYTES_MAX);
        assert_eq!(cache.get(&key(1, 0)), None);
        assert_eq!(cache.tenants.peek(&key(1, 0).0).map(|outcomes| outcomes.bytes), Some(0));
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
