//! The running service for those who look at it: live batches, pools, workers, what waits.
//!
//! However many look, the loop is asked five times a second at most ([`Dispatch::observe`]), and what
//! it does then is O(batches + workers), without a look at single requests. It never holds anything
//! up; numbers of requests are the scheduler's, counts of batches are the board's, as committed.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use assay_model::api::BatchState;
use assay_model::capacity::PoolCapacity;
use assay_model::id::{BatchId, Digest, RequestId, TenantId, WorkerId};
use assay_model::limits;
use assay_model::operations::{
    LiveBatch, PoolQueue, QueuedBatch, StageQueue, Worker, WorkerRunning, WorkerState,
};
use assay_model::time::Micros;
use assay_sched::BatchSeen;
use tokio::sync::oneshot;

use super::board::Published;
use super::shell::Shell;
use super::{Command, Dispatch, DispatchError, now};

/// A look that is no older is everybody's.
const FRESH_FOR: Duration = Duration::from_millis(200);

/// One look at the service.
pub struct Observed {
    pub at: Micros,
    /// The most urgent first.
    batches: Vec<ObservedBatch>,
    pub pools: Vec<PoolCapacity>,
    /// The D of batches that name none.
    pub tolerance: Micros,
    workers: Vec<ObservedWorker>,
    starting: Vec<(Arc<str>, Micros)>,
}

/// A live batch.
struct ObservedBatch {
    published: Arc<Published>,
    tolerance: Micros,
    earliest_end_at: Option<Micros>,
    stages: Vec<Standing>,
}

/// Requests at one stage.
#[derive(Debug, Clone, Copy, Default)]
struct Standing {
    queued: u32,
    running: u32,
}

struct ObservedWorker {
    id: WorkerId,
    pool: Arc<str>,
    pid: u32,
    state: WorkerState,
    joined_at: Micros,
    heard_at: Micros,
    in_hand: usize,
    stages_done: u64,
    running: Option<Running>,
}

struct Running {
    request: RequestId,
    stage: usize,
    since: Micros,
    published: Arc<Published>,
}

/// The last look; whoever comes while one is taken waits for it and shares it.
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
        let (reply, answer) = oneshot::channel();
        let command = Command::Observe { reply };
        self.commands.send(command).await.map_err(|_| DispatchError::Stopping)?;
        let mut observed = answer.await.map_err(|_| DispatchError::Stopping)?;
        // Not in the loop: it has other things to do.
        observed.batches.sort_by_key(|batch| {
            (batch.due_at().unwrap_or(Micros::MAX), batch.published.row.announced_at)
        });
        Ok(observed)
    }
}

impl Shell {
    pub(super) fn observe(&self) -> Observed {
        let seen = self.sched.seen().batches.into_iter();
        Observed {
            at: now(),
            batches: seen.filter_map(|batch| self.observed_batch(&batch)).collect(),
            pools: self.capacity(now()).pools,
            tolerance: self.planning.config.tolerance,
            workers: self.observed_workers(),
            starting: self.fleet.starting(),
        }
    }

    fn observed_batch(&self, seen: &BatchSeen) -> Option<ObservedBatch> {
        let published = Arc::clone(&self.batches.get(&seen.id)?.published);
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let stages = seen.at_stage.iter().map(|stage| Standing {
            queued: count(stage.waiting),
            running: count(stage.running.len()),
        });
        Some(ObservedBatch {
            published,
            tolerance: seen.tolerance.unwrap_or(self.planning.config.tolerance),
            earliest_end_at: seen.rank,
            stages: stages.collect(),
        })
    }

    fn observed_workers(&self) -> Vec<ObservedWorker> {
        let watched = self.sched.watched().into_iter();
        let observed = watched.filter_map(|watched| {
            let worker = self.workers.get(&watched.id)?;
            let state = match watched {
                _ if watched.draining => WorkerState::Draining,
                _ if watched.in_hand > 0 => WorkerState::Busy,
                _ => WorkerState::Idle,
            };
            let running = watched.running.and_then(|head| {
                let published = Arc::clone(&self.batches.get(&head.request.batch)?.published);
                let (request, stage) = (head.request, head.stage);
                Some(Running { request, stage, since: head.since, published })
            });
            Some(ObservedWorker {
                id: watched.id,
                pool: watched.pool,
                pid: worker.pid,
                state,
                joined_at: worker.joined_at,
                heard_at: worker.heard.at(),
                in_hand: watched.in_hand,
                stages_done: worker.stages_done,
                running,
            })
        });
        observed.collect()
    }
}

