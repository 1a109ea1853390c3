//! Deadlines and waiters by the rules; the world handles waiters as the dispatcher does.

use assay_core::id::{BatchId, RequestId};
use assay_core::outcome::ErrorCode;
use assay_core::time::Micros;
use assay_sched::{Discipline, Event, FinalEnd, Finish, Progress, Released, SharedEnd, WaiterEnd};

use super::world::World;

impl World {
    /// The earlier one of the request's own and its inherited deadline.
    pub(super) fn effective_deadline(&self, id: RequestId) -> Option<Micros> {
        let request = &self.requests[&id];
        let deadline = [request.deadline, request.inherited_deadline].into_iter().flatten().min();
        deadline.filter(|_| self.discipline != Discipline::FCFS)
    }

    /// Sets a request's deadline, at times one that has passed.
    pub(super) fn deadline(&mut self, a: u8, b: u8) {
        let live = || self.requests.iter().filter(|(_, request)| !request.ended);
        let Some((request, _)) = live().nth(usize::from(a) % live().count().max(1)) else { return };
        let deadline = self.now + Micros(u64::from(b) * u64::from(b)) - Micros(500);
        self.apply(Event::RequestDeadline { request: *request, deadline });
    }

    pub(super) fn set_deadline(&mut self, id: RequestId, deadline: Micros) {
        let deadline = Some(deadline).filter(|deadline| *deadline > self.now);
        let Some(request) = self.requests.get_mut(&id).filter(|request| !request.ended) else {
            return;
        };
        request.deadline = deadline;
        if let Some(primary) = request.primary {
            self.primary_deadline(primary, deadline);
        }
    }

    fn primary_deadline(&mut self, primary: RequestId, deadline: Option<Micros>) {
        let Some(request) = self.requests.get_mut(&primary).filter(|primary| !primary.ended) else {
            return;
        };
        request.deadline = [request.deadline, deadline].into_iter().flatten().min();
    }

    pub(super) fn drop_passed_deadlines(&mut self) {
        for request in self.requests.values_mut() {
            request.deadline = request.deadline.filter(|deadline| *deadline > self.now);
        }
    }

    /// A request of the same tenant that runs or waits for a worker.
    pub(super) fn possible_primary(&self, batch: BatchId, b: u8) -> Option<RequestId> {
        let tenant = self.batches.get(&batch)?.tenant;
        let primaries = self.requests.iter().filter(|(id, request)| {
            !request.ended && request.primary.is_none() && self.batches[&id.batch].tenant == tenant
        });
        let primaries: Vec<RequestId> = primaries.map(|(id, _)| *id).collect();
        primaries.get(usize::from(b) % primaries.len().max(1)).copied()
    }

    pub(super) fn released(&mut self, released: &[Released]) {
        for one in released {
            if let Some(request) = self.requests.get_mut(&one.request) {
                request.primary = None;
            }
        }
        for Released { request: primary, waiters } in released {
            for waiter in waiters {
                let Some(request) = self.requests.get_mut(waiter) else { continue };
                request.primary = Some(*primary);
                let deadline = request.deadline;
                self.primary_deadline(*primary, deadline);
            }
        }
    }

    /// A primary with a new waiter inherits the estimate of that waiter's batch.
    pub(super) fn inherit(&mut self, event: &Event) {
        let pairs: Vec<(RequestId, RequestId)> = match event {
            Event::RequestsSubmitted { batch, requests } => {
                let waiter = |new: &assay_sched::NewRequest| match new.progress {
                    Progress::WaitsFor { primary } => {
                        Some((primary, RequestId { batch: *batch, seq: new.seq }))
                    }
                    _ => None,
                };
                requests.iter().filter_map(waiter).collect()
            }
            Event::WaitersReleased { released } => {
                let pairs = |one: &Released| {
                    let primary = one.request;
                    one.waiters.clone().into_iter().map(move |waiter| (primary, waiter))
                };
                released.iter().flat_map(pairs).collect()
            }
            _ => Vec::new(),
        };
        for (primary, waiter) in pairs {
            let is_live = |request: &super::world::Request| !request.ended;
            let waits = self.requests.get(&waiter).filter(|one| is_live(one));
            if waits.is_none_or(|one| one.primary != Some(primary)) {
                continue;
            }
            let estimate = self.sched.estimated_done(waiter.batch).expect("it has requests");
            if let Some(primary) = self.requests.get_mut(&primary).filter(|one| is_live(one)) {
                let inherited = primary.inherited_deadline;
                primary.inherited_deadline =
                    Some(inherited.map_or(estimate, |at| at.min(estimate)));
            }
        }
    }

    pub(super) fn waiter_finished(&mut self, finish: &Finish, event: &Event) {
        let Event::WaitersEnded { ended } = event else { panic!("{finish:?} ended by itself") };
        let end = ended.iter().find(|end| end.request == finish.request).expect("told of");
        let shared = match end.end {
            SharedEnd::Scored => FinalEnd::Scored,
            SharedEnd::TimedOut { stage } => FinalEnd::TimedOut { stage },
        };
        assert_eq!(finish.end, shared);
        assert!(finish.stages.is_empty(), "a waiter ran: {finish:?}");
        let arrived = self.requests[&finish.request].arrived;
        assert_eq!(finish.earliest_end, arrived.max(end.earliest_end));
        self.reached(finish);
    }

    /// Ends or releases the waiters of primaries that have ended.
    pub(super) fn settle(&mut self) {
        let mut ended = Vec::new();
        let mut released: Vec<Released> = Vec::new();
        for (primary, end) in std::mem::take(&mut self.ends) {
            let waiters = self.requests.iter().filter(|(_, one)| one.primary == Some(primary));
            let waiters = waiters.filter(|(_, one)| !one.ended).map(|(id, _)| *id);
            let mut waiters: Vec<RequestId> = waiters.collect();
            let shared = match end {
                FinalEnd::Scored => Some(SharedEnd::Scored),
                FinalEnd::TimedOut { stage } => Some(SharedEnd::TimedOut { stage }),
                FinalEnd::Error { .. } => None,
            };
            let alone = |request| Released { request, waiters: Vec::new() };
            match (shared, end) {
                (Some(end), _) => ended.extend(waiters.iter().map(|request| WaiterEnd {
                    request: *request,
                    end,
                    earliest_end: self.now,
                })),
                (None, FinalEnd::Error { code: ErrorCode::Cancelled, .. }) => {
                    let first = waiters.pop();
                    released.extend(first.map(|request| Released { request, waiters }));
                }
                (None, _) => released.extend(waiters.into_iter().map(alone)),
            }
        }
        if !ended.is_empty() {
            self.apply(Event::WaitersEnded { ended });
        }
        if !released.is_empty() {
            self.apply(Event::WaitersReleased { released });
        }
    }
}
