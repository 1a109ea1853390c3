//! A database in memory in the place of the store's, with the same contract: what is acknowledged is durable, a group
//! is written as a whole or not at all, and a row is written once. Everything else may go wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use assay_api::batch::BatchState;
use assay_api::result::{Counts, ResultItem};
use assay_clock::{now, sleep};
use assay_core::id::{BatchId, TenantId};
use assay_core::outcome::{Artifact, Outcome};
use assay_core::time::Micros;
use assay_store::admissions::{Admitted, BatchMark, BatchRow, RequestRow};
use assay_store::operations::IncidentRow;
use assay_store::outcomes::{OutcomeRow, Record, Recorded};
use assay_store::restore::{LastArtifact, LiveBatchRow, LiveRequestRow, LiveRequestState};
use assay_store::single::SingleRow;
use assay_store::{CommitError, DispatchStore, StoreError};
use bytes::Bytes;
use tokio::sync::oneshot;

use crate::world::{Mutation, World, below, one_in, pause};

/// The rows that are committed.
#[derive(Default)]
pub struct Rows {
    pub batches: BTreeMap<BatchId, StoredBatch>,
    pub requests: BTreeMap<(BatchId, u32), StoredRequest>,
    pub keys: BTreeMap<(BatchId, String), u32>,
    artifacts: BTreeMap<(BatchId, u32, usize), (Artifact, String)>,
    log_lines: BTreeMap<(BatchId, u32), u32>,
    pub outcomes: BTreeMap<(BatchId, u32), StoredOutcome>,
    /// The batches that are made for single requests; known to the simulation alone.
    pub singles: BTreeSet<BatchId>,
    /// The requests that were acknowledged; known to the simulation alone.
    pub acknowledged: BTreeSet<(BatchId, u32)>,
    /// Batches and requests whose rows are refused up to a time.
    refused: BTreeMap<(BatchId, String), Micros>,
    /// Requests that were refused: a late statement with the same rows is refused as well.
    requests_refused: BTreeSet<(BatchId, u32)>,
    outcomes_refused: BTreeMap<(BatchId, u32), Micros>,
    /// The life of the server that may write.
    life: u64,
    incidents: i64,
}

pub struct StoredBatch {
    pub row: BatchRow,
    pub first_request_at: Option<Micros>,
    pub sealed_at: Option<Micros>,
    pub end: Option<StoredEnd>,
}

#[derive(Debug, Clone)]
pub struct StoredEnd {
    pub state: BatchState,
    pub counts: Counts,
    pub reward_sum: f64,
}

pub struct StoredRequest {
    pub row: RequestRow,
    arrived_at: Micros,
}

#[derive(Debug, Clone)]
pub struct StoredOutcome {
    pub position: u32,
    pub kind: &'static str,
    pub reward: Option<f64>,
    pub result: Bytes,
    earliest_end_at: Micros,
}

impl StoredOutcome {
    fn of(row: &OutcomeRow) -> Self {
        Self {
            position: row.position,
            kind: row.kind,
            reward: row.reward,
            result: row.result.clone(),
            earliest_end_at: row.earliest_end_at,
        }
    }
}

enum Change {
    Batch(BatchRow),
    Request(BatchId, Micros, RequestRow),
    Mark(BatchId, BatchMark),
    Artifact(BatchId, u32, usize, Artifact, String),
    Logs(BatchId, u32, u32),
    Outcome(BatchId, u32, StoredOutcome),
    End(BatchId, StoredEnd),
}

impl Rows {
    /// From now on only this life's server writes, as the sessions of those before it are ended.
    pub fn fence(&mut self, life: u64) {
        self.life = life;
    }

    /// The database will refuse this row up to a time; an empty key is the batch's own.
    pub fn refuse(&mut self, batch: BatchId, key: &str, until: Micros) {
        self.refused.insert((batch, key.to_owned()), until);
    }

