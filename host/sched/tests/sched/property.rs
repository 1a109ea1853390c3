//! Random lives of the scheduler, watched by a model that knows only the rules.

mod entitlements;
mod pools;
mod rules;
mod waiters;
mod world;

use assay_core::id::{BatchId, Digest, LeaseId, TenantId, WorkerId};
use assay_core::outcome::ErrorCode;
use assay_core::time::Micros;
use assay_sched::{
    Action, Consumes, Discipline, End, Ending, Entitlement, Event, HeldStages, NewBatch,
    NewRequest, PoolPlan, Progress, StageShape, Weight,
};
use proptest::prelude::*;
use uuid::Uuid;

use world::{POOLS, World, group};

/// One random decision: what kind of event, two choices of its details, and the time before it.
type Choice = (u8, u8, u8, u32);

const KINDS: u8 = 137;

/// Workers count from one.
const NOBODY: WorkerId = WorkerId(0);

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

impl World {
    fn choose(&mut self, (kind, a, b, pause): Choice) {
        self.now = self.now + Micros(u64::from(pause));
        let batch = BatchId(Uuid::from_u128(u128::from(a % 16)));
        match kind {
            0..12 => self.announce(batch, b),
            12..37 => self.submit(self.live_batch(a).unwrap_or(batch), b),
            37..41 => self.apply(Event::BatchSealed { batch }),
            41..43 => self.apply(Event::BatchCancelled { batch }),
            43..47 => self.join(a, b),
            47..49 => self.with_worker(a, |worker| Event::WorkerDraining { worker }),
            49..52 => self.with_worker(a, |worker| Event::WorkerLost { worker }),
            52..57 => self.stale_answer(a, b),
            57..93 => self.answer(a, b),
            93..99 => self.apply(Event::Tick),
            99..104 => self.plan(a, b),
            104..112 => self.answer_start(a, b),
            112..114 => self.apply(Event::StartFailed { pool: POOLS[usize::from(a % 2)].into() }),
            114..116 => self.stopped_leaves(),
            116 => self.apply(Event::StartsUnplaced {
                pool: POOLS[usize::from(a % 2)].into(),
                count: usize::from(b % 8),
            }),
            117 => self.apply(Event::PlanOutdated),
            118..124 => self.deadline(a, b),
            124..127 => self.start_revoked(a, b),
            127..133 => self.change_entitlement(a, b),
            _ => self.hold(a, b),
        }
    }

    fn announce(&mut self, id: BatchId, b: u8) {
        if !self.is_unused(id) {
            return;
        }
        let shape = |pool: &str, timeout| StageShape {
            pool: pool.into(),
            timeout: Micros::from_ms(timeout),
            retries_max: u32::from(b / 8 % 3),
        };
        let stages = match b % 3 {
            0 => [shape("cpu", 100)].into(),
            1 => [shape("cpu", 50), shape("gpu", 2_000)].into(),
            _ => [shape("gpu", 500), shape("cpu", 100), shape("cpu", 10)].into(),
        };
        self.apply(Event::BatchAnnounced(NewBatch {
            id,
            tenant: self.tenant(b),
            run: ["first", "second", "third"][usize::from(b % 3)].into(),
            plugin: Digest([b % 3; 32]),
            stages,
            expected_size: b.is_multiple_of(5).then_some(u32::from(b % 7)),
            group_size: b.is_multiple_of(2).then_some(3),
            tolerance: None,
            consumes: Consumes::Batch,
            hedged: true,
            announced: self.now,
        }));
    }

    fn submit(&mut self, id: BatchId, b: u8) {
        let now = self.now;
        let mut requests = Vec::new();
        let primary = self.possible_primary(id, b);
        if let Some(batch) = self.batches.get_mut(&id) {
            // The first of them may be a repeat.
            let first = batch.submitted.saturating_sub(u32::from(b.is_multiple_of(11)));
            for seq in first..first + u32::from(b % 8) {
                let progress = match b / 64 {
                    0 => Progress::Waiting {
                        stage: batch.stages.len() - 1,
                        // At times fewer than there were.
                        ran: vec![Micros(u64::from(b)); usize::from(b % 3)],
                    },
                    1 if seq % 3 == 0 => Progress::Finished {
                        earliest_end: now,
                        ended: now,
                        ran: Vec::new(),
                        ending: Ending::Scored,
                    },
                    2 if seq % 3 > 0 && primary.is_some() => {
                        Progress::WaitsFor { primary: primary.expect("just seen") }
                    }
                    _ => Progress::Waiting { stage: 0, ran: Vec::new() },
                };
                let arrived = now - Micros(u64::from(b));
                let deadline = b.is_multiple_of(6).then(|| now + Micros(u64::from(b) * 300));
                let tells = id.0.as_u128().is_multiple_of(3);
                let expected_ms = tells.then(|| seq * 37 % 11);
                let group = group(seq);
                requests.push(NewRequest { seq, group, arrived, deadline, expected_ms, progress });
                batch.submitted = batch.submitted.max(seq + 1);
            }
        }
        self.apply(Event::RequestsSubmitted { batch: id, requests });
    }

