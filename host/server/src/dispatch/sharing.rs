//! Equal requests share one computation: the first leads, the others follow it, and whoever comes
//! after its end is given what is remembered.
//!
//! ```text
//!   comes ──(nothing equal lives)──> LEADS ──(scored, timed out)──> its followers end so, too
//!     │                                └────(error)──> all its followers run; of a cancelled one
//!     │                                                the first does, and leads the others
//!     ├──(an equal one leads)──> FOLLOWS
//!     └──(its reward is remembered)──> ends so at once
//! ```
//!
//! Equal is what a deterministic plugin sees: the same component with the same settings and the same
//! body, of one tenant; no key, group or seed. A timeout is shared by those that waited with it and
//! never remembered: it may be the machine's doing. An error is never shared, whosever fault it was.
//! Only what is committed leads, so that nobody is told of a request that a crash can take back.
//!
//! Owned by the loop. What is remembered is forgotten at a restart and when a tenant's settings
//! change, on which a plugin's capabilities depend.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use assay_model::id::{RequestId, TenantId};
use assay_model::outcome::{ErrorCode, Outcome};
use assay_model::time::Micros;
use assay_sched::Released;
use sha2::{Digest as _, Sha256};

use super::PluginInfo;
use super::remembered::Remembered;
use crate::store::admissions::BatchRow;

/// The SHA-256 of all that a deterministic reward depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Content([u8; 32]);

impl Content {
    /// Of a request of this batch; `None` where it is to run in any case.
    pub(super) fn of(row: &BatchRow, plugin: &PluginInfo, body: &[u8]) -> Option<Self> {
        if !row.share_equal || !plugin.description.deterministic {
            return None;
        }
        let mut hash = Sha256::new();
        hash.update(row.digest.0);
        hash.update((row.settings.len() as u64).to_le_bytes());
        hash.update(&row.settings);
        hash.update(body);
        Some(Self(hash.finalize().into()))
    }

    #[cfg(test)]
    pub(super) fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

pub(super) type Key = (TenantId, Content);

/// An outcome that others may have.
#[derive(Debug, PartialEq)]
pub(super) struct Known {
    pub leader: RequestId,
    pub outcome: Outcome,
    /// The leader's t_i (eq. 1).
    pub earliest_end: Micros,
}

/// What a request does that comes.
#[derive(Debug, PartialEq)]
pub(super) enum Part {
    Runs,
    Follows(RequestId),
    Ends(Arc<Known>),
}

/// Whether others may follow a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leading {
    May,
    /// It is not committed yet.
    MayNot,
}

/// How a leader's end looks to its followers.
#[derive(Debug)]
enum Left {
    Known(Arc<Known>),
    Cancelled,
    Failed,
}

#[derive(Debug)]
struct Live {
    leader: RequestId,
    followers: BTreeMap<RequestId, Leading>,
    /// Once the leader has ended, until that is settled.
    left: Option<Left>,
}

#[derive(Debug, Default)]
pub(super) struct Sharing {
    live: HashMap<Key, Live>,
    /// Those whose leader has ended.
    unsettled: Vec<Key>,
    remembered: Remembered,
}

/// What follows from ends of leaders.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Settled {
    pub ended: Vec<(RequestId, Arc<Known>)>,
    pub released: Vec<Released>,
}

impl Sharing {
    pub(super) fn enter(&mut self, key: Key, request: RequestId, leading: Leading) -> Part {
        if let Some(known) = self.remembered.get(&key) {
            return Part::Ends(known);
        }
        if let Some(live) = self.live.get_mut(&key).filter(|live| live.left.is_none()) {
            live.followers.insert(request, leading);
            return Part::Follows(live.leader);
        }
        self.lead(key, request, leading);
        Part::Runs
    }

    /// From now on others may follow a request that runs, unless another leads already; one that
    /// follows may take its leader's place.
    pub(super) fn may_lead(&mut self, key: Key, request: RequestId) {
        match self.live.get_mut(&key).and_then(|live| live.followers.get_mut(&request)) {
            Some(leading) => *leading = Leading::May,
            None => self.lead(key, request, Leading::May),
        }
    }

    fn lead(&mut self, key: Key, leader: RequestId, leading: Leading) {
        if leading == Leading::May {
            let live = || Live { leader, followers: BTreeMap::new(), left: None };
            self.live.entry(key).or_insert_with(live);
        }
    }

    /// A request ended, and not with another's outcome; its own is remembered if others may have it,
    /// and takes so many bytes.
    pub(super) fn ended(&mut self, key: Key, known: Known, leading: Leading, bytes: usize) {
        let request = known.leader;
        let left = match &known.outcome {
            Outcome::Error { code: ErrorCode::Cancelled, .. } => Left::Cancelled,
            Outcome::Error { .. } => Left::Failed,
            Outcome::TimedOut { .. } => Left::Known(Arc::new(known)),
            Outcome::Scored(_) => {
                let known = Arc::new(known);
                if leading == Leading::May {
                    self.remembered.insert(key, Arc::clone(&known), bytes);
                }
                Left::Known(known)
            }
        };
        let Some(live) = self.live.get_mut(&key) else { return };
        if live.leader != request {
            live.followers.remove(&request);
        } else if live.followers.is_empty() {
            self.live.remove(&key);
        } else if live.left.is_none() {
            live.left = Some(left);
            self.unsettled.push(key);
        }
    }

    /// What follows from the ends since the last call. Not before everything that ended with them
    /// has been told: a batch's end takes leaders and followers at once.
    pub(super) fn settle(&mut self) -> Option<Settled> {
        if self.unsettled.is_empty() {
            return None;
        }
        let mut settled = Settled::default();
        for key in std::mem::take(&mut self.unsettled) {
            let Some(Live { followers, left: Some(left), .. }) = self.live.remove(&key) else {
                continue;
            };
            match left {
                Left::Known(known) => {
                    let ends = followers.into_keys().map(|follower| (follower, Arc::clone(&known)));
                    settled.ended.extend(ends);
                }
                Left::Cancelled => self.replace_leader(key, followers, &mut settled),
                // One after the other they could fail for ever.
                Left::Failed => {
                    let alone = |request| Released { request, followers: Vec::new() };
                    settled.released.extend(followers.into_keys().map(alone));
                }
            }
        }
        Some(settled)
    }

    /// Nobody learned anything of the computation: one of the followers runs, the others wait on.
    fn replace_leader(
        &mut self,
        key: Key,
        mut followers: BTreeMap<RequestId, Leading>,
        settled: &mut Settled,
    ) {
        let leader = followers.iter().find(|(_, leading)| **leading == Leading::May);
        let Some(leader) = leader.map(|(request, _)| *request) else {
            let alone = |request| Released { request, followers: Vec::new() };
            settled.released.extend(followers.into_keys().map(alone));
            return;
        };
        followers.remove(&leader);
        let released = followers.keys().copied().collect();
        settled.released.push(Released { request: leader, followers: released });
        self.live.insert(key, Live { leader, followers, left: None });
    }

    /// What a plugin may do for the tenant has changed.
    pub(super) fn forget(&mut self, tenant: TenantId) {
        self.remembered.forget(tenant);
    }
}

#[cfg(test)]
mod tests;
