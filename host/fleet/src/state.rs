//! The workers of the fleet, whatever launcher runs them: a state machine without clock, tasks or processes.
//!
//! ```text
//!            placed           joined            stop, kill
//!   Asked ───────────> Placed ──────> Joined ───────────────> Leaving
//!     │ │                │ │ not in time  │ ended               │ ended
//!     │ │ ended          │ └─────> Overdue└──────> gone <───────┘
//!     │ └────────┬───────┘            │ ended
//!     │          v                    │
//!     │        Failed <───────────────┘
//!     │          │ after a pause
//!     │          v
//!     │       Reported ── heard ──> gone
//!     │
//!     └── given up (also later, until it joined) ──> GivenUp ── ended ──> gone
//! ```
//!
//! A worker that its launcher reports as leaving has Failed if it has not joined. One that has stays Joined, with the
//! reason, until it is stopped or ends.
//!
//! A start begins as Withheld, in a pause or while its launcher cannot say which workers the server before had, and goes
//! on as Asked.
//! Withheld, Failed and Reported exist nowhere but here: given up, they are gone at once. A worker that comes by itself begins
//! as Came and goes on as Joined; nothing that concerns starts concerns it.

mod arrival;
mod departure;
mod failure;
mod former;
mod waiting;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use assay_core::id::TicketId;
use assay_core::time::Micros;

use crate::launcher::{Start, Stop, WorkerEnd, WorkerEvent};
use crate::ticket::{Ticket, TicketRefusal};

use arrival::Enrolment;
pub use departure::Departures;
pub use failure::StartFailure;
use failure::{Starts, before_it_joined};
use former::FormerWorker;
pub use waiting::WaitingStarts;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nothing was told to its launcher yet.
    Withheld,
    Asked,
    Placed,
    /// It did not join in this time, and its launcher was told to end it.
    Overdue(Duration),
    /// Its failure waits to be reported.
    Failed,
    Reported,
    GivenUp,
    /// It came by itself and is about to join.
    Came,
    Joined,
    Leaving,
}

struct FleetWorker {
    ticket: Ticket,
    pool: Arc<str>,
    asked_at: Micros,
    /// The pool's number of failures in a row when it was asked for.
    level: u32,
    phase: Phase,
    pid: Option<u32>,
    /// Whether somebody else started it.
    came: bool,
    /// Whether it ended a stage or lived for a while, so that its end says nothing of starts.
    is_proven: bool,
    /// The progress of its start by TLS.
    enrolment: Enrolment,
    /// The reason why its launcher waits for a place, and since when.
    waiting: Option<(String, Micros)>,
    /// The reason why it will be ended, and since when that is known.
    leaving: Option<(String, Micros)>,
}

/// A start that is under way.
#[derive(Debug, Clone)]
pub struct Starting {
    pub ticket: TicketId,
    pub pool: Arc<str>,
    pub asked_at: Micros,
    /// The name of its launcher, for people.
    pub launcher: &'static str,
}

/// The actions after a change, in this order.
#[derive(Debug)]
pub(crate) enum Effect {
    Start(Vec<Start>),
    /// Call [`FleetState::release`] after the pause.
    ReleaseAfter(Vec<TicketId>, Duration),
    Stop(TicketId, Stop),
    /// Call [`FleetState::overdue`] after the time that the launcher allows for the start.
    JoinInTime(TicketId),
    /// Call [`FleetState::report`] after the pause.
    ReportAfter(TicketId, Duration),
}

#[derive(Default)]
pub(crate) struct FleetState {
    workers: BTreeMap<TicketId, FleetWorker>,
    pools: HashMap<Arc<str>, Starts>,
    /// Workers of the server before this one that have not come again.
    found: BTreeMap<TicketId, FormerWorker>,
    /// The pools whose launchers cannot say yet which workers the server before had, and why.
    unfound: BTreeMap<Arc<str>, String>,
    /// The time since which workers of other machines can connect.
    listens_since: Option<Micros>,
    stopping: bool,
}

impl FleetState {
    pub(crate) fn len(&self) -> usize {
        self.workers.len()
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping
    }

