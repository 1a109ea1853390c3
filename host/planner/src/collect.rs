//! Algorithm 2: what is live and what is still to come, as a workload for SIMULATE.

use std::collections::BTreeMap;
use std::sync::Arc;

use assay_core::id::TenantId;
use assay_core::limits;
use assay_core::time::Micros;
use assay_sched::{BatchView, RunningView, SchedView, StageView};

use crate::basis::Basis;
use crate::config::PlanConfig;
use crate::drift::Drift;
use crate::history::RunHistories;
use crate::problem::{Flow, FlowStage, Problem, ProblemBatch, ProblemPool, ProblemRequest};
use crate::tuning::Tuning;
use crate::unreached::UnreachedStages;
use crate::workload::REQUESTS_MAX;

/// Multiples of it fall evenly between whole numbers, however many there are.
const GOLDEN_RATIO: f64 = 0.618_033_988_749_895;

/// The quantile at which service times are cut for the T of forecasts: half-way through the batches of six tasks its error
/// is then 10 s at the median and 17 s on average; uncut 14 s and 22 s.
const FORECAST_QUANTILE: f64 = 0.9;

/// The problem, what it was made from, and what it leaves out.
pub(crate) struct Collected {
    pub(crate) problem: Problem,
    /// The basis of each batch of the problem.
    pub(crate) bases: Vec<Arc<Basis>>,
    pub(crate) drifts: Vec<Drift>,
    pub(crate) unreached: Vec<UnreachedStages>,
    /// T of each batch of the problem for forecasts, if they are asked for.
    pub(crate) earliest_ends: Vec<Micros>,
    /// Live batches about which nothing is known.
    pub(crate) unknown: Vec<BatchView>,
}

impl Collected {
    /// A problem that the caller knows in full, so that no history is needed.
    pub(crate) fn known(problem: Problem) -> Self {
        Self {
            problem,
            bases: Vec::new(),
            drifts: Vec::new(),
            unreached: Vec::new(),
            earliest_ends: Vec::new(),
            unknown: Vec::new(),
        }
    }
}

/// A batch that is planned for, with what is expected of it.
struct AwaitedBatch<'a> {
    view: &'a BatchView,
    basis: Arc<Basis>,
    drift: Drift,
    unreached: UnreachedStages,
    coming: ExpectedArrivals,
    /// The number of requests to come that are planned for.
    to_come: usize,
}

impl AwaitedBatch<'_> {
    /// The times, by stage, of so many requests that are at a stage: those of rows of history that reached it, spread evenly. Where
    /// none did, each request has the times of unreached stages.
    fn services(&self, stage: usize, count: usize) -> impl Iterator<Item = &[Micros]> {
        let reached = self.basis.reached(stage);
        spread(reached.len(), count).map(move |pick| match pick {
            Some(pick) => self.basis.service(reached[pick] as usize),
            None => self.unreached.times(),
        })
    }
}

#[derive(Clone, Copy)]
struct ExpectedArrivals {
    /// The time of the first arrival, seen or expected.
    start: Micros,
    /// The time since then.
    elapsed: Micros,
    /// The first row of history that came later than it is now.
    from: usize,
}

pub(crate) struct Collector<'a> {
    pub(crate) now: Micros,
    pub(crate) tolerance: Micros,
    pub(crate) patience: Micros,
    pub(crate) tuning: &'a Tuning,
    pub(crate) forecasts: bool,
    /// T of each batch, for forecasts.
    pub(crate) earliest_ends: Vec<Micros>,
    pub(crate) problem: Problem,
}

impl<'a> Collector<'a> {
    pub(crate) fn new(now: Micros, config: &'a PlanConfig, pools: Vec<ProblemPool>) -> Self {
        let problem = Problem {
            now,
            pools,
            flows: Vec::new(),
            batches: Vec::new(),
            requests: Vec::new(),
            service: Vec::new(),
            stages_max: 0,
        };
        let PlanConfig { tolerance, patience, tuning, forecasts, .. } = config;
        Self {
            now,
            tolerance: *tolerance,
            patience: *patience,
            tuning,
            forecasts: *forecasts,
            earliest_ends: Vec::new(),
            problem,
        }
    }

