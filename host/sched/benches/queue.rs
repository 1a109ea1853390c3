//! What the scheduler costs while 1,000,000 requests wait: time a request, and memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
#[expect(clippy::disallowed_types, reason = "a benchmark measures time")]
use std::time::Instant;

use assay_core::id::{BatchId, Digest, LeaseId, TenantId, WorkerId};
use assay_core::time::Micros;
use assay_sched::{
    Action, Config, Consumes, Discipline, End, Event, NewBatch, NewRequest, Progress, Sched,
    StageShape,
};
use criterion::{Criterion, Throughput};
use uuid::Uuid;

const QUEUED: u32 = 1_000_000;
/// Requests pushed, then popped, between two readings of the clock.
const ROUND: u64 = 10_000;
const WORKER: WorkerId = WorkerId(1);
/// Pools that have a waiting request and no worker.
const POOLS: u32 = 10_000;

/// Counts the bytes that are allocated.
struct Counting;

static ALLOCATED: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static COUNTING: Counting = Counting;

#[expect(unsafe_code, reason = "the memory that a queued request takes is read from here")]
// SAFETY: everything is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps `alloc`'s contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        ALLOCATED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps `dealloc`'s contract.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// A scheduler with one busy worker, and its lease.
struct Rig {
    sched: Sched,
    now: u64,
    lease: Option<LeaseId>,
    next_seq: Vec<u32>,
}

impl Rig {
    /// Batches are the tenants' in turn.
    fn new(discipline: Discipline, batches: u32, tenants: u32) -> Self {
        let config = Config { discipline, ..Config::default() };
        let mut rig = Self { sched: Sched::new(config), now: 0, lease: None, next_seq: Vec::new() };
        let pool: Arc<str> = "cpu".into();
        let stage =
            StageShape { pool: Arc::clone(&pool), timeout: Micros::from_secs(1), retries_max: 0 };
        let stages: Arc<[StageShape]> = [stage].into();
        for batch in 0..batches {
            rig.announce(batch, batch % tenants, Arc::clone(&stages));
        }
        rig.step(Event::WorkerJoined { worker: WORKER, pool, leases_max: 1 });
        rig
    }

    /// With all that wait, spread over its batches.
    fn filled(discipline: Discipline, batches: u32, tenants: u32) -> Self {
        let mut rig = Self::new(discipline, batches, tenants);
        for at in 0..=QUEUED {
            rig.push(at % batches);
        }
        rig
    }

    /// With many pools beside its own, each with one request.
    fn beside_pools() -> Self {
        let mut rig = Self::new(Discipline::EBF, 1, 1);
        for batch in 1..=POOLS {
            let pool = batch.to_string().as_str().into();
            let stage = StageShape { pool, timeout: Micros::from_secs(1), retries_max: 0 };
            rig.announce(batch, 1, [stage].into());
            rig.push(batch);
        }
        rig.push(0);
        rig
    }

    /// The batches' numbers are announced in turn.
    fn announce(&mut self, batch: u32, tenant: u32, stages: Arc<[StageShape]>) {
        self.next_seq.push(0);
        self.step(Event::BatchAnnounced(NewBatch {
            id: id(batch),
            tenant: TenantId(Uuid::from_u128(u128::from(tenant))),
            run: "run".into(),
            plugin: Digest([1; 32]),
            stages,
            expected_size: None,
            group_size: Some(8),
            tolerance: None,
            consumes: Consumes::Batch,
            hedged: true,
            announced: Micros(0),
        }));
    }

    fn step(&mut self, event: Event) {
        self.now += 1;
        for action in black_box(self.sched.step(Micros(self.now), event)) {
            if let Action::Grant(grant) = action {
                self.lease = Some(grant.lease);
            }
        }
    }

    fn push(&mut self, batch: u32) {
        let seq = &mut self.next_seq[batch as usize];
        let request = NewRequest {
            seq: *seq,
            group: Some(*seq / 8),
            arrived: Micros(self.now),
            deadline: None,
            expected_ms: None,
            progress: Progress::Waiting { stage: 0, ran: Vec::new() },
        };
        *seq += 1;
        self.step(Event::RequestsSubmitted { batch: id(batch), requests: vec![request] });
    }

