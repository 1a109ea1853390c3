//! A pool: the requests that wait for its workers, and the workers that take leases.
//!
//! Owned by the scheduler. A pool is kept while it has workers, waiting requests or a plan.

use std::collections::{BTreeSet, VecDeque};

use assay_core::id::{TenantId, WorkerId};
use assay_core::time::Micros;

use crate::discipline::Discipline;
use crate::estimate::Mean;
use crate::fair_queue::{FairQueue, Prefetcher};
use crate::plan::PoolPlan;
use crate::slowness::Pace;

/// The time for which another worker is waited for in the place of one that came and was taken from its tenant.
const REPLACED_AFTER: Micros = Micros::from_secs(30);

/// A worker that takes a lease; idle workers are preferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Offer {
    /// It has had no lease since this time.
    Idle { since: Micros, pace: Pace, worker: WorkerId },
    /// It may prefetch more leases of the tenant that it serves.
    Prefetch { tenant: TenantId, prefetcher: Prefetcher },
}

#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) fair_queue: FairQueue,
    /// Workers that have joined, the draining ones included.
    pub(crate) workers: usize,
    pub(crate) draining: usize,
    /// Serving workers that nobody started.
    came: BTreeSet<WorkerId>,
    /// The unanswered starts, the oldest first: the time at which each was requested, or else got its place.
    pub(crate) starting: VecDeque<Micros>,
    /// The latest starts, this many, have no place.
    unplaced: usize,
    /// Since when starts have not been needed, and how many of them at no time; `None` while all are.
    unneeded: Option<(Micros, usize)>,
    /// The duration of a start from its place on, as a decaying mean.
    pub(crate) startup: Option<Mean>,
    /// `None`: the pool is not elastic.
    pub(crate) plan: Option<PoolPlan>,
    /// The tenant that is served next, and the time since which it is and has no worker; `None` if it has
    /// one.
    unserved: Option<(TenantId, Micros)>,
    /// Workers without a lease that are not draining, those first that get the next leases.
    idle: BTreeSet<(Pace, WorkerId)>,
    /// Workers that have run a batch's last request for long, and alone, and those that did when they were last looked at.
    pub(crate) hedgeable: BTreeSet<WorkerId>,
    /// The last time that a worker was lost while it ran a stage.
    pub(crate) lost: Option<Micros>,
    /// The time at which a worker was taken from a tenant, if none has joined or come since.
    preempted: Option<Micros>,
    /// The idle workers that were started, and so may be stopped; the one that has been idle for longest comes first.
    idle_since: BTreeSet<(Micros, WorkerId)>,
}

impl Pool {
    pub(crate) fn new(discipline: Discipline) -> Self {
        Self {
            fair_queue: FairQueue::new(discipline),
            workers: 0,
            draining: 0,
            came: BTreeSet::new(),
            starting: VecDeque::new(),
            unplaced: 0,
            unneeded: None,
            startup: None,
            plan: None,
            unserved: None,
            idle: BTreeSet::new(),
            hedgeable: BTreeSet::new(),
            lost: None,
            preempted: None,
            idle_since: BTreeSet::new(),
        }
    }

    /// The worker that gets the next lease, and the tenant whose request it is. Above the ceiling none is topped
    /// up: it would never be idle and so never be stopped. The idle ones are then those that came.
    pub(crate) fn next_grant(&self) -> Option<(WorkerId, TenantId)> {
        let idle = self.next_idle().zip(self.fair_queue.next_tenant());
        if self.surplus() > 0 {
            return idle;
        }
        idle.or_else(|| self.fair_queue.next_top_up())
    }

    /// The idle worker that gets the next lease.
    fn next_idle(&self) -> Option<WorkerId> {
        self.idle.first().map(|(_, worker)| *worker)
    }

    /// The idle worker that may run what another one runs already, if that is not needed for what waits.
    pub(crate) fn idle_for_hedge(&self) -> Option<WorkerId> {
        let spare = self.surplus() == 0 && self.fair_queue.grantable() == 0;
        let (pace, worker) = self.idle.first().filter(|_| spare)?;
        (*pace < Pace::Failing).then_some(*worker)
    }

    /// The slow workers that were started and hold no lease.
    pub(crate) fn idle_slow(&self) -> impl Iterator<Item = WorkerId> {
        let slow = self.idle.iter().rev().take_while(|(pace, _)| *pace == Pace::Slow);
        slow.map(|(_, worker)| *worker).filter(|worker| !self.came.contains(worker))
    }

