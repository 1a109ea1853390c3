//! The launchers of a fleet, and which one runs which pool.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::launcher::Launcher;
use crate::tenure::Tenure;

/// One launcher runs the pools that are named, the other one all other pools.
pub struct Launchers {
    all: Vec<Box<dyn Launcher>>,
    /// The places in `all`; other pools have the first launcher.
    by_pool: BTreeMap<Arc<str>, usize>,
}

impl Launchers {
    /// `launcher` runs every pool that no other one is named for.
    pub fn new(launcher: impl Launcher) -> Self {
        Self { all: vec![Box::new(launcher)], by_pool: BTreeMap::new() }
    }

    /// From now on `launcher` runs these pools.
    #[must_use]
    pub fn with(mut self, pools: BTreeSet<Arc<str>>, launcher: impl Launcher) -> Self {
        let at = self.all.len();
        self.all.push(Box::new(launcher));
        self.by_pool.extend(pools.into_iter().map(|pool| (pool, at)));
        self
    }

    /// The same launchers, with orders that count only during this tenure where workers outlive the server.
    pub(crate) fn during(self, tenure: &Tenure) -> Self {
        let all = self.all.into_iter().map(|launcher| tenure.limit(launcher)).collect();
        Self { all, ..self }
    }

    pub(crate) fn of(&self, pool: &str) -> &dyn Launcher {
        &*self.all[self.place(pool)]
    }

    pub(crate) fn place(&self, pool: &str) -> usize {
        self.by_pool.get(pool).copied().unwrap_or(0)
    }

    /// The pools that are named for the launcher of this place.
    pub(crate) fn pools(&self, place: usize) -> BTreeSet<Arc<str>> {
        let named = self.by_pool.iter().filter(|(_, at)| **at == place);
        named.map(|(pool, _)| Arc::clone(pool)).collect()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &dyn Launcher> {
        self.all.iter().map(|launcher| &**launcher)
    }
}