    pub(crate) fn start(&mut self, now: Micros, pool: &Arc<str>, count: usize) -> Vec<Effect> {
        if self.stopping || count == 0 {
            return Vec::new();
        }
        if let Some(why) = self.unfound.get(pool).cloned() {
            self.withhold(now, pool, count, Some(&why));
            return Vec::new();
        }
        let paused_until = self.pools.get(pool).and_then(|starts| starts.paused_until);
        if let Some(until) = paused_until.filter(|until| *until > now) {
            let withheld = self.withhold(now, pool, count, None);
            let pause = Duration::from(until.since(now));
            return vec![Effect::ReleaseAfter(withheld, pause)];
        }
        let level = self.pools.get(pool).map_or(0, |starts| starts.level);
        let here = self.found.iter().filter(|(_, former)| former.pool == *pool);
        let here: Vec<TicketId> = here.map(|(ticket, _)| *ticket).take(count).collect();
        let mut effects = Vec::new();
        for ticket in &here {
            self.found.remove(ticket);
            let worker = FleetWorker {
                level,
                phase: Phase::Placed,
                enrolment: Enrolment::Certified,
                ..FleetWorker::new(Ticket::without_text(*ticket), pool, now)
            };
            self.workers.insert(*ticket, worker);
            effects.push(Effect::JoinInTime(*ticket));
        }
        let start = |_| {
            let ticket = Ticket::generate();
            let worker = FleetWorker { level, ..FleetWorker::new(ticket.clone(), pool, now) };
            self.workers.insert(ticket.id, worker);
            Start { ticket, pool: Arc::clone(pool) }
        };
        let starts: Vec<Start> = (here.len()..count).map(start).collect();
        if !starts.is_empty() {
            effects.push(Effect::Start(starts));
        }
        effects
    }

    /// Gives up the pool's latest starts that have not joined.
    pub(crate) fn cancel(&mut self, pool: &str, count: usize) -> Vec<Effect> {
        let starting = self.workers.iter().rev();
        let starting = starting.filter(|(_, worker)| &*worker.pool == pool && worker.is_starting());
        let latest: Vec<TicketId> = starting.take(count).map(|(ticket, _)| *ticket).collect();
        latest.into_iter().filter_map(|ticket| self.give_up(ticket)).collect()
    }

    pub(crate) fn apply(&mut self, now: Micros, event: WorkerEvent) -> Vec<Effect> {
        let effect = match event {
            WorkerEvent::Waiting { ticket, why } => {
                self.waits(now, ticket, why);
                None
            }
            WorkerEvent::Placed { ticket, pid } => self.has_place(ticket, pid),
            WorkerEvent::Leaving { ticket, why } => return self.leaves(now, ticket, why),
            WorkerEvent::Ended { ticket, how } => {
                self.found.remove(&ticket);
                self.ended(now, ticket, how)
            }
        };
        effect.into_iter().collect()
    }

    fn has_place(&mut self, ticket: TicketId, pid: Option<u32>) -> Option<Effect> {
        let worker = self.workers.get_mut(&ticket)?;
        worker.pid = pid;
        worker.waiting = None;
        (worker.phase == Phase::Asked).then(|| {
            worker.phase = Phase::Placed;
            Effect::JoinInTime(ticket)
        })
    }

    /// Checks what a worker presents that wants to join.
    pub(crate) fn admit(&self, text: &str, pool: &str) -> Result<TicketId, TicketRefusal> {
        let (ticket, _) = self.presented(text).ok_or(TicketRefusal::Unknown)?;
        self.expects(ticket, pool).map(|()| ticket)
    }

    /// Checks that this worker of the pool may join.
    fn expects(&self, ticket: TicketId, pool: &str) -> Result<(), TicketRefusal> {
        let worker = self.workers.get(&ticket).ok_or(TicketRefusal::Unknown)?;
        match worker.phase {
            Phase::Asked | Phase::Placed if &*worker.pool == pool => Ok(()),
            Phase::Asked | Phase::Placed => Err(TicketRefusal::OtherPool),
            Phase::Came | Phase::Joined | Phase::Leaving => Err(TicketRefusal::Used),
            Phase::Withheld => Err(TicketRefusal::Unknown),
            Phase::Overdue(_) | Phase::Failed | Phase::Reported | Phase::GivenUp => {
                Err(TicketRefusal::GivenUp)
            }
        }
    }