    pub(crate) fn replace_offer(&mut self, old: Option<Offer>, new: Option<Offer>) {
        if old == new {
            return;
        }
        match old {
            Some(Offer::Idle { since, pace, worker }) => {
                self.idle.remove(&(pace, worker));
                self.idle_since.remove(&(since, worker));
            }
            Some(Offer::Prefetch { tenant, prefetcher }) => {
                self.fair_queue.remove_prefetcher(tenant, &prefetcher)
            }
            None => {}
        }
        match new {
            Some(Offer::Idle { since, pace, worker }) => {
                self.idle.insert((pace, worker));
                if !self.came.contains(&worker) {
                    self.idle_since.insert((since, worker));
                }
            }
            Some(Offer::Prefetch { tenant, prefetcher }) => {
                self.fair_queue.insert_prefetcher(tenant, prefetcher)
            }
            None => {}
        }
    }

    /// Whether each step has to look at it: without workers and a plan nothing can happen there.
    pub(crate) fn is_active(&self) -> bool {
        self.workers > 0 || self.plan.is_some()
    }

    /// The number of workers that have joined and are not draining.
    pub(crate) fn serving(&self) -> usize {
        self.workers - self.draining
    }

    /// The number of serving workers that nobody started.
    pub(crate) fn serving_came(&self) -> usize {
        self.came.len()
    }

    /// The number of serving workers that were started.
    pub(crate) fn serving_started(&self) -> usize {
        self.serving() - self.came.len()
    }

    /// The number of serving workers that have no lease.
    pub(crate) fn idle(&self) -> usize {
        self.idle.len()
    }

    pub(crate) fn longest_idle(&self) -> Option<(Micros, WorkerId)> {
        self.idle_since.first().copied()
    }

    /// The number of started workers above the plan's ceiling.
    pub(crate) fn surplus(&self) -> usize {
        let plan = self.plan.as_ref();
        plan.map_or(0, |plan| self.serving_started().saturating_sub(plan.ceiling))
    }

    /// A worker came that nobody started.
    pub(crate) fn came(&mut self, worker: WorkerId) {
        self.workers += 1;
        self.preempted = None;
        self.came.insert(worker);
    }

    /// It leaves or drains; returns whether it was one that came.
    pub(crate) fn remove_came(&mut self, worker: WorkerId) -> bool {
        self.came.remove(&worker)
    }

    /// A worker was taken from a tenant that had several.
    pub(crate) fn preempted(&mut self, now: Micros) {
        self.preempted = Some(now);
    }

    /// The time from which a worker may be taken from a tenant; `None` while that would make room for no other. It
    /// does where there are as many started workers as the plan allows, and where all that are to be started have no
    /// place, unless the room that the last one made is still free or was lost to somebody else.
    pub(crate) fn preempts_from(&self) -> Option<Micros> {
        let (plan, started) = (self.plan.as_ref()?, self.serving_started());
        if plan.ceiling == started {
            return Some(self.preempted.map_or(Micros::ZERO, |at| at + REPLACED_AFTER));
        }
        let unplaced = self.unplaced > 0 && self.starting_placed() == 0;
        (plan.ceiling > started && unplaced && self.preempted.is_none()).then_some(Micros::ZERO)
    }

    /// Brings `unserved` up to date after leases were granted; returns since when its tenant waits.
    pub(crate) fn note_unserved(&mut self, now: Micros) -> Option<Micros> {
        let before = self.unserved;
        self.unserved = self.fair_queue.next_unserved().map(|tenant| {
            let same = before.filter(|(waiting, _)| *waiting == tenant);
            (tenant, same.map_or(now, |(_, since)| since))
        });
        self.unserved.map(|(_, since)| since)
    }

    /// The tenant that waits for its first worker waits as long again.
    pub(crate) fn wait_anew(&mut self, now: Micros) {
        self.unserved = self.unserved.map(|(tenant, _)| (tenant, now));
    }

    /// So many starts are not needed now. Like idle workers they linger, as demand comes and goes faster than many a worker
    /// starts: returns how many were not needed for that long, and when to look again.
    pub(crate) fn unneeded_starts(
        &mut self,
        count: usize,
        now: Micros,
        linger: Micros,
    ) -> (usize, Option<Micros>) {
        if linger == Micros::ZERO {
            self.unneeded = None;
            return (count, None);
        }
        let (since, before) = self.unneeded.unwrap_or((now, count));
        let least = before.min(count);
        // The others were needed meanwhile, and linger from now on.
        let has_lingered = since + linger <= now;
        let (unneeded, since, left) =
            if has_lingered { (least, now, count - least) } else { (0, since, least) };
        self.unneeded = (left > 0).then_some((since, left));
        (unneeded, self.unneeded.map(|(since, _)| since + linger))
    }

