//! The Pods of a server: a state machine without clock, tasks or calls.
//!
//! ```text
//!             created          running
//!   Creating ─────────> Waiting ───────> Running
//!     │  ^ refused for now │                │
//!     │  └── a pause       │ stuck, ended,  │
//!     v refused for good   v or gone        v
//!   gone                 gone             gone
//! ```
//!
//! A Pod is gone only if Kubernetes says so: it was deleted, or it is not in a list that began after it was made. While
//! Kubernetes cannot be asked, all Pods stay.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use assay_core::id::TicketId;
use assay_core::limits;
use assay_core::time::Micros;
use assay_fleet::{ProofRefusal, Start, Stop, WorkerEnd, WorkerEvent};

use crate::reading::{PodReading, PodSighting, PodUid};
use crate::token::PodIdentity;

const PREPARE_MAX: Micros = Micros::from_secs(limits::KUBERNETES_PREPARE_SECONDS_MAX);
const GIVEN_UP_AFTER: Micros = Micros::from_secs(limits::KUBERNETES_STOP_SECONDS_MAX);

/// Why Kubernetes did not make a Pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CreateRefusal {
    /// It may be made later: a quota, or a server that is busy or away.
    ForNow(String),
    ForGood(String),
}

/// The actions after a change, in this order.
#[derive(Debug, Clone)]
pub(crate) enum PodEffect {
    Create(Start),
    Delete(PodDeletion),
    Tell(WorkerEvent),
}

/// A Pod to delete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PodDeletion {
    pub(crate) pool: Arc<str>,
    pub(crate) ticket: TicketId,
    /// The time in seconds that its worker has to finish; `None`: as the Pod says. With 0 nobody waits for its node.
    pub(crate) grace: Option<u32>,
}

enum PodPhase {
    /// Its creation is under way, or tried again at this time.
    Creating(Start, Option<Micros>),
    Waiting,
    Running,
}

struct PodState {
    pool: Arc<str>,
    phase: PodPhase,
    /// The strongest call so far to end it, and its time.
    stop: Option<(Stop, Micros)>,
    /// The number of the last list that may have begun before it was made.
    unlisted_until: u64,
    /// The time since which its node prepares its containers.
    starting_since: Option<Micros>,
    /// The last reason to wait that was told.
    waits: String,
    /// Whether a call that makes it was answered: it may have been made.
    tried: bool,
    /// The Pod that was made, once Kubernetes has said so.
    uid: Option<PodUid>,
    /// Whether somebody else ends it.
    leaves: bool,
}

#[derive(Default)]
pub(crate) struct Pods {
    pods: BTreeMap<TicketId, PodState>,
    /// The number of the list under way or the last one.
    list: u64,
    /// The Pods of the list under way.
    listed: BTreeSet<TicketId>,
}

impl Pods {
    pub(crate) fn start(&mut self, starts: Vec<Start>) -> Vec<PodEffect> {
        let create = |start: Start| {
            let phase = PodPhase::Creating(start.clone(), None);
            self.pods.insert(start.ticket.id, PodState::new(Arc::clone(&start.pool), phase));
            PodEffect::Create(start)
        };
        starts.into_iter().map(create).collect()
    }

    /// The turn of a creation has come. Returns the actions in its place if it was given up meanwhile, or the Pod is there.
    pub(crate) fn given_up(&mut self, ticket: TicketId) -> Option<Vec<PodEffect>> {
        match self.pods.get(&ticket) {
            Some(pod) if matches!(pod.phase, PodPhase::Creating(..)) => {
                pod.stop.map(|_| self.end_unmade(ticket))
            }
            _ => Some(Vec::new()),
        }
    }

