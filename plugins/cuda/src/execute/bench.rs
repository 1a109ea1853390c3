//! A session with both images loaded and the buffers of all its sizes.

use assay_plugin::Error;
use assay_plugin::gpu::device::{self, BufferSpec, CheckReport, Init, Limits, Origin, Pair, Role};
use assay_plugin::gpu::{Dtype, Step};

use super::{Detail, candidate, findings, platform, trusted};
use crate::label::{Kind, Size, Task};
use crate::limits::{PRINTED_BYTES_MAX, STEPS_MAX};
use crate::machine::{Machine, Plans};
use crate::plan::Plan;
use crate::settings::Settings;
use crate::verdict::{Failure, Stop, Verdict};

/// One size with the two plans that run at it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part<'a> {
    pub(crate) size: &'a Size,
    pub(crate) candidate: &'a Plan,
    pub(crate) reference: &'a Plan,
    /// The image of the judge's kernel that copies, among the candidate's.
    pub(crate) copies: Option<u32>,
}

/// A part with the numbers of the session.
struct NumberedPart<'a> {
    size: &'a Size,
    /// The task's buffers, then those that host functions allocated.
    buffers: Vec<u32>,
    candidate: Vec<Step>,
    reference: Vec<Step>,
    /// The candidate's plan if its kernels computed nothing, where the judge copies in it.
    only_copied: Option<Vec<Step>>,
    pairs: Vec<Pair>,
}

pub(crate) struct TaskSession<'a, M: Machine> {
    machine: &'a M,
    session: M::Session,
    task: &'a Task,
    parts: Vec<NumberedPart<'a>>,
}

impl<'a, M: Machine> TaskSession<'a, M> {
    /// `images` are the response's and the label's.
    pub(crate) fn open(
        machine: &'a M,
        settings: &Settings,
        total_ms: u32,
        task: &'a Task,
        images: (&[Vec<u8>], &[Vec<u8>]),
        parts: &[Part<'a>],
    ) -> Result<Self, Stop> {
        let own: Vec<BufferSpec> = parts.iter().flat_map(|part| specs(task, part.size)).collect();
        let scratch: Vec<BufferSpec> = parts.iter().flat_map(scratch).collect();
        let bytes = bytes_of(&own).saturating_add(bytes_of(&scratch));
        let limits = Limits {
            // With room for what surrounds each buffer.
            memory_bytes: bytes.saturating_add(bytes / 8).saturating_add(64 << 20),
            plan_ms: settings.plan_ms,
            total_ms,
            steps_max: STEPS_MAX,
            printed_bytes: PRINTED_BYTES_MAX,
        };
        let session = machine.open(limits).map_err(platform)?;
        let load = |image: &Vec<u8>, origin| machine.load(&session, image, origin);
        let first = images.0.iter().map(|image| load(image, Origin::Candidate));
        let first: Result<Vec<u32>, _> = first.collect();
        let first = first.map_err(|error| candidate(error, "its image", Detail::Whole))?;
        let second = images.1.iter().map(|image| load(image, Origin::Trusted));
        let second: Result<Vec<u32>, _> = second.collect();
        let second = second.map_err(|error| trusted(error, "reference"))?;
        let own = machine.alloc(&session, &own).map_err(|error| trusted(error, "buffers"))?;
        let scratch = if scratch.is_empty() {
            Vec::new()
        } else {
            let found = machine.alloc(&session, &scratch);
            let detail = Detail::at(parts.iter().map(|part| part.size));
            found.map_err(|error| candidate(error, "what it allocates", detail))?
        };
        let mut bench = Self { machine, session, task, parts: Vec::new() };
        let (mut own, mut scratch) = (own.into_iter(), scratch.into_iter());
        for part in parts {
            let wanted = task.buffers.len() + scratch_count(part);
            let mut buffers: Vec<u32> = own.by_ref().take(task.buffers.len()).collect();
            buffers.extend(scratch.by_ref().take(scratch_count(part)));
            if buffers.len() != wanted {
                return Err(Error::unavailable("the device gave too few buffers").into());
            }
            bench.place(part, buffers, (&first, &second))?;
        }
        Ok(bench)
    }

    fn place(
        &mut self,
        part: &Part<'a>,
        buffers: Vec<u32>,
        (first, second): (&[u32], &[u32]),
    ) -> Result<(), Error> {
        let compared = self.task.buffers.values().zip(&buffers);
        let compared = compared.filter(|(buffer, _)| buffer.role.is_compared());
        let tolerance = self.task.tolerance.to_host();
        let pairs = compared.map(|(_, number)| Pair { got: *number, want: *number, tolerance });
        let copied = part.candidate.judge_copies;
        let only_copied =
            copied.then(|| part.candidate.only_copied(part.copies, self.task, part.size));
        let placed = NumberedPart {
            size: part.size,
            candidate: part.candidate.placed(first, &buffers)?,
            reference: part.reference.placed(second, &buffers)?,
            only_copied: only_copied.map(|plan| plan.placed(first, &buffers)).transpose()?,
            pairs: pairs.collect(),
            buffers,
        };
        self.parts.push(placed);
        Ok(())
    }

    pub(crate) fn session(&self) -> &M::Session {
        &self.session
    }

    pub(crate) fn plans(&self, at: usize) -> Plans<'_> {
        let part = &self.parts[at];
        Plans { candidate: &part.candidate, reference: &part.reference }
    }

