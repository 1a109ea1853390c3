//! How many streams are open, of each caller, of each tenant and of all.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::sync::Arc;

use assay_core::id::TenantId;
use assay_core::limits;
use axum::http::StatusCode;
use parking_lot::Mutex;
use uuid::Uuid;

use crate::auth::Caller;
use crate::problem::ApiError;

/// The streams that are open.
#[derive(Default)]
pub(crate) struct Streams {
    open: Arc<Mutex<Open>>,
}

#[derive(Default)]
struct Open {
    by_caller: HashMap<Uuid, usize>,
    by_tenant: HashMap<TenantId, usize>,
    all: usize,
}

/// The place of one open stream in the counts; it is given back when dropped.
pub(crate) struct Place {
    open: Arc<Mutex<Open>>,
    caller: Uuid,
    tenant: TenantId,
}

impl Streams {
    pub(crate) fn enter(&self, caller: &Caller) -> Result<Place, ApiError> {
        self.take(caller.id(), caller.tenant)
    }

    fn take(&self, id: Uuid, tenant: TenantId) -> Result<Place, ApiError> {
        let mut open = self.open.lock();
        let own = open.by_caller.get(&id).copied().unwrap_or(0);
        let (own_max, all_max) = (limits::LIVE_STREAMS_PER_CALLER_MAX, limits::LIVE_STREAMS_MAX);
        if own >= own_max {
            let detail = format!("{own} streams are open for you, which is the limit");
            return Err(too_many(detail).hint("one stream a browser is enough: close others"));
        }
        let tenants = open.by_tenant.get(&tenant).copied().unwrap_or(0);
        if tenants >= limits::LIVE_STREAMS_PER_TENANT_MAX {
            let detail = format!("{tenants} streams are open for your tenant, which is the limit");
            return Err(too_many(detail).hint("one stream a browser is enough: close others"));
        }
        if open.all >= all_max {
            return Err(too_many(format!("{all_max} streams are open, which is the limit")));
        }
        *open.by_caller.entry(id).or_default() += 1;
        *open.by_tenant.entry(tenant).or_default() += 1;
        open.all += 1;
        Ok(Place { open: Arc::clone(&self.open), caller: id, tenant })
    }
}

fn too_many(detail: String) -> ApiError {
    ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too_many_streams", detail)
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.open.lock();
        open.all -= 1;
        count_down(&mut open.by_caller, self.caller);
        count_down(&mut open.by_tenant, self.tenant);
    }
}

fn count_down<K: Eq + Hash>(counts: &mut HashMap<K, usize>, key: K) {
    if let Entry::Occupied(mut count) = counts.entry(key) {
        *count.get_mut() -= 1;
        if *count.get() == 0 {
            count.remove();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_streams_of_one_tenant_leave_some_to_others() {
        let streams = Streams::default();
        let [flood, other] = [TenantId::generate(), TenantId::generate()];
        let keys = (0..).map(|key: u128| Uuid::from_u128(key / 16));
        let opened: Vec<Place> = keys.map_while(|key| streams.take(key, flood).ok()).collect();
        assert_eq!(opened.len(), limits::LIVE_STREAMS_PER_TENANT_MAX);
        let key = Uuid::from_u128(1_000);
        let refused = streams.take(key, flood).err().expect("its tenant has too many");
        assert!(refused.detail.contains("for your tenant"), "{}", refused.detail);
        assert!(streams.take(key, other).is_ok());
        drop(opened);
        assert!(streams.take(key, flood).is_ok());
        let open = streams.open.lock();
        assert!(open.by_caller.is_empty() && open.by_tenant.is_empty() && open.all == 0);
    }
}
