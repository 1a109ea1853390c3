//! The fleet: the workers, their launchers, and the timers of both.

mod enrolment;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Weak};
use std::time::Duration;

use anyhow::anyhow;
use assay_clock::now;
use assay_core::id::TicketId;
use assay_core::limits;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{mpsc, watch};

use crate::joined::{JoinedLauncher, Visit};
use crate::launcher::{Events, Launcher, Stop, WorkerEnd, WorkerEvent};
use crate::launchers::Launchers;
use crate::state::{Departures, Effect, FleetState, StartFailure, Starting, WaitingStarts};
use crate::tenure::Tenure;
use crate::ticket::TicketRefusal;

pub use enrolment::EnrolmentClaim;

const RECONCILE_PERIOD: Duration = Duration::from_secs(limits::WORKERS_RECONCILE_SECONDS);

/// The time for which a worker lives after which its start counts as a success.
const PROVEN_AFTER: Duration = Duration::from_secs(limits::WORKER_PROVEN_SECONDS);
/// The time for a launcher's answer which workers the server before had, and the pause before it is asked again.
const FIND_MAX: Duration = Duration::from_secs(limits::WORKERS_FIND_SECONDS_MAX);
const FIND_AGAIN: Duration = Duration::from_secs(limits::WORKERS_FIND_AGAIN_SECONDS);

/// Failed starts, one entry each, for [`Fleet::start_failed`].
pub type Failures = mpsc::UnboundedReceiver<TicketId>;

/// Workers that have ended; see [`Fleet::ends`].
pub type WorkerEnds = mpsc::UnboundedReceiver<TicketId>;

/// Starts and stops workers by a launcher; cheap to clone.
#[derive(Clone)]
pub struct Fleet(Arc<FleetInner>);

struct FleetInner {
    /// The launchers that start workers.
    launchers: Launchers,
    /// The launcher of workers that came by themselves, with the conversations of all that joined by TLS.
    joined: JoinedLauncher,
    state: Mutex<FleetState>,
    tenure: Tenure,
    /// The receiver of ends, if there is one.
    ends: Mutex<Option<mpsc::UnboundedSender<TicketId>>>,
    failed: mpsc::UnboundedSender<TicketId>,
    /// The number of workers.
    count: watch::Sender<usize>,
}

impl Fleet {
    /// `launcher` makes the launcher of all pools, which sends its events to the fleet. Must be called on a runtime.
    pub fn new<L: Launcher>(launcher: impl FnOnce(Events) -> L) -> (Self, Failures) {
        Self::with_launchers(Tenure::endless(), |events| Launchers::new(launcher(events)))
    }

    /// The same, with launchers by pool. Those whose workers outlive the server get orders only during the tenure.
    pub fn with_launchers(
        tenure: Tenure,
        launchers: impl FnOnce(Events) -> Launchers,
    ) -> (Self, Failures) {
        let (failed, failures) = mpsc::unbounded_channel();
        let inner = Arc::new_cyclic(|inner| FleetInner {
            launchers: launchers(events_to(Weak::clone(inner), Fleet::told)).during(&tenure),
            joined: JoinedLauncher::new(events_to(Weak::clone(inner), Fleet::apply)),
            state: Mutex::default(),
            tenure,
            ends: Mutex::default(),
            failed,
            count: watch::Sender::new(0),
        });
        tokio::spawn(keep_reconciled(Arc::downgrade(&inner)));
        (Self(inner), failures)
    }

