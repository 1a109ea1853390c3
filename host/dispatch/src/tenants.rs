//! Tenants' settings as they were last stored, in memory for the loop and for handlers.
//!
//! The database is authoritative; a handler that changes it calls [`crate::Dispatch::set_tenant`] at
//! once. This module decides nothing.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

use assay_api::tenant::{Tenant, TenantSettings};
use assay_core::id::TenantId;
use assay_sched::{Entitlement, Weight};
use assay_wire::proto;

use crate::secrets::Secrets;

#[derive(Default)]
pub struct Tenants {
    known: RwLock<HashMap<TenantId, TenantEntry>>,
    secrets: Arc<Secrets>,
}

struct TenantEntry {
    /// The tenant's name, which never changes.
    name: Arc<str>,
    settings: Arc<TenantSettings>,
}

impl Tenants {
    #[must_use]
    pub fn new(tenants: Vec<Tenant>, secrets: Arc<Secrets>) -> Self {
        let known = tenants.into_iter().map(|tenant| {
            let settings = Arc::new(tenant.settings);
            (tenant.id, TenantEntry { name: tenant.name.into(), settings })
        });
        Self { known: RwLock::new(known.collect()), secrets }
    }

    /// The tenant's settings; an unknown tenant has no limits and no grants.
    #[must_use]
    pub fn get(&self, tenant: TenantId) -> Arc<TenantSettings> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.get(&tenant).map(|known| Arc::clone(&known.settings)).unwrap_or_default()
    }

    /// The tenant's name; empty for an unknown tenant.
    #[must_use]
    pub fn name(&self, tenant: TenantId) -> Arc<str> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.get(&tenant).map_or_else(|| "".into(), |known| Arc::clone(&known.name))
    }

    /// The hosts to which its plugins may send requests, and the secrets for them.
    #[must_use]
    pub fn outbound(&self, tenant: TenantId) -> proto::Outbound {
        proto::Outbound {
            hosts: self.get(tenant).grants.hosts.clone(),
            secrets: self.secrets.of(&self.name(tenant)).cloned().collect(),
        }
    }

    /// The tenant's weight and worker limits.
    pub(super) fn entitlement(&self, tenant: TenantId) -> Entitlement {
        let settings = self.get(tenant);
        let workers_max = settings.quotas.workers_max.iter();
        Entitlement {
            weight: Weight::new(settings.weight.into()).unwrap_or_default(),
            workers_max: workers_max.map(|(pool, &max)| (pool.as_str().into(), max)).collect(),
        }
    }

    /// All tenants, in the order of their ids.
    pub(super) fn ids(&self) -> BTreeSet<TenantId> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.keys().copied().collect()
    }

    #[must_use]
    pub fn count(&self) -> usize {
        self.known.read().unwrap_or_else(PoisonError::into_inner).len()
    }

    pub(super) fn set(&self, tenant: Tenant) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let (id, settings) = (tenant.id, Arc::new(tenant.settings));
        known.insert(id, TenantEntry { name: tenant.name.into(), settings });
    }
}
