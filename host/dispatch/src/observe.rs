//! A view of the running service for people: live batches, pools, workers and queues.
//!
//! All readers together ask the loop five times a second at most ([`Dispatch::observe`]). An answer
//! takes O(batches + workers) and does not visit single requests. Numbers of queued and running
//! requests come from the scheduler, counts of batches from the committed view.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use assay_api::batch::BatchState;
use assay_api::capacity::PoolCapacity;
use assay_api::operations::{
    LiveBatch, PoolQueue, PoolTenant, QueuedBatch, StageQueue, Worker, WorkerRunning, WorkerState,
};
use assay_core::architecture::Architecture;
use assay_core::id::{BatchId, Digest, TenantId, TicketId, WorkerId};
use assay_core::limits;
use assay_core::time::Micros;
use assay_sched::{BatchView, SchedView, StageView, WorkerView};

use crate::command::Command;
use crate::committed::CommittedBatch;
use crate::handle::{Dispatch, DispatchError};
use crate::shell::Shell;
use assay_clock::now;
use assay_fleet::Starting;

/// The age up to which the last view is shared.
const FRESH_FOR: Duration = Duration::from_millis(200);

/// The state of the service at one moment.
pub struct Observed {
    pub at: Micros,
    /// The scheduler's view; its batches are sorted, the most urgent first.
    view: SchedView,
    /// The live batches as their trainers see them.
    committed: HashMap<BatchId, Arc<CommittedBatch>>,
    /// The dispatcher's knowledge of the workers.
    joined: HashMap<WorkerId, JoinedWorker>,
    pub pools: Vec<PoolCapacity>,
    /// The tolerance of batches that name none.
    pub tolerance: Micros,
    starting: Vec<Starting>,
}

/// A live batch: the scheduler's view and its committed state.
#[derive(Clone, Copy)]
struct ObservedBatch<'a> {
    view: &'a BatchView,
    committed: &'a CommittedBatch,
    tolerance: Micros,
}

/// The part of a worker that the scheduler does not know.
pub(super) struct JoinedWorker {
    pub ticket: TicketId,
    pub pid: Option<u32>,
    pub launcher: &'static str,
    pub architecture: Architecture,
    pub joined_at: Micros,
    pub heard_at: Micros,
    pub stages_done: u64,
}

/// Numbers of requests.
#[derive(Debug, Clone, Copy, Default)]
struct StageCounts {
    queued: u32,
    /// Those that wait until their stage is no longer held.
    held: u32,
    running: u32,
}

/// The last view; readers that arrive while one is made wait for it and share it.
#[derive(Default)]
pub(super) struct LastLook(tokio::sync::Mutex<Option<(Instant, Arc<Observed>)>>);

impl Dispatch {
    /// The service as it is now, or was a moment ago.
    pub async fn observe(&self) -> Result<Arc<Observed>, DispatchError> {
        let mut last = self.last_look.0.lock().await;
        if let Some((since, observed)) = &*last
            && since.elapsed() < FRESH_FOR
        {
            return Ok(Arc::clone(observed));
        }
        let observed = Arc::new(self.observe_now().await?);
        *last = Some((Instant::now(), Arc::clone(&observed)));
        Ok(observed)
    }

    async fn observe_now(&self) -> Result<Observed, DispatchError> {
        let mut observed = self.query(|reply| Command::Observe { reply }).await?;
        // Sorted here, not in the loop, which must not be held up.
        let tolerance = observed.tolerance;
        observed.view.batches.sort_by_key(|batch| {
            (due_at(batch, tolerance).unwrap_or(Micros::MAX), batch.announced)
        });
        Ok(observed)
    }
}

impl Shell {
    pub(super) fn observe(&self) -> Observed {
        let (at, view) = (now(), self.sched.view());
        let committed = view.batches.iter().filter_map(|batch| {
            Some((batch.id, Arc::clone(&self.batches.get(batch.id)?.committed)))
        });
        let joined = self.workers.iter().map(|(id, worker)| {
            let joined = JoinedWorker {
                ticket: worker.ticket,
                pid: worker.pid,
                launcher: if worker.came {
                    self.fleet.launcher_of_those_that_came()
                } else {
                    self.fleet.launcher(&worker.pool)
                },
                architecture: worker.architecture,
                joined_at: worker.joined_at,
                heard_at: worker.heard.at(),
                stages_done: worker.stages_done,
            };
            (id, joined)
        });
        Observed {
            at,
            committed: committed.collect(),
            joined: joined.collect(),
            pools: self.capacity(&view.pools, at).pools,
            tolerance: self.planning.config.tolerance,
            starting: self.fleet.starting(),
            view,
        }
    }
}

impl From<&StageView> for StageCounts {
    fn from(stage: &StageView) -> Self {
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Self {
            queued: count(stage.waiting),
            held: count(stage.held),
            running: count(stage.running.len()),
        }
    }
}

/// The time by which a batch must end to stay within its tolerance.
fn due_at(batch: &BatchView, default: Micros) -> Option<Micros> {
    batch.rank.map(|at| at + batch.tolerance.unwrap_or(default))
}

