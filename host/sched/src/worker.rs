//! A worker and its leases, all of one tenant: it runs them one at a time, in the order granted. It serves the
//! tenant and the run of its running lease.
//!
//! The scheduler owns it. The first lease is taken to be running; the others are prefetched, so that the
//! worker need not wait for a round trip. A cancelled running lease stays as abandoned until its answer
//! or its deadline: a worker cannot stop in the middle of a stage, and a lease granted after it would
//! seem to run while it does not. For the same reason a revoked lease comes back as an abandoned one if the
//! worker says that it had started it.

use std::collections::VecDeque;
use std::sync::Arc;

use assay_core::id::{LeaseId, RequestId, WorkerId};
use assay_core::time::Micros;

use crate::config::Config;
use crate::fair_queue::{Owner, Prefetcher};
use crate::pool::{Offer, Pool};
use crate::slowness::{Slowness, UsualTime};
use crate::timer::{SchedTimer, Timers};

/// The time for which a worker serves a tenant before one without a worker has its turn: long enough that prefetching
/// pays, short enough that nobody notices.
const TURN: Micros = Micros::from_ms(50);

/// The longest round trip for which answers are waited for: if a worker is farther away, its prefetched leases are
/// revoked although it may have run them.
const ROUND_TRIP_MAX: Micros = Micros::from_ms(500);

#[derive(Debug, Clone)]
pub(crate) struct WorkerLease {
    pub(crate) lease: LeaseId,
    pub(crate) request: RequestId,
    pub(crate) owner: Owner,
    pub(crate) stage: usize,
    pub(crate) granted: Micros,
    pub(crate) timeout: Micros,
    /// The expected duration; `None` while no run of the stage was observed.
    pub(crate) expected: Option<Micros>,
    /// The time that its stage usually takes.
    pub(crate) usual: Option<UsualTime>,
    /// Whether its request has ended without it.
    pub(crate) abandoned: bool,
}

impl WorkerLease {
    /// A second lease of the same stage.
    pub(crate) fn second(&self, lease: LeaseId, now: Micros) -> Self {
        let owner = self.owner.clone();
        Self { lease, owner, granted: now, abandoned: false, ..*self }
    }
}

#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) id: WorkerId,
    pub(crate) pool: Arc<str>,
    pub(crate) draining: bool,
    leases_max: usize,
    leases: VecDeque<WorkerLease>,
    /// The leases that were revoked last, and that it may have started all the same; an answer to a later one says that
    /// it runs none of them.
    revoked: VecDeque<WorkerLease>,
    /// The time from which the first lease runs; the end of the load of its plugin, once that has ended.
    running_since: Micros,
    /// The load of the first lease's plugin.
    load: PluginLoad,
    /// The time from which it has no lease, if it has none.
    idle_since: Micros,
    /// The time from which it has leases, all of one tenant; and whether that was a turn's time ago.
    turn_since: Micros,
    is_turn_over: bool,
    /// The least time from a grant to its answer that the stage did not take; `None` before the first answer.
    round_trip: Option<Micros>,
    /// Whether the running lease takes so long that no lease may wait after it.
    blocked: bool,
    /// Whether the running lease has run for so long that another worker may run its stage as well.
    pub(crate) long_running: bool,
    pub(crate) slowness: Slowness,
    /// The sum of the expected durations of its leases, and the number of leases without one.
    expected: Micros,
    unknown: usize,
    /// Its entries in the pool and among the timers.
    serves: Option<Owner>,
    offer: Option<Offer>,
    due: Option<Micros>,
}

/// The kind of overrun of the running lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overrun {
    None,
    Blocked,
    LongRunning,
    PastDeadline,
    LoadPastDeadline,
}

/// The load of the running lease's plugin, as its worker reports it. A lease has one load at most, so that a worker
/// cannot put its deadline off for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PluginLoad {
    NotReported,
    Since(Micros),
    Ended,
}

impl Worker {
    pub(crate) fn new(id: WorkerId, pool: Arc<str>, leases_max: usize, now: Micros) -> Self {
        Self {
            id,
            pool,
            draining: false,
            leases_max: leases_max.max(1),
            leases: VecDeque::new(),
            revoked: VecDeque::new(),
            running_since: Micros::ZERO,
            load: PluginLoad::NotReported,
            idle_since: now,
            turn_since: now,
            is_turn_over: false,
            round_trip: None,
            blocked: false,
            long_running: false,
            slowness: Slowness::default(),
            expected: Micros::ZERO,
            unknown: 0,
            serves: None,
            offer: None,
            due: None,
        }
    }