    pub(crate) fn collect(mut self, view: &SchedView, history: &RunHistories) -> Collected {
        let mut awaited = Vec::new();
        let mut unknown = Vec::new();
        let stages = view.batches.iter().map(|batch| batch.stages.len()).max();
        self.problem.stages_max = stages.unwrap_or(1);
        for batch in &view.batches {
            match history.basis(batch) {
                Some(basis) if self.is_awaited(batch, &basis) => {
                    awaited.push(self.awaited(batch, basis, history.stage_means(batch)));
                }
                Some(_) => {}
                None => unknown.push(batch.clone()),
            }
        }
        share_out(&mut awaited);
        awaited.iter().for_each(|awaited| self.batch(awaited));
        let of_batch = |it: AwaitedBatch<'_>| (it.basis, it.drift, it.unreached);
        let (bases, drifts, unreached) = awaited.into_iter().map(of_batch).collect();
        let (problem, earliest_ends) = (self.problem, self.earliest_ends);
        Collected { problem, bases, drifts, unreached, earliest_ends, unknown }
    }

    /// An announced batch is waited for, with its workers ready, for as long again as it should
    /// take to come; then they are better used elsewhere until it does.
    fn is_awaited(&self, batch: &BatchView, basis: &Basis) -> bool {
        let patience = self.patience.max(basis.lead);
        batch.first_arrival.is_some() || self.now <= batch.announced + basis.lead + patience
    }

