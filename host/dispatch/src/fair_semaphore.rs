//! A semaphore whose permits tenants share: a tenant may hold [`FACTOR`] times as many as are free after it took
//! them.
//!
//! So one tenant alone has at most three quarters of the permits, two tenants three sevenths each, and some are
//! left for a tenant that has none; such a tenant may take the last ones. This is the dynamic threshold by which
//! network switches share a buffer between queues. A returned permit goes to the waiting tenant with the fewest,
//! in turn among equals, and within a tenant to the call that has waited longest.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use assay_core::id::TenantId;
use parking_lot::Mutex;
use tokio::sync::oneshot;

/// The number of permits that a tenant may hold for each free one.
const FACTOR: usize = 3;

/// The semaphore; cheap to clone.
#[derive(Debug, Clone)]
pub struct FairSemaphore(Arc<Mutex<State>>);

/// Permits of one tenant; dropping the value returns them.
#[derive(Debug)]
pub struct FairPermit {
    semaphore: FairSemaphore,
    tenant: TenantId,
    count: usize,
}

#[derive(Debug)]
struct State {
    free: usize,
    /// The number of permits by tenant; a tenant without permits has no entry.
    held: HashMap<TenantId, usize>,
    /// The calls that wait, by tenant; a tenant without such calls has no entry.
    waiting: BTreeMap<TenantId, VecDeque<Waiter>>,
    /// The tenant of the last call that waited and got its permits.
    last: Option<TenantId>,
}

#[derive(Debug)]
struct Waiter {
    count: usize,
    permit: oneshot::Sender<FairPermit>,
}

impl FairSemaphore {
    /// A semaphore with this many permits.
    #[must_use]
    pub fn new(permits: usize) -> Self {
        let (held, waiting) = (HashMap::new(), BTreeMap::new());
        Self(Arc::new(Mutex::new(State { free: permits, held, waiting, last: None })))
    }

    /// Permits for the tenant, if it may have them now and no other call of it waits.
    #[must_use]
    pub fn try_acquire(&self, tenant: TenantId, count: usize) -> Option<FairPermit> {
        let mut state = self.0.lock();
        state.forget_gone(tenant);
        let now = !state.waiting.contains_key(&tenant) && state.may_have(tenant, count);
        now.then(|| state.take(self, tenant, count))
    }

    /// Waits until the tenant may have these permits.
    pub async fn acquire(&self, tenant: TenantId, count: usize) -> FairPermit {
        if let Some(permit) = self.try_acquire(tenant, count) {
            return permit;
        }
        let (permit, granted) = oneshot::channel();
        self.0.lock().wait(tenant, Waiter { count, permit });
        // They may have been returned since.
        self.grant();
        granted.await.expect("a call that waits is not forgotten")
    }

    /// Permits for the tenant whatever it holds, if enough are free.
    #[must_use]
    pub(crate) fn take_free(&self, tenant: TenantId, count: usize) -> Option<FairPermit> {
        let mut state = self.0.lock();
        (state.free >= count).then(|| state.take(self, tenant, count))
    }

    /// Whether the tenant may have these permits now, whoever waits.
    pub(crate) fn admits(&self, tenant: TenantId, count: usize) -> bool {
        count == 0 || self.0.lock().may_have(tenant, count)
    }

    /// The number of permits that nobody holds.
    #[must_use]
    pub fn free(&self) -> usize {
        self.0.lock().free
    }

    /// The number of permits that the tenant holds.
    #[must_use]
    pub fn held(&self, tenant: TenantId) -> usize {
        self.0.lock().held_by(tenant)
    }

    /// The number of permits that the tenant holds, and the most that it may hold while the others keep theirs.
    pub(crate) fn held_of_share(&self, tenant: TenantId) -> (usize, usize) {
        let state = self.0.lock();
        let held = state.held_by(tenant);
        (held, (held + state.free) / (FACTOR + 1) * FACTOR)
    }

