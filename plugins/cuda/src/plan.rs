//! The steps that run at a size: the task's own launch, or the launches that a host function would make.
//!
//! Plans number the task's buffers from 0 in its order, then those that a host function allocated; the
//! stage that runs them says where they lie on the device ([`Plan::placed`]).

use std::collections::BTreeSet;

use assay_plugin::Error;
use assay_plugin::gpu::compiler::{Argument, Fault, Recording, Returned, Tensor, Trace};
use assay_plugin::gpu::{Address, Arg, CopyBytes, KernelInfo, Launch, Step};
use serde::{Deserialize, Serialize};

use crate::extract::{Form, Script};
use crate::label::{Kind, Size, Task};
use crate::limits::{LOG_SHOWN_BYTES_MAX, RECORD_CPU_MS, SCRATCH_BYTES_MAX};
use crate::machine::Machine;
use crate::python::{self, COPY_MODULE, Call};
use crate::subject::{Subject, complaint, kernel_named};
use crate::verdict::{Failure, Stop, Verdict, beginning};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub(crate) steps: Vec<Step>,
    pub(crate) scratch_bytes: Vec<u64>,
    /// Whether the response's Python moves data, which the judge does for it.
    pub(crate) judge_copies: bool,
}

/// A bare kernel at each size, launched as the label says.
pub(crate) fn launches(
    task: &Task,
    subject: &Subject<'_>,
    kernels: &[KernelInfo],
    sizes: &[Size],
) -> Result<Vec<Plan>, Failure> {
    let kernel = kernel_named(kernels, subject.entry)?;
    let launch = subject.launch.expect("a bare kernel has a launch");
    let plan = |size: &Size| {
        check_parameters(task, size, kernel)?;
        let shape = size.launch(launch);
        let launch = Launch {
            module: 0,
            kernel: kernel.name.clone(),
            grid: shape.grid,
            block: shape.block,
            cooperative: false,
            dynamic_shared_bytes: shape.shared_bytes,
            args: task.arguments.iter().map(|name| argument(task, size, name)).collect(),
        };
        let steps = vec![Step::Launch(launch)];
        Ok(Plan { steps, scratch_bytes: Vec::new(), judge_copies: false })
    };
    sizes.iter().map(plan).collect()
}

fn argument(task: &Task, size: &Size, name: &str) -> Arg {
    match task.buffer_number(name) {
        Some(buffer) => Arg::Address(Address { buffer, offset: 0 }),
        None => size.scalars[name].to_arg(),
    }
}

/// A wrong signature is reported before anything runs.
fn check_parameters(task: &Task, size: &Size, kernel: &KernelInfo) -> Result<(), Failure> {
    const POINTER_BYTES: u32 = 8;
    let wanted: Vec<u32> = task
        .arguments
        .iter()
        .map(|name| size.scalars.get(name).map_or(POINTER_BYTES, |scalar| scalar.bytes()))
        .collect();
    let found: Vec<u32> = kernel.params.iter().map(|param| param.bytes).collect();
    if wanted == found {
        return Ok(());
    }
    let reason = format!(
        "the kernel's parameters do not fit the task's: {} are passed, of {wanted:?} bytes, it takes {}, of {found:?}",
        wanted.len(),
        found.len()
    );
    Err(Failure::new(Verdict::CompileFailed, reason))
}

