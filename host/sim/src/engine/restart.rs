//! The host restarts: what it had in memory is gone, what was acknowledged comes back.

use std::sync::Arc;

use assay_planner::Planner;
use assay_sched::{Config, Event, NewRequest, Progress, Sched};

use super::Engine;
use super::work::{Batch, RequestState, batch_id};
use crate::policy::Settings;

impl Engine<'_> {
    /// Workers die with the host; history, batches and what their requests reached do not.
    pub(super) fn restart(&mut self) {
        for worker in self.fleet.alive().into_iter().rev() {
            self.lost(worker);
        }
        let leases_after = self.last_lease;
        self.sched = Sched::new(Config { leases_after, ..self.sched_config.clone() });
        self.planner = Planner::new(self.plan_config.clone());
        self.pending.clear();
        self.tell_entitlements();
        for profile in &self.history {
            self.planner.learn(Arc::clone(profile));
            self.pending.push_back(Event::HistoryRead(Arc::clone(profile)));
        }
        for (number, batch) in self.work.live() {
            self.pending.extend(self.announcement(number).map(Event::BatchAnnounced));
            let requests = arrived(batch, self.settings);
            if !requests.is_empty() {
                let batch = batch_id(number);
                self.pending.push_back(Event::RequestsSubmitted { batch, requests });
            }
        }
    }
}

fn arrived(batch: &Batch, settings: &Settings) -> Vec<NewRequest> {
    let mut requests = Vec::new();
    for (index, state) in batch.states.iter().enumerate() {
        let ran = || batch.ran[index].clone();
        let progress = match *state {
            RequestState::Future => continue,
            RequestState::Waiting { stage, .. } => Progress::Waiting { stage, ran: ran() },
            RequestState::Running { .. } => unreachable!("no worker is left"),
            RequestState::Ended { ending, earliest_end, ended } => {
                Progress::Finished { earliest_end, ended, ran: ran(), ending }
            }
        };
        requests.push(NewRequest {
            seq: index as u32,
            group: Some(batch.group(index)),
            arrived: batch.arrival(index),
            deadline: None,
            expected_ms: batch.expected_ms(index, settings),
            progress,
        });
    }
    requests
}
