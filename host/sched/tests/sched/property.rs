//! Random lives of the scheduler, watched by a model that knows only the rules.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use assay_model::id::{BatchId, Digest, LeaseId, RequestId, TenantId, WorkerId};
use assay_model::outcome::ErrorCode;
use assay_model::time::Micros;
use assay_sched::{
    Action, BatchEnding, Config, End, Ending, Event, FinalEnd, Finish, Grant, NewBatch, NewRequest,
    Order, Progress, Sched, StageShape,
};
use proptest::prelude::*;
use uuid::Uuid;

/// One random decision: what kind of event, two choices of its details, and the time before it.
type Choice = (u8, u8, u8, u32);

const ENDS: [End; 8] = [
    End::Scored,
    End::Next,
    End::Next,
    End::Scored,
    End::TimedOut,
    End::Failed(ErrorCode::Unavailable),
    End::Failed(ErrorCode::PluginError),
    End::Failed(ErrorCode::PluginTrap),
];

#[derive(Debug)]
struct Request {
    stage: usize,
    arrived: Micros,
    ready: Micros,
    ran: Micros,
    lease: Option<LeaseId>,
    ended: bool,
}

struct Batch {
    announced: Micros,
    stages: Arc<[StageShape]>,
    submitted: u32,
    earliest_end: Option<Micros>,
    ended: bool,
}

struct Worker {
    pool: Arc<str>,
    in_hand_max: usize,
    draining: bool,
    hand: Vec<(LeaseId, RequestId)>,
}

struct World {
    sched: Sched,
    order: Order,
    now: Micros,
    requests: BTreeMap<RequestId, Request>,
    batches: BTreeMap<BatchId, Batch>,
    workers: BTreeMap<WorkerId, Worker>,
    groups_done: BTreeSet<(BatchId, u32)>,
    workers_ever: u64,
    last_lease: LeaseId,
    log: Vec<String>,
}

impl World {
    fn new(order: Order) -> Self {
        let config = Config {
            order,
            worker_lost_retries_max: 2,
            announced_max: Micros::from_secs(2),
            open_idle_max: Micros::from_secs(3),
            leases_after: LeaseId(100),
            ..Config::default()
        };
        Self {
            sched: Sched::new(config),
            order,
            now: Micros::from_secs(1),
            requests: BTreeMap::new(),
            batches: BTreeMap::new(),
            workers: BTreeMap::new(),
            groups_done: BTreeSet::new(),
            workers_ever: 0,
            last_lease: LeaseId(100),
            log: Vec::new(),
        }
    }

    fn choose(&mut self, (kind, a, b, pause): Choice) {
        self.now = self.now + Micros(u64::from(pause));
        let batch = BatchId(Uuid::from_u128(u128::from(a % 16)));
        match kind {
            0..12 => self.announce(batch, b),
            12..37 => self.submit(self.live_batch(a).unwrap_or(batch), b),
            37..41 => self.apply(&Event::BatchSealed { batch }),
            41..43 => self.apply(&Event::BatchCancelled { batch }),
            43..47 => self.join(a, b),
            47..49 => self.with_worker(a, |worker| Event::WorkerDraining { worker }),
            49..52 => self.with_worker(a, |worker| Event::WorkerLost { worker }),
            52..58 => self.stale_answer(a, b),
            58..94 => self.answer(a, b),
            _ => self.apply(&Event::Tick),
        }
    }

