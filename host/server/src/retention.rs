//! The job that deletes old rows: results by their tenants' retention, history of completed batches,
//! incidents, deliveries to webhooks, samples of pools, and the audit. It runs at the start, every hour, and when a retention
//! was changed.
//!
//! It owns no state and blocks nothing: small transactions, one after the other. Rows that it could
//! not delete are deleted the next time.

use std::sync::Arc;
use std::time::Duration;

use assay_api::tenant::Tenant;
use assay_core::limits;
use assay_core::time::Micros;
use tokio::sync::Notify;

use assay_dispatch::{Dispatch, now};
use assay_store::{Store, StoreError};

const PERIOD: Duration = Duration::from_secs(3_600);

/// The retention of tenants that have no setting of their own.
#[derive(Debug, Clone, Copy)]
pub struct RetentionDefaults {
    /// The time for which results are kept; forever if absent.
    pub results: Option<Micros>,
    pub history: Micros,
    /// The time for which the audit log is kept; forever if absent.
    pub audit: Option<Micros>,
}

/// The job and its parts.
pub struct Retention {
    pub store: Store,
    pub dispatch: Dispatch,
    pub kept: RetentionDefaults,
    /// Notified when a tenant's retention was changed.
    pub changed: Arc<Notify>,
}

impl Retention {
    /// Works until it is dropped.
    pub async fn run(self) {
        loop {
            if let Err(error) = self.delete_old().await {
                tracing::warn!("old rows cannot be deleted: {error}");
            }
            // A change during the run has been stored, so this returns at once.
            let _ = tokio::time::timeout(PERIOD, self.changed.notified()).await;
        }
    }

    async fn delete_old(&self) -> Result<(), StoreError> {
        let at = now();
        for tenant in self.store.tenants().await? {
            self.delete_of(&tenant, at).await?;
        }
        let incidents_before = at.since(Micros::from_days(limits::INCIDENT_DAYS_KEPT));
        self.store.forget_incidents(incidents_before).await?;
        self.store.forget_acknowledgements(incidents_before).await?;
        self.store
            .forget_deliveries(at.since(Micros::from_days(limits::WEBHOOK_DELIVERY_DAYS_KEPT)))
            .await?;
        self.store
            .forget_capacity_samples(at.since(Micros::from_days(limits::CAPACITY_SAMPLE_DAYS_KEPT)))
            .await?;
        if let Some(kept) = self.kept.audit {
            let acts = self.store.forget_audit(at.since(kept)).await?;
            if acts > 0 {
                tracing::info!(acts, "old audit rows are deleted");
            }
        }
        Ok(())
    }

    async fn delete_of(&self, tenant: &Tenant, at: Micros) -> Result<(), StoreError> {
        let retention = &tenant.settings.retention;
        if let Some(kept) = retention.results_days.map(Micros::from_days).or(self.kept.results) {
            let forget = |batch| self.dispatch.committed.forget(batch);
            let batches = self.store.purge_batches(tenant.id, at.since(kept), at, forget).await?;
            if batches > 0 {
                tracing::info!(tenant.id = %tenant.id, batches, "old results are deleted");
            }
        }
        let kept = retention.history_days.map_or(self.kept.history, Micros::from_days);
        let batches = self.store.forget_history(tenant.id, at.since(kept)).await?;
        if batches > 0 {
            tracing::info!(tenant.id = %tenant.id, batches, "old history is deleted");
        }
        Ok(())
    }
}
