//! The interfaces' types to those of [`assay_gpu`] and back. Bytes are moved, never copied.

use assay_gpu::compiler as own;
use assay_gpu::device::{BufferComparison, BufferTolerance, Properties};
use assay_gpu::session;
use assay_gpu::types::{
    BufferAddress, Dim3, ElementType, KernelArg, KernelInfo, KernelLaunch, KernelParam, Patch,
    PlanStep,
};

use crate::call::bindings::assay::gpu::{compiler, device, types};

macro_rules! same_cases {
    ($to:ident, $from:ident, $theirs:path, $ours:path, $($case:ident),+) => {
        fn $to(value: $theirs) -> $ours {
            use $theirs as Theirs;
            use $ours as Ours;
            match value { $(Theirs::$case => Ours::$case),+ }
        }

        fn $from(value: $ours) -> $theirs {
            use $theirs as Theirs;
            use $ours as Ours;
            match value { $(Ours::$case => Theirs::$case),+ }
        }
    };
}

same_cases!(
    dtype,
    shown_dtype,
    types::Dtype,
    ElementType,
    Fp64,
    Fp32,
    Fp16,
    Bf16,
    I64,
    I32,
    I16,
    I8,
    Ui64,
    Ui32,
    Ui16,
    Ui8
);
same_cases!(
    front_end,
    shown_front_end,
    compiler::FrontEnd,
    own::FrontEnd,
    Nvrtc,
    NvccDevice,
    NvccHost
);

pub(super) fn address(address: types::Address) -> BufferAddress {
    BufferAddress { buffer: address.buffer, offset: address.offset }
}

fn shown_address(address: BufferAddress) -> types::Address {
    types::Address { buffer: address.buffer, offset: address.offset }
}

fn dim3(dim: types::Dim3) -> Dim3 {
    Dim3 { x: dim.x, y: dim.y, z: dim.z }
}

fn shown_dim3(dim: Dim3) -> types::Dim3 {
    types::Dim3 { x: dim.x, y: dim.y, z: dim.z }
}

pub(super) fn kernel_info(info: KernelInfo) -> types::KernelInfo {
    let param = |param: KernelParam| types::Param { offset: param.offset, bytes: param.bytes };
    types::KernelInfo {
        name: info.name,
        params: info.params.into_iter().map(param).collect(),
        registers: info.registers,
        static_shared_bytes: info.static_shared_bytes,
        local_bytes: info.local_bytes,
        threads_max: info.threads_max,
    }
}

fn arg(arg: types::Arg) -> KernelArg {
    match arg {
        types::Arg::Address(at) => KernelArg::Address(address(at)),
        types::Arg::I32(value) => KernelArg::I32(value),
        types::Arg::I64(value) => KernelArg::I64(value),
        types::Arg::Fp32(value) => KernelArg::Fp32(value),
        types::Arg::Fp64(value) => KernelArg::Fp64(value),
        types::Arg::ByValue(types::ByValue { bytes, patches }) => {
            let patch = |it: types::Patch| Patch { at: it.at, address: address(it.address) };
            KernelArg::ByValue { bytes, patches: patches.into_iter().map(patch).collect() }
        }
    }
}

fn shown_arg(arg: KernelArg) -> types::Arg {
    match arg {
        KernelArg::Address(at) => types::Arg::Address(shown_address(at)),
        KernelArg::I32(value) => types::Arg::I32(value),
        KernelArg::I64(value) => types::Arg::I64(value),
        KernelArg::Fp32(value) => types::Arg::Fp32(value),
        KernelArg::Fp64(value) => types::Arg::Fp64(value),
        KernelArg::ByValue { bytes, patches } => {
            let patch = |it: Patch| types::Patch { at: it.at, address: shown_address(it.address) };
            let patches = patches.into_iter().map(patch).collect();
            types::Arg::ByValue(types::ByValue { bytes, patches })
        }
    }
}

fn step(step: types::Step) -> PlanStep {
    match step {
        types::Step::Launch(launch) => PlanStep::Launch(KernelLaunch {
            module: launch.module,
            kernel: launch.kernel,
            grid: dim3(launch.grid),
            block: dim3(launch.block),
            cooperative: launch.cooperative,
            dynamic_shared_bytes: launch.dynamic_shared_bytes,
            args: launch.args.into_iter().map(arg).collect(),
        }),
        types::Step::Set(set) => {
            PlanStep::Set { at: address(set.at), bytes: set.bytes, value: set.value }
        }
        types::Step::Copy(copy) => {
            PlanStep::Copy { to: address(copy.to), from: address(copy.from), bytes: copy.bytes }
        }
    }
}