    fn announce(&mut self, id: BatchId, b: u8) {
        let known = self.batches.get(&id).is_some_and(|batch| !batch.ended);
        let ever = self.requests.keys().any(|request| request.batch == id);
        if known || ever {
            return;
        }
        let shape = |pool: &str, timeout| StageShape {
            pool: pool.into(),
            timeout: Micros::from_ms(timeout),
            retries_max: u32::from(b / 8 % 3),
        };
        let stages: Arc<[StageShape]> = match b % 3 {
            0 => [shape("cpu", 100)].into(),
            1 => [shape("cpu", 50), shape("gpu", 2_000)].into(),
            _ => [shape("gpu", 500), shape("cpu", 100), shape("cpu", 10)].into(),
        };
        let announced = self.now;
        let new = NewBatch {
            id,
            tenant: TenantId(Uuid::from_u128(u128::from(b % 2))),
            run: if b.is_multiple_of(2) { "even".into() } else { "odd".into() },
            plugin: Digest([b % 3; 32]),
            stages: Arc::clone(&stages),
            expected_size: b.is_multiple_of(5).then_some(u32::from(b % 7)),
            group_size: b.is_multiple_of(2).then_some(2),
            tolerance: None,
            announced,
        };
        let batch = Batch { announced, stages, submitted: 0, earliest_end: None, ended: false };
        self.batches.insert(id, batch);
        self.apply(&Event::BatchAnnounced(new));
    }

    fn submit(&mut self, id: BatchId, b: u8) {
        let now = self.now;
        let mut requests = Vec::new();
        if let Some(batch) = self.batches.get_mut(&id) {
            // The first of them may be a repeat.
            let first = batch.submitted.saturating_sub(u32::from(b.is_multiple_of(11)));
            for seq in first..first + u32::from(b % 8) {
                let progress = match b / 64 {
                    0 => Progress::Waiting { stage: batch.stages.len() - 1 },
                    1 if seq % 3 == 0 => Progress::Finished {
                        earliest_end: now,
                        ran: Vec::new(),
                        ending: Ending::Scored,
                    },
                    _ => Progress::Waiting { stage: 0 },
                };
                let arrived = now - Micros(u64::from(b));
                requests.push(NewRequest { seq, group: Some(seq / 2), arrived, progress });
                batch.submitted = batch.submitted.max(seq + 1);
            }
        }
        self.apply(&Event::RequestsSubmitted { batch: id, requests });
    }

    fn join(&mut self, a: u8, b: u8) {
        self.workers_ever += 1;
        self.apply(&Event::WorkerJoined {
            worker: WorkerId(self.workers_ever),
            pool: if a.is_multiple_of(2) { "cpu".into() } else { "gpu".into() },
            in_hand_max: usize::from(b % 5),
        });
    }

    fn live_batch(&self, a: u8) -> Option<BatchId> {
        let live = || self.batches.iter().filter(|(_, batch)| !batch.ended);
        live().nth(usize::from(a) % live().count().max(1)).map(|(id, _)| *id)
    }

    fn worker(&self, a: u8) -> Option<WorkerId> {
        self.workers.keys().nth(usize::from(a) % self.workers.len().max(1)).copied()
    }

    fn with_worker(&mut self, a: u8, event: impl FnOnce(WorkerId) -> Event) {
        if let Some(worker) = self.worker(a) {
            self.apply(&event(worker));
        }
    }

    /// Mostly the head's; at times another lease's in the same hand.
    fn answer(&mut self, a: u8, b: u8) {
        let Some(worker) = self.worker(a) else { return };
        let hand = &self.workers[&worker].hand;
        let at = if b > 240 { hand.len().saturating_sub(1) } else { 0 };
        let Some(&(lease, _)) = hand.get(at) else { return };
        let ran = Micros(u64::from(b) * if b > 200 { 1_000 } else { 4 });
        let end = ENDS[usize::from(b % 8)];
        self.apply(&Event::StageFinished { worker, lease, end, ran });
    }

    /// From a worker that may hold it no more, or never did.
    fn stale_answer(&mut self, a: u8, b: u8) {
        let worker = WorkerId(u64::from(a % 12));
        let lease = LeaseId(100 + u64::from(b));
        let held = self.workers.get(&worker).is_some_and(|worker| worker.holds(lease));
        if held {
            return;
        }
        let (end, ran) = (End::Scored, Micros(1));
        let before = self.log.len();
        self.apply(&Event::StageFinished { worker, lease, end, ran });
        let only_wakes = self.log[before..].iter().all(|line| line.starts_with("WakeAt"));
        assert!(only_wakes, "a stale answer led to {:?}", &self.log[before..]);
    }