    /// Workers are started. While others wait for a place, so do these.
    pub(crate) fn start(&mut self, now: Micros, count: usize) {
        self.starting.extend(std::iter::repeat_n(now, count));
        if self.unplaced > 0 {
            self.unplaced += count;
        }
    }

    /// The latest starts are given up.
    pub(crate) fn cancel_starts(&mut self, count: usize) {
        self.starting.truncate(self.starting.len() - count);
        self.unplaced = self.unplaced.saturating_sub(count);
    }

    /// The oldest start is over.
    pub(crate) fn end_start(&mut self) -> Option<Micros> {
        let since = self.starting.pop_front();
        self.unplaced = self.unplaced.min(self.starting.len());
        since
    }

    /// So many starts have no place; those that got one since begin now.
    pub(crate) fn set_unplaced(&mut self, now: Micros, count: usize) {
        let all = self.starting.len();
        let count = count.min(all);
        let placed = self.starting.iter_mut().take(all - count).skip(all - self.unplaced);
        placed.for_each(|since| *since = now);
        self.unplaced = count;
    }

    /// The number of starts with a place.
    pub(crate) fn starting_placed(&self) -> usize {
        self.starting.len() - self.unplaced
    }

    /// The starts with a place and those without: the time of each, the oldest first.
    pub(crate) fn starts(&self) -> (impl Iterator<Item = Micros>, impl Iterator<Item = Micros>) {
        let placed = self.starting_placed();
        let times = || self.starting.iter().copied();
        (times().take(placed), times().skip(placed))
    }

    /// A worker joined: it answers the oldest start.
    pub(crate) fn joined(&mut self, now: Micros) {
        self.workers += 1;
        self.preempted = None;
        let is_measured = self.starting_placed() > 0;
        // It is not known when a start without a place got one.
        let Some(asked) = self.end_start().filter(|_| is_measured) else { return };
        match &mut self.startup {
            Some(mean) => mean.observe(now.since(asked)),
            unseen => *unseen = Some(Mean::first(now.since(asked))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: u64) -> Micros {
        Micros::from_secs(seconds)
    }

    fn starts(pool: &Pool) -> (Vec<Micros>, Vec<Micros>) {
        let (placed, unplaced) = pool.starts();
        (placed.collect(), unplaced.collect())
    }

    #[test]
    fn a_start_is_measured_from_its_place_on() {
        let mut pool = Pool::new(Discipline::EBF);
        pool.start(at(0), 3);
        pool.set_unplaced(at(1), 2);
        assert_eq!(starts(&pool), (vec![at(0)], vec![at(0), at(0)]));
        pool.joined(at(30));
        assert_eq!(pool.startup.map(Mean::value), Some(at(30)));
        // A start that is asked for now waits behind the others.
        pool.start(at(40), 1);
        assert_eq!(starts(&pool), (vec![], vec![at(0), at(0), at(40)]));
        pool.set_unplaced(at(600), 1);
        assert_eq!(starts(&pool), (vec![at(600), at(600)], vec![at(40)]));
        pool.joined(at(630));
        assert_eq!(pool.startup.map(Mean::value), Some(at(30)));
        // The last one got its place and joined before anybody said so.
        pool.joined(at(900));
        pool.joined(at(5_000));
        let mean = Micros::from_ms(30_000 + (300_000 - 30_000) / 8);
        assert_eq!(pool.startup.map(Mean::value), Some(mean));
    }

    #[test]
    fn starts_without_a_place_are_given_up_first() {
        let mut pool = Pool::new(Discipline::EBF);
        pool.start(at(0), 3);
        pool.set_unplaced(at(1), 2);
        pool.cancel_starts(1);
        assert_eq!(starts(&pool), (vec![at(0)], vec![at(0)]));
        pool.cancel_starts(2);
        assert_eq!(starts(&pool), (vec![], vec![]));
        // More than there are cannot wait, and none is left that waits.
        pool.set_unplaced(at(2), 5);
        pool.start(at(3), 1);
        assert_eq!(starts(&pool), (vec![at(3)], vec![]));
        pool.set_unplaced(at(4), 1);
        assert_eq!(pool.end_start(), Some(at(3)));
        assert_eq!(starts(&pool), (vec![], vec![]));
    }
}
