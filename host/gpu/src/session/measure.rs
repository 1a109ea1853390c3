//! Measurements: trials of both plans by turns, each over buffers made from another seed, some of them
//! checked. Which ones follows from the caller's seed, which a candidate never sees; a checked trial
//! differs from others only after its end.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use assay_core::limits::GPU_TRIALS_MAX;

use super::GpuSession;
use super::request::check_measure;
use super::timing::{Clocked, Doubts, doubts};
use super::types::{CheckReport, MeasureOptions, Measurement, Origin, SessionError};
use crate::device::{BufferRole, Pair};
use crate::executor::message::{ExecutorRequest, RunTarget, RunTimes};
use crate::fill::philox;
use crate::types::PlanStep;

/// Empty plans that are run to learn what timing costs.
const EMPTY_RUNS: u32 = 11;
/// The stream of a session's own random numbers, which differs from those of its buffers.
const TRIAL_SEEDS: u32 = 7;
const WARM_UP_SEEDS: u32 = 8;
const CHECKED_TRIALS: u32 = 9;
const SECOND_SEEDS: u32 = 10;
/// The factor by which a second measurement may take longer than the first.
const SECOND_SLOWNESS_MAX: u32 = 2;

const SIDES: [Origin; 2] = [Origin::Candidate, Origin::Trusted];

impl GpuSession {
    /// Times both plans, each trial over another seed.
    ///
    /// # Errors
    /// See [`SessionError`].
    pub fn measure(
        &mut self,
        candidate: &[PlanStep],
        reference: &[PlanStep],
        pairs: &[Pair],
        seed: u64,
        options: &MeasureOptions,
    ) -> Result<Measurement, SessionError> {
        self.prepare(candidate, reference, pairs, options)?;
        self.timed(&SIDES, pairs, seed, options)
    }

    /// Times the candidate's plan alone: the reference runs for the checks of trials only, so that it may be slow.
    ///
    /// # Errors
    /// See [`SessionError`].
    pub fn time(
        &mut self,
        candidate: &[PlanStep],
        reference: &[PlanStep],
        pairs: &[Pair],
        seed: u64,
        options: &MeasureOptions,
    ) -> Result<Measurement, SessionError> {
        self.prepare(candidate, reference, pairs, options)?;
        self.timed(&SIDES[..1], pairs, seed, options)
    }

    fn prepare(
        &mut self,
        candidate: &[PlanStep],
        reference: &[PlanStep],
        pairs: &[Pair],
        options: &MeasureOptions,
    ) -> Result<(), SessionError> {
        self.alive()?;
        check_measure(options)?;
        self.agree(candidate, reference, pairs)
    }

    /// Measures once more where the times are doubtful: what the machine did meanwhile is seldom done twice. Nothing of the
    /// first measurement helps in the second, which has other seeds. `sides` are the candidate's and perhaps the reference's.
    fn timed(
        &mut self,
        sides: &[Origin],
        pairs: &[Pair],
        seed: u64,
        options: &MeasureOptions,
    ) -> Result<Measurement, SessionError> {
        let (begun, left) = (Instant::now(), self.left.time);
        let (first, doubts) = self.timed_once(sides, pairs, seed, options)?;
        let needed = begun.elapsed() * SECOND_SLOWNESS_MAX;
        let needed_of_candidate = left.saturating_sub(self.left.time) * SECOND_SLOWNESS_MAX;
        let has_time =
            self.left.time >= needed_of_candidate && Instant::now() + needed <= self.deadline;
        if doubts.is_empty() || !first.spot.iter().all(is_right) || !has_time {
            return settled(first, doubts).map_err(|error| self.end(error));
        }
        tracing::warn!(doubts = ?doubts, "a measurement is repeated");
        let seed = derived(seed, SECOND_SEEDS, 0);
        let (second, doubts) = self.timed_once(sides, pairs, seed, options)?;
        let spot = [first.spot, second.spot].concat();
        settled(Measurement { spot, ..second }, doubts).map_err(|error| self.end(error))
    }

    fn timed_once(
        &mut self,
        sides: &[Origin],
        pairs: &[Pair],
        seed: u64,
        options: &MeasureOptions,
    ) -> Result<(Measurement, Doubts), SessionError> {
        let until = Instant::now() + Duration::from_millis(options.budget_ms.into());
        let mut clocked = self.warmed_up(sides, seed, options)?;
        let mut spot = Vec::new();
        let mut checked = BTreeSet::new();
        for trial in 0..GPU_TRIALS_MAX {
            let timed = &clocked[..sides.len()];
            let is_enough = !timed.iter().all(Clocked::has_samples)
                || timed.iter().all(|clocked| clocked.is_within(options.relative_error))
                || Instant::now() >= until;
            if trial >= options.trials && is_enough {
                break;
            }
            if trial % options.trials == 0 {
                // Trials beyond the requested number are checked as often.
                let round = trial / options.trials;
                checked = chosen(seed, round, options.trials, options.spot_checks);
            }
            let pairs = checked.contains(&(trial % options.trials)).then_some(pairs);
            let trial_seed = derived(seed, TRIAL_SEEDS, trial);
            spot.extend(self.trials(sides, trial_seed, pairs, options.flush_l2, &mut clocked)?);
        }
        let [candidate, reference] = clocked.map(|one| one.timing(self.properties.clock_khz));
        let doubts = match (&candidate, reference.as_ref().or(candidate.as_ref())) {
            (Some(candidate), Some(reference)) => {
                doubts(candidate, reference, self.touched_bytes(), &self.properties)
            }
            _ => Doubts::default(),
        };
        let reference = reference.filter(|_| sides.contains(&Origin::Trusted));
        Ok((Measurement { candidate, reference, spot, suspicious: Vec::new() }, doubts))
    }

