//! Deduplication: equal requests share one computation. The first one is the primary and runs; the
//! others are its waiters and take its outcome. A request that arrives later takes a cached outcome.
//!
//! ```text
//!   arrives ──(no equal request is live)──> PRIMARY ──(scored, timed out)──> waiters end the same way
//!     │                                        ├──(error)──> all waiters run by themselves
//!     │                                        └──(cancelled)──> one waiter becomes the primary
//!     ├──(an equal request is the primary)──> WAITER
//!     └──(its outcome is cached)──> ends at once
//! ```
//!
//! Two requests are equal if a deterministic plugin cannot tell them apart: same tenant, component,
//! settings and body, with no change of the tenant's settings between them, because a plugin's
//! capabilities depend on those. Key, group and seed do not count. A timeout is shared with the waiters but not
//! cached, because a slow machine may have caused it; nor is an outcome that depends on storage, where objects
//! change. An error is never shared. Only a committed request becomes a primary, so that no answer names a request
//! that a crash can take back.
//!
//! The loop owns this state. The cache is emptied at a restart, and for a tenant when its settings
//! change.

mod outcome_cache;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use assay_core::id::{RequestId, TenantId};
use assay_core::outcome::{ErrorCode, Outcome};
use assay_core::time::Micros;
use assay_sched::Released;
use sha2::{Digest as _, Sha256};

use crate::plugin::ReadyPlugin;
use crate::tenants::SettingsEpoch;
use assay_store::admissions::BatchRow;
use outcome_cache::OutcomeCache;

/// The first half of the SHA-256 of everything that a deterministic reward depends on: every queued request has one, and
/// 128 bits are enough where a collision would only fool the tenant that made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ContentHash([u8; CONTENT_HASH_BYTES]);

const CONTENT_HASH_BYTES: usize = 16;

/// The most waiters of one computation; further equal requests run by themselves. Work on all waiters at once
/// holds up every tenant's requests, and a primary can be cancelled as often as it is replaced.
const WAITERS_MAX: usize = 1_024;

impl ContentHash {
    /// The hash for a request of this batch; `None` if the request must run in any case.
    pub(super) fn of(
        row: &BatchRow,
        plugin: &ReadyPlugin,
        SettingsEpoch(epoch): SettingsEpoch,
        body: &[u8],
    ) -> Option<Self> {
        if !row.share_equal || !plugin.description.deterministic {
            return None;
        }
        let mut hash = Sha256::new();
        hash.update(row.digest.0);
        hash.update(epoch.to_le_bytes());
        hash.update((row.settings.len() as u64).to_le_bytes());
        hash.update(&row.settings);
        hash.update(body);
        let hash: [u8; 32] = hash.finalize().into();
        hash.first_chunk().copied().map(Self)
    }

    #[cfg(test)]
    pub(super) fn from_bytes(bytes: [u8; CONTENT_HASH_BYTES]) -> Self {
        Self(bytes)
    }
}

pub(super) type DedupKey = (TenantId, ContentHash);

/// The outcome of a primary, which equal requests may take.
#[derive(Debug, PartialEq)]
pub(super) struct SharedOutcome {
    pub primary: RequestId,
    pub outcome: Outcome,
    /// The primary's t_i (equation 1 of the paper).
    pub earliest_end: Micros,
}

/// The part that an arriving request takes in deduplication.
#[derive(Debug, PartialEq)]
pub(super) enum Role {
    Runs,
    /// The request waits for the outcome of this primary.
    Waits(RequestId),
    Ends(Arc<SharedOutcome>),
}

/// Whether a request may become a primary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Eligibility {
    Primary,
    /// The request is not committed yet.
    WaiterOnly,
}

/// How a primary ended, as far as its waiters care.
#[derive(Debug)]
enum PrimaryEnd {
    Shared(Arc<SharedOutcome>),
    Cancelled,
    Failed,
}

/// A request that may be shared. Every queued request has one, so that it stays small.
#[derive(Debug)]
struct Computation {
    primary: RequestId,
    /// `None` if nobody has ever waited for it.
    waiters: Option<Box<WaiterSet>>,
}

#[derive(Debug, Default)]
struct WaiterSet {
    requests: BTreeMap<RequestId, Eligibility>,
    /// Set from the primary's end until [`Dedup::resolve`].
    left: Option<PrimaryEnd>,
}

#[derive(Debug, Default)]
pub(super) struct Dedup {
    /// By tenant; a tenant without computations has no entry.
    live: HashMap<TenantId, HashMap<ContentHash, Computation>>,
    /// Computations whose primary has ended.
    unresolved: Vec<DedupKey>,
    cache: OutcomeCache,
}

/// The waiters whose primaries ended, by what happens to them.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Resolution {
    pub ended: Vec<(RequestId, Arc<SharedOutcome>)>,
    pub released: Vec<Released>,
}

impl Computation {
    fn has_left(&self) -> bool {
        self.waiters.as_ref().is_some_and(|waiters| waiters.left.is_some())
    }
}

