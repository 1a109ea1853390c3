//! What the shell keeps of a live batch: the payloads that the scheduler must not know.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use assay_model::api::{BatchState, Counts, ResultItem, StageTime};
use assay_model::id::{BatchId, RequestId};
use assay_model::limits;
use assay_model::outcome::{Artifact, ErrorCode, Outcome};
use assay_model::time::Micros;
use bytes::Bytes;

use super::board::Published;
use super::room::Place;
use super::sharing::{Content, Known};
use super::tally::Tally;
use super::{DispatchError, HashedItem, ItemFate, NewItem, refusal};
use crate::store::admissions::RequestRow;
use crate::store::restore::Left;
use crate::store::rollups::RollupRow;
use crate::store::usage::UsageRow;

pub(super) struct LiveBatch {
    pub published: Arc<Published>,
    pub state: BatchState,
    keys: HashMap<Arc<str>, u32>,
    groups: HashMap<Arc<str>, u32>,
    group_names: Vec<Arc<str>>,
    /// By seq; `None` once the request has ended.
    entries: Vec<Option<Entry>>,
    /// Of the last finished request.
    pub position: u32,
    pub counts: Counts,
    pub reward_sum: f64,
    /// Requests that ended so.
    pub errors: BTreeMap<ErrorCode, u32>,
    /// It is one request alone, another one's replay.
    pub replays: Option<RequestId>,
    /// Requests that its tenant's bucket was charged for.
    paid: u32,
    /// By stage: what finished requests used.
    used: Vec<StageUse>,
    /// Unused for a lone request.
    tally: Tally,
}

#[derive(Debug, Clone, Copy, Default)]
struct StageUse {
    requests: u32,
    ran: Micros,
}

/// A request that has not ended.
pub(super) struct Entry {
    pub key: Arc<str>,
    pub group: Option<u32>,
    pub body: Bytes,
    /// What the stage before left.
    pub input: Option<Artifact>,
    /// Of the stages that ended in `next`, those before a restart included.
    pub times: Vec<StageTime>,
    /// How many of them the scheduler knows of.
    pub advanced: usize,
    pub log_lines: u32,
    pub place: Place,
    /// When whoever waits for it gives up, as far as is known.
    pub due: Option<Micros>,
    /// What it is equal by, if it is to share.
    pub content: Option<Content>,
    /// The outcome that it ends with.
    pub shared: Option<Arc<Known>>,
}

/// What a submit changes: rows to commit, requests to schedule after that, fates to report.
#[derive(Default)]
pub(super) struct Taken {
    pub rows: Vec<RequestRow>,
    pub fates: Vec<ItemFate>,
    /// When repeats of unfinished requests are due.
    pub dues: Vec<(RequestId, Micros)>,
}

impl LiveBatch {
    pub(super) fn new(published: Arc<Published>) -> Self {
        Self {
            paid: published.row.expected_size.unwrap_or(0),
            used: vec![StageUse::default(); published.plugin.shapes.len()],
            published,
            state: BatchState::Announced,
            keys: HashMap::new(),
            groups: HashMap::new(),
            group_names: Vec::new(),
            entries: Vec::new(),
            position: 0,
            counts: Counts::default(),
            reward_sum: 0.0,
            errors: BTreeMap::new(),
            replays: None,
            tally: Tally::default(),
        }
    }

    pub(super) fn id(&self) -> BatchId {
        self.published.row.id
    }

    /// Requests taken, committed or about to be.
    pub(super) fn size(&self) -> u32 {
        u32::try_from(self.entries.len()).expect("a batch is within its limit")
    }

    /// How many more requests there are than were paid for; they are from now on.
    pub(super) fn pay(&mut self) -> u32 {
        let unpaid = self.size().saturating_sub(self.paid);
        self.paid += unpaid;
        unpaid
    }

    /// Requests that were paid for and never came.
    pub(super) fn overpaid(&self) -> u32 {
        self.paid.saturating_sub(self.size())
    }

    pub(super) fn count_error(&mut self, outcome: &Outcome) {
        if let Outcome::Error { code, .. } = outcome {
            *self.errors.entry(*code).or_default() += 1;
        }
    }

    /// A request has ended after these stages.
    pub(super) fn charge(&mut self, times: &[StageTime]) {
        let stages = &self.published.plugin.description.stages;
        for time in times {
            let place = stages.iter().position(|stage| stage.name == time.stage);
            if let Some(used) = place.and_then(|place| self.used.get_mut(place)) {
                used.requests += 1;
                used.ran = used.ran + Micros::from_ms_f64(time.ran_ms);
            }
        }
    }

    /// A request has ended with this result, for the roll-up.
    pub(super) fn count(&mut self, item: &ResultItem, group: Option<u32>, earliest_end: Micros) {
        if !self.published.lone {
            let stages = &self.published.plugin.description.stages;
            self.tally.add(stages, item, group, earliest_end);
        }
    }

