//! Held stages: first stages of a tenant that are not started for a while.
//!
//! An artifact waits in memory for its request's next stage. Where first stages run far ahead of later ones, as
//! compilations do of the GPUs, that memory runs out. The dispatcher knows it, and then holds the tenant's first stages, where
//! others follow: what waits for them leaves the pools' queues, and comes back when later stages have made room. What is
//! leased already runs on. To hold stages and to release them calls for a plan, as held requests need no worker.

use std::collections::BTreeMap;

use assay_core::id::{BatchId, RequestId, TenantId};

use crate::sched::Sched;

impl Sched {
    /// Returns whether that changes anything.
    pub(crate) fn hold_stages(&mut self, tenant: TenantId) -> bool {
        if self.held.contains_key(&tenant) {
            return false;
        }
        self.held.insert(tenant, BTreeMap::new());
        let batches = self.batches.values().filter(|batch| batch.new.tenant == tenant);
        let batches: Vec<BatchId> = batches.map(|batch| batch.new.id).collect();
        batches.into_iter().for_each(|id| self.hold_batch(id));
        true
    }

    /// Returns whether that changes anything.
    pub(crate) fn release_stages(&mut self, tenant: TenantId) -> bool {
        let Some(held) = self.held.remove(&tenant) else { return false };
        for (batch, requests) in held {
            for seq in requests {
                self.queue(RequestId { batch, seq });
            }
        }
        true
    }

    /// The number of the tenant's requests that wait for a held stage.
    #[must_use]
    pub fn held(&self, tenant: TenantId) -> usize {
        self.held.get(&tenant).map_or(0, |batches| batches.values().map(Vec::len).sum())
    }

    /// Takes what is held of the batch out of the queues.
    fn hold_batch(&mut self, id: BatchId) {
        let batch = &self.batches[&id];
        let waiting = batch.requests.entries().filter(|(_, request)| request.waits());
        let first = waiting.filter(|(_, request)| batch.is_first_of_several(request.stage()));
        let first: Vec<u32> = first.map(|(seq, _)| seq).collect();
        for seq in &first {
            let place = batch.place(*seq, self.config.discipline);
            let pool = &batch.new.stages[batch.requests[*seq].stage()].pool;
            let waits_in = self.pools.get_mut(pool).expect("a pool is there while a request waits");
            waits_in.fair_queue.remove(&batch.owner(), RequestId { batch: id, seq: *seq }, place);
            self.pools.requests_removed(pool);
        }
        if !first.is_empty() {
            self.held.entry(batch.new.tenant).or_default().insert(id, first);
        }
    }
}
