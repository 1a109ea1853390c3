//! Elastic pools in the model: what they were told to hold, and when a plan is called for.

use std::cmp::Ordering;
use std::sync::Arc;

use assay_core::id::{RequestId, WorkerId};
use assay_core::time::Micros;
use assay_sched::{Action, Event, PoolPlan, PoolView, SchedView, TenantView};

use super::world::{POOLS, World, all_of, at};

pub(super) const PLAN_PAUSE: Micros = Micros::from_ms(10);

#[derive(Default)]
pub(super) struct Pool {
    pub(super) plan: Option<PoolPlan>,
    pub(super) starting: usize,
    /// The time since which some of them have not been needed.
    unneeded_since: Option<Micros>,
}

#[derive(Default)]
pub(super) struct Planning {
    /// When a plan was last asked for, and when the next is due.
    last: Option<Micros>,
    due: Option<Micros>,
    /// When a shell would tick: it keeps the earliest wake-up that it was asked for, and forgets
    /// it with the tick.
    wake: Option<Micros>,
}

impl World {
    pub(super) fn pool(&mut self, name: &str) -> &mut Pool {
        &mut self.pools[at(name)]
    }

    pub(super) fn planned(&mut self, plans: &[PoolPlan]) {
        for plan in plans {
            let ceiling = plan.ceiling.max(plan.hold);
            self.pool(&plan.pool).plan = Some(PoolPlan { ceiling, ..plan.clone() });
        }
    }

    pub(super) fn started(&mut self, pool: &str, count: usize) {
        assert!(count > 0 && self.pool(pool).plan.is_some());
        self.pool(pool).starting += count;
    }

    pub(super) fn starts_cancelled(&mut self, pool: &str, count: usize) {
        let pool = self.pool(pool);
        assert!((1..=pool.starting).contains(&count) && pool.plan.is_some());
        pool.starting -= count;
    }

    pub(super) fn stopped(&mut self, id: WorkerId) {
        let worker = &self.workers[&id];
        assert!(worker.is_idle(), "stopped while it holds something, or twice");
        let (name, idle_since) = (Arc::clone(&worker.pool), worker.idle_since);
        let serving = self.serving(&name);
        let plan = self.pools[at(&name)].plan.as_ref().expect("nobody stops what nobody planned");
        let lingered = idle_since + plan.linger <= self.now;
        assert!(lingered || serving > plan.ceiling, "stopped before its time");
        let worker = self.workers.get_mut(&id).expect("a worker that is there");
        worker.draining = true;
        worker.stopped = true;
    }

    fn serving(&self, pool: &str) -> usize {
        self.workers.values().filter(|worker| &*worker.pool == pool && !worker.draining).count()
    }

    /// Work was just given out: then no more workers serve the pool than may.
    pub(super) fn check_ceiling(&self, pool: &str) {
        let serving = self.serving(pool);
        let plan = self.pools[at(pool)].plan.as_ref();
        assert!(plan.is_none_or(|plan| serving <= plan.ceiling), "granted above the ceiling");
    }

    pub(super) fn check_full(&self, pool: &str) {
        let plan = self.pools[at(pool)].plan.as_ref().expect("only an elastic pool preempts");
        // Starts without a place are told to the scheduler alone.
        let placed = || !self.sched.view().pools[pool].starting.is_empty();
        let full = match self.serving(pool).cmp(&plan.ceiling) {
            Ordering::Less => !placed(),
            Ordering::Equal => true,
            Ordering::Greater => false,
        };
        assert!(full, "no room for another worker, or one is being started");
    }

    pub(super) fn check_pools(
        &self,
        waiting: &[Vec<RequestId>],
        view: &SchedView,
        actions: &[Action],
    ) {
        for (name, (pool, waiting)) in POOLS.iter().zip(self.pools.iter().zip(waiting)) {
            let workers = || self.workers.values().filter(|worker| &*worker.pool == *name);
            let model = PoolView {
                waiting: waiting.len(),
                leased: workers().map(|worker| worker.leases.len()).sum(),
                workers: self.serving(name),
                idle: workers().filter(|worker| worker.is_idle()).count(),
                draining: workers().filter(|worker| worker.draining).count(),
                plan: pool.plan.clone(),
                tenants: self.tenants_of(name, waiting),
                // Times and the bound are tested where they are made.
                ..PoolView::default()
            };
            let seen = view.pools.get(*name).cloned().unwrap_or_default();
            assert_eq!(seen.starting.len() + seen.unplaced.len(), pool.starting);
            let (starting, unplaced) = (Vec::new(), Vec::new());
            let seen = PoolView { starting, unplaced, startup: None, workers_max: None, ..seen };
            assert_eq!(seen, model);
            if let Some(plan) = &pool.plan {
                self.check_elastic(plan, name, &view.pools[*name]);
                check_direction(name, actions);
            }
        }
    }

