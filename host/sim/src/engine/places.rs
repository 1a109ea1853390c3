//! Places for workers: a pool may have fewer of them for a time than its quota allows.

use std::sync::Arc;

use assay_sched::Event;

use super::Engine;
use super::clock::SimEvent;
use super::fleet::State;
use crate::account::Change;

impl Engine<'_> {
    /// The times at which the capacity of a pool changes.
    pub(super) fn capacity_follows(&mut self) {
        for scarcity in &self.settings.faults.scarcities {
            let traced = self.traced.iter().take_while(|pool| pool.name != scarcity.pool).count();
            self.clock.push(scarcity.from, SimEvent::CapacityChanges { traced });
            self.clock.push(scarcity.until, SimEvent::CapacityChanges { traced });
        }
    }

    /// Workers above the new capacity are lost; starts that wait for a place get those that are free.
    pub(super) fn capacity_changes(&mut self, traced: usize) {
        let places = self.places(traced);
        let mut placed = self.fleet.placed();
        placed.retain(|worker| self.pools[self.fleet.get(*worker).pool].traced == traced);
        let mut others = Vec::new();
        while placed.len() > places {
            let worker = placed.swap_remove(self.chance.one_of(placed.len()));
            let of = self.fleet.get(worker);
            let pool = Arc::clone(&self.pools[of.pool].name);
            let was = of.state;
            self.lost(worker);
            match was {
                State::Starting => others.push(Event::StartFailed { pool }),
                State::Idle => self.pending.push_back(Event::WorkerLost { worker }),
                _ => others.push(Event::WorkerLost { worker }),
            }
        }
        // Requests of the busy ones must not be granted to an idle one that is lost too.
        self.pending.extend(others);
        self.fill_places(traced);
    }

    /// Starts the workers of a pool of the trace that have a place now, the oldest first, and tells how many have none.
    pub(super) fn fill_places(&mut self, traced: usize) {
        let pools = self.pools.iter().enumerate().filter(|(_, pool)| pool.traced == traced);
        let pools: Vec<usize> = pools.map(|(pool, _)| pool).collect();
        let mut waiting: Vec<_> =
            pools.iter().flat_map(|pool| self.fleet.unplaced(*pool)).collect();
        if waiting.is_empty() {
            return;
        }
        waiting.sort_unstable();
        let now = self.clock.now();
        let free = self.places(traced).saturating_sub(self.accounts[traced].workers());
        for worker in waiting.into_iter().take(free) {
            self.fleet.place(worker);
            self.accounts[traced].change(now, Change::Started);
            let startup = self.pools[self.fleet.get(worker).pool].startup;
            let took = self.chance.start(startup, self.settings.startup_spread);
            self.clock.push(now + took, SimEvent::WorkerJoins(worker));
        }
        if self.settings.faults.scarcities.is_empty() {
            return;
        }
        for pool in pools {
            let count = self.fleet.unplaced(pool).count();
            let pool = Arc::clone(&self.pools[pool].name);
            self.pending.push_back(Event::StartsUnplaced { pool, count });
        }
    }

    /// The most workers that a pool of the trace can have now, apart from its quota.
    fn places(&self, traced: usize) -> usize {
        let (now, name) = (self.clock.now(), &self.traced[traced].name);
        let scarce = self.settings.faults.scarcities.iter().filter(|scarcity| {
            scarcity.pool == *name && (scarcity.from..scarcity.until).contains(&now)
        });
        scarce.map(|scarcity| scarcity.workers).min().unwrap_or(usize::MAX)
    }
}