fn shown_step(step: PlanStep) -> types::Step {
    match step {
        PlanStep::Launch(launch) => types::Step::Launch(types::Launch {
            module: launch.module,
            kernel: launch.kernel,
            grid: shown_dim3(launch.grid),
            block: shown_dim3(launch.block),
            cooperative: launch.cooperative,
            dynamic_shared_bytes: launch.dynamic_shared_bytes,
            args: launch.args.into_iter().map(shown_arg).collect(),
        }),
        PlanStep::Set { at, bytes, value } => {
            types::Step::Set(types::SetBytes { at: shown_address(at), bytes, value })
        }
        PlanStep::Copy { to, from, bytes } => types::Step::Copy(types::CopyBytes {
            to: shown_address(to),
            from: shown_address(from),
            bytes,
        }),
    }
}

pub(super) fn plan(plan: Vec<types::Step>) -> Vec<PlanStep> {
    plan.into_iter().map(step).collect()
}

pub(super) fn toolkit(toolkit: own::Toolkit) -> compiler::Toolkit {
    compiler::Toolkit {
        version: toolkit.version,
        front_ends: toolkit.front_ends.into_iter().map(shown_front_end).collect(),
        arch: toolkit.arch,
    }
}

fn text_file(file: compiler::TextFile) -> own::TextFile {
    own::TextFile { path: file.path, text: file.text }
}

fn build_option(option: compiler::BuildOption) -> own::BuildOption {
    match option {
        compiler::BuildOption::FastMath => own::BuildOption::FastMath,
        compiler::BuildOption::NoFma => own::BuildOption::NoFma,
        compiler::BuildOption::LineInfo => own::BuildOption::LineInfo,
        compiler::BuildOption::RegistersMax(count) => own::BuildOption::RegistersMax(count),
        compiler::BuildOption::Define(compiler::Define { name, value }) => {
            own::BuildOption::Define { name, value }
        }
        compiler::BuildOption::Std(standard) => own::BuildOption::Std(standard),
    }
}

pub(super) fn request(request: compiler::Request) -> own::CompileRequest {
    own::CompileRequest {
        front_end: front_end(request.front_end),
        arch: request.arch,
        main: text_file(request.main),
        headers: request.headers.into_iter().map(text_file).collect(),
        options: request.options.into_iter().map(build_option).collect(),
        name_expressions: request.name_expressions,
        entries: request.entries,
        cpu_ms: request.cpu_ms,
        memory_mib: request.memory_mib,
    }
}

pub(super) fn artifact(artifact: own::CudaArtifact) -> compiler::Artifact {
    compiler::Artifact {
        image: artifact.image,
        ptx: artifact.ptx,
        host_object: artifact.host_object,
        kernels: artifact.kernels.into_iter().map(kernel_info).collect(),
        lowered_names: artifact.lowered_names,
        log: artifact.log,
        toolchain: artifact.toolchain,
        arch: artifact.arch,
        cached: artifact.cached,
    }
}

fn argument(argument: compiler::Argument) -> own::EntryArgument {
    match argument {
        compiler::Argument::Tensor(one) => own::EntryArgument::Tensor(tensor(one)),
        compiler::Argument::I32(value) => own::EntryArgument::I32(value),
        compiler::Argument::I64(value) => own::EntryArgument::I64(value),
        compiler::Argument::Fp32(value) => own::EntryArgument::Fp32(value),
        compiler::Argument::Fp64(value) => own::EntryArgument::Fp64(value),
        compiler::Argument::Boolean(value) => own::EntryArgument::Boolean(value),
        compiler::Argument::Absent => own::EntryArgument::Absent,
        compiler::Argument::Integers(values) => own::EntryArgument::Integers(values),
        compiler::Argument::Tensors(all) => {
            own::EntryArgument::Tensors(all.into_iter().map(tensor).collect())
        }
    }
}

fn tensor(tensor: compiler::Tensor) -> own::Tensor {
    let compiler::Tensor { buffer, offset, shape, .. } = tensor;
    own::Tensor { buffer, offset, dtype: dtype(tensor.dtype), shape }
}

pub(super) fn recording(recording: compiler::Recording) -> own::Recording {
    own::Recording {
        host_object: recording.host_object,
        entry: recording.entry,
        buffers: recording.buffers,
        arguments: recording.arguments.into_iter().map(argument).collect(),
        cpu_ms: recording.cpu_ms,
    }
}

pub(super) fn trace(trace: own::RecordedTrace) -> compiler::Trace {
    let returned = |it: own::Returned| compiler::Returned {
        buffer: it.buffer,
        offset: it.offset,
        dtype: shown_dtype(it.dtype),
        shape: it.shape,
    };
    compiler::Trace {
        steps: trace.steps.into_iter().map(shown_step).collect(),
        scratch_bytes: trace.scratch_bytes,
        returned: trace.returned.into_iter().map(returned).collect(),
        unsupported: trace.unsupported,
    }
}