    /// The worker that presents this text, if it has joined.
    pub(crate) fn authenticate(&self, text: &str) -> Option<TicketId> {
        let (ticket, worker) = self.presented(text)?;
        matches!(worker.phase, Phase::Joined | Phase::Leaving).then_some(ticket)
    }

    pub(crate) fn has_joined(&self, ticket: TicketId) -> bool {
        let worker = self.workers.get(&ticket);
        worker.is_some_and(|worker| matches!(worker.phase, Phase::Joined | Phase::Leaving))
    }

    fn presented(&self, text: &str) -> Option<(TicketId, &FleetWorker)> {
        let ticket = Ticket::claimed(text)?;
        let worker = self.workers.get(&ticket)?;
        worker.ticket.is(text).then_some((ticket, worker))
    }

    /// The worker joined: returns its pool and the duration of its start, if it was started, or `None` if it is
    /// not expected.
    pub(crate) fn joined(
        &mut self,
        now: Micros,
        ticket: TicketId,
    ) -> Option<(Arc<str>, Option<Micros>)> {
        let worker = self.workers.get_mut(&ticket)?;
        if !matches!(worker.phase, Phase::Asked | Phase::Placed | Phase::Came) {
            return None;
        }
        let took = (worker.phase != Phase::Came).then(|| now.since(worker.asked_at));
        worker.phase = Phase::Joined;
        worker.waiting = None;
        Some((Arc::clone(&worker.pool), took))
    }

    /// The conversation with a worker has ended, which its launcher need not know: it is ended.
    pub(crate) fn lost(&mut self, now: Micros, ticket: TicketId) -> Option<Effect> {
        if self.workers.get(&ticket)?.is_broken() {
            self.broke(now, ticket, "its connection ended");
        }
        self.stop(ticket, Stop::Leave)
    }

    /// The worker had this time to join.
    pub(crate) fn overdue(&mut self, ticket: TicketId, allowed: Duration) -> Option<Effect> {
        let worker = self.workers.get_mut(&ticket)?;
        (worker.phase == Phase::Placed).then(|| {
            worker.phase = Phase::Overdue(allowed);
            Effect::Stop(ticket, Stop::GiveUp)
        })
    }

    /// Returns whether the failure must be reported now.
    pub(crate) fn report(&mut self, ticket: TicketId) -> bool {
        let worker = self.workers.get_mut(&ticket);
        let Some(worker) = worker.filter(|worker| worker.phase == Phase::Failed) else {
            return false;
        };
        worker.phase = Phase::Reported;
        true
    }

    /// The report was heard: returns the pool, or `None` if the start was given up meanwhile.
    pub(crate) fn heard(&mut self, ticket: TicketId) -> Option<Arc<str>> {
        let reported = self.workers.get(&ticket).is_some_and(|it| it.phase == Phase::Reported);
        reported.then(|| self.workers.remove(&ticket).expect("it is there").pool)
    }

    /// Ends a worker that has joined, or is about to.
    pub(crate) fn stop(&mut self, ticket: TicketId, how: Stop) -> Option<Effect> {
        let worker = self.workers.get_mut(&ticket)?;
        match (worker.phase, how) {
            (Phase::Came | Phase::Joined, _) | (Phase::Leaving, Stop::Kill) => {
                worker.phase = Phase::Leaving;
                Some(Effect::Stop(ticket, how))
            }
            _ => None,
        }
    }

    /// Ends all workers; none is started any more. Those that came are cut off, so that they come again.
    pub(crate) fn stop_all(&mut self) -> Vec<Effect> {
        self.stopping = true;
        let all: Vec<TicketId> = self.workers.keys().copied().collect();
        let ended = all.into_iter().filter_map(|ticket| {
            let worker = &self.workers[&ticket];
            let how = if worker.came { Stop::Kill } else { Stop::Leave };
            if worker.is_starting() { self.give_up(ticket) } else { self.stop(ticket, how) }
        });
        ended.collect()
    }

