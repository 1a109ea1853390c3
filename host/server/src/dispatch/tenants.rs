//! Tenants' settings as they were last stored, at hand for the loop and for handlers.
//!
//! The database has the truth; whoever changes it there changes it here at once
//! ([`super::Dispatch::set_tenant`]). Never decides anything.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

use assay_model::id::TenantId;
use assay_model::tenant::{Tenant, TenantSettings};
use assay_sched::{Share, Weight};

#[derive(Default)]
pub struct Tenants {
    settings: RwLock<HashMap<TenantId, Arc<TenantSettings>>>,
}

impl Tenants {
    #[must_use]
    pub fn new(tenants: Vec<Tenant>) -> Self {
        let settings = tenants.into_iter().map(|tenant| (tenant.id, Arc::new(tenant.settings)));
        Self { settings: RwLock::new(settings.collect()) }
    }

    /// Of a tenant that nobody knows: no bounds and no grants.
    #[must_use]
    pub fn get(&self, tenant: TenantId) -> Arc<TenantSettings> {
        let settings = self.settings.read().unwrap_or_else(PoisonError::into_inner);
        settings.get(&tenant).map(Arc::clone).unwrap_or_default()
    }

    /// What it may have of the pools.
    pub(super) fn share(&self, tenant: TenantId) -> Share {
        let settings = self.get(tenant);
        let workers_max = settings.quotas.workers_max.iter();
        Share {
            weight: Weight::new(settings.weight.into()).unwrap_or_default(),
            workers_max: workers_max.map(|(pool, &max)| (pool.as_str().into(), max)).collect(),
        }
    }

    /// In their order.
    pub(super) fn ids(&self) -> BTreeSet<TenantId> {
        let settings = self.settings.read().unwrap_or_else(PoisonError::into_inner);
        settings.keys().copied().collect()
    }

    #[must_use]
    pub fn count(&self) -> usize {
        self.settings.read().unwrap_or_else(PoisonError::into_inner).len()
    }

    pub(super) fn set(&self, tenant: TenantId, settings: TenantSettings) {
        let mut known = self.settings.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(tenant, Arc::new(settings));
    }
}
