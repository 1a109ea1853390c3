//! Checks the requests of a plugin before an executor gets them, so that a failure there is a kernel's fault or ours.

use assay_core::limits::{
    GPU_BUFFERS_MAX, GPU_SEEDS_MAX, GPU_SESSION_BUFFERS_MAX, GPU_STEPS_MAX, GPU_TRANSFER_BYTES_MAX,
    GPU_TRIALS_MAX,
};

use super::types::{MeasureOptions, Origin, SessionError};
use crate::device::{BufferRole, BufferSpec, Pair};
use crate::executor::buffer;
use crate::fill;
use crate::types::{BufferAddress, KernelArg, KernelLaunch, PlanStep};

const POINTER_BYTES: u64 = 8;
/// More than fit in all parameters of a kernel.
const ARGUMENTS_MAX: usize = 4_096;

/// The buffers and modules of a session, by number.
#[derive(Default)]
pub(crate) struct SessionObjects {
    pub(crate) buffers: Vec<BufferSpec>,
    /// The side on which each module was loaded, and its number there.
    pub(crate) modules: Vec<(Origin, u32)>,
}

fn bad<T>(words: impl Into<String>) -> Result<T, SessionError> {
    Err(SessionError::BadRequest(words.into()))
}

impl SessionObjects {
    pub(crate) fn buffer(&self, number: u32) -> Result<&BufferSpec, SessionError> {
        let buffer = self.buffers.get(number as usize);
        buffer.ok_or_else(|| SessionError::BadRequest(format!("there is no buffer {number}")))
    }

    pub(crate) fn module(&self, number: u32) -> Result<(Origin, u32), SessionError> {
        let module = self.modules.get(number as usize).copied();
        module.ok_or_else(|| SessionError::BadRequest(format!("there is no module {number}")))
    }

    /// Checks that these buffers fit together with the existing ones.
    pub(crate) fn check_specs(
        &self,
        specs: &[BufferSpec],
        memory_max: u64,
    ) -> Result<(), SessionError> {
        if self.buffers.len() + specs.len() > GPU_SESSION_BUFFERS_MAX {
            return Err(SessionError::Limit(format!(
                "more than {GPU_SESSION_BUFFERS_MAX} buffers"
            )));
        }
        let mut total = self.buffers.iter().map(buffer_bytes).fold(0, u64::saturating_add);
        for spec in specs {
            if spec.count == 0 {
                return bad("a buffer without elements");
            }
            total = total.saturating_add(buffer_bytes(spec));
            if total > memory_max {
                return Err(SessionError::Limit(format!(
                    "buffers of more than the session's {memory_max} bytes"
                )));
            }
            let made = match spec.role {
                BufferRole::Input | BufferRole::Inout => buffer::rule(spec.init),
                BufferRole::Output | BufferRole::Scratch => None,
            };
            if let Some(rule) = made {
                fill::check(spec.dtype, spec.count, rule)
                    .map_err(|unfit| SessionError::BadRequest(unfit.to_string()))?;
            }
        }
        Ok(())
    }

    pub(crate) fn check_transfer(&self, at: BufferAddress, bytes: u64) -> Result<(), SessionError> {
        if bytes > GPU_TRANSFER_BYTES_MAX {
            return Err(SessionError::Limit(format!("{bytes} bytes at once")));
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
        plan: &[PlanStep],
        origin: Origin,
        steps_max: u32,
    ) -> Result<Vec<PlanStep>, SessionError> {
        let steps_max = steps_max.min(GPU_STEPS_MAX);
        if plan.len() > steps_max as usize {
            return Err(SessionError::Limit(format!(
                "{} steps, more than {steps_max}",
                plan.len()
            )));
        }
        plan.iter().map(|step| self.step(step, origin)).collect()
    }

    fn step(&self, step: &PlanStep, origin: Origin) -> Result<PlanStep, SessionError> {
        match step {
            PlanStep::Launch(launch) => {
                let (loaded, module) = self.module(launch.module)?;
                if loaded != origin {
                    let number = launch.module;
                    return bad(format!("module {number} is {loaded:?}, this plan {origin:?}"));
                }
                self.check_arguments(launch)?;
                return Ok(PlanStep::Launch(KernelLaunch { module, ..launch.clone() }));
            }
            PlanStep::Set { at, bytes, .. } => self.check_extent(*at, *bytes)?,
            PlanStep::Copy { to, from, bytes } => {
                self.check_extent(*to, *bytes)?;
                self.check_extent(*from, *bytes)?;
            }
        }
        Ok(step.clone())
    }

    fn check_arguments(&self, launch: &KernelLaunch) -> Result<(), SessionError> {
        if launch.args.len() > ARGUMENTS_MAX {
            return Err(SessionError::BadArguments(format!("{} arguments", launch.args.len())));
        }
        for arg in &launch.args {
            match arg {
                // One beyond the last is an address as well; kernels get it and stop before it.
                KernelArg::Address(address) => self.check_extent(*address, 0)?,
                KernelArg::ByValue { bytes, patches } => {
                    for patch in patches {
                        if u64::from(patch.at) + POINTER_BYTES > bytes.len() as u64 {
                            return bad(format!("a patch at {} of {}", patch.at, bytes.len()));
                        }
                        self.check_extent(patch.address, 0)?;
                    }
                }
                KernelArg::I32(_) | KernelArg::I64(_) | KernelArg::Fp32(_) | KernelArg::Fp64(_) => {
                }
            }
        }
        Ok(())
    }

    /// Checks an address and its extent: the candidate's host code may have computed them.
    fn check_extent(&self, at: BufferAddress, bytes: u64) -> Result<(), SessionError> {
        let size = buffer_bytes(self.buffer(at.buffer)?);
        match at.offset.checked_add(bytes) {
            Some(end) if end <= size => Ok(()),
            _ => Err(SessionError::BadArguments(format!(
                "{bytes} bytes from byte {} of buffer {}, which has {size}",
                at.offset, at.buffer
            ))),
        }
    }

    pub(crate) fn check_pairs(&self, pairs: &[Pair]) -> Result<(), SessionError> {
        if pairs.len() > GPU_BUFFERS_MAX {
            return Err(SessionError::Limit(format!("more than {GPU_BUFFERS_MAX} pairs")));
        }
        for pair in pairs {
            let (got, want) = (self.buffer(pair.got)?, self.buffer(pair.want)?);
            for (number, spec) in [(pair.got, got), (pair.want, want)] {
                if !matches!(spec.role, BufferRole::Output | BufferRole::Inout) {
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

pub(crate) fn check_seeds(seeds: &[u64]) -> Result<(), SessionError> {
    if seeds.is_empty() {
        return bad("a check without a seed checks nothing");
    }
    if seeds.len() > GPU_SEEDS_MAX {
        return Err(SessionError::Limit(format!("more than {GPU_SEEDS_MAX} seeds")));
    }
    Ok(())
}

pub(crate) fn check_measure(options: &MeasureOptions) -> Result<(), SessionError> {
    if options.trials == 0 {
        return bad("a measurement without trials");
    }
    if options.trials > GPU_TRIALS_MAX || options.warm_ups > GPU_TRIALS_MAX {
        return Err(SessionError::Limit(format!("more than {GPU_TRIALS_MAX} trials")));
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