    pub(crate) fn leases(&self) -> &VecDeque<WorkerLease> {
        &self.leases
    }

    pub(crate) fn hold(&mut self, held: WorkerLease, now: Micros) {
        if self.leases.is_empty() {
            self.running_since = now;
            self.turn_since = now;
        }
        self.is_turn_over = now.since(self.turn_since) >= TURN;
        match held.expected {
            Some(expected) => self.expected = self.expected + expected,
            None => self.unknown += 1,
        }
        self.leases.push_back(held);
    }

    /// Removes a lease that was answered, whose stage ran so long; `None` if the worker does not hold it.
    pub(crate) fn answer(
        &mut self,
        lease: LeaseId,
        ran: Micros,
        now: Micros,
    ) -> Option<WorkerLease> {
        let at = self.leases.iter().position(|held| held.lease == lease)?;
        let held = self.leases.remove(at)?;
        self.forget(&held);
        self.revoked.retain(|revoked| revoked.lease > lease);
        let trip = now.since(held.granted).since(ran);
        self.round_trip = Some(self.round_trip.map_or(trip, |least| least.min(trip)));
        self.is_turn_over = now.since(self.turn_since) >= TURN;
        if at == 0 {
            self.running_since = now;
            self.load = PluginLoad::NotReported;
            self.blocked = false;
            self.long_running = false;
        }
        if self.leases.is_empty() {
            self.idle_since = now;
        }
        Some(held)
    }

    /// The worker fetches and loads the plugin of its running lease: the stage has not started.
    pub(crate) fn load_started(&mut self, lease: LeaseId, now: Micros) {
        if self.load == PluginLoad::NotReported && self.runs(lease) {
            self.load = PluginLoad::Since(now);
        }
    }

    /// The plugin of its running lease is loaded: the stage starts.
    pub(crate) fn load_ended(&mut self, lease: LeaseId, now: Micros) {
        if matches!(self.load, PluginLoad::Since(_)) && self.runs(lease) {
            self.load = PluginLoad::Ended;
            self.running_since = now;
        }
    }

    fn runs(&self, lease: LeaseId) -> bool {
        self.leases.front().is_some_and(|held| held.lease == lease)
    }

    /// Removes the lease of a request that has ended, or abandons it where it runs. Returns a lease to
    /// revoke.
    pub(crate) fn abandon(&mut self, request: RequestId) -> Option<LeaseId> {
        let at = self.leases.iter().position(|held| held.request == request && !held.abandoned)?;
        if at == 0 {
            self.leases[0].abandoned = true;
            return None;
        }
        let held = self.leases.remove(at)?;
        self.note_revoked(&held);
        Some(held.lease)
    }

    /// Marks the worker as blocked and removes its prefetched leases, in their order.
    pub(crate) fn block(&mut self) -> Vec<WorkerLease> {
        self.blocked = true;
        self.revoke_from(1)
    }

    /// A worker had started a lease when it was revoked, so leases granted since wait for it. Removes them, in their order,
    /// and puts that one in their place, as an abandoned one.
    pub(crate) fn started_before_revoked(
        &mut self,
        lease: LeaseId,
        now: Micros,
    ) -> Vec<WorkerLease> {
        let is_later = self.leases.front().is_none_or(|held| held.lease > lease);
        let Some(at) = self.revoked.iter().position(|held| held.lease == lease && is_later) else {
            return Vec::new();
        };
        let Some(held) = self.revoked.remove(at) else { return Vec::new() };
        // Where there are leases, the first of them was taken to start when this one did.
        let running_since = if self.leases.is_empty() { now } else { self.running_since };
        let waiting = self.revoke_from(0);
        self.hold(WorkerLease { abandoned: true, ..held }, now);
        self.running_since = running_since;
        self.load = PluginLoad::NotReported;
        self.blocked = true;
        self.long_running = false;
        waiting
    }

    /// Removes the leases from this place on.
    fn revoke_from(&mut self, place: usize) -> Vec<WorkerLease> {
        let removed: Vec<WorkerLease> = self.leases.drain(place..).collect();
        removed.iter().for_each(|held| self.note_revoked(held));
        removed
    }

    fn note_revoked(&mut self, held: &WorkerLease) {
        self.forget(held);
        self.revoked.push_back(held.clone());
        if self.revoked.len() > self.leases_max {
            self.revoked.pop_front();
        }
    }

