//! The job that deletes what is too old: results by their tenants' retention, the times of completed
//! batches, incidents, how pools stood, and the audit. At the start, every hour, and when a retention was changed.
//!
//! It owns no state and holds nothing up: small transactions, one after the other. What it could not
//! delete it finds again the next time.

use std::sync::Arc;
use std::time::Duration;

use assay_model::limits;
use assay_model::tenant::Tenant;
use assay_model::time::Micros;
use tokio::sync::Notify;

use crate::dispatch::{Dispatch, now};
use crate::store::{Store, StoreError};

const PERIOD: Duration = Duration::from_secs(3_600);

/// How long the platform keeps things of tenants for which nothing else is said.
#[derive(Debug, Clone, Copy)]
pub struct Kept {
    /// For ever when absent.
    pub results: Option<Micros>,
    pub history: Micros,
    /// For ever when absent.
    pub audit: Option<Micros>,
}

/// What the job works with.
pub struct Retention {
    pub store: Store,
    pub dispatch: Dispatch,
    pub kept: Kept,
    /// Told when a tenant's retention was changed.
    pub changed: Arc<Notify>,
}

impl Retention {
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let work = async {
            loop {
                if let Err(error) = self.delete_old().await {
                    tracing::warn!("what is too old cannot be deleted: {error}");
                }
                // A change that came meanwhile is waited for no more.
                let _ = tokio::time::timeout(PERIOD, self.changed.notified()).await;
            }
        };
        tokio::select! {
            () = work => {}
            () = stop => {}
        }
    }

    async fn delete_old(&self) -> Result<(), StoreError> {
        let at = now();
        for tenant in self.store.tenants().await? {
            self.delete_of(&tenant, at).await?;
        }
        self.store.forget_incidents(at.since(days(limits::INCIDENT_DAYS_KEPT))).await?;
        self.store.forget_samples(at.since(days(limits::CAPACITY_SAMPLE_DAYS_KEPT))).await?;
        if let Some(kept) = self.kept.audit {
            let acts = self.store.forget_audit(at.since(kept)).await?;
            if acts > 0 {
                tracing::info!(acts, "audit that was too old is deleted");
            }
        }
        Ok(())
    }

    async fn delete_of(&self, tenant: &Tenant, at: Micros) -> Result<(), StoreError> {
        let retention = &tenant.settings.retention;
        if let Some(kept) = retention.results_days.map(days).or(self.kept.results) {
            let forget = |batch| self.dispatch.board.forget(batch);
            let batches = self.store.purge_batches(tenant.id, at.since(kept), at, forget).await?;
            if batches > 0 {
                tracing::info!(tenant.id = %tenant.id, batches, "results that were too old are deleted");
            }
        }
        let kept = retention.history_days.map_or(self.kept.history, days);
        let batches = self.store.forget_history(tenant.id, at.since(kept)).await?;
        if batches > 0 {
            tracing::info!(tenant.id = %tenant.id, batches, "history that was too old is deleted");
        }
        Ok(())
    }
}

#[must_use]
pub fn days(days: u32) -> Micros {
    Micros::from_secs(u64::from(days) * 24 * 3_600)
}