    /// The number of waiting calls by tenant.
    #[must_use]
    pub fn waiting(&self) -> BTreeMap<TenantId, usize> {
        let state = self.0.lock();
        let alive = |calls: &VecDeque<Waiter>| calls.iter().filter(|call| !call.is_gone()).count();
        let counts = state.waiting.iter().map(|(tenant, calls)| (*tenant, alive(calls)));
        counts.filter(|(_, count)| *count > 0).collect()
    }

    fn release(&self, tenant: TenantId, count: usize) {
        self.0.lock().give_back(tenant, count);
        self.grant();
    }

    /// Gives free permits to calls that wait.
    fn grant(&self) {
        loop {
            let next = self.0.lock().next_grant(self);
            let Some((call, permit)) = next else { return };
            // A permit that its call no longer wants is returned, which needs the lock.
            drop(call.send(permit));
        }
    }
}

impl State {
    fn held_by(&self, tenant: TenantId) -> usize {
        self.held.get(&tenant).copied().unwrap_or(0)
    }

    fn may_have(&self, tenant: TenantId, count: usize) -> bool {
        let held = self.held_by(tenant);
        self.free >= count && (held == 0 || held + count <= FACTOR * (self.free - count))
    }

    fn take(&mut self, semaphore: &FairSemaphore, tenant: TenantId, count: usize) -> FairPermit {
        self.free -= count;
        *self.held.entry(tenant).or_default() += count;
        FairPermit { semaphore: semaphore.clone(), tenant, count }
    }

    fn give_back(&mut self, tenant: TenantId, count: usize) {
        self.free += count;
        let held = self.held.entry(tenant).or_default();
        *held -= count;
        if *held == 0 {
            self.held.remove(&tenant);
        }
    }

    /// The call that gets permits next.
    fn next_grant(
        &mut self,
        semaphore: &FairSemaphore,
    ) -> Option<(oneshot::Sender<FairPermit>, FairPermit)> {
        let tenants: Vec<TenantId> = self.waiting.keys().copied().collect();
        tenants.into_iter().for_each(|tenant| self.forget_gone(tenant));
        let candidates = self.waiting.iter().filter_map(|(tenant, calls)| {
            let count = calls.front()?.count;
            self.may_have(*tenant, count).then_some(*tenant)
        });
        let had_last_turn = |tenant| self.last.is_some_and(|last| tenant <= last);
        let key = |tenant: &TenantId| (self.held_by(*tenant), had_last_turn(*tenant), *tenant);
        let tenant = candidates.min_by_key(key)?;
        let calls = self.waiting.get_mut(&tenant)?;
        let Waiter { count, permit } = calls.pop_front()?;
        if calls.is_empty() {
            self.waiting.remove(&tenant);
        }
        self.last = Some(tenant);
        Some((permit, self.take(semaphore, tenant, count)))
    }

    fn wait(&mut self, tenant: TenantId, call: Waiter) {
        let calls = self.waiting.entry(tenant).or_default();
        // Calls that are gone would gather after one that waits for long.
        calls.retain(|call| !call.is_gone());
        calls.push_back(call);
    }

    /// Removes the tenant's next calls as far as they no longer wait.
    fn forget_gone(&mut self, tenant: TenantId) {
        let Some(calls) = self.waiting.get_mut(&tenant) else { return };
        while calls.front().is_some_and(Waiter::is_gone) {
            calls.pop_front();
        }
        if calls.is_empty() {
            self.waiting.remove(&tenant);
        }
    }
}

impl Waiter {
    fn is_gone(&self) -> bool {
        self.permit.is_closed()
    }
}

impl FairPermit {
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Adds other permits of the same tenant.
    pub(crate) fn add(&mut self, mut other: Self) {
        debug_assert_eq!(self.tenant, other.tenant, "permits of two tenants");
        self.count += std::mem::take(&mut other.count);
    }

    /// Takes out so many permits, or all where there are fewer.
    pub(crate) fn take(&mut self, count: usize) -> Self {
        let count = count.min(self.count);
        self.count -= count;
        Self { semaphore: self.semaphore.clone(), tenant: self.tenant, count }
    }
}