/// The launches that a host function would make, at each size.
pub(crate) fn recorded<M: Machine>(
    machine: &M,
    task: &Task,
    subject: &Subject<'_>,
    objects: &[Vec<u8>],
    sizes: &[Size],
) -> Result<Vec<Plan>, Stop> {
    let plan = |size: &Size| {
        let own: Vec<u64> = (0..task.buffers.len()).map(|at| size.bytes(task, at)).collect();
        let mut record = |call: Call<'_>| {
            let object = objects.get(call.extension);
            let object = object.ok_or_else(|| Error::internal("there is no such extension"))?;
            let recording = Recording {
                host_object: object.clone(),
                entry: call.function.to_owned(),
                buffers: [&own[..], call.scratch_bytes].concat(),
                arguments: call.arguments.to_vec(),
                cpu_ms: RECORD_CPU_MS,
            };
            match machine.record(&recording) {
                Ok(mut trace) => {
                    for launch in launches_in(&mut trace.steps) {
                        launch.module = call.extension as u32;
                    }
                    check_scratch(call.scratch_bytes.iter().chain(&trace.scratch_bytes), size)?;
                    whole(trace, size)
                }
                Err(error) => Err(refused(error.fault()?, size).into()),
            }
        };
        match subject.python {
            Some(script) => {
                let Script { text, extensions } = script;
                let mut trace = python::forward(task, text, extensions, size, &mut record)?;
                let copies = objects.len() as u32;
                number_judge_launches(&mut trace.steps, copies);
                let mut plan = of_trace(task, subject.form, size, trace)?;
                plan.note_copies(copies)?;
                Ok(plan)
            }
            None => {
                let trace = record(Call {
                    extension: 0,
                    function: subject.entry,
                    arguments: &arguments(task, subject.form, size),
                    scratch_bytes: &[],
                })?;
                of_trace(task, subject.form, size, trace)
            }
        }
    };
    sizes.iter().map(|size| plan(size).map_err(|stop| hidden(stop, size))).collect()
}

/// A failure at a held-out size without its words: a response chooses them, and where it fails, by the size.
fn hidden(stop: Stop, size: &Size) -> Stop {
    let Stop::Failed(Failure { verdict, .. }) = stop else { return stop };
    if size.kind != Kind::HeldOut {
        return stop;
    }
    let kind = match verdict {
        Verdict::CompileFailed => "it cannot be called",
        Verdict::Unsupported => "it does what is not judged here",
        Verdict::WrongAnswer => "it returns something else than the task wants",
        _ => "its host code failed",
    };
    Failure::new(verdict, format!("{size}: {kind}")).into()
}

/// The launches of the judge's kernel get the number after those of the extensions.
fn number_judge_launches(steps: &mut [Step], copies: u32) {
    for launch in launches_in(steps).filter(|launch| launch.module == COPY_MODULE) {
        launch.module = copies;
    }
}

/// The buffers of a step, those that a copy reads first.
fn buffers_of(step: &Step) -> Vec<u32> {
    let of_arg = |arg: &Arg| match arg {
        Arg::Address(address) => vec![address.buffer],
        Arg::ByValue(value) => value.patches.iter().map(|patch| patch.address.buffer).collect(),
        Arg::I32(_) | Arg::I64(_) | Arg::Fp32(_) | Arg::Fp64(_) => Vec::new(),
    };
    match step {
        Step::Set(_) => Vec::new(),
        Step::Copy(copy) => vec![copy.from.buffer, copy.to.buffer],
        Step::Launch(launch) => launch.args.iter().flat_map(of_arg).collect(),
    }
}

fn launches_in(steps: &mut [Step]) -> impl Iterator<Item = &mut assay_plugin::gpu::Launch> {
    steps.iter_mut().filter_map(|step| match step {
        Step::Launch(launch) => Some(launch),
        _ => None,
    })
}

/// A host function's arguments, as the label gives them.
fn arguments(task: &Task, form: Form, size: &Size) -> Vec<Argument> {
    let buffers: Vec<_> = task.buffers.values().collect();
    let names = match (&task.tensors, form) {
        (Some(tensors), Form::Torch) => &tensors.arguments,
        _ => &task.arguments,
    };
    let argument = |name: &String| match task.buffer_number(name) {
        Some(buffer) => Argument::Tensor(Tensor {
            buffer,
            offset: 0,
            dtype: buffers[buffer as usize].dtype.to_host(),
            shape: size.shapes[buffer as usize].clone(),
        }),
        None => size.scalars[name].to_argument(),
    };
    names.iter().map(argument).collect()
}

/// A host function that did not come to its end.
fn refused(fault: Fault, size: &Size) -> Failure {
    let (verdict, reason) = match fault {
        Fault::Rejected(log) => {
            (Verdict::CompileFailed, format!("it cannot be called:\n{}", complaint(&log)))
        }
        Fault::TimedOut => (
            Verdict::ExecuteError,
            format!("the host function took over {} s at {size}", RECORD_CPU_MS / 1_000),
        ),
        Fault::OutOfMemory => {
            (Verdict::ExecuteError, format!("the host function took too much memory at {size}"))
        }
        Fault::Crashed(how) => (
            Verdict::ExecuteError,
            format!("the host function ended at {size}: {}", beginning(&how, LOG_SHOWN_BYTES_MAX)),
        ),
        Fault::TooLarge(_) => {
            (Verdict::ExecuteError, format!("the host function launches too much at {size}"))
        }
    };
    Failure::new(verdict, reason)
}