    /// The durable results of a batch, in the order of completion.
    pub fn results(&self, batch: BatchId) -> Vec<&StoredOutcome> {
        let of_batch = (batch, 0)..=(batch, u32::MAX);
        let mut results: Vec<_> = self.outcomes.range(of_batch).map(|(_, it)| it).collect();
        results.sort_by_key(|outcome| outcome.position);
        results
    }

    pub fn request_count(&self, batch: BatchId) -> usize {
        self.requests.range((batch, 0)..=(batch, u32::MAX)).count()
    }

    /// Why the database refuses the change.
    fn refusal(&self, world: &World, change: &Change) -> Option<CommitError> {
        let repeat = |is_there: bool| is_there.then(|| CommitError::Repeat("it is there".into()));
        let refused = |until: Option<&Micros>| {
            let is_refused = until.is_some_and(|until| now() < *until);
            is_refused.then(|| CommitError::Rows("the rows are refused".into()))
        };
        match change {
            Change::Batch(row) => repeat(self.batches.contains_key(&row.id))
                .or_else(|| refused(self.refused.get(&(row.id, String::new())))),
            Change::Request(batch, _, row) => {
                repeat(self.requests.contains_key(&(*batch, row.seq))).or_else(|| {
                    let before = self.requests_refused.contains(&(*batch, row.seq));
                    let until = self.refused.get(&(*batch, row.key.clone()));
                    refused(if before { Some(&Micros::MAX) } else { until })
                })
            }
            Change::Outcome(batch, seq, _) => {
                let is_there = self.outcomes.contains_key(&(*batch, *seq));
                repeat(is_there && !world.mutates(Mutation::OutcomeDoubled))
                    .or_else(|| refused(self.outcomes_refused.get(&(*batch, *seq))))
            }
            Change::Mark(..) | Change::Artifact(..) | Change::Logs(..) | Change::End(..) => None,
        }
    }

    /// The rows that were refused: a statement with them that comes late is refused again. A new try has rows of its
    /// own.
    fn refuse_for_good(&mut self, world: &World, changes: &[Change]) {
        for change in changes {
            let is_refused = matches!(self.refusal(world, change), Some(CommitError::Rows(_)));
            match change {
                Change::Batch(row) if is_refused => self.refuse(row.id, "", Micros::MAX),
                Change::Request(batch, _, row) if is_refused => {
                    self.requests_refused.insert((*batch, row.seq));
                }
                _ => {}
            }
        }
    }

    fn apply(&mut self, world: &World, change: Change) {
        match change {
            Change::Batch(row) => {
                let at = row.sealed_at;
                let batch = StoredBatch { first_request_at: at, sealed_at: at, end: None, row };
                self.batches.insert(batch.row.id, batch);
            }
            Change::Request(id, arrived_at, row) => {
                let batch = self.batches.get(&id);
                world.check(batch.is_some(), || format!("a request without its batch {id}"));
                let ended = batch.and_then(|batch| batch.end.as_ref());
                let may = ended.is_none_or(|end| end.state != BatchState::Done);
                world.check(may, || format!("a request of a batch that is done: {id}"));
                let seq = self.keys.insert((id, row.key.clone()), row.seq);
                world.check(seq.is_none(), || format!("two requests with the key {}", row.key));
                self.requests.insert((id, row.seq), StoredRequest { row, arrived_at });
            }
            Change::Mark(id, mark) => {
                let Some(batch) = self.batches.get_mut(&id) else {
                    return world.fail(format!("a mark without its batch {id}"));
                };
                batch.first_request_at = batch.first_request_at.or(mark.first_request_at);
                batch.sealed_at = batch.sealed_at.or(mark.sealed_at);
            }
            Change::Artifact(id, seq, stage, artifact, times) => {
                self.artifacts.entry((id, seq, stage)).or_insert((artifact, times));
            }
            Change::Logs(id, seq, line) => {
                let lines = self.log_lines.entry((id, seq)).or_default();
                *lines = line.max(*lines);
            }
            Change::Outcome(id, seq, outcome) => {
                let is_there = self.requests.contains_key(&(id, seq));
                world.check(is_there, || format!("an outcome without its request {id}.{seq}"));
                let may = (outcome.kind == "error") == outcome.reward.is_none();
                world.check(may, || format!("{} with {:?}", outcome.kind, outcome.reward));
                let twice = self.outcomes.insert((id, seq), outcome);
                world.check(twice.is_none(), || format!("{id}.{seq} ended twice"));
            }
            Change::End(id, end) => {
                let Some(batch) = self.batches.get_mut(&id) else {
                    return world.fail(format!("an end without its batch {id}"));
                };
                batch.end.get_or_insert(end);
            }
        }
    }
}

