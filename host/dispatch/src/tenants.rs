//! Tenants' settings as they were last stored, in memory for the loop and for handlers.
//!
//! The database is authoritative; a handler that changes it calls [`crate::Dispatch::set_tenant`] at
//! once. This module decides nothing.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use assay_api::tenant::{Tenant, TenantSettings};
use assay_core::id::TenantId;
use assay_sched::{Entitlement, Weight};
use assay_wire::proto;
use parking_lot::RwLock;

use crate::secrets::Secrets;

#[derive(Default)]
pub struct Tenants {
    known: RwLock<HashMap<TenantId, TenantEntry>>,
    secrets: Arc<Secrets>,
}

/// The number of changes of a tenant's settings since the start.
///
/// A plugin's capabilities depend on the settings, so a request that was submitted before a change does not equal one
/// that came after it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct SettingsEpoch(pub(super) u64);

struct TenantEntry {
    /// The tenant's name, which never changes.
    name: Arc<str>,
    settings: Arc<TenantSettings>,
    epoch: SettingsEpoch,
}

impl Tenants {
    #[must_use]
    pub fn new(tenants: Vec<Tenant>, secrets: Arc<Secrets>) -> Self {
        let known = tenants.into_iter().map(|tenant| {
            let settings = Arc::new(tenant.settings);
            let epoch = SettingsEpoch::default();
            (tenant.id, TenantEntry { name: tenant.name.into(), settings, epoch })
        });
        Self { known: RwLock::new(known.collect()), secrets }
    }

    /// The tenant's settings; an unknown tenant has no limits and no grants.
    #[must_use]
    pub fn get(&self, tenant: TenantId) -> Arc<TenantSettings> {
        let known = self.known.read();
        known.get(&tenant).map(|known| Arc::clone(&known.settings)).unwrap_or_default()
    }

    /// The tenant's name; empty for an unknown tenant.
    #[must_use]
    pub fn name(&self, tenant: TenantId) -> Arc<str> {
        let known = self.known.read();
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

    /// The tenant's weight and worker limits, and whether its runs share workers.
    pub(super) fn entitlement(&self, tenant: TenantId) -> Entitlement {
        let settings = self.get(tenant);
        let workers_max = settings.quotas.workers_max.iter();
        Entitlement {
            weight: Weight::new(settings.weight.into()).unwrap_or_default(),
            workers_max: workers_max.map(|(pool, &max)| (pool.as_str().into(), max)).collect(),
            share_runs: settings.share_runs,
        }
    }

    /// All tenants, in the order of their ids.
    pub(super) fn ids(&self) -> BTreeSet<TenantId> {
        let known = self.known.read();
        known.keys().copied().collect()
    }

    #[must_use]
    pub fn count(&self) -> usize {
        self.known.read().len()
    }

    pub(super) fn set(&self, tenant: Tenant) {
        let mut known = self.known.write();
        let (id, settings) = (tenant.id, Arc::new(tenant.settings));
        let epoch = known.get(&id).map_or(0, |known| known.epoch.0 + 1);
        let epoch = SettingsEpoch(epoch);
        known.insert(id, TenantEntry { name: tenant.name.into(), settings, epoch });
    }

    pub(super) fn epoch(&self, tenant: TenantId) -> SettingsEpoch {
        let known = self.known.read();
        known.get(&tenant).map(|known| known.epoch).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_settings_begins_an_epoch_of_that_tenant() {
        let [changed, other] = [TenantId::generate(), TenantId::generate()];
        let tenant = |id| Tenant {
            id,
            name: "a".into(),
            created_at: assay_core::time::Micros(1),
            suspended_at: None,
            settings: TenantSettings::default(),
            storage_roots: Vec::new(),
        };
        let tenants = Tenants::new(vec![tenant(changed), tenant(other)], Arc::default());
        let first = tenants.epoch(changed);
        assert_eq!(first, SettingsEpoch::default(), "restored requests have this one");
        tenants.set(tenant(changed));
        assert_ne!(tenants.epoch(changed), first);
        assert_eq!(tenants.epoch(other), first);
    }
}
