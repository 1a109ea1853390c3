//! The stage `compile`: images and plans of the response, the reference and, for timing, the baseline.

use assay_plugin::gpu::compiler;
use assay_plugin::gpu::compiler::{Fault, FrontEnd, Request, TextFile, Toolkit};
use assay_plugin::{Artifact, Error};
use serde::{Deserialize, Serialize};

use crate::extract::{Form, Program, SourceUnit};
use crate::label::{Size, Task, Trusted, fault};
use crate::limits::{BUILT_BYTES_MAX, COMPILE_CPU_MS, COMPILE_MEMORY_MIB, LOG_SHOWN_BYTES_MAX};
use crate::machine::Machine;
use crate::plan::{self, Plan};
use crate::python::COPY_SOURCE;
use crate::settings::Settings;
use crate::subject::{Subject, complaint};
use crate::verdict::{Failure, Stop, Verdict, beginning};

/// All that the next stage needs beside the request.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Prepared {
    pub(crate) origin: String,
    /// Plans for all sizes that are checked, then for the timed one where time is asked for.
    pub(crate) candidate: Built,
    pub(crate) reference: Built,
    /// The label's own baseline, planned for the timed size alone; `None` if there is none or no time is
    /// measured.
    pub(crate) baseline: Option<Built>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Built {
    /// Launches name them by their places.
    pub(crate) images: Vec<Vec<u8>>,
    pub(crate) plans: Vec<Plan>,
    /// The place of the image of the judge's kernel that copies views, where one of the plans has it.
    pub(crate) copies: Option<u32>,
}

impl Prepared {
    pub(crate) fn to_artifact(&self) -> Result<Artifact, Error> {
        let bytes = postcard::to_allocvec(self)
            .map_err(|error| Error::internal(format!("cannot write the artifact: {error}")))?;
        Ok(Artifact::bytes(bytes))
    }

    pub(crate) fn of_artifact(artifact: &Artifact) -> Result<Self, Error> {
        postcard::from_bytes(&artifact.bytes)
            .map_err(|error| Error::internal(format!("the artifact does not fit: {error}")))
    }
}

pub(crate) fn compile<M: Machine>(
    machine: &M,
    settings: &Settings,
    task: &Task,
    program: Program,
) -> Result<Prepared, Stop> {
    // A fault of the toolkit itself is no source's.
    let toolkit = machine.toolkit().map_err(|error| Error::unavailable(error.to_string()))?;
    let bench = TaskCompiler { machine, toolkit, task };
    let mut sizes = task.checked();
    let timed = settings.policy.needs_time().then(|| task.timed());
    sizes.extend(timed.clone());
    let candidate = bench.build(
        &Subject {
            form: program.form,
            units: program.units,
            entry: &program.entry,
            python: program.python.as_ref(),
            launch: task.launch.as_ref(),
            file: "solution.cu",
        },
        &sizes,
    )?;
    let own = |program: &Trusted, name: &'static str, sizes: &[Size]| {
        bench.build(&Subject::trusted(program, "reference.cu"), sizes).map_err(|stop| match stop {
            Stop::Failed(failure) => fault(format!("{name}: {}", failure.reason)),
            Stop::Error(error) => error,
        })
    };
    let reference = own(&task.reference, "reference", &sizes)?;
    let baseline = match (timed, &task.baseline) {
        (Some(size), Some(baseline)) => Some(own(baseline, "baseline", &[size])?),
        _ => None,
    };
    Ok(Prepared { origin: program.origin, candidate, reference, baseline })
}

struct TaskCompiler<'a, M> {
    machine: &'a M,
    toolkit: Toolkit,
    task: &'a Task,
}

