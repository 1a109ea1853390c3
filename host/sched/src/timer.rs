//! The timers of the scheduler, and the one wake-up that the shell was asked for.
//!
//! The scheduler owns them. The setter of an entry keeps its time, to move or remove it. A wake-up is
//! outstanding until its tick comes, even when the tick is late or its entry is gone: the shell keeps
//! the earliest wake-up that it was asked for and ticks once.

use std::collections::BTreeSet;

use assay_core::id::{BatchId, WorkerId};
use assay_core::time::Micros;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SchedTimer {
    /// It may have expired.
    Batch(BatchId),
    /// A worker's running lease may block it or have passed its deadline.
    Worker(WorkerId),
    /// A worker that no plan holds has been without work for long enough.
    Linger,
    /// It is time to plan again.
    Plan,
    /// A tenant may have waited for its first worker for long enough.
    Preempt,
}

#[derive(Debug, Default)]
pub(crate) struct Timers {
    entries: BTreeSet<(Micros, SchedTimer)>,
    /// The shell was asked for a tick no later than this, and it has not come.
    wake: Option<Micros>,
}

impl Timers {
    /// Moves `due` from `old` to `new`, which the caller then keeps in place of `old`.
    pub(crate) fn replace(&mut self, due: SchedTimer, old: Option<Micros>, new: Option<Micros>) {
        if old == new {
            return;
        }
        if let Some(at) = old {
            self.entries.remove(&(at, due));
        }
        if let Some(at) = new {
            self.entries.insert((at, due));
        }
    }

    /// The first entry at or before `now`. It stays: handling it must move or remove it.
    pub(crate) fn first_due(&self, now: Micros) -> Option<SchedTimer> {
        self.entries.first().filter(|(at, _)| *at <= now).map(|(_, due)| *due)
    }

    /// A tick has come; another must be asked for.
    pub(crate) fn ticked(&mut self) {
        self.wake = None;
    }

    /// When to ask for a wake-up; `None` when one that is no later is on its way.
    pub(crate) fn next_wake(&mut self) -> Option<Micros> {
        let next = self.entries.first()?.0;
        if self.wake.is_some_and(|wake| wake <= next) {
            return None;
        }
        self.wake = Some(next);
        self.wake
    }
}
