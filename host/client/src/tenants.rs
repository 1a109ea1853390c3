//! Tenants and their keys. Making one is never repeated blindly: a second would stay behind.

use assay_model::api::{CreateKey, CreateTenant, Key, KeyList, Tenant, TenantList};
use assay_model::id::KeyId;
use reqwest::Method;

use crate::call::{Client, Repeat};
use crate::error::Error;

impl Client {
    pub async fn tenants(&self) -> Result<TenantList, Error> {
        self.json(self.request(Method::GET, &["tenants"]), Repeat::Safe).await
    }

    pub async fn create_tenant(&self, tenant: &CreateTenant) -> Result<Tenant, Error> {
        self.json(self.request(Method::POST, &["tenants"]).json(tenant), Repeat::Unsafe).await
    }

    pub async fn keys(&self) -> Result<KeyList, Error> {
        self.json(self.request(Method::GET, &["keys"]), Repeat::Safe).await
    }

    /// The answer holds the secret, this once.
    pub async fn create_key(&self, key: &CreateKey) -> Result<Key, Error> {
        self.json(self.request(Method::POST, &["keys"]).json(key), Repeat::Unsafe).await
    }

    pub async fn revoke_key(&self, key: KeyId) -> Result<Key, Error> {
        let request = self.request(Method::POST, &["keys", &key.to_string(), "revoke"]);
        self.json(request, Repeat::Safe).await
    }
}