    /// Kubernetes made the Pod, or refused to, in which case the next try is at `again`.
    pub(crate) fn created(
        &mut self,
        again: Micros,
        (ticket, pool): (TicketId, &Arc<str>),
        answer: Result<Option<PodUid>, CreateRefusal>,
    ) -> Vec<PodEffect> {
        let list = self.list;
        let Some(pod) = self.pods.get_mut(&ticket) else {
            // It was told of as ended meanwhile.
            return answer.map(|_| delete(pool, ticket, Some(1))).into_iter().collect();
        };
        pod.unlisted_until = list;
        pod.tried = true;
        match answer {
            Ok(uid) => {
                pod.uid = uid.or(pod.uid.take());
                if matches!(pod.phase, PodPhase::Creating(..)) {
                    pod.phase = PodPhase::Waiting;
                }
                pod.stop.map(|_| delete(pool, ticket, Some(1))).into_iter().collect()
            }
            Err(CreateRefusal::ForGood(why)) => {
                self.end(ticket, WorkerEnd::NotStarted(why)).into_iter().collect()
            }
            // A call without an answer may have made it.
            Err(CreateRefusal::ForNow(_)) if pod.stop.is_some() => self.end_unmade(ticket),
            Err(CreateRefusal::ForNow(why)) => {
                if let PodPhase::Creating(_, next) = &mut pod.phase {
                    *next = Some(again);
                }
                pod.tell_waiting(ticket, why).into_iter().collect()
            }
        }
    }

    /// Tries creations again, and gives up Pods whose nodes do not start their workers or do not confirm their end.
    pub(crate) fn due(&mut self, now: Micros) -> Vec<PodEffect> {
        let due = |pod: &mut PodState| match &mut pod.phase {
            PodPhase::Creating(start, again) if again.is_some_and(|at| at <= now) => {
                *again = None;
                Some(PodEffect::Create(start.clone()))
            }
            _ => None,
        };
        let mut effects: Vec<PodEffect> = self.pods.values_mut().filter_map(due).collect();
        let late = |pod: &PodState| pod.given_up_at().is_some_and(|at| at <= now);
        let late = self.pods.iter().filter(|(_, pod)| late(pod));
        let late: Vec<_> =
            late.map(|(ticket, pod)| (*ticket, Arc::clone(&pod.pool), pod.stop)).collect();
        for (ticket, pool, stop) in late {
            let (grace, how) = if stop.is_some() {
                let why = "it was deleted, which its node has not confirmed";
                (0, WorkerEnd::Finished(why.into()))
            } else {
                (1, WorkerEnd::NotStarted(unprepared()))
            };
            effects.push(delete(&pool, ticket, Some(grace)));
            effects.extend(self.end(ticket, how));
        }
        effects
    }

    /// The time at which something is [`due`](Self::due).
    pub(crate) fn next_due(&self) -> Option<Micros> {
        let again = |pod: &PodState| match pod.phase {
            PodPhase::Creating(_, again) => again,
            _ => pod.given_up_at(),
        };
        self.pods.values().filter_map(again).min()
    }

    pub(crate) fn stop(&mut self, now: Micros, ticket: TicketId, how: Stop) -> Vec<PodEffect> {
        let Some(pod) = self.pods.get_mut(&ticket) else { return Vec::new() };
        if pod.stop.is_some_and(|(before, _)| before >= how) {
            return Vec::new();
        }
        pod.stop = Some((how, now));
        match pod.phase {
            // It is ended at its turn, or else whatever comes of it is deleted once it is known.
            PodPhase::Creating(_, None) => Vec::new(),
            PodPhase::Creating(_, Some(_)) => self.end_unmade(ticket),
            PodPhase::Waiting | PodPhase::Running => {
                let grace = if how == Stop::Leave { None } else { Some(1) };
                vec![delete(&pod.pool, ticket, grace)]
            }
        }
    }

    /// A list of all Pods begins.
    pub(crate) fn list_begins(&mut self) {
        self.list += 1;
        self.listed.clear();
    }

