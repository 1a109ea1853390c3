//! Holding stages: stages of a tenant that are not started for a while.
//!
//! An artifact waits in memory for its request's next stage. Where stages run far ahead of later ones, as
//! compilations do of the GPUs, that memory runs out. The dispatcher knows it, and then holds the tenant's first stages, or
//! all but the last: what waits for them leaves the pools' queues, and comes back when later stages have made room. What is
//! leased already runs on. To hold stages and to release them calls for a plan, as held requests need no worker.

use assay_core::id::{BatchId, RequestId, TenantId};

use crate::held::{HeldRequests, HeldStages};
use crate::pool::Pool;
use crate::sched::Sched;

impl Sched {
    /// Holds these stages of a tenant in place of those that it held; returns whether that changes anything.
    pub(crate) fn hold_stages(&mut self, tenant: TenantId, stages: HeldStages) -> bool {
        let before = self.held.get(&tenant).map(|held| held.stages);
        if before == Some(stages) {
            return false;
        }
        let held = self.held.entry(tenant).or_insert_with(|| HeldRequests::new(stages));
        held.stages = stages;
        if before == Some(HeldStages::AllButLast) {
            let released = held.remove_later();
            released.into_iter().for_each(|request| self.queue(request));
        } else {
            let batches = self.batches.values().filter(|batch| batch.new.tenant == tenant);
            let batches: Vec<BatchId> = batches.map(|batch| batch.new.id).collect();
            batches.into_iter().for_each(|id| self.hold_batch(id, before));
        }
        true
    }

    /// Returns whether that changes anything.
    pub(crate) fn release_stages(&mut self, tenant: TenantId) -> bool {
        let Some(held) = self.held.remove(&tenant) else { return false };
        held.into_requests().into_iter().for_each(|request| self.queue(request));
        true
    }

    /// The number of the tenant's requests that wait for a held stage.
    #[must_use]
    pub fn held(&self, tenant: TenantId) -> usize {
        self.held.get(&tenant).map_or(0, HeldRequests::count)
    }

    /// Whether requests of the tenant wait for the last of several stages, or run it, in a pool that has workers or may get
    /// some: they will make room.
    #[must_use]
    pub fn has_last_stages(&self, tenant: TenantId) -> bool {
        let mut batches = self.batches.values().filter(|batch| batch.new.tenant == tenant);
        batches.any(|batch| {
            let pool = batch.last_stage_pool().and_then(|pool| self.pools.get(pool));
            pool.is_some_and(Pool::is_active)
        })
    }

    /// Takes out of the queues what is held of the batch and was not before.
    fn hold_batch(&mut self, id: BatchId, before: Option<HeldStages>) {
        let batch = &self.batches[&id];
        let (owner, stages) = (batch.owner(), &batch.new.stages);
        let held = self.held.get_mut(&owner.tenant).expect("stages of the tenant are held");
        for (seq, request) in batch.requests.entries().filter(|(_, request)| request.waits()) {
            let (request, stage) = (RequestId { batch: id, seq }, request.stage());
            let was_held = before.is_some_and(|before| before.contain(stage, stages.len()));
            if was_held || !held.take(request, stage, stages.len()) {
                continue;
            }
            let place = batch.place(seq, self.config.discipline);
            let pool = &stages[stage].pool;
            let waits_in = self.pools.get_mut(pool).expect("a pool is there while a request waits");
            waits_in.fair_queue.remove(&owner, request, place);
            self.pools.requests_removed(pool);
        }
    }
}
