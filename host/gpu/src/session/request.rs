//! What a plugin asks for, checked before an executor hears of it: what is left to go wrong there is a
//! kernel's fault, or ours.

use assay_model::limits::{
    GPU_BUFFERS_MAX, GPU_SEEDS_MAX, GPU_STEPS_MAX, GPU_TRANSFER_BYTES_MAX, GPU_TRIALS_MAX,
};

use super::types::{BufferSpec, Error, MeasureOptions, Origin, Pair, Role};
use crate::executor::buffer;
use crate::fill;
use crate::types::{Address, Arg, Launch, Step};

const POINTER_BYTES: u64 = 8;
/// More than fit in all parameters of a kernel.
const ARGUMENTS_MAX: usize = 4_096;

/// What has been made in a session, by number.
#[derive(Default)]
pub(crate) struct Made {
    pub(crate) buffers: Vec<BufferSpec>,
    /// Where each module was loaded, and its number there.
    pub(crate) modules: Vec<(Origin, u32)>,
}

fn bad<T>(words: impl Into<String>) -> Result<T, Error> {
    Err(Error::BadRequest(words.into()))
}

impl Made {
    pub(crate) fn buffer(&self, number: u32) -> Result<&BufferSpec, Error> {
        let buffer = self.buffers.get(number as usize);
        buffer.ok_or_else(|| Error::BadRequest(format!("there is no buffer {number}")))
    }

    pub(crate) fn module(&self, number: u32) -> Result<(Origin, u32), Error> {
        let module = self.modules.get(number as usize).copied();
        module.ok_or_else(|| Error::BadRequest(format!("there is no module {number}")))
    }

    /// Whether all these, and those that are there, fit.
    pub(crate) fn check_specs(&self, specs: &[BufferSpec], memory_max: u64) -> Result<(), Error> {
        if self.buffers.len() + specs.len() > GPU_BUFFERS_MAX {
            return Err(Error::Limit(format!("more than {GPU_BUFFERS_MAX} buffers")));
        }
        let mut total = self.buffers.iter().map(buffer_bytes).fold(0, u64::saturating_add);
        for spec in specs {
            if spec.count == 0 {
                return bad("a buffer without elements");
            }
            total = total.saturating_add(buffer_bytes(spec));
            if total > memory_max {
                return Err(Error::Limit(format!(
                    "buffers of more than the session's {memory_max} bytes"
                )));
            }
            let made = match spec.role {
                Role::Input | Role::Inout => buffer::rule(spec.init),
                Role::Output | Role::Scratch => None,
            };
            if let Some(rule) = made {
                fill::check(spec.dtype, spec.count, rule)
                    .map_err(|unfit| Error::BadRequest(unfit.to_string()))?;
            }
        }
        Ok(())
    }

    pub(crate) fn check_transfer(&self, at: Address, bytes: u64) -> Result<(), Error> {
        if bytes > GPU_TRANSFER_BYTES_MAX {
            return Err(Error::Limit(format!("{bytes} bytes at once")));
        }
        let size = buffer_bytes(self.buffer(at.buffer)?);
        match at.offset.checked_add(bytes) {
            Some(end) if end <= size => Ok(()),
            _ => bad(format!("{bytes} bytes at {at:?}: the buffer has {size}")),
        }
    }

    /// The plan with the modules' numbers as the executor of this origin has them.
    pub(crate) fn plan(
        &self,
        plan: &[Step],
        origin: Origin,
        steps_max: u32,
    ) -> Result<Vec<Step>, Error> {
        let steps_max = steps_max.min(GPU_STEPS_MAX);
        if plan.len() > steps_max as usize {
            return Err(Error::Limit(format!("{} steps, more than {steps_max}", plan.len())));
        }
        plan.iter().map(|step| self.step(step, origin)).collect()
    }