impl<M: Machine> TaskCompiler<'_, M> {
    fn build(&self, subject: &Subject<'_>, sizes: &[Size]) -> Result<Built, Stop> {
        let mut images = Vec::new();
        let plans = match subject.form {
            Form::Kernel => {
                let artifact = self.kernel(&subject.units[0].code, subject.file)?;
                let plans = plan::launches(self.task, subject, &artifact.kernels, sizes)?;
                images.push(artifact.image);
                plans
            }
            Form::Host | Form::Torch | Form::Model => {
                let mut objects = Vec::new();
                for unit in &subject.units {
                    let artifact = self.host_unit(unit, subject)?;
                    images.push(artifact.image);
                    objects.push(artifact.host_object.ok_or_else(|| {
                        Error::unavailable("the compiler gave no host object for a host function")
                    })?);
                }
                plan::recorded(self.machine, self.task, subject, &objects, sizes)?
            }
        };
        let next = images.len() as u32;
        let copies = plans.iter().any(|plan| plan.launches_of(next) > 0).then_some(next);
        if copies.is_some() {
            images.push(self.copy()?);
        }
        let built = Built { images, plans, copies };
        let bytes = postcard::experimental::serialized_size(&built)
            .map_err(|error| Error::internal(format!("cannot write the artifact: {error}")))?;
        if bytes > BUILT_BYTES_MAX {
            let reason =
                format!("its image and launches have {bytes} bytes, at most {BUILT_BYTES_MAX}");
            return Err(Failure::new(Verdict::CompileFailed, reason).into());
        }
        Ok(built)
    }

    fn host_unit(
        &self,
        unit: &SourceUnit,
        subject: &Subject<'_>,
    ) -> Result<compiler::Artifact, Stop> {
        let entries = if unit.bound { Vec::new() } else { unit.entries.clone() };
        // Several share the time of two.
        let count = u32::try_from(subject.units.len()).unwrap_or(u32::MAX).max(2);
        let cpu_ms = 2 * COMPILE_CPU_MS / count;
        let source = TextFile { path: subject.file.into(), text: unit.code.clone() };
        let compiled = self.run(FrontEnd::NvccHost, source, entries, cpu_ms)?;
        Ok(compiled.map_err(|fault| failure(fault, cpu_ms))?)
    }

    /// By the run-time compiler; what it lacks, headers and host code beside the kernel, by `nvcc`.
    fn kernel(&self, code: &str, file: &str) -> Result<compiler::Artifact, Stop> {
        let has = |front_end| self.toolkit.front_ends.contains(&front_end);
        let failed = |fault| Stop::from(failure(fault, COMPILE_CPU_MS));
        let run = |front_end| {
            let source = TextFile { path: file.into(), text: code.into() };
            self.run(front_end, source, Vec::new(), COMPILE_CPU_MS)
        };
        if !has(FrontEnd::Nvrtc) {
            return run(FrontEnd::NvccDevice)?.map_err(failed);
        }
        match run(FrontEnd::Nvrtc)? {
            Ok(artifact) => Ok(artifact),
            Err(Fault::Rejected(log)) if wants_nvcc(&log) && has(FrontEnd::NvccDevice) => {
                run(FrontEnd::NvccDevice)?.map_err(failed)
            }
            Err(fault) => Err(failed(fault)),
        }
    }

    fn copy(&self) -> Result<Vec<u8>, Error> {
        match self.kernel(COPY_SOURCE, "copy.cu") {
            Ok(artifact) => Ok(artifact.image),
            Err(Stop::Failed(failure)) => {
                let reason = failure.reason;
                Err(Error::unavailable(format!(
                    "the judge's own kernel does not compile: {reason}"
                )))
            }
            Err(Stop::Error(error)) => Err(error),
        }
    }

    fn run(
        &self,
        front_end: FrontEnd,
        main: TextFile,
        entries: Vec<String>,
        cpu_ms: u32,
    ) -> Result<Result<compiler::Artifact, Fault>, Error> {
        if !self.toolkit.front_ends.contains(&front_end) {
            let version = &self.toolkit.version;
            return Err(Error::unavailable(format!(
                "the CUDA toolkit {version} of this worker lacks what the program needs: {front_end:?}"
            )));
        }
        let request = Request {
            front_end,
            arch: self.toolkit.arch.clone(),
            main,
            headers: Vec::new(),
            options: Vec::new(),
            name_expressions: Vec::new(),
            entries,
            cpu_ms,
            memory_mib: COMPILE_MEMORY_MIB,
        };
        match self.machine.compile(&request) {
            Ok(artifact) => Ok(Ok(artifact)),
            Err(error) => error.fault().map(Err),
        }
    }
}

/// Whether the run-time compiler only missed what `nvcc` has.
fn wants_nvcc(log: &str) -> bool {
    ["cannot open source file", "could not open source file", "JIT mode", "namespace \"std\""]
        .iter()
        .any(|mark| log.contains(mark))
}

/// A source that the compiler did not take.
fn failure(fault: Fault, cpu_ms: u32) -> Failure {
    let (verdict, reason) = match fault {
        Fault::Rejected(log) => match unsupported(&log) {
            Some(reason) => (Verdict::Unsupported, reason),
            None => (Verdict::CompileFailed, format!("it does not compile:\n{}", complaint(&log))),
        },
        Fault::TimedOut => {
            (Verdict::CompileFailed, format!("the compiler took over {} s", cpu_ms / 1_000))
        }
        Fault::OutOfMemory => (
            Verdict::CompileFailed,
            format!("the compiler took over {COMPILE_MEMORY_MIB} MiB of memory"),
        ),
        Fault::Crashed(how) => (Verdict::CompileFailed, format!("the compiler crashed: {how}")),
        Fault::TooLarge(bytes) => {
            (Verdict::CompileFailed, format!("what the compiler made is too large: {bytes} bytes"))
        }
    };
    Failure::new(verdict, reason)
}

/// The missing feature that the stand-ins for PyTorch's headers report.
fn unsupported(log: &str) -> Option<String> {
    const MARK: &str = "assay: unsupported:";
    let at = log.find(MARK)? + MARK.len();
    let line = log[at..].lines().next().unwrap_or_default();
    Some(beginning(line.trim().trim_end_matches('"'), LOG_SHOWN_BYTES_MAX))
}