/// The database as one life of the server has it.
#[derive(Clone)]
pub struct Database {
    pub world: Arc<World>,
    pub life: u64,
}

fn lost() -> CommitError {
    CommitError::Lost("the connection is lost".into())
}

impl Database {
    /// Carries out a statement, if the server may write.
    fn execute(&self, changes: Vec<Change>) -> Result<(), CommitError> {
        let world = &self.world;
        let mut rows = world.rows();
        if rows.life != self.life && !world.mutates(Mutation::FormerServerWrites) {
            return Err(lost());
        }
        let refused = changes.iter().find_map(|change| rows.refusal(world, change));
        if let Some(refused) = refused {
            world.say(|| format!("the database refuses {} changes: {refused:?}", changes.len()));
            let is_rows = matches!(refused, CommitError::Rows(_));
            rows.refuse_for_good(world, &changes);
            if is_rows && world.mutates(Mutation::HalfCommitted) {
                let good = changes.into_iter().filter(|it| rows.refusal(world, it).is_none());
                let good: Vec<Change> = good.collect();
                good.into_iter().for_each(|change| rows.apply(world, change));
            }
            return Err(refused);
        }
        for change in &changes {
            if let Change::Outcome(batch, seq, _) = change
                && world.strikes(world.faults.outcome_refused)
                && !rows.outcomes_refused.contains_key(&(*batch, *seq))
            {
                let until = now() + Micros(below(20_000_000));
                rows.outcomes_refused.insert((*batch, *seq), until);
                return Err(CommitError::Rows("an outcome is refused".into()));
            }
        }
        if world.mutates(Mutation::CommitLost) {
            return Ok(());
        }
        world.say(|| format!("{} changes are committed", changes.len()));
        for change in changes {
            let change = self.falsify(change);
            rows.apply(world, change);
        }
        Ok(())
    }

    fn falsify(&self, change: Change) -> Change {
        let Change::Outcome(batch, seq, mut outcome) = change else { return change };
        let item: ResultItem = serde_json::from_slice(&outcome.result).expect("a result");
        let mut changed = None;
        if let Outcome::Scored(scored) = &item.outcome
            && self.world.mutates(Mutation::RewardChanged)
        {
            let mut scored = scored.clone();
            scored.reward += 1.0;
            changed = Some(Outcome::Scored(scored));
        }
        if outcome.kind == "error" && self.world.mutates(Mutation::ErrorIsNumber) {
            outcome.kind = "timed_out";
            outcome.reward = Some(0.0);
            changed = Some(Outcome::TimedOut { stage: "first".into(), reward: 0.0 });
        }
        if let Some(other) = changed {
            let item = ResultItem { outcome: other, ..item };
            outcome.result = serde_json::to_vec(&item).expect("plain data").into();
        }
        Change::Outcome(batch, seq, outcome)
    }
}

pub struct Connection {
    database: Database,
}