    fn step(&self, step: &Step, origin: Origin) -> Result<Step, Error> {
        match step {
            Step::Launch(launch) => {
                let (loaded, module) = self.module(launch.module)?;
                if loaded != origin {
                    let number = launch.module;
                    return bad(format!("module {number} is {loaded:?}, this plan {origin:?}"));
                }
                self.check_arguments(launch)?;
                return Ok(Step::Launch(Launch { module, ..launch.clone() }));
            }
            Step::Set { at, bytes, .. } => self.check_extent(*at, *bytes)?,
            Step::Copy { to, from, bytes } => {
                self.check_extent(*to, *bytes)?;
                self.check_extent(*from, *bytes)?;
            }
        }
        Ok(step.clone())
    }

    fn check_arguments(&self, launch: &Launch) -> Result<(), Error> {
        if launch.args.len() > ARGUMENTS_MAX {
            return Err(Error::BadArguments(format!("{} arguments", launch.args.len())));
        }
        for arg in &launch.args {
            match arg {
                // One beyond the last is an address as well; kernels get it and stop before it.
                Arg::Address(address) => self.check_extent(*address, 0)?,
                Arg::ByValue { bytes, patches } => {
                    for patch in patches {
                        if u64::from(patch.at) + POINTER_BYTES > bytes.len() as u64 {
                            return bad(format!("a patch at {} of {}", patch.at, bytes.len()));
                        }
                        self.check_extent(patch.address, 0)?;
                    }
                }
                Arg::I32(_) | Arg::I64(_) | Arg::Fp32(_) | Arg::Fp64(_) => {}
            }
        }
        Ok(())
    }

    /// Whoever computed this address, it may have been the candidate's host code.
    fn check_extent(&self, at: Address, bytes: u64) -> Result<(), Error> {
        let size = buffer_bytes(self.buffer(at.buffer)?);
        match at.offset.checked_add(bytes) {
            Some(end) if end <= size => Ok(()),
            _ => Err(Error::BadArguments(format!(
                "{bytes} bytes from byte {} of buffer {}, which has {size}",
                at.offset, at.buffer
            ))),
        }
    }

    pub(crate) fn check_pairs(&self, pairs: &[Pair]) -> Result<(), Error> {
        if pairs.len() > GPU_BUFFERS_MAX {
            return Err(Error::Limit(format!("more than {GPU_BUFFERS_MAX} pairs")));
        }
        for pair in pairs {
            let (got, want) = (self.buffer(pair.got)?, self.buffer(pair.want)?);
            for (number, spec) in [(pair.got, got), (pair.want, want)] {
                if !matches!(spec.role, Role::Output | Role::Inout) {
                    return bad(format!("buffer {number} is {:?}, no output", spec.role));
                }
            }
            if (got.dtype, got.count) != (want.dtype, want.count) {
                return bad(format!("buffers {} and {} are not alike", pair.got, pair.want));
            }
            let tolerance = pair.tolerance;
            let is_size = |number: f64| number.is_finite() && number >= 0.0;
            if !is_size(tolerance.absolute)
                || !is_size(tolerance.relative)
                || !(0.0..=1.0).contains(&tolerance.matched_ratio)
            {
                return bad(format!("a tolerance of {tolerance:?}"));
            }
        }
        Ok(())
    }
}

pub(crate) fn check_seeds(seeds: &[u64]) -> Result<(), Error> {
    if seeds.is_empty() {
        return bad("a check without a seed checks nothing");
    }
    if seeds.len() > GPU_SEEDS_MAX {
        return Err(Error::Limit(format!("more than {GPU_SEEDS_MAX} seeds")));
    }
    Ok(())
}

pub(crate) fn check_measure(options: &MeasureOptions) -> Result<(), Error> {
    if options.trials == 0 {
        return bad("a measurement without trials");
    }
    if options.trials > GPU_TRIALS_MAX || options.warm_ups > GPU_TRIALS_MAX {
        return Err(Error::Limit(format!("more than {GPU_TRIALS_MAX} trials")));
    }
    if options.spot_checks > options.trials {
        return bad(format!("{} checks of {} trials", options.spot_checks, options.trials));
    }
    if !(0.0..=1.0).contains(&options.relative_error) {
        return bad(format!("a relative error of {}", options.relative_error));
    }
    Ok(())
}

/// Without guards.
fn buffer_bytes(spec: &BufferSpec) -> u64 {
    spec.count.saturating_mul(spec.dtype.bytes())
}
