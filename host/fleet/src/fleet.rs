//! The fleet: the workers, their launcher, and the timers of both.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use assay_core::id::TicketId;
use assay_core::limits;
use assay_core::time::Micros;
use tokio::sync::{mpsc, watch};

use crate::clock::now;
use crate::joined::{JoinedLauncher, Visit};
use crate::launcher::{Events, Launcher, Stop, WorkerEnd, WorkerEvent};
use crate::state::{Effect, FleetState, START_MAX, StartFailure, TicketRefusal};

const RECONCILE_PERIOD: Duration = Duration::from_secs(limits::WORKERS_RECONCILE_SECONDS);

/// Failed starts, one entry each, for [`Fleet::start_failed`].
pub type Failures = mpsc::UnboundedReceiver<TicketId>;

/// Starts and stops workers by a launcher; cheap to clone.
#[derive(Clone)]
pub struct Fleet(Arc<FleetInner>);

struct FleetInner {
    /// It starts workers.
    launcher: Box<dyn Launcher>,
    /// It has those that came by themselves.
    joined: JoinedLauncher,
    state: Mutex<FleetState>,
    failed: mpsc::UnboundedSender<TicketId>,
    /// The number of workers.
    count: watch::Sender<usize>,
}

impl Fleet {
    /// `launcher` makes the launcher, which sends its events to the fleet. Must be called on a runtime.
    pub fn new<L: Launcher>(launcher: impl FnOnce(Events) -> L) -> (Self, Failures) {
        let (failed, failures) = mpsc::unbounded_channel();
        let inner = Arc::new_cyclic(|inner| FleetInner {
            launcher: Box::new(launcher(events_to(Weak::clone(inner)))),
            joined: JoinedLauncher::new(events_to(Weak::clone(inner))),
            state: Mutex::default(),
            failed,
            count: watch::Sender::new(0),
        });
        tokio::spawn(keep_reconciled(Arc::downgrade(&inner)));
        (Self(inner), failures)
    }

