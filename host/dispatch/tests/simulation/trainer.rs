//! Trainers: they repeat a call whose answer they did not get, and check every answer that they see.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use assay_api::batch::{BatchState, Consumes};
use assay_api::result::ResultItem;
use assay_clock::{now, sleep};
use assay_core::id::{BatchId, Digest, TenantId};
use assay_dispatch::committed::{BatchProgress, CommittedBatch};
use assay_dispatch::{Announcement, DispatchError, ItemFate, NewItem};
use assay_store::admissions::{BatchRow, Idempotency};
use bytes::Bytes;
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::database::refuse_sometimes;
use crate::truth::{self, Truth};
use crate::world::{Live, World, below, one_in, pause};

#[derive(Default)]
pub struct Numbers(AtomicU64);

impl Numbers {
    fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }

    fn batch(&self) -> BatchId {
        BatchId(Uuid::from_u128((1 << 80) + u128::from(self.next())))
    }
}

#[derive(Clone)]
struct Item {
    key: String,
    group: Option<String>,
    body: Bytes,
}

impl Item {
    /// An item of which an equal one may exist.
    fn random(numbers: &Numbers, key: String) -> Self {
        let body = match one_in(3) {
            true => Truth::Scored(500).body(1_000_000 + below(3)),
            false => Truth::random().body(numbers.next()),
        };
        let group = one_in(2).then(|| format!("group {}", below(3)));
        Self { key, group, body }
    }

    async fn admit(&self, tenant: TenantId, live: &Live) -> NewItem {
        NewItem {
            key: self.key.clone(),
            group: self.group.clone(),
            body: self.body.clone(),
            permit: live.dispatch.budget.acquire(tenant, self.body.len()).await,
            due: one_in(4).then(|| now() + assay_core::time::Micros(below(60_000_000))),
            expected_ms: one_in(4).then(|| u32::try_from(below(60_000)).expect("below u32")),
            trace: None,
        }
    }
}

/// A batch as its trainer means it.
struct Batch {
    world: Arc<World>,
    numbers: Arc<Numbers>,
    tenant: TenantId,
    key: String,
    stages: u8,
    items: Vec<Item>,
    expected_size: Option<u32>,
    cancels: bool,
    loses_plugin: bool,
}

/// The answer, unless the connection or the trainer dies before it comes.
async fn call<T>(world: &World, call: impl Future<Output = T>) -> Option<T> {
    let dies = world.strikes(world.faults.trainer_dies);
    let death = async {
        match dies {
            true => pause(20_000).await,
            false => std::future::pending().await,
        }
    };
    tokio::select! { biased; answer = call => Some(answer), () = death => None }
}

/// Makes batches, one after the other.
pub async fn train(world: Arc<World>, numbers: Arc<Numbers>) {
    let tenant = TenantId(Uuid::from_u128(1 + u128::from(below(2))));
    let (count, pause_max) = match world.hours {
        Some(_) => (u64::MAX, 600_000_000),
        None => (1 + below(3), 3_000_000),
    };
    for _ in 0..count {
        pause(pause_max).await;
        if world.hours.is_some() && now() >= world.quiet_at {
            break;
        }
        if one_in(3) {
            reward(&world, &numbers, tenant).await;
            continue;
        }
        let size = 1 + below(10);
        let number = numbers.next();
        let item = |at| Item::random(&numbers, format!("{number} {at}"));
        let items: Vec<Item> = (0..size).map(item).collect();
        let cancels = one_in(10);
        let batch = Batch {
            world: Arc::clone(&world),
            numbers: Arc::clone(&numbers),
            tenant,
            key: format!("batch {number}"),
            stages: 1 + below(3) as u8,
            expected_size: (!one_in(3)).then_some(size as u32),
            items,
            cancels,
            loses_plugin: cancels && one_in(2),
        };
        Arc::new(batch).run().await;
    }
}

