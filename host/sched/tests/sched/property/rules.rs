//! What must hold after each step: the order of service, and that nothing is forgotten.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use assay_core::id::{BatchId, RequestId, TenantId};
use assay_core::time::Micros;
use assay_sched::{Grant, HeldStages, HeldView, SchedView};

use super::world::{POOLS, World, all_of, at, group};

/// The smaller is to be served first.
pub(super) type Key = (Micros, Micros, BatchId, u32, Reverse<u32>, Micros, u32);

impl World {
    pub(super) fn key(&self, id: RequestId) -> Key {
        let ready = self.ready_for_pool(id);
        let estimated = || self.sched.estimated_done(id.batch).expect("a live batch");
        let (at, left) = match self.discipline.name {
            "ebf" => (estimated(), 0),
            "fcfs" => (ready, 0),
            "ebf-groups" => (estimated(), self.left(id)),
            other => panic!("this reference does not know the discipline {other}"),
        };
        // It goes before what its batch would have served first.
        let deadline = self.effective_deadline(id).filter(|deadline| *deadline < at);
        let (at, left) = deadline.map_or((at, left), |deadline| (deadline, 0));
        let expected = Reverse(self.expected_left(id));
        (at, self.batches[&id.batch].announced, id.batch, left, expected, ready, id.seq)
    }

    /// In milliseconds; all requests of a batch tell it, or none.
    fn expected_left(&self, id: RequestId) -> u32 {
        let request = &self.requests[&id];
        match self.discipline.name {
            "ebf" => {
                let stages = &self.batches[&id.batch].stages;
                let pool = &stages[request.stage].pool;
                let before = stages.iter().take_while(|stage| stage.pool != *pool).count();
                let ran = request.times[..before].iter().map(|time| time.0).sum::<u64>();
                request.expected_ms.saturating_sub((ran / 1_000) as u32)
            }
            _ => 0,
        }
    }

    /// A pool ends what it began: a later stage there counts as ready since the request arrived.
    fn ready_for_pool(&self, id: RequestId) -> Micros {
        let request = &self.requests[&id];
        let stages = &self.batches[&id.batch].stages;
        let pool = &stages[request.stage].pool;
        let before = stages[..request.stage].iter().any(|stage| stage.pool == *pool);
        if before { request.arrived } else { request.ready }
    }

    /// How many requests are left of its group.
    fn left(&self, id: RequestId) -> u32 {
        let Some(number) = group(id.seq) else { return 1 };
        if self.groups_done.contains(&(id.batch, number)) {
            return u32::MAX;
        }
        let mut submitted = 0;
        let mut ended = 0;
        for seq in (number * 3..number * 3 + 3).filter(|seq| group(*seq).is_some()) {
            if let Some(request) = self.requests.get(&RequestId { seq, ..id }) {
                submitted += 1;
                ended += u32::from(request.ended);
            }
        }
        self.batches[&id.batch].group_size.unwrap_or(submitted) - ended
    }

    /// What waits for each of the pools.
    pub(super) fn waiting(&self) -> [Vec<RequestId>; POOLS.len()] {
        let mut waiting = [Vec::new(), Vec::new()];
        for (batch, known) in self.batches.iter().filter(|(_, batch)| !batch.ended) {
            for (id, request) in self.requests.range(all_of(*batch)) {
                if request.waits() && !self.is_held(*id) {
                    waiting[at(&known.stages[request.stage].pool)].push(*id);
                }
            }
        }
        waiting
    }

    /// Whether a request that waits is held.
    fn is_held(&self, id: RequestId) -> bool {
        let batch = &self.batches[&id.batch];
        let stage = self.requests[&id].stage;
        match self.held.get(&batch.tenant) {
            _ if stage + 1 == batch.stages.len() => false,
            Some(HeldStages::First) => stage == 0,
            Some(HeldStages::AllButLast) => true,
            None => false,
        }
    }

    /// The held stages and the number of requests that wait for them, by tenant.
    fn held_requests(&self) -> BTreeMap<TenantId, HeldView> {
        let view = |stages: &HeldStages| HeldView { stages: *stages, requests: 0 };
        let mut held: BTreeMap<TenantId, HeldView> =
            self.held.iter().map(|(tenant, stages)| (*tenant, view(stages))).collect();
        for (id, _) in self.requests.iter().filter(|(_, request)| request.waits()) {
            if self.is_held(*id) {
                held.get_mut(&self.tenant_of(*id)).expect("its stage is held").requests += 1;
            }
        }
        held
    }

    /// Checks the order of grants within each tenant. Grants come last in a step, so that requests which wait
    /// after it waited at each of them.
    pub(super) fn check_order(&self, grants: &[Grant], waiting: &[Vec<RequestId>]) {
        if grants.is_empty() {
            return;
        }
        for (name, waiting) in POOLS.iter().zip(waiting) {
            let granted = grants.iter().filter(|grant| {
                *self.batches[&grant.request.batch].stages[grant.stage].pool == **name
            });
            let mut by_tenant: BTreeMap<TenantId, Vec<Key>> = BTreeMap::new();
            for grant in granted {
                let keys = by_tenant.entry(self.tenant_of(grant.request)).or_default();
                keys.push(self.key(grant.request));
            }
            // Between runs that share, the number of workers decides: `check_entitlements` looks at it.
            by_tenant.retain(|tenant, _| !self.entitlement(*tenant).share_runs);
            for (tenant, keys) in by_tenant {
                assert!(keys.is_sorted(), "granted out of order");
                let waiting = waiting.iter().filter(|id| self.tenant_of(**id) == tenant);
                let first = waiting.map(|id| self.key(*id)).min();
                assert!(first > keys.last().copied() || first.is_none(), "before its turn");
            }
        }
    }

    pub(super) fn check_state(&self, waiting: &[Vec<RequestId>], view: &SchedView) {
        for worker in self.workers.values() {
            assert!(worker.leases.len() <= worker.leases_max);
            let mut waiting = waiting[at(&worker.pool)].iter();
            let waited_for =
                waiting.any(|id| self.may_have_more(self.tenant_of(*id), &worker.pool));
            assert!(!worker.is_idle() || !waited_for, "idle while something waits");
        }
        assert_eq!(view.batches.len(), self.batches.values().filter(|batch| !batch.ended).count());
        assert_eq!(view.requests(), self.requests.values().filter(|one| !one.ended).count());
        let held = self.held_requests();
        let at_stages = view.batches.iter().flat_map(|batch| &batch.at_stage);
        let requests = held.values().map(|held| held.requests).sum::<usize>();
        assert_eq!(at_stages.map(|stage| stage.held).sum::<usize>(), requests);
        assert_eq!(view.held, held);
        for tenant in self.batches.values().map(|batch| batch.tenant) {
            let has_last = self.requests.iter().any(|(id, request)| {
                let stages = &self.batches[&id.batch].stages;
                let is_last = stages.len() > 1 && request.stage + 1 == stages.len();
                let is_wanted = is_last && !request.ended && self.tenant_of(*id) == tenant;
                is_wanted && self.may_have_workers(&stages[request.stage].pool)
            });
            assert_eq!(self.sched.has_last_stages(tenant), has_last);
        }
    }

    /// Whether a pool has workers or may get some.
    fn may_have_workers(&self, pool: &str) -> bool {
        let mut workers = self.workers.values();
        self.pools[at(pool)].plan.is_some() || workers.any(|worker| &*worker.pool == pool)
    }
}
