//! Measurements: trials of both plans by turns, each over buffers made from another seed, some of them
//! checked. Which ones follows from the caller's seed, which a candidate never sees; a checked trial
//! differs from others only after its end.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use assay_core::limits::GPU_TRIALS_MAX;

use super::GpuSession;
use super::request::check_measure;
use super::timing::{Clocked, suspicions};
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

    /// `sides` are the candidate's and perhaps the reference's.
    fn timed(
        &mut self,
        sides: &[Origin],
        pairs: &[Pair],
        seed: u64,
        options: &MeasureOptions,
    ) -> Result<Measurement, SessionError> {
        let until = Instant::now() + Duration::from_millis(options.budget_ms.into());
        let mut clocked = self.warmed_up(sides, seed, options)?;
        let mut spot = Vec::new();
        let mut checked = BTreeSet::new();
        for trial in 0..GPU_TRIALS_MAX {
            let is_timed = clocked.iter().all(Clocked::has_samples);
            let is_enough = !is_timed
                || clocked.iter().all(|clocked| clocked.is_within(options.relative_error))
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
            spot.extend(self.trials(trial_seed, pairs, options.flush_l2, &mut clocked)?);
        }
        let mut timings = clocked.iter().map(|clocked| clocked.timing(self.properties.clock_khz));
        let (candidate, reference) = (timings.next().flatten(), timings.next().flatten());
        let suspicious = match (&candidate, reference.as_ref().or(candidate.as_ref())) {
            (Some(candidate), Some(steady)) => {
                suspicions(candidate, steady, self.touched_bytes(), &self.properties)
            }
            _ => Vec::new(),
        };
        Ok(Measurement { candidate, reference, spot, suspicious })
    }

    fn warmed_up(
        &mut self,
        sides: &[Origin],
        seed: u64,
        options: &MeasureOptions,
    ) -> Result<Vec<Clocked>, SessionError> {
        for warm_up in 0..options.warm_ups {
            for side in sides {
                self.trial(*side, derived(seed, WARM_UP_SEEDS, warm_up), options.flush_l2)?;
            }
        }
        let mut clocked = Vec::new();
        for side in sides {
            let mut one = Clocked::default();
            for _ in 0..EMPTY_RUNS {
                one.empty(&self.ran(*side, RunTarget::Nothing, options.flush_l2)?);
            }
            clocked.push(one);
        }
        Ok(clocked)
    }

    fn trial(&mut self, side: Origin, seed: u64, flush: bool) -> Result<RunTimes, SessionError> {
        self.done(side, &ExecutorRequest::Prepare { seed })?;
        self.ran(side, RunTarget::Plan, flush)
    }

    /// One trial of each side that is timed; checked if there are pairs.
    fn trials(
        &mut self,
        seed: u64,
        pairs: Option<&[Pair]>,
        flush: bool,
        clocked: &mut [Clocked],
    ) -> Result<Option<CheckReport>, SessionError> {
        let ran = self.trial(Origin::Candidate, seed, flush)?;
        clocked[0].sample(&ran);
        let reference = clocked.get_mut(1);
        let Some(pairs) = pairs else {
            if let Some(reference) = reference {
                reference.sample(&self.trial(Origin::Trusted, seed, flush)?);
            }
            return Ok(None);
        };
        let mut left = self.exported()?;
        self.done(Origin::Trusted, &ExecutorRequest::Prepare { seed })?;
        let inspected = self.inspected(&mut left)?;
        let reference_ran = self.ran(Origin::Trusted, RunTarget::Plan, flush)?;
        if let Some(reference) = reference {
            reference.sample(&reference_ran);
        }
        self.compared(seed, pairs, &mut left, inspected, &ran).map(Some)
    }

    /// The least number of bytes that a plan must read and write.
    fn touched_bytes(&self) -> u64 {
        let touched =
            |role| matches!(role, BufferRole::Input | BufferRole::Output | BufferRole::Inout);
        let buffers = self.made.buffers.iter().filter(|buffer| touched(buffer.role));
        buffers.map(|buffer| buffer.count * buffer.dtype.bytes()).sum()
    }
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
