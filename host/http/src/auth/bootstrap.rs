//! The first tenant, the first key and the first administrator of a new installation.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use assay_api::key::Scope;
use assay_api::people::PLATFORM_TENANT;
use assay_api::tenant::{Grants, TenantSettings};
use assay_core::id::{Digest, TenantId};
use assay_dispatch::now;
use assay_store::audit::Actor;
use assay_store::keys::NewKey;
use assay_store::{Store, StoreError};

use crate::auth::NewSecret;
use crate::random::random;

/// The tenant that gets the first key, and the file in which its owner finds it; nobody else can read the
/// file.
#[derive(Debug, Clone)]
pub struct FirstKey {
    /// The tenant's name.
    pub tenant: String,
    /// The file's path within the data folder.
    pub file: &'static str,
}

/// The choices for setting up an installation.
pub struct Installation<'a> {
    pub data: &'a Path,
    /// The owner and the file of the first key.
    pub first_key: &'a FirstKey,
    /// A part of the keys made here, to tell one deployment's from another's.
    pub environment: &'a str,
}

/// The key in the file while it works; otherwise a new one, for the first tenant.
pub async fn first_key(store: &Store, set_up: &Installation<'_>) -> anyhow::Result<String> {
    let file = set_up.data.join(set_up.first_key.file);
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    if works(store, kept.trim()).await? {
        return Ok(kept.trim().to_owned());
    }
    let tenant = first_tenant(store, &set_up.first_key.tenant).await?;
    let secret = NewSecret::generate(set_up.environment);
    let key = NewKey {
        tenant,
        name: "first key",
        prefix: &secret.prefix,
        secret_hash: secret.hash,
        scopes: &Scope::ALL,
        plugins: None,
        created_at: now(),
        expires_at: None,
        person: None,
    };
    write(&file, &secret.key)
        .with_context(|| format!("keeping the first key in {}", file.display()))?;
    store.create_key(key, &Actor::Platform).await?;
    tracing::info!("a new administrator's key is in {}", file.display());
    Ok(secret.key)
}

async fn works(store: &Store, key: &str) -> Result<bool, StoreError> {
    let Some(prefix) = key.split('_').nth(2) else { return Ok(false) };
    let row = store.key_by_prefix(prefix).await?;
    Ok(row.is_some_and(|row| {
        row.secret_hash == Digest::of(key.as_bytes()) && row.revoked_at.is_none()
    }))
}

async fn first_tenant(store: &Store, name: &str) -> Result<TenantId, StoreError> {
    match store.tenant_by_name(name).await {
        Ok(tenant) => Ok(tenant.id),
        Err(StoreError::NotFound(_)) => {
            // The platform's own tenant may use all there is of this machine; where its plugins send
            // requests to is for an administrator to say.
            let grants = Grants { gpu: true, ..Grants::default() };
            let settings = TenantSettings { grants, ..TenantSettings::default() };
            Ok(store.create_tenant(name, &settings, &Actor::Platform, now()).await?.id)
        }
        Err(error) => Err(error),
    }
}

fn write(file: &Path, secret: &str) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    let mut opened = options.write(true).create(true).truncate(true).mode(0o600).open(file)?;
    writeln!(opened, "{secret}")
}

/// The token's file, within the data folder.
const TOKEN_FILE: &str = "bootstrap.token";
const TOKEN_BYTES: usize = 32;

/// The place of the first administrator, while the platform has none: the person who reads the token in the
/// data folder can take it.
pub struct FirstAdmin {
    token_hash: Digest,
    file: PathBuf,
    /// The tenants that the first administrator administers, beside the platform.
    pub tenants: Vec<String>,
}

impl FirstAdmin {
    /// Makes a token unless the platform has an administrator; each start makes another one.
    pub async fn wanted(store: &Store, set_up: &Installation<'_>) -> anyhow::Result<Option<Self>> {
        let file = set_up.data.join(TOKEN_FILE);
        if store.platform_has_admin().await? {
            remove(&file);
            return Ok(None);
        }
        first_tenant(store, PLATFORM_TENANT).await?;
        let token = hex::encode(random::<TOKEN_BYTES>());
        write(&file, &token)
            .with_context(|| format!("keeping the bootstrap token in {}", file.display()))?;
        tracing::info!(
            "nobody administers the platform yet: the token for the first administrator is in {}",
            file.display()
        );
        let tenants = vec![PLATFORM_TENANT.to_owned(), set_up.first_key.tenant.clone()];
        Ok(Some(Self { token_hash: Digest::of(token.as_bytes()), file, tenants }))
    }

    /// The token, for who starts the server on a data folder of their own; absent once there is an
    /// administrator.
    #[must_use]
    pub fn read_token(data: &Path) -> Option<String> {
        let text = std::fs::read_to_string(data.join(TOKEN_FILE)).ok()?;
        Some(text.trim().to_owned())
    }

    /// Hashes of random tokens: how long the comparison takes tells nothing.
    #[must_use]
    pub fn is(&self, token_hash: Digest) -> bool {
        self.token_hash == token_hash
    }

    /// Removes the token's file after there is an administrator.
    pub fn remove_file(&self) {
        remove(&self.file);
    }
}

fn remove(file: &Path) {
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            tracing::warn!("{} cannot be removed: {error}", file.display());
        }
        _ => {}
    }
}