    fn warmed_up(
        &mut self,
        sides: &[Origin],
        seed: u64,
        options: &MeasureOptions,
    ) -> Result<[Clocked; 2], SessionError> {
        for warm_up in 0..options.warm_ups {
            for side in sides {
                self.trial(*side, derived(seed, WARM_UP_SEEDS, warm_up), options.flush_l2)?;
            }
        }
        let mut clocked = [Clocked::default(), Clocked::default()];
        for (side, one) in SIDES.into_iter().zip(&mut clocked) {
            for _ in 0..EMPTY_RUNS {
                one.empty(&self.ran(side, RunTarget::Nothing, options.flush_l2)?);
            }
        }
        Ok(clocked)
    }

    fn trial(&mut self, side: Origin, seed: u64, flush: bool) -> Result<RunTimes, SessionError> {
        self.done(side, &ExecutorRequest::Prepare { seed })?;
        self.ran(side, RunTarget::Plan, flush)
    }

    /// One trial of each side; of the reference only where it is timed, or the trial is checked: where there are pairs.
    fn trials(
        &mut self,
        sides: &[Origin],
        seed: u64,
        pairs: Option<&[Pair]>,
        flush: bool,
        [candidate, reference]: &mut [Clocked; 2],
    ) -> Result<Option<CheckReport>, SessionError> {
        let ran = self.trial(Origin::Candidate, seed, flush)?;
        candidate.sample(&ran);
        let Some(pairs) = pairs else {
            if sides.contains(&Origin::Trusted) {
                reference.sample(&self.trial(Origin::Trusted, seed, flush)?);
            }
            return Ok(None);
        };
        let mut left = self.exported()?;
        self.done(Origin::Trusted, &ExecutorRequest::Prepare { seed })?;
        let inspected = self.inspected(&mut left)?;
        reference.sample(&self.ran(Origin::Trusted, RunTarget::Plan, flush)?);
        self.compared(seed, pairs, &mut left, inspected, &ran).map(Some)
    }

    /// The bytes of inputs and outputs, which most plans must read and write.
    fn touched_bytes(&self) -> u64 {
        let touched =
            |role| matches!(role, BufferRole::Input | BufferRole::Output | BufferRole::Inout);
        let buffers = self.made.buffers.iter().filter(|buffer| touched(buffer.role));
        buffers.map(|buffer| buffer.count * buffer.dtype.bytes()).sum()
    }
}

/// The measurement with what its doubts say about the candidate. Where they say nothing about it and its outputs are
/// right, the device cannot time now.
fn settled(measurement: Measurement, doubts: Doubts) -> Result<Measurement, SessionError> {
    let Doubts { suspicious, unsteady } = doubts;
    let is_blamed = !suspicious.is_empty() || !measurement.spot.iter().all(is_right);
    if !unsteady.is_empty() && !is_blamed {
        let reasons = unsteady.join("; ");
        return Err(SessionError::Unavailable(format!("its times are not steady: {reasons}")));
    }
    Ok(Measurement { suspicious, ..measurement })
}

fn is_right(report: &CheckReport) -> bool {
    let is_untouched = report.inputs_changed.is_empty() && report.overrun.is_empty();
    is_untouched && report.outputs.iter().all(|output| output.ok)
}

fn derived(seed: u64, purpose: u32, number: u32) -> u64 {
    let random = philox([number, 0, 0, purpose], [seed as u32, (seed >> 32) as u32]);
    u64::from(random[0]) | u64::from(random[1]) << 32
}

/// A random choice of `count` numbers below `of`, by a partial shuffle.
fn chosen(seed: u64, round: u32, of: u32, count: u32) -> BTreeSet<u32> {
    let mut numbers: Vec<u32> = (0..of).collect();
    for at in 0..count {
        let random = philox([at, round, 0, CHECKED_TRIALS], [seed as u32, (seed >> 32) as u32]);
        let other = at + ((u64::from(random[0]) * u64::from(of - at)) >> 32) as u32;
        numbers.swap(at as usize, other as usize);
    }
    numbers.into_iter().take(count as usize).collect()
}

#[cfg(test)]
mod tests;