    fn join(&mut self, a: u8, b: u8) {
        self.workers_ever += 1;
        self.apply(Event::WorkerJoined {
            worker: WorkerId(self.workers_ever),
            pool: POOLS[usize::from(a % 2)].into(),
            leases_max: usize::from(b % 5),
        });
    }

    /// One of as many as there are.
    fn tenant(&self, b: u8) -> TenantId {
        TenantId(Uuid::from_u128(u128::from(b % self.tenants)))
    }

    fn change_entitlement(&mut self, a: u8, b: u8) {
        let weight = [0.001, 0.5, 1.0, 1.0, 3.0, 1_000_000.0][usize::from(b % 6)];
        let weight = Weight::new(weight).expect("in range");
        // Down to none at all, at times.
        let bounds = POOLS.iter().zip([a / 4 % 8, a / 32]);
        let bounds = bounds.filter(|(_, max)| *max < 4);
        let workers_max = bounds.map(|(pool, max)| ((*pool).into(), u32::from(max))).collect();
        let share_runs = (a ^ b).is_multiple_of(2);
        let entitlement = Entitlement { weight, workers_max, share_runs };
        self.apply(Event::EntitlementChanged { tenant: self.tenant(a), entitlement });
    }

    fn plan(&mut self, a: u8, b: u8) {
        let hold = usize::from(a % 4);
        let linger = [Micros::ZERO, Micros(200), Micros::from_ms(20)][usize::from(b % 3)];
        let plan = |pool: &str| PoolPlan {
            pool: pool.into(),
            hold,
            // At times less than it holds.
            ceiling: usize::from(b / 3 % 6),
            linger,
        };
        let pools = match a / 4 % 3 {
            0 => vec![plan("cpu")],
            1 => vec![plan("gpu")],
            _ => vec![plan("cpu"), plan("gpu")],
        };
        let again = (!b.is_multiple_of(4)).then(|| self.now + Micros(u64::from(a) * u64::from(b)));
        self.apply(Event::Planned { pools, again });
    }

    /// With the worker that was asked for, or by giving up.
    fn answer_start(&mut self, a: u8, b: u8) {
        let at = usize::from(a % 2);
        if self.pools[at].starting == 0 {
            return;
        }
        match b % 5 {
            0 => self.apply(Event::StartFailed { pool: POOLS[at].into() }),
            _ => self.join(a, b),
        }
    }

