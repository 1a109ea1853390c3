//! Checks: the candidate's side runs first and hands over all that it left; the judge's side makes the
//! same inputs, looks at what was changed, runs the reference and compares.

use super::Session;
use super::request::check_seeds;
use super::types::{CheckReport, Error, Origin, Pair};
use crate::executor::message::{Answer, Order, Ran, What};
use crate::types::Step;

impl Session {
    pub fn check(
        &mut self,
        candidate: &[Step],
        reference: &[Step],
        pairs: &[Pair],
        seeds: &[u64],
    ) -> Result<Vec<CheckReport>, Error> {
        self.alive()?;
        check_seeds(seeds)?;
        self.agree(candidate, reference, pairs)?;
        let mut reports = Vec::with_capacity(seeds.len());
        for seed in seeds {
            self.done(Origin::Candidate, &Order::Prepare { seed: *seed })?;
            let ran = self.ran(Origin::Candidate, What::Plan, false)?;
            self.done(Origin::Candidate, &Order::Export)?;
            self.done(Origin::Trusted, &Order::Prepare { seed: *seed })?;
            let inspected = self.inspected()?;
            self.ran(Origin::Trusted, What::Plan, false)?;
            reports.push(self.compared(*seed, pairs, inspected, &ran)?);
        }
        Ok(reports)
    }

    /// Tells both sides their plans.
    pub(super) fn agree(
        &mut self,
        candidate: &[Step],
        reference: &[Step],
        pairs: &[Pair],
    ) -> Result<(), Error> {
        self.made.check_pairs(pairs)?;
        let candidate = self.made.plan(candidate, Origin::Candidate, self.limits.steps_max)?;
        let reference = self.made.plan(reference, Origin::Trusted, self.limits.steps_max);
        let reference =
            reference.map_err(|error| Error::BadRequest(format!("the reference: {error}")))?;
        self.plan(Origin::Candidate, candidate)?;
        self.plan(Origin::Trusted, reference)
    }

    /// What the candidate changed that it must not: inputs, and what is round buffers. Asked before the
    /// reference runs, which could do the same to the judge's own.
    pub(super) fn inspected(&mut self) -> Result<Inspected, Error> {
        match self.tell(Origin::Trusted, &Order::Inspect)? {
            Answer::Inspected { inputs_changed, overrun } => {
                Ok(Inspected { inputs_changed, overrun })
            }
            other => Err(self.unexpected(&other)),
        }
    }

    pub(super) fn compared(
        &mut self,
        seed: u64,
        pairs: &[Pair],
        inspected: Inspected,
        ran: &Ran,
    ) -> Result<CheckReport, Error> {
        let Inspected { inputs_changed, overrun } = inspected;
        let elapsed_ns = self.elapsed_ns(ran);
        match self.tell(Origin::Trusted, &Order::Compare(pairs.to_vec()))? {
            Answer::Compared(outputs) if outputs.len() == pairs.len() => {
                Ok(CheckReport { seed, outputs, inputs_changed, overrun, elapsed_ns })
            }
            other => Err(self.unexpected(&other)),
        }
    }
}

#[derive(Debug)]
pub(super) struct Inspected {
    inputs_changed: Vec<u32>,
    overrun: Vec<u32>,
}