    /// Never too few workers, and above what is needed only those that linger or still work.
    fn check_elastic(&self, plan: &PoolPlan, name: &str, pool: &PoolView) {
        let serving = pool.workers;
        let (target, alive) = target_and_alive(plan, pool);
        assert!(alive >= target, "too few: {pool:?}");
        assert!(serving <= plan.ceiling || pool.idle == 0, "idle above the ceiling: {pool:?}");
        if alive == target {
            return;
        }
        if let Some(since) = self.pools[at(name)].unneeded_since {
            let until = since + plan.linger;
            assert!(until > self.now, "starts that nothing needs for too long: {pool:?}");
            assert!(alive <= plan.ceiling, "starts above the ceiling: {pool:?}");
            assert!(self.planning.wake.is_some_and(|wake| wake <= until), "nobody looks again");
        }
        if target + pool.starting.len() + pool.unplaced.len() >= alive {
            return;
        }
        let idle = self.workers.values().filter(|worker| &*worker.pool == name && worker.is_idle());
        let until = idle.map(|worker| worker.idle_since + plan.linger).min();
        if let Some(until) = until {
            assert!(until > self.now, "one lingers for too long: {pool:?}");
            assert!(self.planning.wake.is_some_and(|wake| wake <= until), "nobody looks again");
        }
    }

    /// Notes since when starts have not been needed that were not given up.
    pub(super) fn note_unneeded(&mut self, view: &SchedView, actions: &[Action]) {
        let now = self.now;
        for (name, pool) in POOLS.iter().zip(&mut self.pools) {
            let (Some(plan), Some(seen)) = (&pool.plan, view.pools.get(*name)) else { continue };
            let (target, alive) = target_and_alive(plan, seen);
            let given_up = |action: &Action| matches!(action, Action::CancelStarts { pool, .. } if **pool == **name);
            pool.unneeded_since = match pool.unneeded_since {
                _ if alive == target || alive == seen.workers => None,
                Some(since) if !actions.iter().any(given_up) => Some(since),
                _ => Some(now),
            };
        }
    }

    /// Whether the event itself calls for a plan.
    pub(super) fn calls_for_plan(&self, event: &Event) -> bool {
        match event {
            Event::BatchAnnounced(_) | Event::PlanOutdated => true,
            Event::EntitlementChanged { tenant, entitlement } => {
                let live = self.batches.values().any(|batch| !batch.ended);
                live && entitlement.workers_max != self.entitlement(*tenant).workers_max
            }
            Event::RequestsSubmitted { batch, requests } => {
                let live = self.batches.get(batch).is_some_and(|batch| !batch.ended);
                let first = self.requests.range(all_of(*batch)).next().is_none();
                live && first && !requests.is_empty()
            }
            Event::StagesHeld { tenant, stages } => self.held.get(tenant) != Some(stages),
            Event::StagesReleased { tenant } => self.held.contains_key(tenant),
            _ => false,
        }
    }

    /// A plan is asked for when something calls for it, and never twice within the pause.
    pub(super) fn check_plan_calls(&mut self, event: &Event, called: bool, actions: &[Action]) {
        let planning = &mut self.planning;
        let woken = actions.iter().filter_map(|action| match action {
            Action::WakeAt(at) => Some(*at),
            _ => None,
        });
        let kept = planning.wake.filter(|_| !matches!(event, Event::Tick));
        planning.wake = woken.chain(kept).min();
        if let Event::Planned { again, .. } = event {
            planning.due = [planning.due, *again].into_iter().flatten().min();
        }
        let is_due = matches!(event, Event::Tick) && planning.due.is_some_and(|at| at <= self.now);
        let ended = actions.iter().any(|action| matches!(action, Action::BatchDone(_)));
        let wanted = called || is_due || ended;
        let earliest = planning.last.map_or(Micros::ZERO, |last| last + PLAN_PAUSE);
        let asked = actions.iter().filter(|action| matches!(action, Action::PlanAnew)).count();
        assert_eq!(asked, usize::from(wanted && earliest <= self.now), "{event:?}");
        if asked > 0 {
            planning.last = Some(self.now);
            planning.due = None;
        } else if wanted {
            let due = if is_due { None } else { planning.due };
            planning.due = Some(due.map_or(earliest, |due| due.min(earliest)));
        }
        if let Some(due) = planning.due {
            assert!(planning.wake.is_some_and(|wake| wake <= due), "nobody plans again");
        }
    }
}

/// The number of workers that are needed, and of those that there are or that start.
fn target_and_alive(plan: &PoolPlan, pool: &PoolView) -> (usize, usize) {
    let grantable = |tenant: &TenantView| match tenant.workers_max {
        Some(max) => tenant.waiting.min((max as usize).saturating_sub(tenant.workers)),
        None => tenant.waiting,
    };
    let demand = pool.workers - pool.idle + pool.tenants.iter().map(grantable).sum::<usize>();
    let target = plan.hold.max(plan.ceiling.min(demand));
    (target, pool.workers + pool.starting.len() + pool.unplaced.len())
}

/// A step that starts workers of a pool stops none of it.
fn check_direction(name: &str, actions: &[Action]) {
    let of_pool = |action: &&Action| match action {
        Action::StartWorkers { pool, .. } | Action::CancelStarts { pool, .. } => &**pool == name,
        _ => false,
    };
    let mut changes: Vec<&Action> = actions.iter().filter(of_pool).collect();
    changes.dedup_by_key(|action| matches!(action, Action::StartWorkers { .. }));
    assert!(changes.len() < 2, "started and given up at once: {changes:?}");
}