fn row(numbers: &Numbers, tenant: TenantId, stages: u8, expected_size: Option<u32>) -> BatchRow {
    BatchRow {
        tenant,
        id: numbers.batch(),
        run: format!("run {}", tenant.0.as_u128()),
        iteration: 0,
        plugin: "simulated".into(),
        version: stages.to_string(),
        digest: Digest([stages; 32]),
        settings: "{}".into(),
        expected_size,
        group_size: None,
        max_extra_delay_ms: one_in(2).then_some(100),
        consumes: if one_in(4) { Consumes::Groups } else { Consumes::Batch },
        share_equal: !one_in(4),
        idle_ms: None,
        idempotency: None,
        announced_at: now(),
        sealed_at: None,
    }
}

impl Batch {
    async fn run(self: Arc<Self>) {
        let id = self.announce().await;
        self.world.say(|| format!("batch {id} is announced, {:?} requests", self.expected_size));
        if self.loses_plugin {
            self.world.lose_plugin(id);
        }
        let mut calls = JoinSet::new();
        let at_once = one_in(2);
        let mut rest = self.items.as_slice();
        while !rest.is_empty() {
            let count = 1 + below(rest.len() as u64) as usize;
            let (chunk, more) = rest.split_at(count);
            // Sometimes an item comes with two calls.
            rest = if one_in(4) && count > 1 { &rest[count - 1..] } else { more };
            let (batch, chunk) = (Arc::clone(&self), chunk.to_vec());
            calls.spawn(async move { batch.submit(id, &chunk).await });
            if !at_once {
                calls.join_next().await;
            }
            pause(50_000).await;
        }
        let reader = tokio::spawn(Arc::clone(&self).read(id));
        if self.cancels {
            pause(2_000_000).await;
            self.cancel(id).await;
        } else if self.expected_size.is_none() {
            // A trainer may seal while its requests are still on their way, if it says how many there are.
            let count = self.items.len() as u32;
            if one_in(2) {
                self.seal(id, Some(count)).await;
            } else {
                while calls.join_next().await.is_some() {}
                self.seal(id, one_in(2).then_some(count)).await;
            }
        }
        while let Some(ended) = calls.join_next().await {
            self.world.check(ended.is_ok(), || format!("a submission panicked: {ended:?}"));
        }
        let read = reader.await;
        self.world.check(read.is_ok(), || format!("a reader panicked: {read:?}"));
        let rows = self.world.rows();
        let state = rows.batches[&id].end.as_ref().map(|end| end.state);
        let count = rows.request_count(id);
        drop(rows);
        if !self.cancels {
            let is_whole = state == Some(BatchState::Done) && count == self.items.len();
            let wanted = self.items.len();
            self.world.check(is_whole, || format!("{id} ended as {state:?}, {count} of {wanted}"));
        }
    }

    async fn announce(&self) -> BatchId {
        loop {
            let live = self.world.server().await;
            if let Some(id) = self.announced() {
                return id;
            }
            let mut row = row(&self.numbers, self.tenant, self.stages, self.expected_size);
            let (key, call_hash) = (self.key.clone(), Digest([1; 32]));
            row.idempotency = Some(Idempotency { key, call_hash });
            let id = row.id;
            refuse_sometimes(&self.world, self.world.faults.batch_refused, id, "");
            let plugin = truth::plugin(self.stages);
            let announcement = Announcement { row, plugin, single: None, replays: None };
            match call(&self.world, live.dispatch.announce(announcement)).await {
                Some(Ok(_)) => {
                    let is_there = self.announced() == Some(id);
                    self.world.check(is_there, || format!("{id} is acknowledged and not durable"));
                    return id;
                }
                Some(Err(
                    DispatchError::NotKept | DispatchError::Stopping | DispatchError::KeyInUse,
                ))
                | None => pause(1_000_000).await,
                Some(Err(other)) => self.world.fail(format!("an announcement is refused: {other}")),
            }
        }
    }

