//! Lookups of names under way in this process, of all its calls. One blocks a thread until the machine's resolver answers
//! it, however soon the request and the call that asked for it end: so each tenant has a share of them, and what one
//! leaves unanswered does not keep others from theirs.

use std::collections::BTreeMap;
use std::sync::Arc;

use assay_core::id::TenantId;
use assay_core::limits;
use parking_lot::Mutex;

/// The tenants that have lookups under way, and how many.
#[derive(Default)]
pub(super) struct Lookups(Mutex<BTreeMap<TenantId, usize>>);

/// A place for a lookup, until the resolver has answered.
pub(super) struct LookupPlace {
    lookups: Arc<Lookups>,
    tenant: TenantId,
}

impl Lookups {
    /// A place for a lookup, if there is one now. Nobody waits for one: that would be time of the call.
    pub(super) fn place(self: &Arc<Self>, tenant: TenantId) -> Option<LookupPlace> {
        let mut under_way = self.0.lock();
        let all: usize = under_way.values().sum();
        let own = under_way.get(&tenant).copied().unwrap_or(0);
        if all >= limits::LOOKUPS_MAX || own >= limits::LOOKUPS_TENANT_MAX {
            return None;
        }
        under_way.insert(tenant, own + 1);
        Some(LookupPlace { lookups: Arc::clone(self), tenant })
    }
}

impl Drop for LookupPlace {
    fn drop(&mut self) {
        let mut under_way = self.lookups.0.lock();
        match under_way.get_mut(&self.tenant) {
            Some(own) if *own > 1 => *own -= 1,
            _ => drop(under_way.remove(&self.tenant)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenant_has_a_share() {
        let lookups = Arc::new(Lookups::default());
        let places = |count: usize| {
            let tenant = TenantId::generate();
            (0..count).map_while(|_| lookups.place(tenant)).collect::<Vec<_>>()
        };
        let first = places(limits::LOOKUPS_MAX);
        assert_eq!(first.len(), limits::LOOKUPS_TENANT_MAX);
        let others: Vec<_> = (0..limits::LOOKUPS_MAX).map(|_| places(1)).collect();
        let got = others.iter().flatten().count();
        assert_eq!(got, limits::LOOKUPS_MAX - limits::LOOKUPS_TENANT_MAX);
        drop(first);
        assert_eq!(places(1).len(), 1);
        drop(others);
        assert!(lookups.0.lock().is_empty());
    }
}
