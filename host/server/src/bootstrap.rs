//! The first tenant and the first key of a new installation.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use anyhow::Context as _;
use assay_model::api::Scope;
use assay_model::id::TenantId;

use crate::dispatch::now;
use crate::http::NewSecret;
use crate::server::Settings;
use crate::store::keys::NewKey;
use crate::store::{Store, StoreError};

/// Who gets the first key and where it is kept for its owner, readable by nobody else.
#[derive(Debug, Clone)]
pub struct FirstKey {
    pub tenant: String,
    /// Within the data folder.
    pub file: &'static str,
}

/// The key in the file while it works; otherwise a new one, for the first tenant.
pub async fn first_key(store: &Store, settings: &Settings) -> anyhow::Result<String> {
    let file = settings.data.join(settings.first_key.file);
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    if works(store, kept.trim()).await? {
        return Ok(kept.trim().to_owned());
    }
    let tenant = first_tenant(store, &settings.first_key.tenant).await?;
    let secret = NewSecret::generate(&settings.environment);
    let key = NewKey {
        tenant,
        name: "first key",
        prefix: &secret.prefix,
        secret_hash: secret.hash,
        scopes: &Scope::ALL,
        created_at: now(),
        expires_at: None,
    };
    write(&file, &secret.key)?;
    store.create_key(key).await?;
    tracing::info!("a new administrator's key is in {}", file.display());
    Ok(secret.key)
}

async fn works(store: &Store, key: &str) -> Result<bool, StoreError> {
    let Some(prefix) = key.split('_').nth(2) else { return Ok(false) };
    let row = store.key_by_prefix(prefix).await?;
    Ok(row.is_some_and(|row| {
        row.secret_hash == crate::blob::digest(key.as_bytes()) && row.revoked_at.is_none()
    }))
}

async fn first_tenant(store: &Store, name: &str) -> Result<TenantId, StoreError> {
    match store.tenant_by_name(name).await {
        Ok(tenant) => Ok(tenant.id),
        Err(StoreError::NotFound(_)) => Ok(store.create_tenant(name, now()).await?.id),
        Err(error) => Err(error),
    }
}

fn write(file: &Path, key: &str) -> anyhow::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    let mut open =
        options.write(true).create(true).truncate(true).mode(0o600).open(file).context("opening");
    if let Ok(open) = &mut open {
        writeln!(open, "{key}").context("writing")?;
    }
    open.map(drop).with_context(|| format!("keeping the first key in {}", file.display()))
}

/// For workers of this life of the server.
///
/// # Panics
/// When the operating system has no randomness to give.
#[must_use]
pub fn random_token() -> String {
    let mut random = [0u8; 32];
    getrandom::fill(&mut random).expect("the operating system gives randomness");
    hex::encode(random)
}
