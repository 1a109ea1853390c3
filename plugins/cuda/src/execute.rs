//! The stage `execute`: the response's plan against the reference's at every size, over several seeds.
//!
//! A device's error is the response's where it says so, the label's where the reference is to blame, and
//! else the platform's.

mod bench;
pub(crate) mod findings;
mod timing;

use assay_plugin::Error;
use assay_plugin::gpu::device;

use crate::compile::Prepared;
use crate::label::{Kind, Size, Task, fault};
use crate::limits::{CHECK_TOTAL_MS, PRINTED_SHOWN_BYTES_MAX};
use crate::machine::Machine;
use crate::report::{Report, Sizes};
use crate::settings::Settings;
use crate::verdict::{Failure, Stop, Verdict, beginning};
pub(crate) use bench::{Part, TaskSession};

/// Ends well where the response is right, and was timed if that was asked for.
pub(crate) fn execute<M: Machine>(
    machine: &M,
    settings: &Settings,
    task: &Task,
    prepared: &Prepared,
    seed: u64,
    report: &mut Report,
) -> Result<(), Stop> {
    let device = machine.describe().map_err(platform)?;
    report.simulated = device.simulated;
    if device.simulated && settings.policy.needs_time() {
        return Err(Error::bad_settings(format!(
            "policy: `{}` needs times, and the device is simulated: it has none",
            settings.policy.as_str()
        ))
        .into());
    }
    // An error of the label is told before anything runs.
    let stated_ns = match settings.policy.needs_time() {
        true => task.stated_baseline_ns(&device.name)?,
        false => None,
    };
    let sizes = task.checked();
    report.sizes = Some(Sizes { passed: 0, all: sizes.len() });
    check(machine, settings, task, prepared, seed, report)?;
    if settings.policy.needs_time() {
        report.times = Some(timing::measure(machine, settings, task, prepared, seed, stated_ns)?);
    }
    Ok(())
}

fn check<M: Machine>(
    machine: &M,
    settings: &Settings,
    task: &Task,
    prepared: &Prepared,
    seed: u64,
    report: &mut Report,
) -> Result<(), Stop> {
    let sizes = task.checked();
    let parts: Vec<Part<'_>> = sizes
        .iter()
        .zip(prepared.candidate.plans.iter().zip(&prepared.reference.plans))
        .map(|(size, (candidate, reference))| Part {
            size,
            candidate,
            reference,
            copies: prepared.candidate.copies,
        })
        .collect();
    let images = (&prepared.candidate.images[..], &prepared.reference.images[..]);
    let bench = TaskSession::open(machine, settings, CHECK_TOTAL_MS, task, images, &parts)?;
    let mut printed = Printed::default();
    for (at, part) in parts.iter().enumerate() {
        let checked = bench.check(at, &seeds(seed, at, settings.seeds));
        printed.read(&bench, part.size);
        if checked.is_err() {
            printed.log(machine);
        }
        checked?;
        if let Some(sizes) = &mut report.sizes {
            sizes.passed += 1;
        }
    }
    printed.log(machine);
    Ok(())
}

/// The output of the response's kernels at the stated sizes, for the request's log. Text from a held-out size would
/// reveal the size.
#[derive(Default)]
struct Printed {
    text: String,
    was_held_out: bool,
}

impl Printed {
    fn read<M: Machine>(&mut self, bench: &TaskSession<'_, M>, size: &Size) {
        self.was_held_out |= size.kind == Kind::HeldOut;
        // A session that ended with an error has nothing to tell.
        if let (false, Ok(text)) = (self.was_held_out, bench.printed()) {
            self.text = text;
        }
    }

    fn log<M: Machine>(&self, machine: &M) {
        if !self.text.is_empty() {
            let text = beginning(&self.text, PRINTED_SHOWN_BYTES_MAX);
            machine.log(&format!("the kernels printed: {text}"));
        }
    }
}

/// The seeds of one size: `count` different ones, then the first again, so that a result left over from an
/// earlier run would show.
pub(crate) fn seeds(seed: u64, size: usize, count: u32) -> Vec<u64> {
    let start = mixed(seed ^ mixed(size as u64));
    let different = (0..u64::from(count)).map(|at| mixed(start.wrapping_add(at)));
    different.chain([mixed(start)]).collect()
}

/// SplitMix64's output function: neighbours become strangers.
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// The error of a device call that runs no kernel, so that only the platform can be at fault.
pub(crate) fn platform(error: device::Error) -> Error {
    match error.fault() {
        Err(error) => error,
        Ok(fault) => Error::unavailable(format!("the device: {}", fault.message)),
    }
}

/// The error of a device call that uses only the label's own programs or buffers.
pub(crate) fn trusted(error: device::Error, what: &str) -> Error {
    match error {
        device::Error::BadRequest(problem) => fault(format!("{what}: {problem}")),
        error => match error.fault() {
            Err(error) => error,
            Ok(found) => fault(format!("{what}: {}", found.message)),
        },
    }
}

/// How much an explanation tells of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    Whole,
    /// Its kind alone: a response chooses the rest by the size, such as a launch that cannot be.
    Kind,
}

impl Detail {
    /// The detail that may be told where something fails at one of these sizes.
    pub(crate) fn at<'a>(sizes: impl IntoIterator<Item = &'a Size>) -> Self {
        match sizes.into_iter().any(|size| size.kind == Kind::HeldOut) {
            true => Self::Kind,
            false => Self::Whole,
        }
    }
}

/// The error of a device call that runs the response's kernels; a bad request is the reference's fault.
pub(crate) fn candidate(error: device::Error, place: &str, detail: Detail) -> Stop {
    match error {
        device::Error::BadRequest(problem) => fault(format!("reference: {problem}")).into(),
        error => match error.fault() {
            Err(error) => error.into(),
            Ok(found) => {
                let unsupported = found.unsupported;
                let verdict =
                    if unsupported { Verdict::Unsupported } else { Verdict::ExecuteError };
                let told = match detail {
                    Detail::Whole => &found.message,
                    Detail::Kind => found.kind,
                };
                Failure::new(verdict, format!("{place}: {told}")).into()
            }
        },
    }
}