    /// The running request ends, the next is granted.
    fn pop(&mut self) {
        let lease = self.lease.take().expect("something waits");
        let (end, ran) = (End::Scored, Micros(100));
        self.step(Event::StageFinished { worker: WORKER, lease, end, ran });
    }
}

fn id(batch: u32) -> BatchId {
    BatchId(Uuid::from_u128(u128::from(batch)))
}

#[derive(Clone, Copy)]
enum Measured {
    Push,
    Pop,
    Life,
}

fn measure(rig: &mut Rig, batches: u32, rounds: u64, measured: Measured) -> Duration {
    let mut total = Duration::ZERO;
    let mut left = rounds;
    while left > 0 {
        let round = left.min(ROUND);
        let start = now();
        (0..round).for_each(|at| rig.push(at as u32 % batches));
        let pushed = now();
        (0..round).for_each(|_| rig.pop());
        total += match measured {
            Measured::Push => pushed - start,
            Measured::Pop => pushed.elapsed(),
            Measured::Life => start.elapsed(),
        };
        left -= round;
    }
    total
}

#[expect(clippy::disallowed_types, reason = "a benchmark measures time")]
fn now() -> Instant {
    Instant::now()
}

fn time(criterion: &mut Criterion) {
    for (name, discipline, batches, tenants) in [
        ("ebf, 1 batch", Discipline::EBF, 1, 1),
        ("ebf, 64 batches", Discipline::EBF, 64, 1),
        ("ebf, 64 batches of 2 tenants", Discipline::EBF, 64, 2),
        ("ebf, 4,096 batches", Discipline::EBF, 4_096, 1),
        ("ebf, 4,096 batches of 1,024 tenants", Discipline::EBF, 4_096, 1_024),
        ("ebf-groups, 64 batches", Discipline::EBF_GROUPS, 64, 1),
        ("fcfs, 64 batches", Discipline::FCFS, 64, 1),
    ] {
        let mut group = criterion.benchmark_group(format!("1,000,000 queued, {name}"));
        group.throughput(Throughput::Elements(1));
        let mut rig = Rig::filled(discipline, batches, tenants);
        for (name, measured) in
            [("push", Measured::Push), ("pop", Measured::Pop), ("life", Measured::Life)]
        {
            group.bench_function(name, |bencher| {
                bencher.iter_custom(|rounds| measure(&mut rig, batches, rounds, measured));
            });
        }
        group.finish();
    }
    let mut group = criterion.benchmark_group("10,000 pools without workers");
    group.throughput(Throughput::Elements(1));
    let mut rig = Rig::beside_pools();
    group.bench_function("life", |bencher| {
        bencher.iter_custom(|rounds| measure(&mut rig, 1, rounds, Measured::Life));
    });
    group.finish();
}

fn memory() {
    for (name, discipline, batches, tenants) in [
        ("ebf, 1 batch", Discipline::EBF, 1, 1),
        ("ebf, 64 batches", Discipline::EBF, 64, 1),
        ("ebf, 4,096 batches", Discipline::EBF, 4_096, 1),
        ("ebf, 4,096 batches of 1,024 tenants", Discipline::EBF, 4_096, 1_024),
        ("ebf, a batch a request", Discipline::EBF, QUEUED, 1),
        ("ebf-groups, 64 batches", Discipline::EBF_GROUPS, 64, 1),
    ] {
        let before = ALLOCATED.load(Ordering::Relaxed);
        let rig = Rig::filled(discipline, batches, tenants);
        let bytes = ALLOCATED.load(Ordering::Relaxed) - before;
        println!("1,000,000 queued, {name}: {} bytes a request", bytes / QUEUED as usize);
        drop(rig);
    }
}

fn main() {
    memory();
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(3))
        .configure_from_args();
    time(&mut criterion);
    criterion.final_summary();
}