    fn apply(&mut self, event: &Event) {
        let answered = self.foresee(event);
        let actions = self.sched.step(self.now, event.clone());
        self.log.extend(actions.iter().map(|action| format!("{action:?}")));
        let mut grants = Vec::new();
        for action in &actions {
            match action {
                Action::Grant(grant) => {
                    self.granted(grant);
                    grants.push(*grant);
                }
                Action::Revoke { worker, lease } => self.revoked(*worker, *lease),
                Action::KillWorker { worker } => self.gone(*worker),
                Action::Advance { request, stage, time } => {
                    assert_eq!(answered.map(|(id, _)| id), Some(*request));
                    let advanced = self.requests.get_mut(request).expect("submitted");
                    assert_eq!(advanced.stage, *stage);
                    advanced.stage += 1;
                    advanced.ready = self.now;
                    advanced.ran = advanced.ran + time.ran;
                }
                Action::Finish(finish) => self.finished(finish, answered),
                Action::BatchDone(done) => {
                    assert!(self.requests_of(done.batch).all(|request| request.ended));
                    if done.ending == BatchEnding::Done {
                        let requests = self.requests.keys().filter(|id| id.batch == done.batch);
                        let mut groups = requests.map(|id| (id.batch, id.seq / 2));
                        assert!(groups.all(|group| self.groups_done.contains(&group)));
                    }
                    let batch = self.batches.get_mut(&done.batch).expect("announced");
                    assert!(!batch.ended, "a batch ended twice");
                    assert_eq!(batch.earliest_end, done.earliest_end, "{done:?}");
                    batch.ended = true;
                    assert!(done.ending != BatchEnding::Expired || matches!(event, Event::Tick));
                }
                Action::GroupDone { batch, group } => {
                    assert!(self.groups_done.insert((*batch, *group)), "a group was done twice");
                }
                Action::StartWorkers { .. }
                | Action::CancelStarts { .. }
                | Action::StopWorker { .. } => panic!("nobody planned"),
                Action::Estimate { .. } | Action::PlanAnew | Action::WakeAt(_) => {}
            }
        }
        self.check_order(&grants);
        self.check_state();
    }

    /// What the event itself changes. Returns the live lease's request and how long it ran.
    fn foresee(&mut self, event: &Event) -> Option<(RequestId, Micros)> {
        match event {
            Event::RequestsSubmitted { batch: id, requests } => {
                let batch = self.batches.get_mut(id).filter(|batch| !batch.ended)?;
                for new in requests {
                    let (stage, earliest_end) = match &new.progress {
                        Progress::Waiting { stage } => (*stage, None),
                        Progress::Finished { earliest_end, .. } => (0, Some(*earliest_end)),
                    };
                    let request = RequestId { batch: *id, seq: new.seq };
                    if self.requests.contains_key(&request) {
                        continue;
                    }
                    batch.earliest_end = batch.earliest_end.max(earliest_end);
                    let ready = if stage == 0 { new.arrived } else { self.now };
                    let arrived = new.arrived;
                    let (ran, ended) = (Micros::ZERO, earliest_end.is_some());
                    let new = Request { stage, arrived, ready, ran, lease: None, ended };
                    self.requests.insert(request, new);
                }
            }
            Event::WorkerJoined { worker, pool, in_hand_max } => {
                let (pool, in_hand_max) = (Arc::clone(pool), (*in_hand_max).max(1));
                let new = Worker { pool, in_hand_max, draining: false, hand: Vec::new() };
                self.workers.insert(*worker, new);
            }
            Event::WorkerDraining { worker } => {
                self.workers.get_mut(worker).expect("chosen").draining = true;
            }
            Event::WorkerLost { worker } => self.gone(*worker),
            Event::StageFinished { worker, lease, ran, .. } => {
                let hand = &mut self.workers.get_mut(worker)?.hand;
                let at = hand.iter().position(|(held, _)| held == lease)?;
                let (_, id) = hand.remove(at);
                let request = self.requests.get_mut(&id).expect("submitted");
                if request.ended {
                    return None;
                }
                assert_eq!(request.lease.take(), Some(*lease));
                return Some((id, *ran));
            }
            _ => {}
        }
        None
    }

