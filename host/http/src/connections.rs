//! The open connections: how many there may be, and which one is closed for a new one.
//!
//! ```text
//!   accepted --> UNPROVEN -- a call with a valid key or session --> PROVEN
//!                   |
//!                   +--> closed: too old, or the oldest one of the address that has most of them,
//!                        as there are too many
//! ```
//!
//! A stranger can open connections, but never prove one. So silent connections take no place from those that prove
//! themselves within a moment, and a new connection is always accepted. Tenants share the places of proven ones: one
//! beyond its tenant's share stays unproven, and is closed as such.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use assay_core::address::owner;
use assay_core::id::TenantId;
use assay_core::limits;
use assay_dispatch::fair_semaphore::{FairPermit, FairSemaphore};
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

pub(crate) struct Connections {
    /// The age at which an unproven connection is closed.
    age_max: Duration,
    /// The places of proven connections.
    proven: FairSemaphore,
    table: Mutex<ConnectionTable>,
}

#[derive(Default)]
struct ConnectionTable {
    last: u64,
    /// The connections by number, so that the oldest comes first.
    unproven: BTreeMap<u64, Arc<Entry>>,
    /// The numbers of the unproven connections of each address.
    by_address: HashMap<IpAddr, BTreeSet<u64>>,
}

/// A connection, known to each of its calls.
#[derive(Clone)]
pub(crate) struct Connection(Arc<Open>);

/// Leaves the table when the connection and its last call are gone.
struct Open {
    connections: Arc<Connections>,
    entry: Arc<Entry>,
}

struct Entry {
    number: u64,
    address: IpAddr,
    opened: Instant,
    /// Set once a call on it had a valid key or session.
    proven: OnceLock<FairPermit>,
    evicted: Notify,
}

impl Connections {
    pub(crate) fn new(age_max: Duration, proven_max: usize) -> Arc<Self> {
        Arc::new(Self { age_max, proven: FairSemaphore::new(proven_max), table: Mutex::default() })
    }

    /// Adds a connection; closes another one if there are too many.
    pub(crate) fn open(self: &Arc<Self>, peer: IpAddr) -> Connection {
        let mut table = self.table.lock();
        if table.unproven.len() >= limits::UNPROVEN_CONNECTIONS_MAX {
            table.evict();
        }
        table.last += 1;
        let entry = Arc::new(Entry {
            number: table.last,
            address: owner(peer),
            opened: Instant::now(),
            proven: OnceLock::new(),
            evicted: Notify::new(),
        });
        table.insert(&entry);
        Connection(Arc::new(Open { connections: self.clone(), entry }))
    }
}

impl ConnectionTable {
    fn insert(&mut self, entry: &Arc<Entry>) {
        self.unproven.insert(entry.number, entry.clone());
        self.by_address.entry(entry.address).or_default().insert(entry.number);
    }

    /// Returns whether it was there.
    fn remove(&mut self, entry: &Entry) -> bool {
        let there = self.unproven.remove(&entry.number).is_some();
        if let Some(numbers) = self.by_address.get_mut(&entry.address) {
            numbers.remove(&entry.number);
            if numbers.is_empty() {
                self.by_address.remove(&entry.address);
            }
        }
        there
    }

    /// Closes the oldest unproven connection of the address that has most of them.
    fn evict(&mut self) {
        let most = self.by_address.values().max_by_key(|numbers| numbers.len());
        let Some(oldest) = most.and_then(|numbers| numbers.first().copied()) else { return };
        let entry = self.unproven[&oldest].clone();
        self.remove(&entry);
        entry.evicted.notify_one();
    }
}

impl Connection {
    /// A call on it had a valid key or session of this tenant. Beyond the tenant's share of proven connections it
    /// stays unproven.
    pub(crate) fn prove(&self, tenant: TenantId) {
        let Open { connections, entry } = &*self.0;
        if entry.proven.get().is_some() {
            return;
        }
        let Some(place) = connections.proven.try_acquire(tenant, 1) else { return };
        if connections.table.lock().remove(entry) {
            // Another call of the connection cannot have set it: one alone removes the entry.
            let _ = entry.proven.set(place);
        }
    }

    /// Waits until the connection must be closed.
    pub(crate) async fn must_close(&self) {
        let Open { connections, entry } = &*self.0;
        let overdue = async {
            tokio::time::sleep_until(entry.opened + connections.age_max).await;
            if entry.proven.get().is_some() {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            () = entry.evicted.notified() => {}
            () = overdue => {}
        }
    }

    /// Whether its next answer should be its last one: it is unproven and will be closed soon.
    pub(crate) fn is_ending(&self) -> bool {
        let Open { connections, entry } = &*self.0;
        entry.proven.get().is_none() && entry.opened.elapsed() > connections.age_max / 2
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.connections.table.lock().remove(&self.entry);
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    const TENANT: TenantId = TenantId(Uuid::from_u128(1));
    const PROVEN_MAX: usize = 64;

    fn address(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    fn connections() -> Arc<Connections> {
        Connections::new(Duration::from_secs(3_600), PROVEN_MAX)
    }

    /// The numbers of proven and unproven connections.
    fn counts(connections: &Connections) -> (usize, usize) {
        let proven = PROVEN_MAX - connections.proven.free();
        (proven, connections.table.lock().unproven.len())
    }

    async fn must_close(connection: &Connection) -> bool {
        tokio::select! {
            biased;
            () = connection.must_close() => true,
            () = std::future::ready(()) => false,
        }
    }

    #[tokio::test]
    async fn the_oldest_of_whoever_has_most_is_closed() {
        let connections = connections();
        let quiet = connections.open(address(1));
        let loud: Vec<_> =
            (1..limits::UNPROVEN_CONNECTIONS_MAX).map(|_| connections.open(address(2))).collect();
        assert!(!must_close(&loud[0]).await);
        let new = connections.open(address(3));
        assert!(must_close(&loud[0]).await);
        for kept in [&quiet, &new, &loud[1]] {
            assert!(!must_close(kept).await);
        }
        assert_eq!(counts(&connections), (0, limits::UNPROVEN_CONNECTIONS_MAX));
    }

    #[tokio::test]
    async fn a_proven_connection_takes_no_place_and_may_grow_old() {
        let connections = Connections::new(Duration::ZERO, PROVEN_MAX);
        let (proven, silent) = (connections.open(address(1)), connections.open(address(1)));
        proven.prove(TENANT);
        proven.prove(TENANT);
        assert_eq!(counts(&connections), (1, 1));
        silent.must_close().await;
        assert!(silent.is_ending() && !proven.is_ending());
        assert!(!must_close(&proven).await);
        drop((proven, silent));
        assert_eq!(counts(&connections), (0, 0));
        assert!(connections.table.lock().by_address.is_empty());
    }

    #[test]
    fn one_tenant_leaves_places_of_proven_connections_to_others() {
        let connections = connections();
        let open_proven = |tenant| {
            let connection = connections.open(address(1));
            connection.prove(tenant);
            connection
        };
        let share = PROVEN_MAX * 3 / 4;
        let mut many: Vec<_> = (0..share).map(|_| open_proven(TENANT)).collect();
        let further = open_proven(TENANT);
        assert_eq!(counts(&connections), (share, 1));
        let other = open_proven(TenantId(Uuid::from_u128(2)));
        assert_eq!(counts(&connections), (share + 1, 1));
        // A place that becomes free is taken by the next call.
        drop((other, many.pop()));
        further.prove(TENANT);
        assert_eq!(counts(&connections), (share, 0));
    }
}