    fn awaited<'b>(
        &self,
        view: &'b BatchView,
        basis: Arc<Basis>,
        learned: &[Option<Micros>],
    ) -> AwaitedBatch<'b> {
        let drift = if self.tuning.follows_drift {
            Drift::of(self.now, view, &basis)
        } else {
            Drift::none(view.stages.len())
        };
        let coming = self.coming(view, &basis, &drift);
        let to_come =
            if view.sealed { 0 } else { self.left(view, basis.len() - coming.from, &basis) };
        let unreached = UnreachedStages::of(view, &basis, learned);
        AwaitedBatch { view, basis, drift, unreached, coming, to_come }
    }

    fn batch(&mut self, awaited: &AwaitedBatch<'_>) {
        let batch = awaited.view;
        let index = self.problem.batches.len();
        let from = self.problem.requests.len();
        let stage = |stage: &assay_sched::StageShape| FlowStage {
            pool: self.pool(&stage.pool),
            timeout: stage.timeout,
        };
        let flow = Flow { stages: batch.stages.iter().map(stage).collect() };
        self.problem.flows.push(flow);
        self.problem.batches.push(ProblemBatch {
            id: batch.id,
            run: Arc::clone(&batch.run),
            flow: index,
            rank: Micros::ZERO,
            earliest_end: Micros::ZERO,
            tolerance: batch.tolerance.unwrap_or(self.tolerance),
            wait_max: self.tuning.wait_max(batch.consumes),
        });
        for (stage, at_stage) in batch.at_stage.iter().enumerate() {
            self.waiting(index, stage, at_stage, awaited);
            self.held(index, stage, at_stage, awaited);
            self.running(index, stage, at_stage, awaited);
        }
        self.future(index, awaited);
        let earliest_end = self.earliest_end(from, awaited);
        if self.forecasts {
            let end = self.robust_end(from, awaited, FORECAST_QUANTILE);
            self.earliest_ends.push(end.max(batch.earliest_end).unwrap_or(self.now));
        }
        let entry = &mut self.problem.batches[index];
        entry.earliest_end = earliest_end;
        entry.rank = batch.rank.unwrap_or(earliest_end);
    }

    /// The last pool stands for all that are not planned for.
    fn pool(&self, name: &str) -> usize {
        let planned = &self.problem.pools[..self.problem.pools.len() - 1];
        planned.iter().position(|pool| &*pool.name == name).unwrap_or(planned.len())
    }

    /// Queuing_k: as long as those that reached this stage.
    fn waiting(
        &mut self,
        batch: usize,
        stage: usize,
        view: &StageView,
        awaited: &AwaitedBatch<'_>,
    ) {
        for service in awaited.services(stage, view.waiting).take(self.room()) {
            let request = ProblemRequest { batch, stage, running: false, ready: self.now };
            self.push(request, service, &awaited.drift, Micros::ZERO);
        }
    }

    /// Requests whose stage is held come to the next one as soon as they could, as if this one needed no worker: when it is
    /// released, there is another plan. The later stages are those for which they wait, and need their workers.
    fn held(&mut self, batch: usize, stage: usize, view: &StageView, awaited: &AwaitedBatch<'_>) {
        let AwaitedBatch { view: shape, drift, .. } = awaited;
        if stage + 1 == shape.stages.len() {
            return;
        }
        for service in awaited.services(stage, view.held).take(self.room()) {
            let ran = service[stage].scaled(drift.service[stage]).min(shape.stages[stage].timeout);
            let ready = self.now + ran;
            let request = ProblemRequest { batch, stage: stage + 1, running: false, ready };
            self.push(request, service, drift, Micros::ZERO);
        }
    }

    /// Running_k: as long as those that ran for longer than it has.
    fn running(
        &mut self,
        batch: usize,
        stage: usize,
        view: &StageView,
        awaited: &AwaitedBatch<'_>,
    ) {
        let AwaitedBatch { view: shape, basis, drift, unreached, .. } = awaited;
        let timeout = shape.stages[stage].timeout;
        for (nth, RunningView { elapsed, .. }) in view.running.iter().enumerate().take(self.room())
        {
            let request = ProblemRequest { batch, stage, running: true, ready: self.now };
            let longer = basis.longer(stage, elapsed.scaled(1.0 / drift.service[stage]));
            if unreached.times()[stage] > *elapsed {
                self.push(request, unreached.times(), drift, *elapsed);
                continue;
            }
            if longer.is_empty() {
                // Longer than all history: it is on its way to its timeout.
                let left = timeout.since(*elapsed).max(Micros(1));
                self.problem.requests.push(request);
                let row = self.problem.service.len();
                self.problem.service.resize(row + self.problem.stages_max, Micros::ZERO);
                self.problem.service[row + stage] = left;
                continue;
            }
            // Spread evenly over what is left, whatever the number of them.
            let place = (nth as f64 * GOLDEN_RATIO + 0.5).fract();
            let pick = (place * longer.len() as f64) as usize;
            let service = basis.service(longer[pick.min(longer.len() - 1)] as usize);
            self.push(request, service, drift, *elapsed);
        }
    }

    /// Where the requests to come are in history.
    fn coming(&self, batch: &BatchView, basis: &Basis, drift: &Drift) -> ExpectedArrivals {
        let start =
            batch.first_arrival.unwrap_or_else(|| self.now.max(batch.announced + basis.lead));
        let elapsed = self.now.since(start);
        let from = basis.after(elapsed.scaled(1.0 / drift.arrivals));
        // Before the first arrival nothing has come, not even the first.
        let from = if batch.first_arrival.is_none() { 0 } else { from };
        ExpectedArrivals { start, elapsed, from }
    }

    /// Future: those of history that came later than it is now.
    fn future(&mut self, index: usize, awaited: &AwaitedBatch<'_>) {
        let AwaitedBatch { view: batch, basis, drift, coming, to_come, .. } = awaited;
        let ExpectedArrivals { start, elapsed, from } = *coming;
        let picks = spread(basis.len() - from, *to_come).take(self.room());
        for (nth, pick) in picks.enumerate() {
            let (ready, row) = match pick {
                Some(pick) => {
                    let arrived = basis.arrived(from + pick).scaled(drift.arrivals);
                    (start + arrived, from + pick)
                }
                // History has nothing that late: they come at the pace they came so far, and are like its last ones.
                None => {
                    let pace = elapsed.0 / u64::from(batch.submitted.max(1));
                    (
                        self.now + Micros(pace * (nth as u64 + 1)),
                        basis.len() - 1 - nth % basis.len(),
                    )
                }
            };
            let request = ProblemRequest { batch: index, stage: 0, running: false, ready };
            self.push(request, basis.service(row), drift, Micros::ZERO);
        }
    }

    /// How many are still to come.
    fn left(&self, batch: &BatchView, later: usize, basis: &Basis) -> usize {
        let by_history = later / basis.batches;
        match batch.expected_size {
            Some(size) if self.tuning.by_size => size.saturating_sub(batch.submitted) as usize,
            _ => by_history,
        }
    }

    /// The number of requests that a workload still has room for.
    fn room(&self) -> usize {
        (REQUESTS_MAX - 1).saturating_sub(self.problem.requests.len())
    }

    /// Adds a request with the times of a row from its stage on; `elapsed` of the first has run.
    fn push(
        &mut self,
        request: ProblemRequest,
        service: &[Micros],
        drift: &Drift,
        elapsed: Micros,
    ) {
        self.problem.requests.push(request);
        let row = self.problem.service.len();
        self.problem.service.resize(row + self.problem.stages_max, Micros::ZERO);
        let times = &mut self.problem.service[row..];
        let stage = request.stage;
        let flow = &self.problem.flows[self.problem.batches[request.batch].flow];
        for at in stage..service.len() {
            times[at] = service[at].scaled(drift.service[at]).min(flow.stages[at].timeout);
        }
        times[stage] = times[stage].since(elapsed).max(Micros(u64::from(elapsed.0 > 0)));
    }

    /// The paper's T (eq. 2) of the batch whose requests start at `from`.
    fn earliest_end(&self, from: usize, awaited: &AwaitedBatch<'_>) -> Micros {
        let end = if self.tuning.robust_quantile < 1.0 {
            self.robust_end(from, awaited, self.tuning.robust_quantile)
        } else {
            let problem = &self.problem;
            let ends = (from..problem.requests.len()).map(|index| {
                let service = problem.service(index).iter();
                service.fold(problem.requests[index].ready, |end, time| end + *time)
            });
            ends.max()
        };
        end.max(awaited.view.earliest_end).unwrap_or(self.now)
    }

    /// T with times cut where few go beyond, as one late long runner in history is none in this
    /// batch; and without what requests have queued so far, as T knows of no queue.
    fn robust_end(&self, from: usize, awaited: &AwaitedBatch<'_>, quantile: f64) -> Option<Micros> {
        let AwaitedBatch { view: batch, basis, drift, unreached, .. } = awaited;
        let problem = &self.problem;
        let cuts = (0..batch.stages.len()).map(|stage| {
            let cut = basis.quantile(stage, quantile).scaled(drift.service[stage]);
            cut.max(unreached.times()[stage])
        });
        let cuts: Vec<Micros> = cuts.collect();
        let mut queued = batch.at_stage.iter().flat_map(|stage| &stage.running);
        let ends = (from..problem.requests.len()).filter_map(|index| {
            let request = &problem.requests[index];
            let mut times = problem.service(index).iter().zip(&cuts).skip(request.stage);
            if request.running {
                let (left, _) = times.next()?;
                let queued = queued.next().map_or(Micros::ZERO, |running| running.queued);
                let rest = times.fold(self.now + *left, |end, (time, cut)| end + (*time).min(*cut));
                return Some(rest - queued);
            }
            // `reached` has the latest time of those that wait or are held.
            let comes = request.stage == 0 && request.ready > self.now;
            comes.then(|| times.fold(request.ready, |end, (time, cut)| end + (*time).min(*cut)))
        });
        let waits = |view: &StageView| view.waiting + view.held > 0;
        let waiting = batch.at_stage.iter().enumerate().filter(|(_, view)| waits(view));
        let waiting = waiting.map(|(stage, view)| {
            let left = basis.left_quantile(stage, quantile).max(unreached.left(stage));
            view.reached.min(self.now) + left
        });
        ends.chain(waiting).max()
    }
}