    /// The name of the launcher that starts workers of the pool, for people.
    #[must_use]
    pub fn launcher(&self, pool: &str) -> &'static str {
        self.0.launchers.of(pool).name()
    }

    /// The name of the launcher of workers that came by themselves, for people.
    #[must_use]
    pub fn launcher_of_those_that_came(&self) -> &'static str {
        self.0.joined.name()
    }

    /// Looks for workers of the server before this one, at the start and before any is started: those that are found are
    /// started workers of their pools when they come again. Where a launcher cannot look for them, it is asked again, and
    /// starts no worker before it has answered.
    pub async fn find(&self) {
        for (place, launcher) in self.0.launchers.iter().enumerate() {
            if !self.found(place, launcher).await {
                tokio::spawn(keep_finding(Arc::downgrade(&self.0), place));
            }
        }
    }

    async fn found(&self, place: usize, launcher: &dyn Launcher) -> bool {
        let late = |_| Err(anyhow!("it gave no answer in {} s", FIND_MAX.as_secs()));
        let pools = self.0.launchers.pools(place);
        match tokio::time::timeout(FIND_MAX, launcher.find()).await.unwrap_or_else(late) {
            Ok(mut found) => {
                found.retain(|(_, pool)| self.0.launchers.place(pool) == place);
                self.change(|state| state.find(now(), &pools, found));
                true
            }
            Err(error) => {
                let why = format!(
                    "the launcher {} cannot look for earlier workers: {error:#}",
                    launcher.name()
                );
                tracing::warn!("{why}");
                self.state().cannot_find(&pools, &why);
                false
            }
        }
    }

    /// Workers of other machines can connect from now on: those that were found have a while to come again.
    pub fn listens(&self) {
        self.state().listens(now());
    }

    /// A worker connects by TLS, with an identity that the caller has checked: one that was started, or one that came by
    /// itself and stays until the visit is dropped.
    pub fn came(&self, ticket: TicketId, pool: &Arc<str>) -> Result<Visit, TicketRefusal> {
        let came = self.state().came(now(), ticket, pool)?;
        let visit = self.0.joined.arrive(ticket, came);
        if self.state().is_leaving(ticket) {
            self.0.joined.leaves(ticket);
        }
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
            self.after(PROVEN_AFTER, move |it| it.proven(ticket));
        }
        true
    }

    /// The worker, which has joined, has ended a stage, or lived for a while: starts of its pool succeed.
    pub fn proven(&self, ticket: TicketId) {
        self.state().proven(ticket);
    }

    /// The conversation with a worker has ended: it is asked to end, and killed if it does not end in time.
    pub fn lost(&self, ticket: TicketId) {
        self.change(|state| state.lost(now(), ticket));
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

    /// Starts under way, the earliest first.
    #[must_use]
    pub fn starting(&self) -> Vec<Starting> {
        let starting = self.state().starting().into_iter();
        starting
            .map(|(ticket, pool, asked_at)| {
                let launcher = self.launcher(&pool);
                Starting { ticket, pool, asked_at, launcher }
            })
            .collect()
    }

    /// The starts of the pool that have no place yet, by the reason.
    #[must_use]
    pub fn waiting(&self, pool: &str) -> Vec<WaitingStarts> {
        self.state().waiting(pool)
    }

    /// The workers of the pool that somebody else will end, by the reason.
    #[must_use]
    pub fn departures(&self, pool: &str) -> Vec<Departures> {
        self.state().departures(pool)
    }

    /// The number of starts that have no place yet, of the pools that have any.
    #[must_use]
    pub fn unplaced(&self) -> BTreeMap<Arc<str>, usize> {
        self.state().unplaced()
    }

    /// The ends of workers from now on, as their launchers tell them, for one receiver. One that came by itself has no such
    /// end: it may come again.
    #[must_use]
    pub fn ends(&self) -> WorkerEnds {
        let (sender, ends) = mpsc::unbounded_channel();
        *self.0.ends.lock() = Some(sender);
        ends
    }

    /// The time in which this server may end workers that outlive it.
    #[must_use]
    pub fn tenure(&self) -> &Tenure {
        &self.0.tenure
    }

    /// Asks every worker to end, waits until they have, and starts no more. Workers that another server has taken over are
    /// only cut off.
    pub async fn stop_all(&self) {
        let mut count = self.0.count.subscribe();
        if self.0.tenure.has_ended() {
            self.hand_over();
        }
        self.change(FleetState::stop_all);
        // The sender lives as long as the fleet.
        let _ = count.wait_for(|count| *count == 0).await;
    }

    /// Compares the workers with those that the launchers have: one that a side lacks is ended on the other. The
    /// workers of a launcher that cannot list them stay as they are.
    pub async fn reconcile(&self) -> anyhow::Result<()> {
        let mut failed = Ok(());
        self.state().forget_found(now());
        for (place, launcher) in self.0.launchers.iter().enumerate() {
            if self.state().is_unfound(&self.0.launchers.pools(place)) {
                continue;
            }
            if let Err(error) = self.reconcile_one(place, launcher).await {
                let name = launcher.name();
                failed = Err(error.context(format!("the launcher {name} cannot list its workers")));
            }
        }
        failed
    }

    async fn reconcile_one(&self, place: usize, launcher: &dyn Launcher) -> anyhow::Result<()> {
        // A worker that is placed during the call need not be in the answer.
        let mut expected = self.state().placed();
        let of_this = |pool: &Option<Arc<str>>| {
            pool.as_ref().is_some_and(|pool| self.0.launchers.place(pool) == place)
        };
        expected.retain(|_, pool| of_this(pool));
        let found: BTreeSet<TicketId> = launcher.reconcile().await?.into_iter().collect();
        for ticket in expected.keys().filter(|ticket| !found.contains(ticket)) {
            self.apply(WorkerEvent::Ended { ticket: *ticket, how: WorkerEnd::Lost });
        }
        for ticket in found {
            if !self.state().has(ticket) {
                tracing::warn!(worker.ticket = %ticket, "ending a worker that nobody asked for");
                launcher.stop(ticket, Stop::Kill);
            }
        }
        Ok(())
    }

    /// A launcher tells of a worker that it started, or that the server before had.
    fn told(&self, event: WorkerEvent) {
        if let WorkerEvent::Ended { ticket, .. } = event {
            let ends = self.0.ends.lock();
            // The receiver may have gone.
            let _ = ends.as_ref().map(|ends| ends.send(ticket));
        }
        self.apply(event);
    }

    fn apply(&self, event: WorkerEvent) {
        let leaving = match &event {
            WorkerEvent::Ended { ticket, .. } => {
                // Where its conversation is still there, the worker is not: its requests run elsewhere.
                self.0.joined.stop(*ticket, Stop::Kill);
                None
            }
            WorkerEvent::Leaving { ticket, .. } => Some(*ticket),
            WorkerEvent::Waiting { .. } | WorkerEvent::Placed { .. } => None,
        };
        self.change(|state| state.apply(now(), event));
        if let Some(ticket) = leaving.filter(|ticket| self.state().is_leaving(*ticket)) {
            self.0.joined.leaves(ticket);
        }
    }

    /// Leaves the workers that outlive this server to the one that has taken over: they come to it once they are cut off.
    fn hand_over(&self) {
        let outlives = |pool: &str| self.0.launchers.of(pool).joins_by_tls();
        let left = self.state().hand_over(outlives);
        left.into_iter().for_each(|ticket| self.0.joined.stop(ticket, Stop::Kill));
        self.count();
    }

    fn overdue(&self, ticket: TicketId, allowed: Duration) {
        self.change(|state| state.overdue(ticket, allowed));
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
            Effect::Start(starts) => {
                if let Some(start) = starts.first() {
                    self.0.launchers.of(&start.pool).start(starts);
                }
            }
            Effect::ReleaseAfter(tickets, pause) => {
                self.after(pause, move |it| it.change(|state| state.release(&tickets)));
            }
            Effect::Stop(ticket, how) => {
                // The others have no worker of this ticket.
                self.0.launchers.iter().for_each(|launcher| launcher.stop(ticket, how));
                self.0.joined.stop(ticket, how);
            }
            Effect::JoinInTime(ticket) => {
                let Some(pool) = self.state().pool_of(ticket) else { return };
                let allowed = self.0.launchers.of(&pool).start_max(&pool);
                self.after(allowed, move |it| it.overdue(ticket, allowed));
            }
            Effect::ReportAfter(ticket, pause) => self.after(pause, move |it| it.report(ticket)),
        }
    }

    fn after(&self, span: Duration, act: impl FnOnce(&Self) + Send + 'static) {
        let inner = Arc::downgrade(&self.0);
        tokio::spawn(async move {
            assay_clock::sleep(span).await;
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
        self.0.state.lock()
    }
}

fn events_to(inner: Weak<FleetInner>, receive: fn(&Fleet, WorkerEvent)) -> Events {
    Events::new(move |event| {
        // After the fleet, nobody cares.
        if let Some(inner) = inner.upgrade() {
            receive(&Fleet(inner), event);
        }
    })
}

async fn keep_finding(inner: Weak<FleetInner>, place: usize) {
    loop {
        assay_clock::sleep(FIND_AGAIN).await;
        let Some(fleet) = inner.upgrade().map(Fleet) else { return };
        let launcher = fleet.0.launchers.iter().nth(place).expect("it is never removed");
        if fleet.found(place, launcher).await {
            return;
        }
    }
}

async fn keep_reconciled(inner: Weak<FleetInner>) {
    loop {
        assay_clock::sleep(RECONCILE_PERIOD).await;
        let Some(inner) = inner.upgrade() else { return };
        if let Err(error) = Fleet(inner).reconcile().await {
            tracing::warn!("{error:#}");
        }
    }
}

#[cfg(test)]
mod tests;