impl ObservedBatch {
    fn due_at(&self) -> Option<Micros> {
        self.earliest_end_at.map(|at| at + self.tolerance)
    }

    fn queued(&self) -> u32 {
        self.stages.iter().map(|stage| stage.queued).sum()
    }

    fn running(&self) -> u32 {
        self.stages.iter().map(|stage| stage.running).sum()
    }

    /// Committed, made for more than one request, and not ended.
    fn is_shown(&self) -> bool {
        !self.published.lone && self.published.look(|standing| !standing.state.is_final())
    }

    fn is_of(&self, tenant: Option<TenantId>) -> bool {
        tenant.is_none_or(|tenant| self.published.row.tenant == tenant)
    }

    fn shown(&self, tenant: &str) -> LiveBatch {
        let row = &self.published.row;
        let (state, counts, first_request_at, estimated_done_at) = self
            .published
            .look(|now| (now.state, now.counts, now.first_request_at, now.estimated_done_at));
        // The scheduler is a commit ahead of what is shown, never behind.
        let began = state != BatchState::Announced;
        LiveBatch {
            id: row.id,
            tenant: tenant.to_owned(),
            run: row.run.clone(),
            iteration: row.iteration,
            plugin: plugin(&self.published),
            state,
            counts,
            expected_size: row.expected_size,
            queued: self.queued(),
            running: self.running(),
            announced_at: row.announced_at,
            first_request_at,
            earliest_end_at: self.earliest_end_at.filter(|_| began),
            tolerance_ms: self.tolerance.as_ms_f64(),
            due_at: self.due_at().filter(|_| began),
            estimated_done_at,
        }
    }
}

fn plugin(published: &Published) -> String {
    format!("{}@{}", published.row.plugin, published.row.version)
}

fn stage_name(published: &Published, stage: usize) -> String {
    let stages = &published.plugin.description.stages;
    stages.get(stage).map(|stage| stage.name.clone()).unwrap_or_default()
}

/// Live batches of a tenant, or of all.
pub struct Batches {
    /// The most urgent first, as many as are shown at once.
    pub items: Vec<LiveBatch>,
    pub total: u32,
}

impl Dispatch {
    /// Live batches as they are shown; `None` is all tenants.
    #[must_use]
    pub fn live_batches(&self, observed: &Observed, tenant: Option<TenantId>) -> Batches {
        let of = observed.batches.iter().filter(|batch| batch.is_of(tenant) && batch.is_shown());
        let (mut items, mut total) = (Vec::new(), 0);
        for batch in of {
            total += 1;
            if items.len() < limits::LIVE_BATCHES_SHOWN_MAX {
                let name = self.tenants.name(batch.published.row.tenant);
                items.push(batch.shown(&name));
            }
        }
        Batches { items, total }
    }

    /// What waits in each pool; batch by batch, as they are ranked.
    #[must_use]
    pub fn queues(&self, observed: &Observed) -> Vec<PoolQueue> {
        let mut pools: BTreeMap<&str, Vec<(Standing, &ObservedBatch)>> = BTreeMap::new();
        for batch in &observed.batches {
            let mut here: BTreeMap<&str, Standing> = BTreeMap::new();
            for (shape, stage) in batch.published.plugin.shapes.iter().zip(&batch.stages) {
                let standing = here.entry(&shape.pool).or_default();
                standing.queued += stage.queued;
                standing.running += stage.running;
            }
            let waits = here.into_iter().filter(|(_, standing)| standing.queued > 0);
            waits.for_each(|(pool, standing)| {
                pools.entry(pool).or_default().push((standing, batch))
            });
        }
        pools.into_iter().map(|(pool, batches)| self.queue(pool, batches)).collect()
    }