    /// The name of the launcher that starts workers, for people.
    #[must_use]
    pub fn launcher(&self) -> &'static str {
        self.0.launcher.name()
    }

    /// The name of the launcher of workers that came by themselves, for people.
    #[must_use]
    pub fn launcher_of_those_that_came(&self) -> &'static str {
        self.0.joined.name()
    }

    /// A worker came by itself, with an identity that the caller has checked. It stays until the visit is dropped.
    pub fn came(&self, ticket: TicketId, pool: &Arc<str>) -> Result<Visit, TicketRefusal> {
        self.state().came(now(), ticket, pool)?;
        let visit = self.0.joined.arrive(ticket);
        self.count();
        Ok(visit)
    }

    /// Whether a worker has joined under this ticket and not ended.
    #[must_use]
    pub fn has_joined(&self, ticket: TicketId) -> bool {
        self.state().has_joined(ticket)
    }

    /// Starts workers. Each one joins, is reported as failed, or is given up by [`Fleet::cancel`].
    pub fn start(&self, pool: &Arc<str>, count: usize) {
        self.change(|state| state.start(now(), pool, count));
    }

    /// Gives up the pool's latest starts that have not joined; they are not reported as failed.
    pub fn cancel(&self, pool: &Arc<str>, count: usize) {
        self.change(|state| state.cancel(pool, count));
    }

    /// Checks the ticket that a worker of this pool presents to join.
    pub fn admit(&self, text: &str, pool: &str) -> Result<TicketId, TicketRefusal> {
        self.state().admit(text, pool)
    }

    /// The worker whose ticket this is, if it has joined and not ended.
    #[must_use]
    pub fn authenticate(&self, text: &str) -> Option<TicketId> {
        self.state().authenticate(text)
    }

    /// The process of a worker, if its launcher runs it on this machine.
    #[must_use]
    pub fn pid(&self, ticket: TicketId) -> Option<u32> {
        self.state().pid(ticket)
    }

    /// The worker joined; returns false if its start was given up before, or its ticket was used.
    #[must_use]
    pub fn joined(&self, ticket: TicketId) -> bool {
        let Some((pool, took)) = self.state().joined(now(), ticket) else { return false };
        if let Some(took) = took {
            metrics::histogram!("assay_worker_start_seconds", "pool" => pool.to_string())
                .record(took.as_secs_f64());
        }
        true
    }

    /// Its start failed: returns its pool, or `None` if the start was given up after the report.
    #[must_use]
    pub fn start_failed(&self, ticket: TicketId) -> Option<Arc<str>> {
        let pool = self.state().heard(ticket);
        self.count();
        pool
    }

    /// Whether all workers are being stopped, because the server is stopping.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.state().is_stopping()
    }

    /// Asks the worker to end, and kills it if it does not end in time.
    pub fn stop(&self, ticket: TicketId) {
        self.change(|state| state.stop(ticket, Stop::Leave));
    }

    /// Kills the worker at once.
    pub fn kill(&self, ticket: TicketId) {
        self.change(|state| state.stop(ticket, Stop::Kill));
    }

    /// The pools whose last start failed.
    #[must_use]
    pub fn troubles(&self) -> BTreeMap<Arc<str>, StartFailure> {
        self.state().troubles()
    }

    /// Starts under way: ticket, pool and time of the request for each, the earliest first.
    #[must_use]
    pub fn starting(&self) -> Vec<(TicketId, Arc<str>, Micros)> {
        self.state().starting()
    }

    /// Asks every worker to end, waits until they have, and starts no more.
    pub async fn stop_all(&self) {
        let mut count = self.0.count.subscribe();
        self.change(FleetState::stop_all);
        // The sender lives as long as the fleet.
        let _ = count.wait_for(|count| *count == 0).await;
    }

    /// Compares the workers with those that the launcher has: one that a side lacks is ended on the other.
    pub async fn reconcile(&self) -> anyhow::Result<()> {
        // A worker that is placed during the call need not be in the answer.
        let expected = self.state().placed();
        let started = self.0.launcher.reconcile().await?;
        let came = self.0.joined.reconcile().await?;
        let found: BTreeSet<TicketId> = started.into_iter().chain(came).collect();
        for ticket in expected.difference(&found) {
            self.apply(WorkerEvent::Ended { ticket: *ticket, how: WorkerEnd::Lost });
        }
        for ticket in found {
            if !self.state().has(ticket) {
                tracing::warn!(worker.ticket = %ticket, "ending a worker that nobody asked for");
                self.0.launcher.stop(ticket, Stop::Kill);
            }
        }
        Ok(())
    }

    fn apply(&self, event: WorkerEvent) {
        self.change(|state| state.apply(now(), event));
    }

    fn overdue(&self, ticket: TicketId) {
        self.change(|state| state.overdue(ticket));
    }

    fn report(&self, ticket: TicketId) {
        // A dispatcher that has ended needs no replacement.
        if self.state().report(ticket) && self.0.failed.send(ticket).is_err() {
            let _ = self.start_failed(ticket);
        }
    }

    fn change<E: IntoIterator<Item = Effect>>(&self, change: impl FnOnce(&mut FleetState) -> E) {
        let effects = change(&mut self.state());
        // Without the lock: a launcher may answer at once.
        effects.into_iter().for_each(|effect| self.carry_out(effect));
        self.count();
    }

    fn carry_out(&self, effect: Effect) {
        match effect {
            Effect::Start(starts) => self.0.launcher.start(starts),
            Effect::Stop(ticket, how) => {
                self.0.launcher.stop(ticket, how);
                self.0.joined.stop(ticket, how);
            }
            Effect::JoinInTime(ticket) => self.after(START_MAX, move |it| it.overdue(ticket)),
            Effect::ReportAfter(ticket, pause) => self.after(pause, move |it| it.report(ticket)),
        }
    }

    fn after(&self, span: Duration, act: impl FnOnce(&Self) + Send + 'static) {
        let inner = Arc::downgrade(&self.0);
        tokio::spawn(async move {
            tokio::time::sleep(span).await;
            if let Some(inner) = inner.upgrade() {
                act(&Self(inner));
            }
        });
    }

    fn count(&self) {
        let state = self.state();
        self.0.count.send_if_modified(|count| std::mem::replace(count, state.len()) != *count);
    }

    fn state(&self) -> MutexGuard<'_, FleetState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn events_to(inner: Weak<FleetInner>) -> Events {
    Events::new(move |event| {
        // After the fleet, nobody cares.
        if let Some(inner) = inner.upgrade() {
            Fleet(inner).apply(event);
        }
    })
}

async fn keep_reconciled(inner: Weak<FleetInner>) {
    loop {
        tokio::time::sleep(RECONCILE_PERIOD).await;
        let Some(inner) = inner.upgrade() else { return };
        if let Err(error) = Fleet(inner).reconcile().await {
            tracing::warn!("the launcher cannot list its workers: {error:#}");
        }
    }
}

#[cfg(test)]
mod tests;
