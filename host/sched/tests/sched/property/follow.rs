//! Dues and followers, as the rules have them; the world does with followers what the shell does.

use assay_model::id::{BatchId, RequestId};
use assay_model::outcome::ErrorCode;
use assay_model::time::Micros;
use assay_sched::{Event, FinalEnd, Finish, FollowerEnd, Order, Progress, Released, SharedEnd};

use super::world::World;

impl World {
    /// When the request is wanted, whenever its batch is.
    pub(super) fn wanted(&self, id: RequestId) -> Option<Micros> {
        let request = &self.requests[&id];
        let wanted = [request.due, request.led].into_iter().flatten().min();
        wanted.filter(|_| self.order != Order::Fcfs)
    }

    /// A due that is said of a request, at times one that has passed.
    pub(super) fn due(&mut self, a: u8, b: u8) {
        let live = || self.requests.iter().filter(|(_, request)| !request.ended);
        let Some((request, _)) = live().nth(usize::from(a) % live().count().max(1)) else { return };
        let due = self.now + Micros(u64::from(b) * u64::from(b)) - Micros(500);
        self.apply(Event::RequestDue { request: *request, due });
    }

    pub(super) fn set_due(&mut self, id: RequestId, due: Micros) {
        let due = Some(due).filter(|due| *due > self.now);
        let Some(request) = self.requests.get_mut(&id).filter(|request| !request.ended) else {
            return;
        };
        request.due = due;
        if let Some(leader) = request.leader {
            self.leader_due(leader, due);
        }
    }

    fn leader_due(&mut self, leader: RequestId, due: Option<Micros>) {
        let Some(request) = self.requests.get_mut(&leader).filter(|leader| !leader.ended) else {
            return;
        };
        request.due = [request.due, due].into_iter().flatten().min();
    }

    pub(super) fn pass_dues(&mut self) {
        for request in self.requests.values_mut() {
            request.due = request.due.filter(|due| *due > self.now);
        }
    }

    /// Something of the same tenant that runs or waits to.
    pub(super) fn possible_leader(&self, batch: BatchId, b: u8) -> Option<RequestId> {
        let tenant = self.batches.get(&batch)?.tenant;
        let leads = self.requests.iter().filter(|(id, request)| {
            !request.ended && request.leader.is_none() && self.batches[&id.batch].tenant == tenant
        });
        let leads: Vec<RequestId> = leads.map(|(id, _)| *id).collect();
        leads.get(usize::from(b) % leads.len().max(1)).copied()
    }

    pub(super) fn released(&mut self, released: &[Released]) {
        for one in released {
            if let Some(request) = self.requests.get_mut(&one.request) {
                request.leader = None;
            }
        }
        for Released { request: leader, followers } in released {
            for follower in followers {
                let Some(request) = self.requests.get_mut(follower) else { continue };
                request.leader = Some(*leader);
                let due = request.due;
                self.leader_due(*leader, due);
            }
        }
    }

    /// What has a new follower is wanted as early as that one's batch.
    pub(super) fn lead(&mut self, event: &Event) {
        let pairs: Vec<(RequestId, RequestId)> = match event {
            Event::RequestsSubmitted { batch, requests } => {
                let follower = |new: &assay_sched::NewRequest| match new.progress {
                    Progress::Follows { leader } => {
                        Some((leader, RequestId { batch: *batch, seq: new.seq }))
                    }
                    _ => None,
                };
                requests.iter().filter_map(follower).collect()
            }
            Event::FollowersReleased { released } => {
                let pairs = |one: &Released| {
                    let leader = one.request;
                    one.followers.clone().into_iter().map(move |follower| (leader, follower))
                };
                released.iter().flat_map(pairs).collect()
            }
            _ => Vec::new(),
        };
        for (leader, follower) in pairs {
            let is_live = |request: &super::world::Request| !request.ended;
            let follows = self.requests.get(&follower).filter(|one| is_live(one));
            if follows.is_none_or(|one| one.leader != Some(leader)) {
                continue;
            }
            let estimate = self.sched.estimated_done(follower.batch).expect("it has requests");
            if let Some(leader) = self.requests.get_mut(&leader).filter(|one| is_live(one)) {
                leader.led = Some(leader.led.map_or(estimate, |led| led.min(estimate)));
            }
        }
    }

    pub(super) fn follower_finished(&mut self, finish: &Finish, event: &Event) {
        let Event::FollowersEnded { ended } = event else { panic!("{finish:?} ended by itself") };
        let end = ended.iter().find(|end| end.request == finish.request).expect("told of");
        let shared = match end.end {
            SharedEnd::Scored => FinalEnd::Scored,
            SharedEnd::TimedOut { stage } => FinalEnd::TimedOut { stage },
        };
        assert_eq!(finish.end, shared);
        assert!(finish.stages.is_empty(), "a follower ran: {finish:?}");
        let arrived = self.requests[&finish.request].arrived;
        assert_eq!(finish.earliest_end, arrived.max(end.earliest_end));
        self.reached(finish);
    }

    /// Leaders that have ended: their followers end with them, or run.
    pub(super) fn settle(&mut self) {
        let mut ended = Vec::new();
        let mut released: Vec<Released> = Vec::new();
        for (leader, end) in std::mem::take(&mut self.ends) {
            let followers = self.requests.iter().filter(|(_, one)| one.leader == Some(leader));
            let followers = followers.filter(|(_, one)| !one.ended).map(|(id, _)| *id);
            let mut followers: Vec<RequestId> = followers.collect();
            let shared = match end {
                FinalEnd::Scored => Some(SharedEnd::Scored),
                FinalEnd::TimedOut { stage } => Some(SharedEnd::TimedOut { stage }),
                FinalEnd::Error { .. } => None,
            };
            let alone = |request| Released { request, followers: Vec::new() };
            match (shared, end) {
                (Some(end), _) => ended.extend(followers.iter().map(|request| FollowerEnd {
                    request: *request,
                    end,
                    earliest_end: self.now,
                })),
                (None, FinalEnd::Error { code: ErrorCode::Cancelled, .. }) => {
                    let first = followers.pop();
                    released.extend(first.map(|request| Released { request, followers }));
                }
                (None, _) => released.extend(followers.into_iter().map(alone)),
            }
        }
        if !ended.is_empty() {
            self.apply(Event::FollowersEnded { ended });
        }
        if !released.is_empty() {
            self.apply(Event::FollowersReleased { released });
        }
    }
}