    pub(crate) fn overrun(&self, config: &Config, now: Micros) -> Overrun {
        if self.deadline(config).is_some_and(|at| at <= now) {
            match self.load {
                PluginLoad::Since(_) => Overrun::LoadPastDeadline,
                PluginLoad::NotReported | PluginLoad::Ended => Overrun::PastDeadline,
            }
        } else if self.blocked_at(config).is_some_and(|at| at <= now) {
            Overrun::Blocked
        } else if self.long_running_at(config).is_some_and(|at| at <= now) {
            Overrun::LongRunning
        } else {
            Overrun::None
        }
    }

    /// From now on the worker gets no more leases; it runs those that it holds.
    pub(crate) fn drain(&mut self, config: &Config, pool: &mut Pool, timers: &mut Timers) {
        if !self.draining {
            self.draining = true;
            pool.draining += 1;
            pool.remove_came(self.id);
        }
        self.settle(config, pool, timers);
    }

    /// The running lease, and the time for which it has run.
    pub(crate) fn running(&self, now: Micros) -> Option<(&WorkerLease, Micros)> {
        Some((self.leases.front()?, now.since(self.running_since)))
    }

    /// Updates its entries in the pool and among the timers; to be called after each change.
    pub(crate) fn settle(&mut self, config: &Config, pool: &mut Pool, timers: &mut Timers) {
        let serves = self.leases.front().map(|held| &held.owner);
        let offer = self.next_offer(config.prefetch_max);
        if self.serves.as_ref() == serves {
            pool.replace_offer(self.offer, offer);
        } else {
            // The offer to prefetch is kept with the tenant that it serves.
            pool.replace_offer(self.offer, None);
            pool.fair_queue.replace_served(self.serves.as_ref(), serves);
            pool.replace_offer(None, offer);
            self.serves = serves.cloned();
        }
        self.offer = offer;
        let dues = [self.deadline(config), self.blocked_at(config), self.long_running_at(config)];
        let due = dues.into_iter().flatten().min();
        timers.replace(SchedTimer::Worker(self.id), self.due, due);
        self.due = due;
    }

    /// Removes its entries for good and returns its leases.
    pub(crate) fn leave(self, pool: &mut Pool, timers: &mut Timers) -> VecDeque<WorkerLease> {
        pool.replace_offer(self.offer, None);
        pool.fair_queue.replace_served(self.serves.as_ref(), None);
        timers.replace(SchedTimer::Worker(self.id), self.due, None);
        self.leases
    }

    fn forget(&mut self, held: &WorkerLease) {
        match held.expected {
            Some(expected) => self.expected = self.expected - expected,
            None => self.unknown -= 1,
        }
    }

    fn next_offer(&self, prefetch_max: Micros) -> Option<Offer> {
        let leases = self.leases.len();
        let room = leases < self.leases_max
            && !self.blocked
            && self.unknown == 0
            && self.expected < prefetch_max;
        let free = !self.draining && (leases == 0 || room);
        let (worker, expected) = (self.id, self.expected);
        free.then(|| match self.leases.front() {
            None => Offer::Idle { since: self.idle_since, pace: self.slowness.pace(), worker },
            Some(running) => Offer::Prefetch {
                tenant: running.owner.tenant,
                prefetcher: Prefetcher {
                    is_turn_over: self.is_turn_over,
                    expected,
                    leases,
                    worker,
                },
            },
        })
    }

    fn deadline(&self, config: &Config) -> Option<Micros> {
        let running = self.leases.front()?;
        if let PluginLoad::Since(since) = self.load {
            return Some(since + config.load_max);
        }
        let lease = Micros(running.timeout.0.saturating_mul(config.lease_factor.into()));
        Some(self.running_since + lease + config.lease_grace)
    }

    fn long_running_at(&self, config: &Config) -> Option<Micros> {
        let concerned = !self.long_running && !self.leases.is_empty();
        let loading = matches!(self.load, PluginLoad::Since(_));
        config.hedge_after.filter(|_| concerned && !loading).map(|after| self.running_since + after)
    }

    fn blocked_at(&self, config: &Config) -> Option<Micros> {
        let concerned = !self.blocked
            && !self.leases.is_empty()
            && (self.leases.len() > 1 || self.offer.is_some());
        // Before an answer has come the lease may have ended.
        let round_trip = self.round_trip.unwrap_or(Micros::ZERO).min(ROUND_TRIP_MAX);
        concerned.then_some(self.running_since + config.blocked_after + round_trip)
    }
}
