//! The tenant of each task, the tenants' weights and bounds, and the workers that they got.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use assay_core::id::TenantId;
use assay_core::time::Micros;
use assay_sched::{Entitlement, Event};
use uuid::Uuid;

use super::fleet::Job;
use super::{Engine, SimulateError};
use crate::account::{Served, TenantUse};
use crate::trace::{Task, Trace};

/// The tenant of all tasks that name none.
const UNNAMED: &str = "default";

#[derive(Debug)]
pub(super) struct Tenants {
    names: Vec<String>,
    /// The tenant of each task, as a place among the names.
    of: Vec<usize>,
    /// The served times by tenant; empty if there is only one.
    served: Vec<Vec<Served>>,
}

impl Tenants {
    pub(super) fn of_trace(trace: &Trace) -> Self {
        let name = |task: &Task| task.tenant.as_deref().unwrap_or(UNNAMED).to_owned();
        let names: BTreeSet<String> = trace.tasks.iter().map(name).collect();
        let names: Vec<String> = names.into_iter().collect();
        let place = |task: &Task| names.binary_search(&name(task)).expect("each name is there");
        let of = trace.tasks.iter().map(place).collect();
        let several = if names.len() > 1 { names.len() } else { 0 };
        Self { of, served: vec![Vec::new(); several], names }
    }

    /// Shares are of tenants that there are.
    pub(super) fn check(
        &self,
        entitlements: &BTreeMap<String, Entitlement>,
    ) -> Result<(), SimulateError> {
        match entitlements.keys().find(|named| !self.names.contains(named)) {
            Some(named) => {
                let tenants = self.names.join(", ");
                Err(SimulateError::NoSuchTenant { named: named.clone(), tenants })
            }
            None => Ok(()),
        }
    }

    pub(super) fn of(&self, task: usize) -> usize {
        self.of[task]
    }

    pub(super) fn id(&self, task: usize) -> TenantId {
        tenant_id(self.of[task])
    }

    /// A worker let go of a request.
    pub(super) fn served(&mut self, job: &Job, traced: usize, now: Micros) {
        if let Some(served) = self.served.get_mut(job.tenant) {
            served.push(Served { pool: traced, from: job.since, until: now });
        }
    }

    pub(super) fn into_used(self, trace: &Trace) -> Vec<TenantUse> {
        let tasks = |place: usize| {
            let tasks = trace.tasks.iter().zip(&self.of).filter(|(_, of)| **of == place);
            tasks.map(|(task, _)| task.id).collect()
        };
        let used = self.names.iter().zip(self.served).enumerate();
        used.map(|(place, (name, served))| TenantUse {
            tenant: name.clone(),
            tasks: tasks(place),
            served,
        })
        .collect()
    }
}

fn tenant_id(place: usize) -> TenantId {
    TenantId(Uuid::from_u128(place as u128))
}

impl Engine<'_> {
    /// Gives the scheduler the tenants' weights and bounds, as a server does before it restores any batch.
    pub(super) fn tell_entitlements(&mut self) {
        for (place, name) in self.tenants.names.iter().enumerate() {
            let Some(entitlement) = self.settings.entitlements.get(name) else { continue };
            let mut workers_max = BTreeMap::new();
            for pool in &self.pools {
                let traced = &self.traced[pool.traced].name;
                if let Some(max) = entitlement.workers_max.get(traced.as_str()) {
                    workers_max.insert(Arc::clone(&pool.name), *max);
                }
            }
            let entitlement = Entitlement { workers_max, ..entitlement.clone() };
            let tenant = tenant_id(place);
            self.pending.push_back(Event::EntitlementChanged { tenant, entitlement });
        }
    }
}
