//! Tenants, their keys and their audit. Making one is never repeated blindly: a second would stay behind.

use assay_model::api::{CreateKey, CreateTenant, Key, KeyList, RotateKey, Tenant, TenantList};
use assay_model::audit::{AuditFilter, AuditPage};
use assay_model::id::KeyId;
use assay_model::tenant::TenantUsage;
use reqwest::{Method, RequestBuilder};

use crate::call::{Client, Repeat};
use crate::error::Error;

impl Client {
    pub async fn tenants(&self) -> Result<TenantList, Error> {
        self.json(self.request(Method::GET, &["tenants"]), Repeat::Safe).await
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

    /// What it uses now, and what it used today and on the days before, `days` in all.
    pub async fn tenant_usage(&self, name: &str, days: u32) -> Result<TenantUsage, Error> {
        let request = self.request(Method::GET, &["tenants", name, "usage"]);
        self.json(request.query(&[("days", days)]), Repeat::Safe).await
    }

    /// The latest acts first.
    pub async fn audit(&self, filter: &AuditFilter) -> Result<AuditPage, Error> {
        let request = self.request(Method::GET, &["audit"]);
        self.json(request.query(filter), Repeat::Safe).await
    }

    /// Of the named tenant, or your own.
    pub async fn keys(&self, tenant: Option<&str>) -> Result<KeyList, Error> {
        let request = self.request(Method::GET, &["keys"]);
        self.json(of_tenant(request, tenant), Repeat::Safe).await
    }

    /// The answer holds the secret, this once.
    pub async fn create_key(&self, key: &CreateKey) -> Result<Key, Error> {
        self.json(self.request(Method::POST, &["keys"]).json(key), Repeat::Unsafe).await
    }

    /// The answer holds the new secret, this once.
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
