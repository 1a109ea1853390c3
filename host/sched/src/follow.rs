//! Followers: requests that wait for the outcome of an equal one instead of running.
//!
//! Who follows whom is the shell's to say, as it alone sees what requests are made of. A follower
//! ends with its leader's reward or is released; it costs no worker and is in no queue. A leader is
//! wanted as early as any batch that has a follower of it (`wanted`).

use std::collections::BTreeSet;

use assay_model::id::{BatchId, RequestId};

use crate::action::{Action, FinalEnd};
use crate::event::{FollowerEnd, Released, SharedEnd};
use crate::sched::Sched;

impl Sched {
    pub(crate) fn followers_ended(&mut self, ended: Vec<FollowerEnd>, out: &mut Vec<Action>) {
        let mut changed: BTreeSet<BatchId> = BTreeSet::new();
        for FollowerEnd { request: id, end, earliest_end } in ended {
            if !self.follows(id) {
                continue;
            }
            self.forget_due(id);
            let end = match end {
                SharedEnd::Scored => FinalEnd::Scored,
                SharedEnd::TimedOut { stage } => FinalEnd::TimedOut { stage },
            };
            let now = self.now;
            let batch = self.batches.get_mut(&id.batch).expect("a follower's batch is live");
            let group = batch.finish_follower(id.seq, end, earliest_end, now, out);
            self.regroup(id.batch, group);
            changed.insert(id.batch);
        }
        changed.into_iter().for_each(|batch| self.progressed(batch, out));
    }

    pub(crate) fn followers_released(&mut self, released: Vec<Released>, out: &mut Vec<Action>) {
        let mut changed: BTreeSet<BatchId> = BTreeSet::new();
        for id in released.iter().map(|released| released.request) {
            if self.follows(id) {
                let batch = self.batches.get_mut(&id.batch).expect("a follower's batch is live");
                batch.release(id.seq);
                self.queue(id);
                changed.insert(id.batch);
            }
        }
        changed.into_iter().for_each(|batch| self.progressed(batch, out));
        for Released { request: leader, followers } in released {
            followers.into_iter().for_each(|follower| self.follow(follower, leader));
        }
    }

    /// The follower has another leader.
    fn follow(&mut self, id: RequestId, leader: RequestId) {
        if !self.follows(id) {
            return;
        }
        let batch = self.batches.get_mut(&id.batch).expect("a follower's batch is live");
        batch.request(id.seq).leader = Some(leader);
        let due = batch.request(id.seq).due;
        self.queue(id);
        self.request_due(id, due);
    }

    fn follows(&self, id: RequestId) -> bool {
        let batch = self.batches.get(&id.batch);
        let request = batch.and_then(|batch| batch.requests.get(&id.seq));
        request.is_some_and(|request| request.leader.is_some())
    }
}