    fn granted(&mut self, grant: &Grant) {
        assert!(grant.lease > self.last_lease, "leases increase strictly");
        self.last_lease = grant.lease;
        let request = self.requests.get_mut(&grant.request).expect("only what was submitted");
        assert!(!request.ended && request.lease.is_none(), "granted twice: {request:?}");
        assert_eq!(request.stage, grant.stage);
        request.lease = Some(grant.lease);
        let worker = self.workers.get_mut(&grant.worker).expect("a worker that is there");
        assert!(!worker.draining);
        assert_eq!(worker.pool, self.batches[&grant.request.batch].stages[grant.stage].pool);
        worker.hand.push((grant.lease, grant.request));
    }

    fn revoked(&mut self, worker: WorkerId, lease: LeaseId) {
        let hand = &mut self.workers.get_mut(&worker).expect("a worker that is there").hand;
        let at = hand.iter().position(|(held, _)| *held == lease).expect("in its hand");
        assert!(at > 0, "a running lease was revoked");
        let (_, request) = hand.remove(at);
        self.requests.get_mut(&request).expect("submitted").lease = None;
    }

    fn gone(&mut self, worker: WorkerId) {
        let Some(worker) = self.workers.remove(&worker) else { return };
        for (_, request) in worker.hand {
            self.requests.get_mut(&request).expect("submitted").lease = None;
        }
    }

    fn finished(&mut self, finish: &Finish, answered: Option<(RequestId, Micros)>) {
        let request = self.requests.get_mut(&finish.request).expect("only what was submitted");
        assert!(!request.ended, "finished twice: {finish:?}");
        request.ended = true;
        request.lease = None;
        if let FinalEnd::Error { code: ErrorCode::Cancelled, .. } = finish.end {
            return;
        }
        match answered {
            Some((id, ran)) => {
                assert_eq!(id, finish.request, "only a live lease's answer ends its request");
                request.ran = request.ran + ran;
            }
            None => assert!(
                matches!(
                    finish.end,
                    FinalEnd::Error {
                        code: ErrorCode::WorkerLost | ErrorCode::LeaseExpired,
                        attempts: 3..
                    }
                ),
                "{finish:?}"
            ),
        }
        assert_eq!(finish.earliest_end, request.arrived + request.ran);
        let batch = self.batches.get_mut(&finish.request.batch).expect("announced");
        batch.earliest_end = batch.earliest_end.max(Some(finish.earliest_end));
    }

    /// The smaller is to be served first.
    fn key(&self, id: RequestId) -> (Micros, Micros, BatchId, Micros, u32) {
        let ready = self.requests[&id].ready;
        let at = match self.order {
            Order::Ebf => self.sched.estimated_done(id.batch).expect("a live batch"),
            Order::Fcfs => ready,
        };
        (at, self.batches[&id.batch].announced, id.batch, ready, id.seq)
    }

    fn pool(&self, id: RequestId) -> &str {
        &self.batches[&id.batch].stages[self.requests[&id].stage].pool
    }

    fn waiting(&self) -> impl Iterator<Item = RequestId> {
        let waits = |request: &Request| !request.ended && request.lease.is_none();
        self.requests.iter().filter(move |(_, request)| waits(request)).map(|(id, _)| *id)
    }

