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
//! Failed and Reported exist nowhere but here: given up, they are gone at once. A worker that comes by itself begins
//! as Came and goes on as Joined; nothing that concerns starts concerns it.

mod arrival;
mod departure;
mod waiting;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use assay_core::id::TicketId;
use assay_core::limits;
use assay_core::time::Micros;

use crate::launcher::{Start, Stop, WorkerEnd, WorkerEvent};
use crate::ticket::{Ticket, TicketRefusal};

use arrival::Enrolment;
pub use departure::Departures;
pub use waiting::WaitingStarts;

pub(crate) const START_MAX: Duration = Duration::from_secs(limits::WORKER_START_SECONDS_MAX);

/// Why the last starts of a pool's workers failed.
#[derive(Debug, Clone)]
pub struct StartFailure {
    /// The number of failures since the last success.
    pub failures: u64,
    pub error: String,
    pub failed_at: Micros,
    pub next_try_at: Micros,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    Asked,
    Placed,
    /// It did not join in time, and its launcher was told to end it.
    Overdue,
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

/// The results of a pool's last starts.
#[derive(Default)]
struct Starts {
    /// The number of failures in a row; starts that fail together count once.
    level: u32,
    trouble: Option<StartFailure>,
}

/// The actions after a change, in this order.
#[derive(Debug)]
pub(crate) enum Effect {
    Start(Vec<Start>),
    Stop(TicketId, Stop),
    /// Call [`FleetState::overdue`] after [`START_MAX`].
    JoinInTime(TicketId),
    /// Call [`FleetState::report`] after the pause.
    ReportAfter(TicketId, Duration),
}

#[derive(Default)]
pub(crate) struct FleetState {
    workers: BTreeMap<TicketId, FleetWorker>,
    pools: HashMap<Arc<str>, Starts>,
    /// Workers of the server before this one that have not come again, with their pools.
    found: BTreeMap<TicketId, Arc<str>>,
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
        let level = self.pools.get(pool).map_or(0, |starts| starts.level);
        let here = self.found.iter().filter(|(_, of)| *of == pool);
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
            WorkerEvent::Ended { ticket, how } => self.ended(now, ticket, how),
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
            Phase::Overdue | Phase::Failed | Phase::Reported | Phase::GivenUp => {
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
        if took.is_some() {
            self.pools.remove(&worker.pool);
        }
        Some((Arc::clone(&worker.pool), took))
    }

    pub(crate) fn overdue(&mut self, ticket: TicketId) -> Option<Effect> {
        let worker = self.workers.get_mut(&ticket)?;
        (worker.phase == Phase::Placed).then(|| {
            worker.phase = Phase::Overdue;
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
            Phase::Placed | Phase::Overdue => true,
            Phase::Came | Phase::Joined | Phase::Leaving => true,
            Phase::Asked | Phase::Failed | Phase::Reported | Phase::GivenUp => false,
        });
        let pool = |worker: &FleetWorker| (!worker.came).then(|| Arc::clone(&worker.pool));
        placed.map(|(ticket, worker)| (*ticket, pool(worker))).collect()
    }

    pub(crate) fn has(&self, ticket: TicketId) -> bool {
        self.workers.contains_key(&ticket)
    }

    pub(crate) fn pid(&self, ticket: TicketId) -> Option<u32> {
        self.workers.get(&ticket)?.pid
    }

    pub(crate) fn troubles(&self) -> BTreeMap<Arc<str>, StartFailure> {
        let troubles = self.pools.iter();
        troubles
            .filter_map(|(pool, starts)| Some((Arc::clone(pool), starts.trouble.clone()?)))
            .collect()
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
            Phase::Overdue => {
                let error = format!("a worker did not join within {} s", START_MAX.as_secs());
                self.failed(now, ticket, error)
            }
            Phase::Failed | Phase::Reported => None,
            Phase::Came | Phase::Joined | Phase::Leaving => {
                log_end(ticket, worker, &how);
                self.workers.remove(&ticket);
                None
            }
            Phase::GivenUp => {
                self.workers.remove(&ticket);
                None
            }
        }
    }

    /// Records the reason and the pause before the report.
    fn failed(&mut self, now: Micros, ticket: TicketId, error: String) -> Option<Effect> {
        let worker = self.workers.get_mut(&ticket)?;
        worker.phase = Phase::Failed;
        let (pool, level) = (&worker.pool, worker.level);
        let starts = self.pools.entry(Arc::clone(pool)).or_default();
        let first = starts.level <= level;
        starts.level = starts.level.max(level.saturating_add(1));
        let pause = pause(starts.level);
        let next_try_at = now + Micros::from_ms(pause.as_millis().try_into().unwrap_or(0));
        let failures = starts.trouble.as_ref().map_or(0, |trouble| trouble.failures) + 1;
        if first {
            tracing::error!(
                worker.pool = &**pool,
                worker.ticket = %ticket,
                failures,
                "a worker cannot be started, the next try comes in {} ms: {error}",
                pause.as_millis()
            );
        }
        starts.trouble = Some(StartFailure { failures, error, failed_at: now, next_try_at });
        Some(Effect::ReportAfter(ticket, pause))
    }

    /// Gives up a start; a failed one is forgotten at once.
    fn give_up(&mut self, ticket: TicketId) -> Option<Effect> {
        let worker = self.workers.get_mut(&ticket)?;
        if matches!(worker.phase, Phase::Failed | Phase::Reported) {
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
            enrolment: Enrolment::None,
            waiting: None,
            leaving: None,
        }
    }

    /// Whether the scheduler counts it as a start under way.
    fn is_starting(&self) -> bool {
        match self.phase {
            Phase::Asked | Phase::Placed | Phase::Overdue | Phase::Failed | Phase::Reported => true,
            Phase::GivenUp | Phase::Came | Phase::Joined | Phase::Leaving => false,
        }
    }
}

fn before_it_joined(how: WorkerEnd) -> String {
    match how {
        WorkerEnd::NotStarted(error) => error,
        WorkerEnd::Finished(how) | WorkerEnd::Failed(how) => {
            format!("a worker ended before it joined: {how}")
        }
        WorkerEnd::Lost => "a worker was lost before it joined".into(),
    }
}

fn log_end(ticket: TicketId, worker: &FleetWorker, how: &WorkerEnd) {
    let (pid, pool) = (worker.pid, &*worker.pool);
    let reason = match how {
        WorkerEnd::Finished(reason) => {
            return tracing::debug!(
                worker.ticket = %ticket, worker.pid = pid, worker.pool = pool,
                "a worker ended as it was asked: {reason}"
            );
        }
        WorkerEnd::NotStarted(reason) | WorkerEnd::Failed(reason) => reason,
        WorkerEnd::Lost => "its launcher no longer lists it",
    };
    tracing::warn!(
        worker.ticket = %ticket, worker.pid = pid, worker.pool = pool,
        "a worker ended: {reason}"
    );
}

/// The pause before the next start after `level` failures in a row.
fn pause(level: u32) -> Duration {
    let doubled = limits::WORKER_RETRY_MS_MIN << level.saturating_sub(1).min(32);
    Duration::from_millis(doubled.min(limits::WORKER_RETRY_MS_MAX))
}

#[cfg(test)]
mod tests;
