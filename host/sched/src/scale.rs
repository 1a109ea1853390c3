//! How many workers an elastic pool has: the plan bounds it, demand moves it in between.
//!
//! The planner alone writes plans; this carries them out between two of them. A busy worker is
//! never stopped: one too many goes when it is done.

use std::sync::Arc;

use assay_core::time::Micros;

use crate::action::Action;
use crate::plan::PoolPlan;
use crate::sched::Sched;
use crate::timer::SchedTimer;

impl Sched {
    pub(crate) fn planned(&mut self, pools: Vec<PoolPlan>, again: Option<Micros>) {
        for plan in pools {
            let pool = self.pools.activate(&plan.pool);
            pool.plan = Some(PoolPlan { ceiling: plan.ceiling.max(plan.hold), ..plan });
        }
        self.plan_next(again);
    }

    pub(crate) fn starts_unplaced(&mut self, name: &Arc<str>, count: usize) {
        if let Some(pool) = self.pools.get_mut(name) {
            pool.set_unplaced(self.now, count);
        }
    }

    pub(crate) fn start_failed(&mut self, name: &Arc<str>) {
        if let Some(pool) = self.pools.get_mut(name) {
            pool.end_start();
        }
    }

    /// A worker has lingered: `scale`, at the end of the step, sees it.
    pub(crate) fn lingered(&mut self) {
        self.timers.replace(SchedTimer::Linger, self.lingers_until.take(), None);
    }

    /// Before work is given out: workers above the ceiling that hold nothing get nothing more.
    pub(crate) fn release_surplus(&mut self, out: &mut Vec<Action>) {
        for (_, pool) in self.pools.active_mut() {
            while pool.surplus() > 0 {
                let Some((_, id)) = pool.longest_idle() else { break };
                let worker = self.workers.get_mut(&id).expect("an idle worker is there");
                worker.drain(&self.config, pool, &mut self.timers);
                out.push(Action::StopWorker { worker: id });
            }
        }
    }

    /// After work was given out: starts what demand calls for, stops what nothing needs.
    pub(crate) fn scale(&mut self, out: &mut Vec<Action>) {
        let mut until: Option<Micros> = None;
        for (name, pool) in self.pools.active_mut() {
            let Some(plan) = &pool.plan else { continue };
            // A request that waits because of its tenant's bound needs no worker.
            let demand = pool.serving() - pool.idle() + pool.fair_queue.grantable();
            let demand = demand.saturating_sub(pool.serving_came());
            let target = plan.hold.max(plan.ceiling.min(demand));
            let (ceiling, linger) = (plan.hold.max(plan.ceiling), plan.linger);
            let alive = pool.serving_started() + pool.starting.len();
            let excess = alive.saturating_sub(target);
            let excess_starts = excess.min(pool.starting.len());
            let (unneeded, due) = pool.unneeded_starts(excess_starts, self.now, linger);
            // Starts beyond the plan itself are cancelled at once.
            let count = unneeded.max(alive.saturating_sub(ceiling).min(excess_starts));
            if alive < target {
                let count = target - alive;
                pool.start(self.now, count);
                out.push(Action::StartWorkers { pool: Arc::clone(name), count });
            }
            if count > 0 {
                pool.cancel_starts(count);
                out.push(Action::CancelStarts { pool: Arc::clone(name), count });
            }
            until = [until, due].into_iter().flatten().min();
            for _ in excess_starts..excess {
                let Some((since, id)) = pool.longest_idle() else { break };
                let at = since + linger;
                if at > self.now {
                    until = [until, Some(at)].into_iter().flatten().min();
                    break;
                }
                let worker = self.workers.get_mut(&id).expect("an idle worker is there");
                worker.drain(&self.config, pool, &mut self.timers);
                out.push(Action::StopWorker { worker: id });
            }
        }
        self.timers.replace(SchedTimer::Linger, self.lingers_until, until);
        self.lingers_until = until;
    }
}
