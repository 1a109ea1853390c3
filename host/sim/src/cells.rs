//! Cells: installations that share nothing but the machines below them. Each has a dispatcher, a planner and a
//! database of its own, and every tenant lives in one of them.

use std::collections::BTreeMap;

use assay_core::time::Micros;

use crate::account::{PoolUse, Sample, Timeline};
use crate::engine::{PlannerTimes, Run};
use crate::trace::{Task, Trace};

/// Splits a trace into those of `cells` cells. Tenants are placed in the order in which they start, each in the
/// cell with the fewest requests so far; a task without a tenant counts as one. Cells without a task are left out.
#[must_use]
pub fn split(trace: &Trace, cells: usize) -> Vec<Trace> {
    let mut tenants: BTreeMap<Result<&str, u32>, Vec<&Task>> = BTreeMap::new();
    for task in &trace.tasks {
        tenants.entry(task.tenant.as_deref().ok_or(task.id)).or_default().push(task);
    }
    let mut tenants: Vec<Vec<&Task>> = tenants.into_values().collect();
    tenants.sort_by_key(|tasks| tasks.iter().map(|task| (task.start, task.id)).min());
    let mut placed: Vec<(usize, Vec<Task>)> = vec![(0, Vec::new()); cells];
    for tasks in tenants {
        if let Some((load, cell)) = placed.iter_mut().min_by_key(|(load, _)| *load) {
            let requests =
                |task: &&Task| task.iterations.iter().map(|it| it.requests.len()).sum::<usize>();
            *load += tasks.iter().map(requests).sum::<usize>();
            cell.extend(tasks.into_iter().cloned());
        }
    }
    let of = |(_, tasks): (usize, Vec<Task>)| Trace { meta: trace.meta.clone(), tasks };
    placed.into_iter().map(of).filter(|trace| !trace.tasks.is_empty()).collect()
}

/// The runs of all cells under one policy as one: what their users and the machines below see of them together.
///
/// # Panics
/// Without a run.
#[must_use]
pub fn together(cells: &[Run]) -> Run {
    if let [only] = cells {
        return only.clone();
    }
    let first = cells.first().expect("there is a cell");
    let pools = (0..first.pools.len()).map(|place| {
        let of_cells: Vec<&PoolUse> = cells.iter().map(|cell| &cell.pools[place]).collect();
        let timeline =
            Timeline::sum(&of_cells.iter().map(|used| &used.timeline).collect::<Vec<_>>());
        PoolUse {
            pool: of_cells[0].pool.clone(),
            allocated: of_cells.iter().map(|used| used.allocated).sum(),
            executed: of_cells.iter().map(|used| used.executed).sum(),
            starting: of_cells.iter().map(|used| used.starting).sum(),
            peak: timeline.samples.iter().map(|sample| sample.workers).max().unwrap_or(0),
            starts: of_cells.iter().map(|used| used.starts).sum(),
            timeline,
        }
    });
    let mut batches: Vec<_> = cells.iter().flat_map(|cell| cell.batches.iter().cloned()).collect();
    batches.sort_by_key(|batch| (batch.completed, batch.task));
    Run {
        policy: first.policy.clone(),
        pools: pools.collect(),
        batches,
        tenants: cells.iter().flat_map(|cell| cell.tenants.iter().cloned()).collect(),
        planner: PlannerTimes {
            plans: cells.iter().map(|cell| cell.planner.plans).sum(),
            total: cells.iter().map(|cell| cell.planner.total).sum(),
            max: cells.iter().map(|cell| cell.planner.max).max().unwrap_or_default(),
        },
        ended: cells.iter().map(|cell| cell.ended).max().unwrap_or_default(),
    }
}

impl Timeline {
    /// The sum of several pools at each time at which one of them changed. A pool is empty before its first sample,
    /// and after its last one, with which its billing ended.
    fn sum(parts: &[&Self]) -> Self {
        let mut changes: Vec<(Micros, usize, Sample)> = Vec::new();
        for (part, timeline) in parts.iter().enumerate() {
            let ended =
                timeline.samples.last().map(|last| Sample { at: last.at, ..Sample::default() });
            let samples = timeline.samples.iter().copied().chain(ended);
            changes.extend(samples.map(|sample| (sample.at, part, sample)));
        }
        changes.sort_by_key(|(at, ..)| *at);
        let mut now = vec![Sample::default(); parts.len()];
        let mut sum = Self::default();
        for at_once in changes.chunk_by(|one, next| one.0 == next.0) {
            for (_, part, sample) in at_once {
                now[*part] = *sample;
            }
            let total = |of: fn(&Sample) -> usize| now.iter().map(of).sum();
            sum.note(Sample {
                at: at_once[0].0,
                workers: total(|sample| sample.workers),
                busy: total(|sample| sample.busy),
                queued: total(|sample| sample.queued),
            });
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Iteration, Meta, TraceRequest, TrainerMode};

    fn task(id: u32, tenant: Option<&str>, start: u64, requests: u32) -> Task {
        let request = |request| TraceRequest {
            request,
            group: 0,
            tokens: 0,
            rollout: Micros::ZERO,
            service: Vec::new(),
            outcome: String::new(),
        };
        let iteration = Iteration {
            number: 0,
            rollout_start: Micros(start),
            rollout: Micros::ZERO,
            train: Micros::ZERO,
            sync: Micros::ZERO,
            requests: (0..requests).map(request).collect(),
        };
        let tenant = tenant.map(str::to_owned);
        Task { id, tenant, start: Micros(start), iterations: vec![iteration] }
    }

    fn tasks(trace: &Trace) -> Vec<u32> {
        trace.tasks.iter().map(|task| task.id).collect()
    }

    #[test]
    fn a_tenant_lives_in_one_cell_and_new_ones_in_the_emptiest() {
        let meta = Meta {
            stages: Vec::new(),
            mode: TrainerMode::Colocated,
            generator: String::new(),
            seed: 0,
            spec: serde_json::Value::Null,
        };
        let all = vec![
            task(0, Some("large"), 5, 60),
            task(1, Some("small"), 6, 10),
            task(2, Some("large"), 9, 60),
            task(3, None, 7, 20),
            task(4, None, 8, 95),
            task(5, Some("last"), 10, 1),
        ];
        let trace = Trace { meta, tasks: all };
        let cells: Vec<_> = split(&trace, 2).iter().map(tasks).collect();
        assert_eq!(cells, [vec![0, 2, 5], vec![1, 3, 4]]);
        assert_eq!(split(&trace, 1).iter().map(tasks).collect::<Vec<_>>(), [[0, 2, 1, 3, 4, 5]]);
        assert_eq!(split(&trace, 9).len(), 5, "no cell is empty");
    }

    #[test]
    fn peaks_at_different_times_are_no_peak_of_all() {
        let timeline = |samples: &[(u64, usize)]| {
            let mut timeline = Timeline::default();
            for &(at, workers) in samples {
                timeline.note(Sample { at: Micros(at), workers, ..Sample::default() });
            }
            timeline
        };
        let one = timeline(&[(0, 4), (10, 1), (20, 1)]);
        let other = timeline(&[(5, 1), (10, 4), (30, 4)]);
        let sum = Timeline::sum(&[&one, &other]);
        let workers: Vec<_> = sum.samples.iter().map(|it| (it.at.0, it.workers)).collect();
        assert_eq!(workers, [(0, 4), (5, 5), (10, 5), (20, 4), (30, 0)]);
    }
}