    fn queue(&self, pool: &str, mut batches: Vec<(Standing, &ObservedBatch)>) -> PoolQueue {
        // As the scheduler ranks them (earliest batch first).
        batches.sort_by_key(|(_, batch)| {
            let row = &batch.published.row;
            (batch.earliest_end_at.unwrap_or(Micros::MAX), row.announced_at, row.id)
        });
        let queued = batches.iter().map(|(standing, _)| u64::from(standing.queued)).sum();
        let first = batches.iter().take(limits::QUEUED_BATCHES_SHOWN_MAX);
        let items = first.map(|(standing, batch)| {
            let row = &batch.published.row;
            QueuedBatch {
                id: row.id,
                tenant: self.tenants.name(row.tenant).to_string(),
                run: row.run.clone(),
                iteration: row.iteration,
                earliest_end_at: batch.earliest_end_at,
                queued: standing.queued,
                running: standing.running,
            }
        });
        PoolQueue {
            pool: pool.to_owned(),
            queued,
            batches_total: u32::try_from(batches.len()).unwrap_or(u32::MAX),
            batches: items.collect(),
        }
    }

    /// Every worker, and those that start.
    #[must_use]
    pub fn workers(&self, observed: &Observed) -> Vec<Worker> {
        let starting = observed.starting.iter().map(|(pool, asked_at)| Worker {
            id: None,
            pool: pool.to_string(),
            state: WorkerState::Starting,
            launcher: LOCAL.into(),
            pid: None,
            asked_at: Some(*asked_at),
            joined_at: None,
            heard_at: None,
            in_hand: 0,
            running: None,
            stages_done: 0,
            memory_bytes: None,
        });
        let joined = observed.workers.iter().map(|worker| self.worker(worker));
        let mut workers: Vec<Worker> = starting.chain(joined).collect();
        workers.sort_by(|a, b| (&a.pool, a.id).cmp(&(&b.pool, b.id)));
        workers
    }

    fn worker(&self, worker: &ObservedWorker) -> Worker {
        let running = worker.running.as_ref().map(|running| WorkerRunning {
            request: running.request,
            batch: running.request.batch,
            tenant: self.tenants.name(running.published.row.tenant).to_string(),
            plugin: plugin(&running.published),
            stage: stage_name(&running.published, running.stage),
            since: running.since,
        });
        Worker {
            id: Some(worker.id.0),
            pool: worker.pool.to_string(),
            state: worker.state,
            launcher: LOCAL.into(),
            pid: Some(worker.pid),
            asked_at: None,
            joined_at: Some(worker.joined_at),
            heard_at: Some(worker.heard_at),
            in_hand: u32::try_from(worker.in_hand).unwrap_or(u32::MAX),
            running,
            stages_done: worker.stages_done,
            memory_bytes: resident_bytes(worker.pid),
        }
    }
}

/// The one launcher that there is.
const LOCAL: &str = "local";

/// Of a process of this machine.
fn resident_bytes(pid: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    kib.checked_mul(1 << 10)
}

impl Observed {
    /// Whether the scheduler has the batch.
    #[must_use]
    pub fn has(&self, id: BatchId) -> bool {
        self.batches.iter().any(|batch| batch.published.row.id == id)
    }

    /// What waits and runs by plugin and stage, single rewards included; `None` is all tenants.
    #[must_use]
    pub fn stages(&self, tenant: Option<TenantId>) -> Vec<StageQueue> {
        let mut sums: HashMap<(Digest, usize), StageQueue> = HashMap::new();
        for batch in self.batches.iter().filter(|batch| batch.is_of(tenant)) {
            for (number, stage) in batch.stages.iter().enumerate() {
                let Some(shape) = batch.published.plugin.shapes.get(number) else { continue };
                if stage.queued == 0 && stage.running == 0 {
                    continue;
                }
                let key = (batch.published.row.digest, number);
                let sum = sums.entry(key).or_insert_with(|| StageQueue {
                    plugin: plugin(&batch.published),
                    stage: stage_name(&batch.published, number),
                    pool: shape.pool.to_string(),
                    queued: 0,
                    running: 0,
                });
                sum.queued += u64::from(stage.queued);
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