    /// The batch that has the idempotency key.
    fn announced(&self) -> Option<BatchId> {
        let rows = self.world.rows();
        let has_key =
            |row: &BatchRow| row.idempotency.as_ref().is_some_and(|it| it.key == self.key);
        rows.batches.values().find(|batch| has_key(&batch.row)).map(|batch| batch.row.id)
    }

    async fn submit(&self, id: BatchId, items: &[Item]) {
        let world = &self.world;
        for item in items {
            refuse_sometimes(world, world.faults.request_refused, id, &item.key);
        }
        loop {
            let live = world.server().await;
            let submit = async {
                let mut new = Vec::new();
                for item in items {
                    new.push(item.admit(self.tenant, &live).await);
                }
                let answer = live.dispatch.submit(self.tenant, id, new).await?;
                answer.await.unwrap_or(Err(DispatchError::Stopping))
            };
            match call(world, submit).await {
                Some(Ok(fates)) => {
                    if one_in(4) {
                        let outstanding = below(8) as u32;
                        // A batch that has ended needs no word of it.
                        let _ = live.dispatch.tell_outstanding(self.tenant, id, outstanding).await;
                    }
                    return self.check_fates(id, items, &fates);
                }
                Some(Err(DispatchError::NotLive | DispatchError::Ended)) => {
                    if self.has_ended(id) {
                        return;
                    }
                    pause(1_000_000).await;
                }
                Some(Err(DispatchError::NotRestored)) if self.loses_plugin => return,
                Some(Err(
                    DispatchError::NotKept | DispatchError::Stopping | DispatchError::NotRestored,
                ))
                | None => {
                    pause(1_000_000).await;
                }
                Some(Err(other)) => {
                    let keys: Vec<&str> = items.iter().map(|item| item.key.as_str()).collect();
                    return world.fail(format!("{id} shuts {keys:?} out: {other}"));
                }
            }
        }
    }

    fn check_fates(&self, id: BatchId, items: &[Item], fates: &[ItemFate]) {
        let mut rows = self.world.rows();
        self.world.check(items.len() == fates.len(), || "fates are missing".into());
        for (item, fate) in items.iter().zip(fates) {
            let (ItemFate::Accepted(request) | ItemFate::Repeated(request)) = fate else {
                return self.world.fail(format!("{} of {id} is refused", item.key));
            };
            let stored = rows.requests.get(&(request.batch, request.seq));
            let is_there = stored.is_some_and(|it| it.row.key == item.key && request.batch == id);
            let key = &item.key;
            self.world.check(is_there, || format!("{key} is acknowledged and not durable"));
            rows.acknowledged.insert((request.batch, request.seq));
        }
    }

    /// Whether the end of the batch is durable; then so is everything that its trainer meant to be in it.
    fn has_ended(&self, id: BatchId) -> bool {
        let rows = self.world.rows();
        let Some(end) = rows.batches.get(&id).and_then(|batch| batch.end.as_ref()) else {
            return false;
        };
        let is_whole = end.state == BatchState::Done && rows.request_count(id) == self.items.len();
        let may = is_whole || (end.state == BatchState::Cancelled && self.cancels);
        self.world.check(may, || format!("{id} ended without its trainer: {end:?}"));
        true
    }

    async fn seal(&self, id: BatchId, final_count: Option<u32>) {
        loop {
            let live = self.world.server().await;
            let seal = live.dispatch.seal(self.tenant, id, final_count);
            match call(&self.world, seal).await {
                Some(Ok(())) => {
                    let rows = self.world.rows();
                    let batch = &rows.batches[&id];
                    let is_there = batch.sealed_at.is_some() || batch.end.is_some();
                    self.world.check(is_there, || format!("the seal of {id} is not durable"));
                    let count = rows.request_count(id);
                    let is_whole = count == self.items.len();
                    self.world.check(is_whole, || format!("{id} is sealed with {count} requests"));
                    return;
                }
                Some(Err(DispatchError::NotLive | DispatchError::Ended)) if self.has_ended(id) => {
                    return;
                }
                Some(Err(DispatchError::Sealed)) => self.world.fail("a seal is refused"),
                _ => pause(1_000_000).await,
            }
        }
    }