impl Connection {
    /// A statement on its way: the connection may be lost at every step, and the statement may still be carried out.
    async fn commit(&self, changes: Vec<Change>) -> Result<(), CommitError> {
        if changes.is_empty() {
            return Ok(());
        }
        let world = Arc::clone(&self.database.world);
        pause(500).await;
        if world.strikes(world.faults.lost_before_commit) {
            return Err(lost());
        }
        let (answer, answered) = oneshot::channel();
        let database = self.database.clone();
        // The database carries it out, whatever becomes of the server.
        tokio::spawn(async move {
            pause(2_000).await;
            let world = &database.world;
            if world.strikes(world.faults.commit_slow) {
                pause(500_000).await;
            }
            let is_late = world.mutation == Some(Mutation::FormerServerWrites) && one_in(8);
            if is_late || world.strikes(world.faults.commit_late) {
                pause(20_000_000).await;
            }
            // Nobody may be there to hear it.
            let _ = answer.send(database.execute(changes));
        });
        if world.mutates(Mutation::AcknowledgedTooEarly) {
            return Ok(());
        }
        if world.mutates(Mutation::CommitHangs) {
            std::future::pending::<()>().await;
        }
        if world.strikes(world.faults.lost_in_commit) {
            pause(3_000).await;
            return Err(lost());
        }
        let result = answered.await.unwrap_or(Err(lost()));
        pause(500).await;
        if result.is_ok() && world.strikes(world.faults.lost_after_commit) {
            return Err(lost());
        }
        result
    }
}

fn admission(admitted: &Admitted) -> Vec<Change> {
    let (batch, at) = (admitted.batch, admitted.at);
    let admission = &admitted.admission;
    let mut changes: Vec<Change> = admission.batch.iter().cloned().map(Change::Batch).collect();
    let requests = admission.requests.iter().cloned();
    changes.extend(requests.map(|row| Change::Request(batch, at, row)));
    let BatchMark { first_request_at, sealed_at } = admission.mark;
    if first_request_at.is_some() || sealed_at.is_some() {
        changes.push(Change::Mark(batch, admission.mark));
    }
    changes
}

impl DispatchStore for Database {
    type Connection = Connection;

    async fn connect(&self) -> Result<Connection, CommitError> {
        pause(1_000).await;
        if self.world.strikes(self.world.faults.connection_refused) {
            return Err(lost());
        }
        Ok(Connection { database: self.clone() })
    }

    async fn write_admissions(
        connection: &mut Connection,
        group: &[&Admitted],
    ) -> Result<(), CommitError> {
        // Batches first, as the statements are.
        let mut changes: Vec<Change> = group.iter().flat_map(|it| admission(it)).collect();
        changes.sort_by_key(|change| !matches!(change, Change::Batch(_)));
        connection.commit(changes).await
    }

    async fn write_records(
        connection: &mut Connection,
        group: &[&Recorded],
    ) -> Result<(), CommitError> {
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for recorded in group {
            let batch = recorded.batch;
            match &recorded.record {
                Record::Artifact(row) => {
                    let (artifact, times) = (Artifact::clone(&row.artifact), row.times.clone());
                    first.push(Change::Artifact(batch, row.seq, row.stage, artifact, times));
                }
                Record::Logs(rows) => {
                    first.extend(rows.iter().map(|row| Change::Logs(batch, row.seq, row.line)));
                }
                Record::Outcome(row) => {
                    second.push(Change::Outcome(batch, row.seq, StoredOutcome::of(row)));
                }
                Record::End(row) => {
                    let (state, counts) = (row.state, row.counts);
                    let end = StoredEnd { state, counts, reward_sum: row.reward_sum };
                    second.push(Change::End(batch, end));
                }
            }
        }
        connection.commit(first).await?;
        connection.commit(second).await
    }

    async fn write_singles(
        connection: &mut Connection,
        group: &[&SingleRow],
    ) -> Result<(), CommitError> {
        let mut changes = Vec::new();
        for SingleRow { batch, request, outcome, end } in group {
            let (id, at) = (batch.id, batch.announced_at);
            changes.push(Change::Batch(BatchRow { sealed_at: Some(at), ..batch.clone() }));
            changes.push(Change::Request(id, at, request.clone()));
            changes.push(Change::Outcome(id, outcome.seq, StoredOutcome::of(outcome)));
            let (state, counts) = (end.state, end.counts);
            changes.push(Change::End(id, StoredEnd { state, counts, reward_sum: end.reward_sum }));
        }
        connection.commit(changes).await
    }

