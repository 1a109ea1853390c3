//! Algorithm 2: what is live and what is still to come, as a workload for SIMULATE.

use std::sync::Arc;

use assay_model::time::Micros;

use super::basis::Basis;
use super::problem::{Flow, FlowStage, Problem, ProblemBatch, ProblemPool, ProblemRequest};
use super::tuning::Tuning;
use super::workload::REQUESTS_MAX;
use crate::seen::{BatchSeen, RunningSeen, Seen, StageSeen};

/// The problem, what it was made from, and what it leaves out.
pub(super) struct Collected {
    pub(super) problem: Problem,
    /// By batch of the problem.
    pub(super) bases: Vec<Arc<Basis>>,
    /// Live batches about which nothing is known.
    pub(super) unknown: Vec<BatchSeen>,
}

pub(super) struct Collector<'a> {
    pub(super) now: Micros,
    pub(super) tolerance: Micros,
    pub(super) tuning: &'a Tuning,
    pub(super) problem: Problem,
    random: u64,
}

impl<'a> Collector<'a> {
    pub(super) fn new(
        now: Micros,
        tolerance: Micros,
        tuning: &'a Tuning,
        pools: Vec<ProblemPool>,
        seed: u64,
    ) -> Self {
        let problem = Problem {
            now,
            pools,
            flows: Vec::new(),
            batches: Vec::new(),
            requests: Vec::new(),
            service: Vec::new(),
            stages_max: 0,
        };
        Self { now, tolerance, tuning, problem, random: seed }
    }

    pub(super) fn collect(
        mut self,
        seen: &Seen,
        basis: impl Fn(&BatchSeen) -> Option<Arc<Basis>>,
    ) -> Collected {
        let mut bases = Vec::new();
        let mut unknown = Vec::new();
        let stages = seen.batches.iter().map(|batch| batch.stages.len()).max();
        self.problem.stages_max = stages.unwrap_or(1);
        for batch in &seen.batches {
            match basis(batch) {
                Some(basis) if self.is_awaited(batch, &basis) => {
                    self.batch(batch, &basis);
                    bases.push(basis);
                }
                Some(_) => {}
                None => unknown.push(batch.clone()),
            }
        }
        Collected { problem: self.problem, bases, unknown }
    }

    /// An announced batch is waited for, with its workers ready, for as long again as it should
    /// take to come; then they are better used elsewhere until it does.
    fn is_awaited(&self, batch: &BatchSeen, basis: &Basis) -> bool {
        let patience = self.tuning.patience_min.max(basis.lead);
        batch.first_arrival.is_some() || self.now <= batch.announced + basis.lead + patience
    }