pub(super) fn properties(properties: Properties) -> device::Properties {
    device::Properties {
        name: properties.name,
        arch: properties.arch,
        driver: properties.driver,
        multiprocessors: properties.multiprocessors,
        clock_khz: properties.clock_khz,
        memory_bytes: properties.memory_bytes,
        l2_bytes: properties.l2_bytes,
        shared_bytes_max: properties.shared_bytes_max,
        peak_bytes_per_s: properties.peak_bytes_per_s,
        simulated: properties.simulated,
    }
}

pub(super) fn limits(limits: device::Limits) -> session::SessionLimits {
    session::SessionLimits {
        memory_bytes: limits.memory_bytes,
        plan_ms: limits.plan_ms,
        total_ms: limits.total_ms,
        steps_max: limits.steps_max,
        printed_bytes: limits.printed_bytes,
    }
}

pub(super) fn origin(origin: device::Origin) -> session::Origin {
    match origin {
        device::Origin::Candidate => session::Origin::Candidate,
        device::Origin::Trusted => session::Origin::Trusted,
    }
}

pub(super) fn buffer_spec(spec: device::BufferSpec) -> session::BufferSpec {
    session::BufferSpec {
        dtype: dtype(spec.dtype),
        count: spec.count,
        role: match spec.role {
            device::Role::Input => session::BufferRole::Input,
            device::Role::Output => session::BufferRole::Output,
            device::Role::Inout => session::BufferRole::Inout,
            device::Role::Scratch => session::BufferRole::Scratch,
        },
        init: match spec.init {
            device::Init::Zeros => session::BufferInit::Zeros,
            device::Init::Uniform(device::Uniform { low, high }) => {
                session::BufferInit::Uniform { low, high }
            }
            device::Init::Normal(device::Normal { mean, deviation }) => {
                session::BufferInit::Normal { mean, deviation }
            }
            device::Init::Integers(device::Integers { low, high }) => {
                session::BufferInit::Integers { low, high }
            }
            device::Init::Permutation => session::BufferInit::Permutation,
            device::Init::Uploaded => session::BufferInit::Uploaded,
        },
    }
}

pub(super) fn pairs(pairs: Vec<device::Pair>) -> Vec<session::Pair> {
    let pair = |pair: device::Pair| session::Pair {
        got: pair.got,
        want: pair.want,
        tolerance: BufferTolerance {
            absolute: pair.tolerance.absolute,
            relative: pair.tolerance.relative,
            matched_ratio: pair.tolerance.matched_ratio,
            allow_nonfinite: pair.tolerance.allow_nonfinite,
        },
    };
    pairs.into_iter().map(pair).collect()
}

fn comparison(comparison: BufferComparison) -> device::Comparison {
    device::Comparison {
        ok: comparison.ok,
        mismatched: comparison.mismatched,
        absolute_max: comparison.absolute_max,
        relative_max: comparison.relative_max,
        got_nonfinite: comparison.got_nonfinite,
        never_written: comparison.never_written,
        first_wrong: comparison.first_wrong,
        got_there: comparison.got_there,
        want_there: comparison.want_there,
    }
}

pub(super) fn check_report(report: session::CheckReport) -> device::CheckReport {
    device::CheckReport {
        seed: report.seed,
        outputs: report.outputs.into_iter().map(comparison).collect(),
        inputs_changed: report.inputs_changed,
        overrun: report.overrun,
        elapsed_ns: report.elapsed_ns,
    }
}

pub(super) fn measure_options(options: device::MeasureOptions) -> session::MeasureOptions {
    session::MeasureOptions {
        warm_ups: options.warm_ups,
        trials: options.trials,
        relative_error: options.relative_error,
        budget_ms: options.budget_ms,
        flush_l2: options.flush_l2,
        spot_checks: options.spot_checks,
    }
}

fn timing(timing: session::Timing) -> device::Timing {
    device::Timing {
        samples_ns: timing.samples_ns,
        median_ns: timing.median_ns,
        overhead_ns: timing.overhead_ns,
        wall_median_ns: timing.wall_median_ns,
        clock_khz: timing.clock_khz,
    }
}

pub(super) fn measurement(measurement: session::Measurement) -> device::Measurement {
    device::Measurement {
        candidate: measurement.candidate.map(timing),
        reference: measurement.reference.map(timing),
        spot: measurement.spot.into_iter().map(check_report).collect(),
        suspicious: measurement.suspicious,
    }
}