impl ObservedBatch<'_> {
    fn stages(&self) -> impl Iterator<Item = StageCounts> {
        self.view.at_stage.iter().map(StageCounts::from)
    }

    /// Held requests are counted as queued: their batch does not wait for its trainer.
    fn queued(&self) -> u32 {
        self.stages().map(|stage| stage.queued + stage.held).sum()
    }

    fn running(&self) -> u32 {
        self.stages().map(|stage| stage.running).sum()
    }

    /// Whether it is committed, not a single request's, and not ended.
    fn is_shown(&self) -> bool {
        !self.committed.is_single && self.committed.look(|progress| !progress.state.is_final())
    }

    fn is_of(&self, tenant: Option<TenantId>) -> bool {
        tenant.is_none_or(|tenant| self.committed.row.tenant == tenant)
    }

    fn shown(&self, tenant: &str) -> LiveBatch {
        let row = &self.committed.row;
        let (state, counts, requests_at, expected) = self.committed.look(|now| {
            let requests_at = (now.first_request_at, now.last_request_at);
            let expected = (now.expected_earliest_end_at, now.estimated_done_at);
            (now.state, now.counts, requests_at, expected)
        });
        let earliest_end_at = expected.0.or(self.view.rank);
        let tolerance = self.view.tolerance.unwrap_or(self.tolerance);
        // The scheduler may be one commit ahead of the committed view, never the reverse.
        let began = state != BatchState::Announced;
        LiveBatch {
            id: row.id,
            tenant: tenant.to_owned(),
            run: row.run.clone(),
            iteration: row.iteration,
            plugin: self.committed.plugin_name(),
            state,
            counts,
            expected_size: row.expected_size,
            queued: self.queued(),
            running: self.running(),
            announced_at: row.announced_at,
            first_request_at: requests_at.0,
            last_request_at: requests_at.1,
            earliest_end_at: earliest_end_at.filter(|_| began),
            tolerance_ms: tolerance.as_ms_f64(),
            due_at: earliest_end_at.map(|t| t + tolerance).filter(|_| began),
            estimated_done_at: expected.1,
        }
    }
}

/// Live batches of one tenant or of all tenants.
pub struct Batches {
    /// The most urgent first, as many as are shown at once.
    pub items: Vec<LiveBatch>,
    pub total: u32,
}

impl Dispatch {
    /// Live batches for readers; `None` means all tenants.
    #[must_use]
    pub fn live_batches(&self, observed: &Observed, tenant: Option<TenantId>) -> Batches {
        let of = observed.batches().filter(|batch| batch.is_of(tenant) && batch.is_shown());
        let (mut items, mut total) = (Vec::new(), 0);
        for batch in of {
            total += 1;
            if items.len() < limits::LIVE_BATCHES_SHOWN_MAX {
                let name = self.tenants.name(batch.committed.row.tenant);
                items.push(batch.shown(&name));
            }
        }
        Batches { items, total }
    }