impl Drop for FairPermit {
    fn drop(&mut self) {
        if self.count > 0 {
            self.semaphore.release(self.tenant, self.count);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn tenant(last: u8) -> TenantId {
        format!("00000000-0000-0000-0000-0000000000{last:02}").parse().expect("an id")
    }

    /// As many permits as the tenant gets, one after the other.
    fn take_all(semaphore: &FairSemaphore, tenant: TenantId) -> Vec<FairPermit> {
        std::iter::from_fn(|| semaphore.try_acquire(tenant, 1)).collect()
    }

    /// The permits, if they are there by now.
    fn poll(call: std::pin::Pin<&mut impl Future<Output = FairPermit>>) -> Option<FairPermit> {
        match call.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(permit) => Some(permit),
            Poll::Pending => None,
        }
    }

    #[test]
    fn one_tenant_leaves_a_quarter_and_others_get_permits_at_once() {
        let semaphore = FairSemaphore::new(32);
        let flood = take_all(&semaphore, tenant(1));
        assert_eq!((flood.len(), semaphore.free()), (24, 8));
        let second = take_all(&semaphore, tenant(2));
        assert_eq!((second.len(), semaphore.free()), (6, 2));
        assert!(!take_all(&semaphore, tenant(3)).is_empty());
        drop((flood, second));
        assert_eq!(semaphore.free(), 32);
    }

    #[test]
    fn a_tenant_without_permits_gets_the_last_one() {
        let semaphore = FairSemaphore::new(2);
        let first = take_all(&semaphore, tenant(1));
        assert_eq!(first.len(), 1);
        let last = semaphore.try_acquire(tenant(2), 1);
        assert!(last.is_some() && semaphore.try_acquire(tenant(3), 1).is_none());
    }

    #[test]
    fn tenants_that_wait_take_turns() {
        let semaphore = FairSemaphore::new(1);
        let first = semaphore.try_acquire(tenant(1), 1);
        let mut own = pin!(semaphore.acquire(tenant(1), 1));
        let mut third = pin!(semaphore.acquire(tenant(1), 1));
        let mut other = pin!(semaphore.acquire(tenant(2), 1));
        let mut later = pin!(semaphore.acquire(tenant(2), 1));
        assert!(poll(own.as_mut()).is_none() && poll(third.as_mut()).is_none());
        assert!(poll(other.as_mut()).is_none() && poll(later.as_mut()).is_none());
        assert_eq!(semaphore.waiting(), [(tenant(1), 2), (tenant(2), 2)].into());
        drop(first);
        let own = poll(own).expect("it came first");
        drop(own);
        assert!(poll(third.as_mut()).is_none(), "it is the other tenant's turn");
        let other = poll(other).expect("its turn");
        drop(other);
        let third = poll(third).expect("its turn");
        drop(third);
        assert!(poll(later).is_some() && semaphore.waiting().is_empty());
    }

    #[test]
    fn a_call_that_goes_away_holds_up_nobody() {
        let semaphore = FairSemaphore::new(1);
        let first = semaphore.try_acquire(tenant(1), 1);
        let mut gone = Box::pin(semaphore.acquire(tenant(1), 1));
        let mut granted = Box::pin(semaphore.acquire(tenant(2), 1));
        let mut next = pin!(semaphore.acquire(tenant(3), 1));
        assert!(poll(gone.as_mut()).is_none() && poll(granted.as_mut()).is_none());
        assert!(poll(next.as_mut()).is_none());
        drop(gone);
        drop(first);
        // It was granted the permit and went away before it looked.
        drop(granted);
        assert!(poll(next).is_some());
        assert_eq!(semaphore.free(), 1);
    }

    #[test]
    fn amounts_are_counted_in_permits() {
        let semaphore = FairSemaphore::new(100);
        let large = semaphore.try_acquire(tenant(1), 80).expect("it holds nothing");
        assert!(semaphore.try_acquire(tenant(1), 1).is_none());
        let other = semaphore.try_acquire(tenant(2), 10).expect("enough is free");
        assert_eq!((semaphore.held(tenant(1)), semaphore.held(tenant(2))), (80, 10));
        assert!(semaphore.take_free(tenant(1), 10).is_some(), "whatever it holds");
        drop((large, other));
        assert_eq!((semaphore.free(), semaphore.held(tenant(1))), (100, 0));
    }
}