/// Limits the requests to come: each tenant has an even part of what a plan counts with, and its batches an even part of
/// that.
fn share_out(awaited: &mut [AwaitedBatch<'_>]) {
    let mut tenants: BTreeMap<TenantId, Vec<&mut AwaitedBatch<'_>>> = BTreeMap::new();
    for batch in awaited {
        tenants.entry(batch.view.tenant).or_default().push(batch);
    }
    let live = |batches: &[&mut AwaitedBatch<'_>]| -> usize {
        let stages = batches.iter().flat_map(|batch| &batch.view.at_stage);
        stages.map(StageView::requests).sum()
    };
    let to_come = |batches: &[&mut AwaitedBatch<'_>]| -> Vec<usize> {
        batches.iter().map(|batch| batch.to_come).collect()
    };
    let wanted = tenants.values().map(|of| live(of) + to_come(of).iter().sum::<usize>()).collect();
    let parts = even_parts(limits::PLANNED_REQUESTS_MAX, wanted);
    for (batches, part) in tenants.values_mut().zip(parts) {
        let parts = even_parts(part.saturating_sub(live(batches)), to_come(batches));
        batches.iter_mut().zip(parts).for_each(|(batch, part)| batch.to_come = part);
    }
}

/// Parts of a total, each at most as large as it is wanted; what one does not want is left for the others.
fn even_parts(total: usize, wanted: Vec<usize>) -> Vec<usize> {
    let mut smallest_first: Vec<usize> = (0..wanted.len()).collect();
    smallest_first.sort_by_key(|index| wanted[*index]);
    let (mut parts, mut left) = (wanted, total);
    for (nth, &index) in smallest_first.iter().enumerate() {
        let even = left / (smallest_first.len() - nth);
        parts[index] = parts[index].min(even);
        left -= parts[index];
    }
    parts
}

/// `count` places spread evenly over `len`, `None` if there are none.
fn spread(len: usize, count: usize) -> impl Iterator<Item = Option<usize>> {
    let stride = len as f64 / count.max(1) as f64;
    (0..count)
        .map(move |nth| (len > 0).then(|| (((nth as f64 + 0.5) * stride) as usize).min(len - 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_even_unless_less_is_wanted() {
        assert_eq!(even_parts(100, vec![500, 10, 0, 500]), [45, 10, 0, 45]);
        assert_eq!(even_parts(100, vec![3, 5]), [3, 5]);
        assert_eq!(even_parts(0, vec![3, 5]), [0, 0]);
        assert_eq!(even_parts(5, Vec::new()), [0_usize; 0]);
    }
}