/// A trace that has all that the function does.
fn whole(trace: Trace, size: &Size) -> Result<Trace, Stop> {
    if trace.unsupported.is_empty() {
        return Ok(trace);
    }
    let reason = format!("at {size}: {}", trace.unsupported.join("; "));
    Err(Failure::new(Verdict::Unsupported, beginning(&reason, LOG_SHOWN_BYTES_MAX)).into())
}

fn check_scratch<'a>(
    mut scratch_bytes: impl Iterator<Item = &'a u64>,
    size: &Size,
) -> Result<(), Failure> {
    let all = scratch_bytes.try_fold(0_u64, |all, one| all.checked_add(*one));
    if all.is_some_and(|bytes| bytes <= SCRATCH_BYTES_MAX) {
        return Ok(());
    }
    let reason = format!("it allocates more than {SCRATCH_BYTES_MAX} bytes at {size}");
    Err(Failure::new(Verdict::ExecuteError, reason))
}

fn of_trace(task: &Task, form: Form, size: &Size, trace: Trace) -> Result<Plan, Stop> {
    let Trace { steps, scratch_bytes, returned, .. } = trace;
    let mut plan = Plan { steps, scratch_bytes, judge_copies: false };
    if matches!(form, Form::Torch | Form::Model) {
        returns(task, size, &returned, &mut plan)?;
    }
    Ok(plan)
}

/// Brings what a function returned to where the task looks for it.
fn returns(task: &Task, size: &Size, returned: &[Returned], plan: &mut Plan) -> Result<(), Stop> {
    let names = task.tensors.as_ref().map_or(&[][..], |tensors| &tensors.returns);
    // A function that only writes to its arguments may return them as well.
    if names.is_empty() {
        return Ok(());
    }
    let wrong =
        |problem: String| Failure::new(Verdict::WrongAnswer, format!("at {size}: {problem}"));
    if returned.len() != names.len() {
        let (found, wanted) = (returned.len(), names.len());
        return Err(wrong(format!("it returns {found} tensors, the task wants {wanted}")).into());
    }
    for (tensor, name) in returned.iter().zip(names) {
        let buffer = task.buffer_number(name).expect("checked with the label");
        let spec = &task.buffers[name];
        let shape = &size.shapes[buffer as usize];
        if tensor.dtype != spec.dtype.to_host() {
            return Err(wrong(format!("`{name}` is returned in another type")).into());
        }
        if tensor.shape != *shape {
            return Err(wrong(format!("`{name}` is returned in another shape")).into());
        }
        let bytes = size.bytes(task, buffer as usize);
        let alone = returned.iter().filter(|other| other.buffer == tensor.buffer).count() == 1;
        let scratch = (tensor.buffer as usize).checked_sub(task.buffers.len());
        let held = match scratch {
            None => size.bytes(task, tensor.buffer as usize),
            Some(scratch) => plan.scratch_bytes.get(scratch).copied().unwrap_or(0),
        };
        if tensor.offset.checked_add(bytes).is_none_or(|end| end > held) {
            return Err(wrong(format!("`{name}` is returned without its memory")).into());
        }
        match scratch.and_then(|scratch| plan.scratch_bytes.get_mut(scratch)) {
            // A buffer that it allocated for a result is the result's buffer from the start.
            Some(scratch) if alone && tensor.offset == 0 && *scratch == bytes => {
                *scratch = 0;
                plan.renumber(|number| if number == tensor.buffer { buffer } else { number });
            }
            _ => {
                let from = Address { buffer: tensor.buffer, offset: tensor.offset };
                let to = Address { buffer, offset: 0 };
                plan.steps.push(Step::Copy(CopyBytes { to, from, bytes }));
            }
        }
    }
    Ok(())
}