    fn stopped_leaves(&mut self) {
        let stopped = self.workers.iter().find(|(_, worker)| worker.stopped);
        if let Some(worker) = stopped.map(|(id, _)| *id) {
            self.apply(Event::WorkerLost { worker });
        }
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
            self.apply(event(worker));
        }
    }

    /// Mostly the answer of the running lease; at times that of a prefetched one.
    fn answer(&mut self, a: u8, b: u8) {
        let Some(worker) = self.worker(a) else { return };
        let leases = &self.workers[&worker].leases;
        let at = if b > 240 { leases.len().saturating_sub(1) } else { 0 };
        let Some(&(lease, _)) = leases.get(at) else { return };
        let ran = Micros(u64::from(b) * if b > 200 { 1_000 } else { 4 });
        let mut end = ENDS[usize::from(b % 8)];
        if end == End::Next && b > 128 {
            end = End::NoRoom;
        }
        self.apply(Event::StageFinished { worker, lease, end, ran });
    }

    fn hold(&mut self, a: u8, b: u8) {
        let tenant = self.tenant(a);
        self.apply(match b % 3 {
            0 => Event::StagesReleased { tenant },
            1 => Event::StagesHeld { tenant, stages: HeldStages::First },
            _ => Event::StagesHeld { tenant, stages: HeldStages::AllButLast },
        });
    }

    /// Mostly of a lease that was revoked.
    fn start_revoked(&mut self, a: u8, b: u8) {
        let revoked = self
            .workers
            .iter()
            .flat_map(|(worker, it)| it.revoked.iter().map(|(lease, _)| (*worker, *lease)));
        let revoked: Vec<_> = revoked.collect();
        let any = (WorkerId(u64::from(a % 12)), LeaseId(100 + u64::from(b)));
        let known = revoked.get(usize::from(b) % (revoked.len() + 1));
        let (worker, lease) = known.copied().unwrap_or(any);
        self.apply(Event::StartedBeforeRevoked { worker, lease });
    }

    /// From a worker that may hold it no more, or never did.
    fn stale_answer(&mut self, a: u8, b: u8) {
        // Time goes by in every step and has its effects: in one of nobody first.
        self.apply(Event::WorkerLost { worker: NOBODY });
        let worker = WorkerId(u64::from(a % 12));
        let lease = LeaseId(100 + u64::from(b));
        let held = self.workers.get(&worker).is_some_and(|worker| worker.holds(lease));
        if held {
            return;
        }
        let before = self.actions();
        self.apply(Event::StageFinished { worker, lease, end: End::Scored, ran: Micros(1) });
        let came: Vec<&Action> = self.steps.iter().flat_map(|step| &step.actions).collect();
        let came = &came[before..];
        let nothing = came.iter().all(|action| matches!(action, Action::WakeAt(_)));
        assert!(nothing, "a stale answer led to {came:?}");
    }

    /// Seals everything, answers everything, then needs no workers: nothing may be left.
    fn wind_up(&mut self) {
        let live = self.batches.iter().filter(|(_, batch)| !batch.ended).map(|(id, _)| *id);
        for batch in live.collect::<Vec<_>>() {
            self.apply(Event::BatchSealed { batch });
        }
        for tenant in self.entitlements.keys().copied().collect::<Vec<_>>() {
            let entitlement = Entitlement {
                workers_max: Default::default(),
                ..self.entitlements[&tenant].clone()
            };
            self.apply(Event::EntitlementChanged { tenant, entitlement });
        }
        for tenant in self.held.keys().copied().collect::<Vec<_>>() {
            self.apply(Event::StagesReleased { tenant });
        }
        self.plan_elastic(1, 4);
        self.join(0, 4);
        self.join(1, 1);
        loop {
            self.now = self.now + Micros(100);
            let busy = self.workers.iter().find(|(_, worker)| !worker.leases.is_empty());
            if let Some((worker, (lease, request))) = busy.map(|(id, busy)| (*id, busy.leases[0])) {
                let end = if self.in_last_stage(request) { End::Scored } else { End::Next };
                self.apply(Event::StageFinished { worker, lease, end, ran: Micros(100) });
            } else if let Some(at) = self.pools.iter().position(|pool| pool.starting > 0) {
                self.join(u8::try_from(at).expect("two pools"), 0);
            } else {
                break;
            }
        }
        assert!(self.batches.values().all(|batch| batch.ended), "a batch never ended");
        assert!(self.requests.values().all(|request| request.ended), "a request was lost");
        self.plan_elastic(0, 0);
        while let Some(worker) = self.worker(0) {
            self.apply(Event::WorkerLost { worker });
        }
        let left = self.sched.view();
        assert_eq!((left.batches.len(), left.requests()), (0, 0));
        assert!(left.pools.values().all(|pool| pool.plan.is_some()), "a pool is left: {left:?}");
    }

    fn plan_elastic(&mut self, hold: usize, ceiling: usize) {
        let plans = self.pools.iter().filter_map(|pool| pool.plan.as_ref());
        let linger = Micros::ZERO;
        let plan = |plan: &PoolPlan| PoolPlan { pool: plan.pool.clone(), hold, ceiling, linger };
        let pools = plans.map(plan).collect();
        self.apply(Event::Planned { pools, again: None });
    }
}

fn choices() -> impl Strategy<Value = Vec<Choice>> {
    let pause = prop_oneof![6 => 0..300_u32, 3 => 0..30_000_u32, 1 => 0..3_000_000_u32];
    prop::collection::vec((0..KINDS, any::<u8>(), any::<u8>(), pause), 1..100)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 16 * ProptestConfig::default().cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_life_keeps_the_rules(
        choices in choices(),
        discipline in prop::sample::select(&Discipline::ALL),
        tenants in prop::sample::select(&[1, 2, 4]),
    ) {
        let mut world = World::new(discipline, tenants);
        for choice in choices {
            world.choose(choice);
        }
        world.wind_up();
        let mut again = World::new(discipline, tenants).sched;
        for step in world.steps {
            let actions = again.step(step.now, step.event);
            prop_assert_eq!(actions, step.actions, "the same events gave other actions");
        }
    }
}
