//! Keys: `assay_<environment>_<prefix>_<secret>`. The secret has 256 random bits, so its SHA-256
//! is kept instead of a slow hash.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use assay_api::key::Scope;
use assay_core::id::{Digest, PersonId};
use assay_core::limits;
use assay_core::plugin::check_name;
use assay_core::time::Micros;
use assay_dispatch::now;
use assay_store::Store;
use assay_store::audit::Actor;
use assay_store::keys::KeyRow;
use axum::http::HeaderValue;
use parking_lot::Mutex;
use subtle::ConstantTimeEq as _;

use super::{Caller, unauthenticated};
use crate::problem::ApiError;
use crate::random::random;

/// The time for which a key that was looked up is believed; a revocation elsewhere takes this long.
const BELIEVED_FOR: Duration = Duration::from_secs(5);
const HELD_MAX: usize = 10_000;

/// Keys that were looked up a moment ago, by the hash of the whole key.
pub struct KeyCache {
    store: Store,
    /// This server's, which its keys name.
    environment: String,
    held: Mutex<HeldKeys>,
}

#[derive(Default)]
struct HeldKeys {
    by_hash: HashMap<Digest, CachedKey>,
    /// The number of changes after which keys were removed.
    changes: u64,
}

impl HeldKeys {
    /// Removes keys after a change; what was looked up before it is not kept any more.
    fn forget(&mut self, is_changed: impl Fn(&CachedKey) -> bool) {
        self.changes += 1;
        self.by_hash.retain(|_, key| !is_changed(key));
    }

    /// Keeps a key that was looked up after this many changes, unless there was one since: the look-up may have read what
    /// was there before.
    fn keep(&mut self, hash: Digest, key: CachedKey, changes: u64) {
        if changes != self.changes {
            return;
        }
        if self.by_hash.len() >= HELD_MAX {
            self.by_hash.clear();
        }
        self.by_hash.insert(hash, key);
    }
}

struct CachedKey {
    since: Instant,
    prefix: String,
    ends_at: Option<Micros>,
    /// The person whose personal key it is.
    person: Option<PersonId>,
    caller: Caller,
}

impl KeyCache {
    #[must_use]
    pub fn new(store: Store, environment: String) -> Self {
        Self { store, environment, held: Mutex::default() }
    }

    /// Removes a key from the cache after its revocation or rotation.
    pub(crate) fn forget(&self, prefix: &str) {
        self.held.lock().forget(|key| key.prefix == prefix);
    }

    /// Removes a person's keys from the cache, after a change of what they may do.
    pub(crate) fn forget_person(&self, person: PersonId) {
        self.held.lock().forget(|key| key.person == Some(person));
    }

    /// The caller that an `Authorization` header names.
    pub(crate) async fn caller(&self, given: &HeaderValue) -> Result<Caller, ApiError> {
        let key = bearer(given).ok_or_else(no_key)?;
        self.caller_of(key).await
    }

    /// The caller to whom a key belongs.
    pub(crate) async fn caller_of(&self, key: &str) -> Result<Caller, ApiError> {
        let prefix = prefix_of(key).ok_or_else(no_key)?;
        let hash = Digest::of(key.as_bytes());
        if let Some(caller) = self.believed(hash) {
            return Ok(caller);
        }
        let changes = self.held.lock().changes;
        let row = self.store.key_by_prefix(prefix).await?;
        let found = row.and_then(|row| ends_at(&row, hash).map(|ends_at| (row, ends_at)));
        let Some((row, ends_at)) = found else {
            return Err(unknown(key, &self.environment));
        };
        if row.revoked_at.is_some() {
            return Err(unauthenticated("the key was revoked"));
        }
        if ends_at.is_some_and(|at| at <= now()) {
            return Err(unauthenticated("the key has expired"));
        }
        if row.owner.is_some_and(|owner| owner.role.is_none()) {
            return Err(unauthenticated("the key's person is no longer a member of the tenant"));
        }
        self.touch(&row);
        let key = CachedKey::new(prefix, ends_at, row);
        let caller = key.caller.clone();
        self.held.lock().keep(hash, key, changes);
        Ok(caller)
    }

    fn believed(&self, hash: Digest) -> Option<Caller> {
        let held = self.held.lock();
        let key = held.by_hash.get(&hash)?;
        let fresh = key.since.elapsed() < BELIEVED_FOR;
        let alive = key.ends_at.is_none_or(|at| at > now());
        (fresh && alive).then(|| key.caller.clone())
    }

    /// Notes the use of a key, beside the call: a key in use is looked up every few seconds, and
    /// written once a minute.
    fn touch(&self, row: &KeyRow) {
        let (tenant, id, at) = (row.tenant, row.id, now());
        let long_ago = at.since(Micros::from_secs(limits::KEY_USE_SECONDS));
        if row.last_used_at.is_some_and(|last| last >= long_ago) {
            return;
        }
        let store = self.store.clone();
        tokio::spawn(async move {
            if let Err(error) = store.touch_key(tenant, id, at).await {
                tracing::debug!(%error, key.id = %id, "a key's use cannot be noted");
            }
        });
    }
}

impl CachedKey {
    fn new(prefix: &str, ends_at: Option<Micros>, row: KeyRow) -> Self {
        let person = row.owner.map(|owner| owner.person);
        let caller = Caller {
            tenant: row.tenant,
            scopes: given(&row).into(),
            tenant_name: row.tenant_name.into(),
            plugins: row.plugins.map(Into::into),
            actor: Arc::new(Actor::Key { id: row.id, name: row.name, tenant: row.tenant }),
            session: None,
        };
        Self { since: Instant::now(), prefix: prefix.to_owned(), ends_at, person, caller }
    }
}