    async fn cancel(&self, id: BatchId) {
        loop {
            let live = self.world.server().await;
            let _ = call(&self.world, live.dispatch.cancel(self.tenant, id)).await;
            pause(5_000_000).await;
            if self.has_ended(id) {
                return;
            }
        }
    }

    /// Reads until the end is shown.
    async fn read(self: Arc<Self>, id: BatchId) {
        let mut seen: Vec<Bytes> = Vec::new();
        loop {
            let live = self.world.server().await;
            let Some(batch) = live.dispatch.committed.get(self.tenant, id) else {
                if self.has_ended(id) {
                    return;
                }
                pause(1_000_000).await;
                continue;
            };
            let state = check_shown(&self.world, &batch, &mut seen);
            if state.is_final() {
                self.world.check(self.has_ended(id), || format!("{id} ended before its commit"));
                return;
            }
            let more = |it: &BatchProgress| it.results.len() > seen.len() || it.state.is_final();
            tokio::select! {
                biased;
                () = batch.wait_until(more) => {}
                () = self.world.ended(live.life) => {}
                () = sleep(Duration::from_secs(60)) => {}
            }
        }
    }
}

/// Checks that every result that is shown is durable, and that no result has changed since it was shown.
fn check_shown(world: &World, batch: &CommittedBatch, seen: &mut Vec<Bytes>) -> BatchState {
    let id = batch.row.id;
    let (state, results) = batch.look(|progress| (progress.state, progress.results.clone()));
    let rows = world.rows();
    let durable = rows.results(id);
    for (at, result) in results.iter().enumerate() {
        let is_durable = durable.get(at).is_some_and(|outcome| outcome.result == *result);
        world.check(is_durable, || format!("result {at} of {id} is shown and not durable"));
        match seen.get(at) {
            Some(before) => {
                world.check(before == result, || format!("result {at} of {id} has changed"));
            }
            None => {
                let item: ResultItem = serde_json::from_slice(result).expect("a result");
                let is_next = item.cursor as usize == at + 1;
                world.check(is_next, || format!("result {at} of {id} has cursor {}", item.cursor));
                seen.push(result.clone());
            }
        }
    }
    state
}

/// A single request, repeated until its answer has come.
async fn reward(world: &Arc<World>, numbers: &Numbers, tenant: TenantId) {
    let stages = 1 + below(3) as u8;
    let item = Item::random(numbers, "only".into());
    loop {
        let live = world.server().await;
        let mut row = row(numbers, tenant, stages, Some(1));
        row.sealed_at = Some(row.announced_at);
        let id = row.id;
        world.rows().singles.insert(id);
        refuse_sometimes(world, world.faults.batch_refused, id, "");
        let plugin = truth::plugin(stages);
        let answered = async {
            let single = Some(item.admit(tenant, &live).await);
            let announcement = Announcement { row, plugin, single, replays: None };
            let batch = live.dispatch.announce(announcement).await.ok()?;
            let ended = |it: &BatchProgress| it.state.is_final() || it.refused;
            tokio::select! {
                biased;
                () = batch.wait_until(ended) => Some(batch),
                () = world.ended(live.life) => None,
            }
        };
        if let Some(batch) = call(world, answered).await.flatten() {
            let is_refused = batch.look(|progress| progress.refused);
            let is_there = world.rows().outcomes.contains_key(&(id, 0));
            world.check(is_refused != is_there, || format!("single {id}: refused {is_refused}"));
            if !is_refused {
                let state = check_shown(world, &batch, &mut Vec::new());
                world.check(state == BatchState::Done, || format!("single {id}: {state:?}"));
                return;
            }
        }
        pause(1_000_000).await;
    }
}