    fn batch(&mut self, batch: &BatchSeen, basis: &Basis) {
        let index = self.problem.batches.len();
        let from = self.problem.requests.len();
        let stage = |stage: &crate::StageShape| FlowStage {
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
            tolerance: self.slack(batch),
        });
        for (stage, at_stage) in batch.at_stage.iter().enumerate() {
            self.waiting(index, stage, at_stage, basis);
            self.running(index, stage, at_stage, batch, basis);
        }
        if !batch.sealed {
            self.future(index, batch, basis);
        }
        let earliest_end = self.earliest_end(from, batch, basis);
        let entry = &mut self.problem.batches[index];
        entry.earliest_end = earliest_end;
        entry.rank = batch.rank.unwrap_or(earliest_end);
    }

    /// How much of the tolerated delay a plan may use up.
    fn slack(&self, batch: &BatchSeen) -> Micros {
        let tolerance = batch.tolerance.unwrap_or(self.tolerance);
        Micros((tolerance.0 as f64 * self.tuning.slack_share) as u64)
    }

    fn pool(&self, name: &str) -> usize {
        let at = self.problem.pools.iter().position(|pool| &*pool.name == name);
        at.expect("every pool that a live batch needs is listed")
    }

    /// Queuing_k: as long as those that reached this stage.
    fn waiting(&mut self, batch: usize, stage: usize, seen: &StageSeen, basis: &Basis) {
        let scale = self.scale(seen, stage, basis);
        let reached = basis.reached(stage);
        let shift = self.random();
        for pick in spread(reached.len(), seen.waiting, shift) {
            let service = pick.map(|pick| basis.service(reached[pick] as usize));
            let request = ProblemRequest { batch, stage, running: false, ready: self.now };
            self.push(request, service, stage, scale, Micros::ZERO);
        }
    }

    /// Running_k: as long as those that ran for longer than it has.
    fn running(
        &mut self,
        batch: usize,
        stage: usize,
        seen: &StageSeen,
        shape: &BatchSeen,
        basis: &Basis,
    ) {
        let timeout = shape.stages[stage].timeout;
        for RunningSeen { elapsed, .. } in &seen.running {
            let request = ProblemRequest { batch, stage, running: true, ready: self.now };
            let longer = basis.longer(stage, *elapsed);
            if longer.is_empty() {
                // Longer than all history: it is on its way to its timeout.
                let left = timeout.since(*elapsed).max(Micros(1));
                self.problem.requests.push(request);
                let row = self.problem.service.len();
                self.problem.service.resize(row + self.problem.stages_max, Micros::ZERO);
                self.problem.service[row + stage] = left;
                continue;
            }
            let pick = (self.random() * longer.len() as f64) as usize;
            let service = basis.service(longer[pick.min(longer.len() - 1)] as usize);
            self.push(request, Some(service), stage, 1.0, *elapsed);
        }
    }

    /// Future: those of history that came later than it is now.
    fn future(&mut self, index: usize, batch: &BatchSeen, basis: &Basis) {
        let start =
            batch.first_arrival.unwrap_or_else(|| self.now.max(batch.announced + basis.lead));
        let elapsed = self.now.since(start);
        let from = basis.after(elapsed);
        // Before the first arrival nothing has come, not even the first.
        let from = if batch.first_arrival.is_none() { 0 } else { from };
        let later = basis.len() - from;
        let left = self.left(batch, later, basis);
        let shift = self.random();
        for (nth, pick) in spread(later, left, shift).enumerate() {
            let (ready, row) = match pick {
                Some(pick) => (start + basis.arrived(from + pick), from + pick),
                // History has nothing that late: they come at the pace they came so far.
                None => {
                    let pace = elapsed.0 / u64::from(batch.submitted.max(1));
                    (self.now + Micros(pace * (nth as u64 + 1)), nth % basis.len())
                }
            };
            let request = ProblemRequest { batch: index, stage: 0, running: false, ready };
            let service = basis.service(row);
            let scale = self.scale(&batch.at_stage[0], 0, basis);
            self.push(request, Some(service), 0, scale, Micros::ZERO);
        }
    }

    /// How many are still to come.
    fn left(&self, batch: &BatchSeen, later: usize, basis: &Basis) -> usize {
        let by_history = later / basis.batches;
        match batch.expected_size {
            Some(size) if self.tuning.by_size => size.saturating_sub(batch.submitted) as usize,
            _ => by_history,
        }
    }

    /// How much longer a stage runs in this batch than it did in history, as far as is known.
    fn scale(&self, seen: &StageSeen, stage: usize, basis: &Basis) -> f64 {
        let Some(mean) = basis.mean(stage).filter(|_| self.tuning.drift_after > 0.0) else {
            return 1.0;
        };
        if seen.ended == 0 {
            return 1.0;
        }
        let count = f64::from(seen.ended);
        let now = seen.ended_time.as_secs_f64() / count;
        let weight = count / (count + self.tuning.drift_after);
        (now / mean.as_secs_f64().max(1e-6)).max(1e-3).powf(weight)
    }

    /// Adds a request with the times of a row from `stage` on; `elapsed` of the first has run.
    fn push(
        &mut self,
        request: ProblemRequest,
        service: Option<&[Micros]>,
        stage: usize,
        scale: f64,
        elapsed: Micros,
    ) {
        if self.problem.requests.len() + 1 >= REQUESTS_MAX {
            return;
        }
        self.problem.requests.push(request);
        let row = self.problem.service.len();
        self.problem.service.resize(row + self.problem.stages_max, Micros::ZERO);
        let times = &mut self.problem.service[row..];
        let Some(service) = service else {
            times[stage] = Micros(1);
            return;
        };
        times[stage..service.len()].copy_from_slice(&service[stage..]);
        if scale != 1.0 {
            times[stage] = Micros((times[stage].0 as f64 * scale) as u64);
        }
        times[stage] = times[stage].since(elapsed).max(Micros(u64::from(elapsed.0 > 0)));
    }

    /// The paper's T (eq. 2) of the batch whose requests start at `from`.
    fn earliest_end(&self, from: usize, batch: &BatchSeen, basis: &Basis) -> Micros {
        let end = if self.tuning.robust_share < 1.0 {
            self.robust_end(from, batch, basis)
        } else {
            let problem = &self.problem;
            let ends = (from..problem.requests.len()).map(|index| {
                let service = problem.service(index).iter();
                service.fold(problem.requests[index].ready, |end, time| end + *time)
            });
            ends.max()
        };
        end.max(batch.earliest_end).unwrap_or(self.now)
    }

    /// T with times cut where few go beyond, as one late long runner in history is none in this
    /// batch; and without what requests have queued so far, as T knows of no queue.
    fn robust_end(&self, from: usize, batch: &BatchSeen, basis: &Basis) -> Option<Micros> {
        let share = self.tuning.robust_share;
        let problem = &self.problem;
        let cuts = (0..batch.stages.len()).map(|stage| basis.quantile(stage, share));
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
            // Of those that wait `reached` knows when the last could have.
            let waits = request.ready <= self.now;
            (!waits).then(|| times.fold(request.ready, |end, (time, cut)| end + (*time).min(*cut)))
        });
        let waiting = batch.at_stage.iter().enumerate().filter(|(_, seen)| seen.waiting > 0);
        let waiting = waiting.map(|(stage, seen)| {
            let left = basis.left_quantile(stage, share);
            seen.reached.min(self.now) + left
        });
        ends.chain(waiting).max()
    }

    /// Uniform in [0, 1).
    fn random(&mut self) -> f64 {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.random;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// `count` places spread evenly over `len`, `None` if there are none.
fn spread(len: usize, count: usize, shift: f64) -> impl Iterator<Item = Option<usize>> {
    let stride = len as f64 / count.max(1) as f64;
    (0..count)
        .map(move |nth| (len > 0).then(|| (((nth as f64 + shift) * stride) as usize).min(len - 1)))
}