/// The scopes of a key. A personal one has only those that its person's role has too.
fn given(row: &KeyRow) -> Vec<Scope> {
    let Some(owner) = row.owner else { return row.scopes.clone() };
    let allowed = owner.role.map_or_else(Vec::new, |role| role.scopes(&row.tenant_name));
    row.scopes.iter().copied().filter(|scope| allowed.contains(scope)).collect()
}

fn no_key() -> ApiError {
    unauthenticated("the credential is not a key of Assay")
}

/// The key after the word `Bearer` in the header `Authorization`.
pub(super) fn bearer(given: &HeaderValue) -> Option<&str> {
    let (scheme, key) = given.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(key)
}

/// When the secret with this hash ends, if it is one of the key's.
#[expect(clippy::option_option, reason = "no secret of it, one without an end, one with an end")]
fn ends_at(row: &KeyRow, hash: Digest) -> Option<Option<Micros>> {
    if same(row.secret_hash, hash) {
        return Some(row.expires_at);
    }
    let (_, until) = row.previous.filter(|(previous, _)| same(*previous, hash))?;
    Some(Some(row.expires_at.map_or(until, |at| at.min(until))))
}

fn same(one: Digest, other: Digest) -> bool {
    one.0.ct_eq(&other.0).into()
}

fn prefix_of(key: &str) -> Option<&str> {
    parts_of(key).map(|(_, prefix)| prefix)
}

/// Its environment and its prefix.
fn parts_of(key: &str) -> Option<(&str, &str)> {
    let mut parts = key.split('_');
    let (assay, environment, prefix, secret) =
        (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    (assay == "assay" && !prefix.is_empty() && !secret.is_empty() && parts.next().is_none())
        .then_some((environment, prefix))
}

/// A key that this server does not have. One of another environment was given to the wrong server, which is said
/// as far as the key itself tells it.
fn unknown(key: &str, environment: &str) -> ApiError {
    let of_key = parts_of(key).map_or("", |(of_key, _)| of_key);
    let is_name = check_name("environment", of_key, limits::PLUGIN_NAME_BYTES_MAX).is_ok();
    if !is_name || of_key == environment {
        return unauthenticated("the key does not exist");
    }
    unauthenticated(&format!(
        "the key is of the environment `{of_key}`, and this server is of `{environment}`: call the server that made the key"
    ))
}

/// A key that was just made: what to store and what to show once.
pub struct NewSecret {
    pub key: String,
    pub prefix: String,
    pub hash: Digest,
}

impl NewSecret {
    /// # Panics
    /// When the operating system has no randomness to give.
    #[must_use]
    pub fn generate(environment: &str) -> Self {
        Self::of_prefix(environment, hex::encode(random::<6>()))
    }

    /// Another secret of a key that keeps its prefix.
    ///
    /// # Panics
    /// When the operating system has no randomness to give.
    #[must_use]
    pub fn of_prefix(environment: &str, prefix: String) -> Self {
        let key = format!("assay_{environment}_{prefix}_{}", hex::encode(random::<32>()));
        Self { hash: Digest::of(key.as_bytes()), key, prefix }
    }
}

#[cfg(test)]
mod tests {
    use assay_core::id::TenantId;

    use super::*;

    #[test]
    fn a_new_key_is_read_back() {
        let secret = NewSecret::generate("dev");
        assert_eq!(prefix_of(&secret.key), Some(secret.prefix.as_str()));
        assert_ne!(secret.key, NewSecret::generate("dev").key);
    }

    #[test]
    fn a_key_of_another_environment_is_told_where_it_belongs() {
        let said = |key: &str| unknown(key, "eu").detail;
        assert_eq!(
            said("assay_us_ab_cd"),
            "the key is of the environment `us`, and this server is of `eu`: call the server that made the key"
        );
        for key in ["assay_eu_ab_cd", "assay__ab_cd", "assay_a b_ab_cd", "assay_U`S_ab_cd"] {
            assert_eq!(said(key), "the key does not exist", "{key}");
        }
    }

    #[test]
    fn a_look_up_during_a_revocation_is_not_kept() {
        let mut keys = HeldKeys::default();
        let key = |prefix: &str| CachedKey {
            since: Instant::now(),
            prefix: prefix.into(),
            ends_at: None,
            person: None,
            caller: Caller {
                tenant: TenantId::generate(),
                tenant_name: "one".into(),
                scopes: Arc::from([]),
                plugins: None,
                actor: Arc::new(Actor::Platform),
                session: None,
            },
        };
        let hash = Digest([1; 32]);
        let before = keys.changes;
        keys.forget(|key| key.prefix == "ab");
        keys.keep(hash, key("ab"), before);
        assert!(!keys.by_hash.contains_key(&hash), "it may be the row before the revocation");
        let after = keys.changes;
        keys.keep(hash, key("ab"), after);
        keys.forget(|key| key.prefix == "other");
        assert!(keys.by_hash.contains_key(&hash));
        keys.forget(|key| key.prefix == "ab");
        assert!(keys.by_hash.is_empty());
    }

    #[test]
    fn what_is_no_key_has_no_prefix() {
        for text in
            ["", "assay", "assay_dev_ab", "assay_dev_ab_", "other_dev_ab_cd", "assay_a_b_c_d"]
        {
            assert_eq!(prefix_of(text), None, "{text}");
        }
    }
}
