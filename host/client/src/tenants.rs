//! Tenants, their keys and their audit log. A creation is not repeated after an unknown outcome: it
//! could leave a second tenant or key.

use assay_api::audit::{AuditFilter, AuditPage};
use assay_api::key::{CreateKey, Key, KeyList, RotateKey};
use assay_api::tenant::TenantUsage;
use assay_api::tenant::{CreateTenant, Tenant, TenantList};
use assay_core::id::KeyId;
use reqwest::{Method, RequestBuilder};

use crate::call::{Client, Repeat};
use crate::error::Error;

impl Client {
    /// All tenants, or your own.
    pub async fn tenants(&self) -> Result<TenantList, Error> {
        Ok(TenantList { items: self.every(&["tenants"], None).await?, next: None })
    }

    pub async fn create_tenant(&self, tenant: &CreateTenant) -> Result<Tenant, Error> {
        self.json(self.request(Method::POST, &["tenants"]).json(tenant), Repeat::Unsafe).await
    }

    pub async fn tenant(&self, name: &str) -> Result<Tenant, Error> {
        self.json(self.request(Method::GET, &["tenants", name]), Repeat::Safe).await
    }

    /// `patch` is a JSON merge patch of the tenant's settings.
    pub async fn set_tenant(&self, name: &str, patch: &serde_json::Value) -> Result<Tenant, Error> {
        let request = self.request(Method::PATCH, &["tenants", name]);
        self.json(request.json(patch), Repeat::Safe).await
    }

    /// The tenant's current use of its quotas, and its usage by day over `days` days, today
    /// included.
    pub async fn tenant_usage(&self, name: &str, days: u32) -> Result<TenantUsage, Error> {
        let request = self.request(Method::GET, &["tenants", name, "usage"]);
        self.json(request.query(&[("days", days)]), Repeat::Safe).await
    }

    /// Administrative actions, the latest first.
    pub async fn audit(&self, filter: &AuditFilter) -> Result<AuditPage, Error> {
        let request = self.request(Method::GET, &["audit"]);
        self.json(request.query(filter), Repeat::Safe).await
    }

    /// The keys of the given tenant, or of your own.
    pub async fn keys(&self, tenant: Option<&str>) -> Result<KeyList, Error> {
        Ok(KeyList { items: self.every(&["keys"], tenant).await?, next: None })
    }

    /// Creates a key; only this answer contains its secret.
    pub async fn create_key(&self, key: &CreateKey) -> Result<Key, Error> {
        self.json(self.request(Method::POST, &["keys"]).json(key), Repeat::Unsafe).await
    }

    /// Gives a key a new secret; only this answer contains it.
    pub async fn rotate_key(
        &self,
        key: KeyId,
        tenant: Option<&str>,
        rotation: &RotateKey,
    ) -> Result<Key, Error> {
        let request = self.request(Method::POST, &["keys", &key.to_string(), "rotate"]);
        self.json(of_tenant(request, tenant).json(rotation), Repeat::Unsafe).await
    }

    pub async fn revoke_key(&self, key: KeyId, tenant: Option<&str>) -> Result<Key, Error> {
        let request = self.request(Method::POST, &["keys", &key.to_string(), "revoke"]);
        self.json(of_tenant(request, tenant), Repeat::Safe).await
    }
}

pub(crate) fn of_tenant(request: RequestBuilder, tenant: Option<&str>) -> RequestBuilder {
    match tenant {
        Some(tenant) => request.query(&[("tenant", tenant)]),
        None => request,
    }
}