    /// A Pod is there, in a list or by itself.
    pub(crate) fn seen(
        &mut self,
        now: Micros,
        (ticket, pool): (TicketId, &Arc<str>),
        sighting: PodSighting,
    ) -> Vec<PodEffect> {
        let PodSighting { uid, reading, leaves } = sighting;
        self.listed.insert(ticket);
        // One that no start of this server is known of belongs to a server before it.
        let is_over =
            matches!(reading, PodReading::Succeeded | PodReading::Failed(_) | PodReading::Stuck(_));
        let pod = match self.pods.entry(ticket) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(_) if is_over => return vec![delete(pool, ticket, Some(1))],
            Entry::Vacant(new) => new.insert(PodState::new(Arc::clone(pool), PodPhase::Waiting)),
        };
        if matches!(pod.phase, PodPhase::Creating(..)) {
            pod.phase = PodPhase::Waiting;
        }
        if pod.uid.get_or_insert_with(|| uid.clone()) != &uid {
            // The Pod that was made is gone. This one has its name and labels, and nobody's orders.
            let how = WorkerEnd::Failed("its Pod was replaced by another one of its name".into());
            let replaced = delete(pool, ticket, Some(1));
            return self.end(ticket, how).into_iter().chain([replaced]).collect();
        }
        let stopped = pod.stop.is_some();
        let end = match reading {
            PodReading::Waiting(_) | PodReading::Starting | PodReading::Running => {
                return pod.lives(now, ticket, reading, leaves);
            }
            PodReading::Stuck(why) => WorkerEnd::NotStarted(why),
            PodReading::Succeeded => WorkerEnd::Finished("its Pod succeeded".into()),
            PodReading::Failed(why) if stopped => WorkerEnd::Finished(why),
            PodReading::Failed(why) => WorkerEnd::Failed(why),
        };
        // Its object would stay for ever.
        let cleared = delete(pool, ticket, Some(1));
        self.end(ticket, end).into_iter().chain([cleared]).collect()
    }

    /// A Pod was deleted.
    pub(crate) fn gone(&mut self, ticket: TicketId) -> Vec<PodEffect> {
        self.listed.remove(&ticket);
        let end = match self.pods.get(&ticket) {
            // An object of the same name was there before.
            Some(pod) if matches!(pod.phase, PodPhase::Creating(..)) => return Vec::new(),
            Some(pod) if pod.stop.is_some() => WorkerEnd::Finished("its Pod was deleted".into()),
            _ => WorkerEnd::Failed("its Pod was deleted, and not by Assay".into()),
        };
        self.end(ticket, end).into_iter().collect()
    }

    /// A list has ended: Pods that were made before it and are not in it are gone.
    pub(crate) fn list_ends(&mut self) -> Vec<PodEffect> {
        let (list, listed) = (self.list, std::mem::take(&mut self.listed));
        let missing = |(ticket, pod): (&TicketId, &PodState)| {
            let made = !matches!(pod.phase, PodPhase::Creating(..)) && pod.unlisted_until < list;
            (made && !listed.contains(ticket)).then_some(*ticket)
        };
        let missing: Vec<TicketId> = self.pods.iter().filter_map(missing).collect();
        missing.into_iter().flat_map(|ticket| self.gone(ticket)).collect()
    }

    /// Kubernetes cannot be asked, for this reason.
    pub(crate) fn not_asked(&mut self, why: &str) -> Vec<PodEffect> {
        let why = format!("Kubernetes cannot be asked: {why}");
        let waiting =
            self.pods.iter_mut().filter(|(_, pod)| !matches!(pod.phase, PodPhase::Running));
        waiting.filter_map(|(ticket, pod)| pod.tell_waiting(*ticket, why.clone())).collect()
    }

    /// The worker of the Pod that Kubernetes says a token is of. `name` makes the name of a worker's Pod.
    pub(crate) fn identify(
        &self,
        identity: &PodIdentity,
        name: impl Fn(&str, TicketId) -> String,
    ) -> Result<TicketId, ProofRefusal> {
        let PodIdentity { name: named, uid } = identity;
        let refused = |why: &str| Err(ProofRefusal::Refused(format!("the Pod {named} {why}")));
        let named_so = self.pods.iter().find(|(ticket, pod)| name(&pod.pool, **ticket) == *named);
        let Some((ticket, pod)) = named_so else { return refused("is none of this server's") };
        match &pod.uid {
            None => Err(ProofRefusal::Unchecked(format!("the Pod {named} is not known yet"))),
            Some(known) if known != uid => refused("is another one than that which was made"),
            Some(_) if pod.leaves || pod.stop.is_some() => refused("is being deleted"),
            Some(_) => Ok(*ticket),
        }
    }

    /// The workers that exist, or may, with their pools.
    pub(crate) fn workers(&self) -> Vec<(TicketId, Arc<str>)> {
        self.pods.iter().map(|(ticket, pod)| (*ticket, Arc::clone(&pod.pool))).collect()
    }

    /// The workers whose Pods run.
    pub(crate) fn running(&self) -> Vec<(TicketId, Arc<str>)> {
        let running = self.pods.iter().filter(|(_, pod)| matches!(pod.phase, PodPhase::Running));
        running.map(|(ticket, pod)| (*ticket, Arc::clone(&pod.pool))).collect()
    }

    /// Ends the Pods whose workers do not run: after a restart nobody knows the tickets with which they would join.
    pub(crate) fn end_waiting(&mut self, now: Micros) -> Vec<PodEffect> {
        let waiting = self.pods.iter().filter(|(_, pod)| !matches!(pod.phase, PodPhase::Running));
        let waiting: Vec<TicketId> = waiting.map(|(ticket, _)| *ticket).collect();
        waiting.into_iter().flat_map(|ticket| self.stop(now, ticket, Stop::Kill)).collect()
    }

    /// Ends a worker whose Pod is not known to be made.
    fn end_unmade(&mut self, ticket: TicketId) -> Vec<PodEffect> {
        let Some(pod) = self.pods.get(&ticket) else { return Vec::new() };
        let deleted = pod.tried.then(|| delete(&pod.pool, ticket, Some(1)));
        let ended = self.end(ticket, WorkerEnd::Finished("it was not started".into()));
        deleted.into_iter().chain(ended).collect()
    }

    fn end(&mut self, ticket: TicketId, how: WorkerEnd) -> Option<PodEffect> {
        self.pods.remove(&ticket)?;
        Some(PodEffect::Tell(WorkerEvent::Ended { ticket, how }))
    }
}