    async fn live_batches(&self) -> Result<Vec<LiveBatchRow>, StoreError> {
        pause(5_000).await;
        if self.world.strikes(self.world.faults.reading_fails) {
            return Err(StoreError::Conflict("the database is away".into()));
        }
        let rows = self.world.rows();
        let live = rows.batches.values().filter(|batch| batch.end.is_none());
        Ok(live
            .map(|batch| LiveBatchRow {
                row: BatchRow { idempotency: None, ..batch.row.clone() },
                first_request_at: batch.first_request_at,
                sealed_at: batch.sealed_at,
            })
            .collect())
    }

    async fn live_requests(
        &self,
        _tenant: TenantId,
        batch: BatchId,
    ) -> Result<Vec<LiveRequestRow>, StoreError> {
        pause(5_000).await;
        if self.world.strikes(self.world.faults.reading_fails) {
            return Err(StoreError::Conflict("the database is away".into()));
        }
        let rows = self.world.rows();
        let mut requests = Vec::new();
        for ((_, seq), request) in rows.requests.range((batch, 0)..=(batch, u32::MAX)) {
            let state = match rows.outcomes.get(&(batch, *seq)) {
                Some(outcome) => LiveRequestState::Finished {
                    position: outcome.position,
                    earliest_end_at: outcome.earliest_end_at,
                    reward: outcome.reward,
                    kind: outcome.kind.into(),
                    result: outcome.result.clone(),
                },
                None if self.world.mutates(Mutation::RequestForgotten) => continue,
                None => LiveRequestState::Waiting {
                    body: request.row.body.clone(),
                    left: rows.left(&self.world, batch, *seq),
                    log_lines: rows.log_lines.get(&(batch, *seq)).copied().unwrap_or(0),
                },
            };
            requests.push(LiveRequestRow {
                seq: *seq,
                key: request.row.key.clone(),
                group: request.row.group.clone(),
                arrived_at: request.arrived_at,
                expected_ms: request.row.expected_ms,
                state,
            });
        }
        Ok(requests)
    }

    async fn insert_incident(&self, row: &IncidentRow) -> Result<i64, StoreError> {
        pause(2_000).await;
        self.world.say(|| format!("incident {}: {}", row.kind.as_str(), row.count));
        let mut rows = self.world.rows();
        rows.incidents += 1;
        Ok(rows.incidents)
    }

    async fn add_to_incident(&self, _id: i64, row: &IncidentRow) -> Result<u32, StoreError> {
        sleep(Duration::from_millis(1)).await;
        Ok(row.count)
    }

    fn end_usurped(&self) -> ! {
        self.world.fail("a server found rows that another one wrote");
        panic!("it ends");
    }
}

impl Rows {
    fn left(&self, world: &World, batch: BatchId, seq: u32) -> Option<LastArtifact> {
        let of_request = (batch, seq, 0)..=(batch, seq, usize::MAX);
        let ((_, _, stage), (artifact, times)) = self.artifacts.range(of_request).next_back()?;
        let mut artifact = artifact.clone();
        if world.mutates(Mutation::ArtifactConfused) {
            artifact.bytes = b"another one".to_vec();
        }
        Some(LastArtifact { stage: *stage, artifact, times: times.clone() })
    }
}

/// Whether the database will refuse a row for a while.
pub fn refuse_sometimes(world: &World, fault: u64, batch: BatchId, key: &str) {
    if world.strikes(fault) {
        let most = if one_in(2) { 50_000 } else { 10_000_000 };
        world.rows().refuse(batch, key, now() + Micros(below(most)));
    }
}