    fn requests_of(&self, batch: BatchId) -> impl Iterator<Item = &Request> {
        self.requests.iter().filter(move |(id, _)| id.batch == batch).map(|(_, request)| request)
    }

    /// Grants come last in a step, so what waits after it waited at each of them.
    fn check_order(&self, grants: &[Grant]) {
        for pool in ["cpu", "gpu"] {
            let granted: Vec<_> = grants.iter().map(|grant| grant.request).collect();
            let keys =
                granted.into_iter().filter(|id| self.pool(*id) == pool).map(|id| self.key(id));
            let keys: Vec<_> = keys.collect();
            assert!(keys.is_sorted(), "granted out of order");
            let first = self.waiting().filter(|id| self.pool(*id) == pool).map(|id| self.key(id));
            if let (Some(last), Some(first)) = (keys.last(), first.min()) {
                assert!(*last < first, "granted before one that comes first");
            }
        }
    }

    fn check_state(&self) {
        let waited_for: BTreeSet<&str> = self.waiting().map(|id| self.pool(id)).collect();
        for worker in self.workers.values() {
            assert!(worker.hand.len() <= worker.in_hand_max);
            let idle = worker.hand.is_empty() && !worker.draining;
            assert!(!idle || !waited_for.contains(&*worker.pool), "idle while something waits");
        }
        let snapshot = self.sched.snapshot();
        let queued: usize = snapshot.pools.iter().map(|pool| pool.queued).sum();
        let in_hand: usize = snapshot.pools.iter().map(|pool| pool.in_hand).sum();
        assert_eq!(queued, self.waiting().count());
        assert_eq!(in_hand, self.workers.values().map(|worker| worker.hand.len()).sum::<usize>());
        assert_eq!(snapshot.batches, self.batches.values().filter(|batch| !batch.ended).count());
        assert_eq!(snapshot.requests, self.requests.values().filter(|one| !one.ended).count());
    }

    /// Seals everything and answers everything: nothing may be left.
    fn wind_up(&mut self) {
        let live = self.batches.iter().filter(|(_, batch)| !batch.ended).map(|(id, _)| *id);
        for batch in live.collect::<Vec<_>>() {
            self.apply(&Event::BatchSealed { batch });
        }
        self.join(0, 4);
        self.join(1, 1);
        while let Some((id, worker)) =
            self.workers.iter().find(|(_, worker)| !worker.hand.is_empty())
        {
            let (worker, (lease, request)) = (*id, worker.hand[0]);
            let last = self.batches[&request.batch].stages.len() - 1;
            let stage = self.requests[&request].stage;
            let end = if stage == last { End::Scored } else { End::Next };
            self.now = self.now + Micros(100);
            self.apply(&Event::StageFinished { worker, lease, end, ran: Micros(100) });
        }
        assert!(self.batches.values().all(|batch| batch.ended), "a batch never ended");
        assert!(self.requests.values().all(|request| request.ended), "a request was lost");
        let left = self.sched.snapshot();
        assert_eq!((left.batches, left.requests), (0, 0));
    }
}

impl Worker {
    fn holds(&self, lease: LeaseId) -> bool {
        self.hand.iter().any(|(held, _)| *held == lease)
    }
}

fn live(order: Order, choices: &[Choice]) -> Vec<String> {
    let mut world = World::new(order);
    for choice in choices {
        world.choose(*choice);
    }
    world.wind_up();
    world.log
}

fn choices() -> impl Strategy<Value = Vec<Choice>> {
    let pause = prop_oneof![6 => 0..300_u32, 3 => 0..30_000_u32, 1 => 0..3_000_000_u32];
    prop::collection::vec((0..100_u8, any::<u8>(), any::<u8>(), pause), 1..90)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_life_keeps_the_rules(choices in choices(), fcfs: bool) {
        let order = if fcfs { Order::Fcfs } else { Order::Ebf };
        let first = live(order, &choices);
        prop_assert_eq!(first, live(order, &choices), "the same events gave other actions");
    }
}