    pub(crate) fn pairs(&self, at: usize) -> &[Pair] {
        &self.parts[at].pairs
    }

    /// Compares at one size.
    pub(crate) fn check(&self, at: usize, seeds: &[u64]) -> Result<(), Stop> {
        let part = &self.parts[at];
        let reports = self.reports(at, self.plans(at), seeds)?;
        let shown = part.size.kind != Kind::HeldOut;
        let name = |number: u32| self.name(at, number);
        if let Some(found) = findings::first_wrong(&reports, &name, &part.pairs, shown) {
            return Err(findings::wrong(format!("{}: {found}", part.size)).into());
        }
        match &part.only_copied {
            Some(steps) => self.check_copies(at, steps, seeds),
            None => Ok(()),
        }
    }

    /// Fails where the judge's copies are right without the response's kernels: they are not what a reward is for.
    fn check_copies(&self, at: usize, steps: &[Step], seeds: &[u64]) -> Result<(), Stop> {
        let part = &self.parts[at];
        let plans = Plans { candidate: steps, reference: &part.reference };
        let reports = self.reports(at, plans, &seeds[..1])?;
        let name = |number: u32| self.name(at, number);
        if findings::in_report(&reports[0], &name, &part.pairs, false).is_some() {
            return Ok(());
        }
        let reason = format!(
            "{}: it only copies: the result is right without its kernels, by copies of the judge's",
            part.size
        );
        Err(Failure::new(Verdict::Unsupported, reason).into())
    }

    fn reports(
        &self,
        at: usize,
        plans: Plans<'_>,
        seeds: &[u64],
    ) -> Result<Vec<CheckReport>, Stop> {
        let part = &self.parts[at];
        let reports = self.machine.check(&self.session, plans, &part.pairs, seeds);
        let detail = Detail::at([part.size]);
        let reports = reports.map_err(|error| candidate(error, &part.size.to_string(), detail))?;
        let whole = reports.len() == seeds.len()
            && reports.iter().all(|report| report.outputs.len() == part.pairs.len());
        if !whole {
            return Err(Error::unavailable("the device left out parts of its report").into());
        }
        Ok(reports)
    }

    pub(crate) fn printed(&self) -> Result<String, device::Error> {
        self.machine.printed(&self.session)
    }

    /// How a buffer of the session is called in explanations.
    pub(crate) fn name(&self, at: usize, number: u32) -> String {
        let place = self.parts[at].buffers.iter().position(|one| *one == number);
        match place.and_then(|place| self.task.buffers.keys().nth(place)) {
            Some(name) => format!("`{name}`"),
            None => "a buffer of its own".into(),
        }
    }
}

fn specs(task: &Task, size: &Size) -> Vec<BufferSpec> {
    let spec = |(at, buffer): (usize, &crate::label::Buffer)| BufferSpec {
        dtype: buffer.dtype.to_host(),
        count: size.count(at),
        role: buffer.role.to_host(),
        init: buffer.init.map_or(Init::Zeros, crate::label::Init::to_host),
    };
    task.buffers.values().enumerate().map(spec).collect()
}

/// Each side has buffers of its own, so that both sides' scratch may have the same numbers.
fn scratch(part: &Part<'_>) -> Vec<BufferSpec> {
    let bytes = |plan: &Plan, at: usize| plan.scratch_bytes.get(at).copied().unwrap_or(0);
    let spec = |at: usize| BufferSpec {
        dtype: Dtype::Ui8,
        count: bytes(part.candidate, at).max(bytes(part.reference, at)).max(1),
        role: Role::Scratch,
        init: Init::Zeros,
    };
    (0..scratch_count(part)).map(spec).collect()
}

fn scratch_count(part: &Part<'_>) -> usize {
    part.candidate.scratch_bytes.len().max(part.reference.scratch_bytes.len())
}

fn bytes_of(specs: &[BufferSpec]) -> u64 {
    let bytes = |spec: &BufferSpec| spec.count.saturating_mul(spec.dtype.bytes());
    specs.iter().fold(0, |all: u64, spec| all.saturating_add(bytes(spec)))
}
