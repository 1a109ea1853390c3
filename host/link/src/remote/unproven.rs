//! The connections that have proven nothing, and which one of them is closed for a new one.
//!
//! A stranger can open connections, but never shows the certificate of a known worker, whose connection leaves the
//! table at the end of its handshake. So silent connections keep no worker out: a new one is always accepted.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;
use std::sync::Arc;

use assay_core::address::owner;
use assay_core::limits;
use parking_lot::Mutex;
use tokio::sync::Notify;

#[derive(Clone, Default)]
pub(super) struct Unproven(Arc<Mutex<UnprovenConnections>>);

#[derive(Default)]
struct UnprovenConnections {
    last: u64,
    /// The connections by number, so that the oldest comes first.
    places: BTreeMap<u64, (IpAddr, Arc<Notify>)>,
    /// The numbers of the connections of each owner of addresses.
    by_owner: HashMap<IpAddr, BTreeSet<u64>>,
}

/// The place of one connection; given back when it is dropped.
pub(super) struct UnprovenPlace {
    unproven: Unproven,
    number: u64,
    evicted: Arc<Notify>,
}

impl Unproven {
    /// A place for a new connection; closes another one if there are too many.
    pub(super) fn place(&self, from: IpAddr) -> UnprovenPlace {
        let (mut table, owner) = (self.0.lock(), owner(from));
        if table.places.len() >= limits::UNPROVEN_WORKERS_MAX {
            table.evict();
        }
        table.last += 1;
        let (number, evicted) = (table.last, Arc::new(Notify::new()));
        table.places.insert(number, (owner, evicted.clone()));
        table.by_owner.entry(owner).or_default().insert(number);
        UnprovenPlace { unproven: self.clone(), number, evicted }
    }
}

impl UnprovenConnections {
    fn remove(&mut self, number: u64) -> Option<Arc<Notify>> {
        let (owner, evicted) = self.places.remove(&number)?;
        if let Some(numbers) = self.by_owner.get_mut(&owner) {
            numbers.remove(&number);
            if numbers.is_empty() {
                self.by_owner.remove(&owner);
            }
        }
        Some(evicted)
    }

    /// Closes the oldest connection of the owner that has most of them; among equal owners, the oldest one of all.
    fn evict(&mut self) {
        let most = self.by_owner.values().max_by_key(|it| (it.len(), Reverse(it.first().copied())));
        let oldest = most.and_then(|numbers| numbers.first().copied());
        if let Some(evicted) = oldest.and_then(|number| self.remove(number)) {
            evicted.notify_one();
        }
    }
}

impl UnprovenPlace {
    /// Waits until the connection must be closed for another one.
    pub(super) async fn evicted(&self) {
        self.evicted.notified().await;
    }
}

impl Drop for UnprovenPlace {
    fn drop(&mut self) {
        self.unproven.0.lock().remove(self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    async fn is_evicted(place: &UnprovenPlace) -> bool {
        tokio::select! {
            biased;
            () = place.evicted() => true,
            () = std::future::ready(()) => false,
        }
    }

    #[tokio::test]
    async fn the_oldest_of_whoever_has_most_is_closed() {
        let unproven = Unproven::default();
        let quiet = unproven.place(address(1));
        let loud: Vec<_> =
            (1..limits::UNPROVEN_WORKERS_MAX).map(|_| unproven.place(address(2))).collect();
        assert!(!is_evicted(&loud[0]).await);
        let new = unproven.place(address(3));
        assert!(is_evicted(&loud[0]).await);
        for kept in [&quiet, &new, &loud[1]] {
            assert!(!is_evicted(kept).await);
        }
        assert_eq!(unproven.0.lock().places.len(), limits::UNPROVEN_WORKERS_MAX);
        drop((quiet, loud, new));
        let table = unproven.0.lock();
        assert!(table.places.is_empty() && table.by_owner.is_empty());
    }

    #[tokio::test]
    async fn many_addresses_of_one_network_are_one_owner() {
        let unproven = Unproven::default();
        let worker = unproven.place(address(1));
        let many: Vec<_> = (1..=2 * limits::UNPROVEN_WORKERS_MAX)
            .map(|last| unproven.place(format!("2001:db8::{last:x}").parse().expect("an address")))
            .collect();
        assert!(!is_evicted(&worker).await);
        assert!(is_evicted(&many[0]).await);
    }

    #[tokio::test]
    async fn among_equals_the_oldest_is_closed() {
        let unproven = Unproven::default();
        let max = u32::try_from(limits::UNPROVEN_WORKERS_MAX).expect("small");
        let places: Vec<_> =
            (0..=max).map(|bits| unproven.place(IpAddr::V4(bits.into()))).collect();
        assert!(is_evicted(&places[0]).await);
        for kept in &places[1..] {
            assert!(!is_evicted(kept).await);
        }
    }
}