    /// The queue of each pool: its batches in the scheduler's order. Held requests are in no queue.
    #[must_use]
    pub fn queues(&self, observed: &Observed) -> Vec<PoolQueue> {
        let mut pools: BTreeMap<&str, Vec<(StageCounts, ObservedBatch<'_>)>> = BTreeMap::new();
        for batch in observed.batches() {
            let mut here: BTreeMap<&str, StageCounts> = BTreeMap::new();
            for (shape, stage) in batch.view.stages.iter().zip(batch.stages()) {
                let sums = here.entry(&shape.pool).or_default();
                sums.queued += stage.queued;
                sums.running += stage.running;
            }
            let waits = here.into_iter().filter(|(_, counts)| counts.queued > 0);
            waits.for_each(|(pool, counts)| pools.entry(pool).or_default().push((counts, batch)));
        }
        let queue = |(pool, batches)| PoolQueue {
            tenants: self.pool_tenants(observed, pool),
            ..self.queue(pool, batches)
        };
        pools.into_iter().map(queue).collect()
    }

    fn pool_tenants(&self, observed: &Observed, pool: &str) -> Vec<PoolTenant> {
        let mut tenants = observed.view.pools.get(pool).map_or(Vec::new(), |pool| {
            let tenants = pool.tenants.iter().map(|tenant| PoolTenant {
                tenant: self.tenants.name(tenant.tenant).to_string(),
                queued: tenant.waiting as u64,
                workers: u32::try_from(tenant.workers).unwrap_or(u32::MAX),
                workers_max: tenant.workers_max,
            });
            tenants.collect()
        });
        tenants.sort_by_key(|tenant| (Reverse(tenant.workers), Reverse(tenant.queued)));
        tenants.truncate(limits::QUEUED_BATCHES_SHOWN_MAX);
        tenants
    }

    fn queue(&self, pool: &str, mut batches: Vec<(StageCounts, ObservedBatch<'_>)>) -> PoolQueue {
        // As the scheduler ranks them (earliest batch first).
        batches.sort_by_key(|(_, batch)| {
            let view = batch.view;
            (view.rank.unwrap_or(Micros::MAX), view.announced, view.id)
        });
        let queued = batches.iter().map(|(counts, _)| u64::from(counts.queued)).sum();
        let first = batches.iter().take(limits::QUEUED_BATCHES_SHOWN_MAX);
        let items = first.map(|(counts, batch)| {
            let row = &batch.committed.row;
            QueuedBatch {
                id: row.id,
                tenant: self.tenants.name(row.tenant).to_string(),
                run: row.run.clone(),
                iteration: row.iteration,
                earliest_end_at: batch.view.rank,
                queued: counts.queued,
                running: counts.running,
            }
        });
        PoolQueue {
            pool: pool.to_owned(),
            queued,
            batches_total: u32::try_from(batches.len()).unwrap_or(u32::MAX),
            batches: items.collect(),
            tenants: Vec::new(),
        }
    }

    /// All workers, including those that are starting.
    #[must_use]
    pub fn workers(&self, observed: &Observed) -> Vec<Worker> {
        let starting = observed.starting.iter().map(|start| Worker {
            id: None,
            ticket: start.ticket,
            pool: start.pool.to_string(),
            state: WorkerState::Starting,
            launcher: start.launcher.into(),
            architecture: None,
            pid: None,
            asked_at: Some(start.asked_at),
            joined_at: None,
            heard_at: None,
            in_hand: 0,
            running: None,
            stages_done: 0,
            memory_bytes: None,
        });
        let joined = observed.view.workers.iter().filter_map(|view| self.worker(observed, view));
        let mut workers: Vec<Worker> = starting.chain(joined).collect();
        workers.sort_by(|a, b| (&a.pool, a.id).cmp(&(&b.pool, b.id)));
        workers
    }

    fn worker(&self, observed: &Observed, view: &WorkerView) -> Option<Worker> {
        let joined = observed.joined.get(&view.id)?;
        let state = match view {
            _ if view.draining => WorkerState::Draining,
            _ if view.leased > 0 => WorkerState::Busy,
            _ => WorkerState::Idle,
        };
        let running = view.running.and_then(|running| {
            let committed = observed.committed.get(&running.request.batch)?;
            Some(WorkerRunning {
                request: running.request,
                batch: running.request.batch,
                tenant: self.tenants.name(committed.row.tenant).to_string(),
                plugin: committed.plugin_name(),
                stage: committed.stage_name(running.stage),
                since: running.since,
            })
        });
        Some(Worker {
            id: Some(view.id.0),
            ticket: joined.ticket,
            pool: view.pool.to_string(),
            state,
            launcher: joined.launcher.into(),
            architecture: Some(joined.architecture.to_string()),
            pid: joined.pid,
            asked_at: None,
            joined_at: Some(joined.joined_at),
            heard_at: Some(joined.heard_at),
            in_hand: u32::try_from(view.leased).unwrap_or(u32::MAX),
            running,
            stages_done: joined.stages_done,
            memory_bytes: joined.pid.and_then(resident_bytes),
        })
    }
}

/// The resident memory of a process of this machine.
fn resident_bytes(pid: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    kib.checked_mul(1 << 10)
}

impl Observed {
    /// The number of workers that have joined.
    #[must_use]
    pub fn worker_count(&self) -> usize {
        self.view.workers.len()
    }

    /// Whether the scheduler has the batch.
    #[must_use]
    pub fn has(&self, id: BatchId) -> bool {
        self.committed.contains_key(&id)
    }

    fn batches(&self) -> impl Iterator<Item = ObservedBatch<'_>> {
        self.view.batches.iter().filter_map(|view| {
            let tolerance = view.tolerance.unwrap_or(self.tolerance);
            Some(ObservedBatch { view, committed: self.committed.get(&view.id)?, tolerance })
        })
    }

    /// Queued and running requests by plugin and stage, including single requests; `None` means all
    /// tenants.
    #[must_use]
    pub fn stages(&self, tenant: Option<TenantId>) -> Vec<StageQueue> {
        let mut sums: HashMap<(Digest, usize), StageQueue> = HashMap::new();
        for batch in self.batches().filter(|batch| batch.is_of(tenant)) {
            for (number, (shape, stage)) in batch.view.stages.iter().zip(batch.stages()).enumerate()
            {
                let queued = stage.queued + stage.held;
                if queued == 0 && stage.running == 0 {
                    continue;
                }
                let key = (batch.committed.row.digest, number);
                let sum = sums.entry(key).or_insert_with(|| StageQueue {
                    plugin: batch.committed.plugin_name(),
                    stage: batch.committed.stage_name(number),
                    pool: shape.pool.to_string(),
                    queued: 0,
                    running: 0,
                });
                sum.queued += u64::from(queued);
                sum.running += u64::from(stage.running);
            }
        }
        let mut stages: Vec<(usize, StageQueue)> =
            sums.into_iter().map(|((_, number), sum)| (number, sum)).collect();
        stages.sort_by(|(a, one), (b, other)| (&one.plugin, a).cmp(&(&other.plugin, b)));
        stages.truncate(limits::STAGE_QUEUES_SHOWN_MAX);
        stages.into_iter().map(|(_, stage)| stage).collect()
    }
}