    /// The workers that their launcher must have, with their pools; those that came have no pool here.
    pub(crate) fn placed(&self) -> BTreeMap<TicketId, Option<Arc<str>>> {
        let placed = self.workers.iter().filter(|(_, worker)| match worker.phase {
            Phase::Placed | Phase::Overdue(_) => true,
            Phase::Came | Phase::Joined | Phase::Leaving => true,
            Phase::Withheld | Phase::Asked => false,
            Phase::Failed | Phase::Reported | Phase::GivenUp => false,
        });
        let pool = |worker: &FleetWorker| (!worker.came).then(|| Arc::clone(&worker.pool));
        placed.map(|(ticket, worker)| (*ticket, pool(worker))).collect()
    }

    /// Whether somebody wants this worker, one that may come again included.
    pub(crate) fn has(&self, ticket: TicketId) -> bool {
        self.workers.contains_key(&ticket) || self.found.contains_key(&ticket)
    }

    pub(crate) fn pool_of(&self, ticket: TicketId) -> Option<Arc<str>> {
        self.workers.get(&ticket).map(|worker| Arc::clone(&worker.pool))
    }

    pub(crate) fn pid(&self, ticket: TicketId) -> Option<u32> {
        self.workers.get(&ticket)?.pid
    }

    /// Starts under way: ticket, pool and time of the request for each, the earliest first.
    pub(crate) fn starting(&self) -> Vec<(TicketId, Arc<str>, Micros)> {
        let starting = self.workers.iter().filter(|(_, worker)| worker.is_starting());
        starting
            .map(|(ticket, worker)| (*ticket, Arc::clone(&worker.pool), worker.asked_at))
            .collect()
    }

    fn ended(&mut self, now: Micros, ticket: TicketId, how: WorkerEnd) -> Option<Effect> {
        let worker = self.workers.get(&ticket)?;
        match worker.phase {
            Phase::Asked | Phase::Placed => self.failed(now, ticket, before_it_joined(how)),
            Phase::Overdue(allowed) => {
                let error = format!("a worker did not join within {} s", allowed.as_secs());
                self.failed(now, ticket, error)
            }
            Phase::Withheld | Phase::Failed | Phase::Reported => None,
            Phase::Came | Phase::Joined | Phase::Leaving => {
                log_end(ticket, worker, &how);
                if worker.is_broken() {
                    self.broke(now, ticket, how.reason());
                }
                self.workers.remove(&ticket);
                None
            }
            Phase::GivenUp => {
                self.workers.remove(&ticket);
                None
            }
        }
    }

    /// Gives up a start; one that its launcher does not know is forgotten at once.
    fn give_up(&mut self, ticket: TicketId) -> Option<Effect> {
        let worker = self.workers.get_mut(&ticket)?;
        if matches!(worker.phase, Phase::Withheld | Phase::Failed | Phase::Reported) {
            self.workers.remove(&ticket);
            return None;
        }
        worker.phase = Phase::GivenUp;
        Some(Effect::Stop(ticket, Stop::GiveUp))
    }
}

impl FleetWorker {
    fn new(ticket: Ticket, pool: &Arc<str>, now: Micros) -> Self {
        Self {
            ticket,
            pool: Arc::clone(pool),
            asked_at: now,
            level: 0,
            phase: Phase::Asked,
            pid: None,
            came: false,
            is_proven: false,
            enrolment: Enrolment::None,
            waiting: None,
            leaving: None,
        }
    }

    /// Whether the scheduler counts it as a start under way.
    fn is_starting(&self) -> bool {
        match self.phase {
            Phase::Withheld | Phase::Asked | Phase::Placed | Phase::Overdue(_) => true,
            Phase::Failed | Phase::Reported => true,
            Phase::GivenUp | Phase::Came | Phase::Joined | Phase::Leaving => false,
        }
    }
}

fn log_end(ticket: TicketId, worker: &FleetWorker, how: &WorkerEnd) {
    let (pid, pool) = (worker.pid, &*worker.pool);
    let reason = how.reason();
    if matches!(how, WorkerEnd::Finished(_)) {
        return tracing::debug!(
            worker.ticket = %ticket, worker.pid = pid, worker.pool = pool,
            "a worker ended as it was asked: {reason}"
        );
    }
    tracing::warn!(
        worker.ticket = %ticket, worker.pid = pid, worker.pool = pool,
        "a worker ended: {reason}"
    );
}

#[cfg(test)]
mod tests;