impl PodState {
    fn new(pool: Arc<str>, phase: PodPhase) -> Self {
        let waits = String::new();
        Self {
            pool,
            phase,
            stop: None,
            unlisted_until: 0,
            starting_since: None,
            waits,
            tried: false,
            uid: None,
            leaves: false,
        }
    }

    /// It has not ended. `leaves` says why somebody will end it.
    fn lives(
        &mut self,
        now: Micros,
        ticket: TicketId,
        reading: PodReading,
        leaves: Option<String>,
    ) -> Vec<PodEffect> {
        let mut effects = Vec::new();
        let starts = reading == PodReading::Starting;
        self.starting_since = starts.then(|| self.starting_since.unwrap_or(now));
        match reading {
            PodReading::Running if !matches!(self.phase, PodPhase::Running) => {
                self.phase = PodPhase::Running;
                effects.push(PodEffect::Tell(WorkerEvent::Placed { ticket, pid: None }));
            }
            PodReading::Waiting(why) => effects.extend(self.tell_waiting(ticket, why)),
            PodReading::Starting => {
                let why = "its node prepares its containers".into();
                effects.extend(self.tell_waiting(ticket, why));
            }
            _ => {}
        }
        if let Some(why) = leaves.filter(|_| self.stop.is_none() && !self.leaves) {
            self.leaves = true;
            effects.push(PodEffect::Tell(WorkerEvent::Leaving { ticket, why }));
        }
        effects
    }

    /// The time at which one that is to end at once, or that its node prepares, is given up. One that leaves has its own
    /// time.
    fn given_up_at(&self) -> Option<Micros> {
        match self.stop {
            Some((how, since)) => (how > Stop::Leave).then(|| since + GIVEN_UP_AFTER),
            None => self.starting_since.map(|since| since + PREPARE_MAX),
        }
    }

    fn tell_waiting(&mut self, ticket: TicketId, why: String) -> Option<PodEffect> {
        if self.waits == why || self.stop.is_some() {
            return None;
        }
        self.waits.clone_from(&why);
        Some(PodEffect::Tell(WorkerEvent::Waiting { ticket, why }))
    }
}

fn unprepared() -> String {
    format!(
        "its node did not start its containers within {} s; `kubectl describe pod` says why while it tries",
        limits::KUBERNETES_PREPARE_SECONDS_MAX
    )
}

fn delete(pool: &Arc<str>, ticket: TicketId, grace: Option<u32>) -> PodEffect {
    PodEffect::Delete(PodDeletion { pool: Arc::clone(pool), ticket, grace })
}

#[cfg(test)]
mod tests;