impl Dedup {
    pub(super) fn enter(
        &mut self,
        key: DedupKey,
        request: RequestId,
        eligibility: Eligibility,
    ) -> Role {
        if let Some(known) = self.cache.get(&key) {
            return Role::Ends(known);
        }
        if let Some(live) = self.live_mut(&key).filter(|live| !live.has_left()) {
            let waiters = &mut live.waiters.get_or_insert_default().requests;
            if waiters.len() == WAITERS_MAX {
                return Role::Runs;
            }
            waiters.insert(request, eligibility);
            return Role::Waits(live.primary);
        }
        self.register_primary(key, request, eligibility);
        Role::Runs
    }

    /// A running request may be a primary from now on, unless there is one already; a waiter may
    /// replace its primary.
    pub(super) fn make_eligible(&mut self, key: DedupKey, request: RequestId) {
        let waiters = self.live_mut(&key).and_then(|live| live.waiters.as_mut());
        match waiters.and_then(|waiters| waiters.requests.get_mut(&request)) {
            Some(eligibility) => *eligibility = Eligibility::Primary,
            None => self.register_primary(key, request, Eligibility::Primary),
        }
    }

    fn register_primary(&mut self, key: DedupKey, primary: RequestId, eligibility: Eligibility) {
        if eligibility == Eligibility::Primary {
            let (tenant, content) = key;
            let live = || Computation { primary, waiters: None };
            self.live.entry(tenant).or_default().entry(content).or_insert_with(live);
        }
    }

    fn live_mut(&mut self, (tenant, content): &DedupKey) -> Option<&mut Computation> {
        self.live.get_mut(tenant)?.get_mut(content)
    }

    fn remove(&mut self, (tenant, content): &DedupKey) -> Option<Computation> {
        let of_tenant = self.live.get_mut(tenant)?;
        let computation = of_tenant.remove(content);
        if of_tenant.is_empty() {
            self.live.remove(tenant);
        }
        computation
    }

    /// A request ended with an outcome of its own. `cached_bytes` is the size of its result if equal requests that come
    /// later may take it.
    pub(super) fn ended(
        &mut self,
        key: DedupKey,
        known: SharedOutcome,
        cached_bytes: Option<usize>,
    ) {
        let request = known.primary;
        let left = match &known.outcome {
            Outcome::Error { code: ErrorCode::Cancelled, .. } => PrimaryEnd::Cancelled,
            Outcome::Error { .. } => PrimaryEnd::Failed,
            Outcome::TimedOut { .. } => PrimaryEnd::Shared(Arc::new(known)),
            Outcome::Scored(_) => {
                let known = Arc::new(known);
                if let Some(bytes) = cached_bytes {
                    self.cache.insert(key, Arc::clone(&known), bytes);
                }
                PrimaryEnd::Shared(known)
            }
        };
        let Some(live) = self.live_mut(&key) else { return };
        let waiters = live.waiters.as_deref_mut();
        if live.primary != request {
            waiters.map(|waiters| waiters.requests.remove(&request));
        } else if let Some(waiters) = waiters.filter(|waiters| !waiters.requests.is_empty()) {
            if waiters.left.is_none() {
                waiters.left = Some(left);
                self.unresolved.push(key);
            }
        } else {
            self.remove(&key);
        }
    }

    /// Decides about the waiters of the primaries that ended since the last call. Call it only after all
    /// ends of one step are reported: the end of a batch ends primaries and waiters together.
    pub(super) fn resolve(&mut self) -> Option<Resolution> {
        if self.unresolved.is_empty() {
            return None;
        }
        let mut resolution = Resolution::default();
        for key in std::mem::take(&mut self.unresolved) {
            let Some(WaiterSet { requests, left: Some(left) }) = self
                .remove(&key)
                .and_then(|computation| computation.waiters)
                .map(|waiters| *waiters)
            else {
                continue;
            };
            match left {
                PrimaryEnd::Shared(known) => {
                    let ends = requests.into_keys().map(|waiter| (waiter, Arc::clone(&known)));
                    resolution.ended.extend(ends);
                }
                PrimaryEnd::Cancelled => self.replace_primary(key, requests, &mut resolution),
                // If one waiter after the other became the primary, they could fail forever.
                PrimaryEnd::Failed => {
                    let alone = |request| Released { request, waiters: Vec::new() };
                    resolution.released.extend(requests.into_keys().map(alone));
                }
            }
        }
        Some(resolution)
    }

    /// The cancelled computation has no result: one waiter becomes the primary, the others keep waiting.
    fn replace_primary(
        &mut self,
        key: DedupKey,
        mut waiters: BTreeMap<RequestId, Eligibility>,
        resolution: &mut Resolution,
    ) {
        let primary = waiters.iter().find(|(_, eligibility)| **eligibility == Eligibility::Primary);
        let Some(primary) = primary.map(|(request, _)| *request) else {
            let alone = |request| Released { request, waiters: Vec::new() };
            resolution.released.extend(waiters.into_keys().map(alone));
            return;
        };
        waiters.remove(&primary);
        let released = waiters.keys().copied().collect();
        resolution.released.push(Released { request: primary, waiters: released });
        let (tenant, content) = key;
        let waiters = Some(Box::new(WaiterSet { requests: waiters, left: None }));
        self.live.entry(tenant).or_default().insert(content, Computation { primary, waiters });
    }

    /// Drops the tenant's cached outcomes: after a change of its settings no request equals an earlier one.
    pub(super) fn forget(&mut self, tenant: TenantId) {
        self.cache.forget(tenant);
    }
}

#[cfg(test)]
mod tests;