impl Plan {
    /// How many launches are of an image.
    pub(crate) fn launches_of(&self, image: u32) -> usize {
        let is_of = |step: &&Step| matches!(step, Step::Launch(launch) if launch.module == image);
        self.steps.iter().filter(is_of).count()
    }

    /// Notes whether the judge copies in a plan from Python, by its kernel of image `copies` or else. A plan of nothing else
    /// is none of the response's.
    fn note_copies(&mut self, copies: u32) -> Result<(), Failure> {
        let is_copy = |step: &Step| match step {
            Step::Copy(_) => true,
            Step::Launch(launch) => launch.module == copies,
            Step::Set(_) => false,
        };
        self.judge_copies = self.steps.iter().any(is_copy);
        let is_own = |step: &Step| matches!(step, Step::Launch(_)) && !is_copy(step);
        match self.judge_copies && !self.steps.iter().any(is_own) {
            true => {
                Err(Failure::new(Verdict::Unsupported, "it only copies: no kernel of its own runs"))
            }
            false => Ok(()),
        }
    }

    /// The plan as it would be if the response's kernels computed nothing: each is replaced by copies of the first of its
    /// buffers that holds data to those that hold none yet. What is right even so is another order of the inputs, which the
    /// judge's copies, among them those by its kernel of image `copies`, made alone.
    pub(crate) fn only_copied(&self, copies: Option<u32>, task: &Task, size: &Size) -> Self {
        let bytes = |buffer: u32| match (buffer as usize).checked_sub(task.buffers.len()) {
            None => size.bytes(task, buffer as usize),
            Some(scratch) => self.scratch_bytes.get(scratch).copied().unwrap_or(0),
        };
        let given = (0..).zip(task.buffers.values());
        let given = given.filter(|(_, buffer)| buffer.role.is_given());
        let mut filled: BTreeSet<u32> = given.map(|(number, _)| number).collect();
        let mut steps = Vec::new();
        for step in &self.steps {
            let is_own = matches!(step, Step::Launch(launch) if Some(launch.module) != copies);
            if !is_own {
                steps.push(step.clone());
            }
            // A copy reads its first buffer.
            let buffers = buffers_of(step);
            let mut sources = buffers.iter().take(if is_own { buffers.len() } else { 1 });
            let Some(&from) = sources.find(|buffer| filled.contains(buffer)) else { continue };
            for to in buffers {
                let copied = bytes(from).min(bytes(to));
                if filled.insert(to) && is_own && copied > 0 {
                    let [from, to] = [from, to].map(|buffer| Address { buffer, offset: 0 });
                    steps.push(Step::Copy(CopyBytes { to, from, bytes: copied }));
                }
            }
        }
        Self { steps, ..self.clone() }
    }

    /// The plan's steps with the numbers of a session's modules and buffers.
    pub(crate) fn placed(&self, modules: &[u32], buffers: &[u32]) -> Result<Vec<Step>, Error> {
        let mut plan = self.clone();
        let mut missing = false;
        plan.renumber(|number| {
            let place = buffers.get(number as usize).copied();
            missing |= place.is_none();
            place.unwrap_or_default()
        });
        for launch in launches_in(&mut plan.steps) {
            let module = modules.get(launch.module as usize).copied();
            missing |= module.is_none();
            launch.module = module.unwrap_or_default();
        }
        if missing {
            return Err(Error::internal("a plan names a buffer or an image that there is not"));
        }
        Ok(plan.steps)
    }

    fn renumber(&mut self, mut number: impl FnMut(u32) -> u32) {
        let mut change = |address: &mut Address| address.buffer = number(address.buffer);
        for step in &mut self.steps {
            match step {
                Step::Set(set) => change(&mut set.at),
                Step::Copy(copy) => {
                    change(&mut copy.to);
                    change(&mut copy.from);
                }
                Step::Launch(launch) => {
                    for arg in &mut launch.args {
                        match arg {
                            Arg::Address(address) => change(address),
                            Arg::ByValue(value) => {
                                value
                                    .patches
                                    .iter_mut()
                                    .for_each(|patch| change(&mut patch.address));
                            }
                            Arg::I32(_) | Arg::I64(_) | Arg::Fp32(_) | Arg::Fp64(_) => {}
                        }
                    }
                }
            }
        }
    }
}