    /// What the batch leaves with its end; nothing of a lone request, whose batch stands in no list.
    pub(super) fn rollup(&mut self, usage: &[UsageRow]) -> Option<RollupRow> {
        if self.published.lone {
            return None;
        }
        let row = &self.published.row;
        let stages = &self.published.plugin.description.stages;
        Some(RollupRow {
            run: row.run.clone(),
            plugin: row.plugin.clone(),
            version: row.version.clone(),
            rollup: std::mem::take(&mut self.tally).rollup(stages, row.group_size, usage),
        })
    }

    /// What it used of each pool, at what a second of a worker costs there.
    pub(super) fn usage(&self, cost: impl Fn(&str) -> f64) -> Vec<UsageRow> {
        let mut rows: Vec<UsageRow> = Vec::new();
        for (shape, used) in self.published.plugin.shapes.iter().zip(&self.used) {
            let seconds = used.ran.as_secs_f64();
            // Whatever reaches a later stage on the pool has been at this one.
            if let Some(row) = rows.iter_mut().find(|row| *row.pool == *shape.pool) {
                row.worker_seconds += seconds;
            } else if used.requests > 0 {
                let pool = shape.pool.to_string();
                let requests = used.requests;
                rows.push(UsageRow { pool, requests, worker_seconds: seconds, cost: 0.0 });
            }
        }
        for row in &mut rows {
            row.cost = row.worker_seconds * cost(&row.pool);
        }
        rows
    }

    pub(super) fn entry(&self, seq: u32) -> Option<&Entry> {
        self.entries.get(seq as usize)?.as_ref()
    }

    pub(super) fn entry_mut(&mut self, seq: u32) -> Option<&mut Entry> {
        self.entries.get_mut(seq as usize)?.as_mut()
    }

    pub(super) fn end(&mut self, seq: u32) -> Option<Entry> {
        self.entries.get_mut(seq as usize)?.take()
    }

    pub(super) fn group_name(&self, group: u32) -> Option<&Arc<str>> {
        self.group_names.get(group as usize)
    }

    /// Takes the items that are new; a repeated key gets the request it has.
    pub(super) fn take(&mut self, items: Vec<HashedItem>) -> Result<Taken, DispatchError> {
        let refused = refusal(self.state);
        let mut taken = Taken::default();
        for HashedItem { item, content } in items {
            if let Some(&seq) = self.keys.get(item.key.as_str()) {
                let id = RequestId { batch: self.id(), seq };
                taken.fates.push(ItemFate::Repeated(id));
                if let (Some(due), Some(entry)) = (item.due, self.entry_mut(seq)) {
                    entry.due = Some(due);
                    taken.dues.push((id, due));
                }
                continue;
            }
            // A whole call of repeats is harmless even after the seal; anything new is not.
            if let Some(refused) = refused {
                return Err(refused);
            }
            if self.size() >= limits::BATCH_REQUESTS_MAX {
                taken.fates.push(ItemFate::Refused);
                continue;
            }
            let seq = self.size();
            taken.rows.push(RequestRow {
                seq,
                key: item.key.clone(),
                group: item.group.clone(),
                body: item.body.clone(),
            });
            taken.fates.push(ItemFate::Accepted(RequestId { batch: self.id(), seq }));
            self.add(item, content);
        }
        Ok(taken)
    }

    fn add(&mut self, item: NewItem, content: Option<Content>) {
        let key: Arc<str> = item.key.into();
        let group = item.group.map(|name| self.group(&name));
        self.keys.insert(key.clone(), self.size());
        self.entries.push(Some(Entry {
            key,
            group,
            body: item.body,
            input: None,
            times: Vec::new(),
            advanced: 0,
            log_lines: 0,
            place: item.place,
            due: item.due,
            content,
            shared: None,
        }));
    }

    pub(super) fn group(&mut self, name: &str) -> u32 {
        if let Some(&group) = self.groups.get(name) {
            return group;
        }
        let group = u32::try_from(self.group_names.len()).expect("fewer than requests");
        let name: Arc<str> = name.into();
        self.groups.insert(name.clone(), group);
        self.group_names.push(name);
        group
    }

    /// Brings back a request that waits, with what its last stage left; returns how long the stages
    /// up to that one ran.
    pub(super) fn restore_waiting(&mut self, item: NewItem, left: Option<Left>) -> Vec<Micros> {
        let seq = self.size();
        let Published { row, plugin, .. } = &*self.published;
        let content = Content::of(row, plugin, &item.body);
        self.add(item, content);
        let entry = self.entry_mut(seq).expect("just added");
        if let Some(left) = left {
            entry.times = serde_json::from_str(&left.times).unwrap_or_default();
            entry.input = Some(left.artifact);
        }
        entry.times.iter().map(|time| Micros::from_ms_f64(time.ran_ms)).collect()
    }

    /// Brings back a request that has ended.
    pub(super) fn restore_finished(&mut self, key: String) {
        self.keys.insert(key.into(), self.size());
        self.entries.push(None);
    }

    pub(super) fn artifact_bytes(&self) -> usize {
        let inputs = self.entries.iter().flatten().filter_map(|entry| entry.input.as_ref());
        inputs.map(|input| input.bytes.len()).sum()
    }
}
