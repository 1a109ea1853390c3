//! A GPU for one test at a time, buffers and plans for its kernels, and the report.

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use assay_gpu::device::{BufferTolerance, Properties};
use assay_gpu::session::{
    BufferInit, BufferRole, BufferSpec, DeviceKind, Gpu, GpuSession, GpuSettings, Origin, Pair,
    SessionLimits,
};
use assay_gpu::types::{BufferAddress, Dim3, ElementType, KernelArg, KernelLaunch, PlanStep};
use parking_lot::{Mutex, MutexGuard};

pub const KERNELS: &str = include_str!("kernels.ptx");
pub const NATIVE: &str = include_str!("native.ptx");
pub const BLOCK: u32 = 256;

/// Tests that time something must be alone, and so must the others then.
static TURN: Mutex<()> = Mutex::new(());

pub struct Bench {
    pub gpu: Gpu,
    pub properties: Properties,
    _turn: MutexGuard<'static, ()>,
}

/// Whether a test is to be run; says loudly if not.
pub fn is_wanted(test: &str) -> bool {
    let wanted = std::env::var("ASSAY_TEST_GPU").is_ok_and(|value| value == "1");
    if !wanted {
        // Past what the test harness holds back.
        let _ =
            writeln!(std::io::stderr(), "SKIPPED: no GPU: {test} needs one, and ASSAY_TEST_GPU=1");
    }
    wanted
}

pub fn turn() -> MutexGuard<'static, ()> {
    TURN.lock()
}

fn options(kind: DeviceKind) -> GpuSettings {
    let built = PathBuf::from(env!("CARGO_BIN_EXE_assay-gpu"));
    let program = std::env::var_os("ASSAY_GPU_PROGRAM").map_or(built, PathBuf::from);
    GpuSettings { program, kind }
}

/// `None` where the test is not to be run. A GPU that does not work is a failure.
pub fn bench(test: &str) -> Option<Bench> {
    if !is_wanted(test) {
        return None;
    }
    let turn = turn();
    let gpu = fresh();
    let properties = gpu.describe(soon()).unwrap();
    assert!(!properties.simulated);
    Some(Bench { gpu, properties, _turn: turn })
}

/// A GPU of which nothing has been started.
pub fn fresh() -> Gpu {
    Gpu::new(options(DeviceKind::Cuda))
}

impl Bench {
    pub fn open(&self) -> GpuSession {
        self.gpu.open(limits(), soon()).unwrap()
    }

    /// Which runs the same, on this machine's processor.
    pub fn simulated(&self) -> Gpu {
        Gpu::new(options(DeviceKind::Simulated))
    }

    /// Another one of the same GPU, of which nothing has been started.
    pub fn anew(self) -> (Gpu, MutexGuard<'static, ()>) {
        let Bench { gpu, _turn, .. } = self;
        drop(gpu);
        (fresh(), _turn)
    }
}

pub fn soon() -> Instant {
    Instant::now() + Duration::from_secs(300)
}

pub fn limits() -> SessionLimits {
    SessionLimits {
        memory_bytes: 4 << 30,
        plan_ms: 10_000,
        total_ms: 200_000,
        steps_max: 100,
        printed_bytes: 4096,
    }
}

/// Two modules of the same kernels, and the buffers `x`, 0, and `y`, 1.
pub struct Loaded {
    pub session: GpuSession,
    pub candidate: u32,
    pub trusted: u32,
    pub count: u32,
}

pub const DTYPE: ElementType = ElementType::Fp32;

pub fn specs(count: u32, outputs: u32) -> [BufferSpec; 2] {
    let init = BufferInit::Uniform { low: -1.0, high: 1.0 };
    [
        BufferSpec { dtype: DTYPE, count: count.into(), role: BufferRole::Input, init },
        BufferSpec {
            dtype: DTYPE,
            count: outputs.into(),
            role: BufferRole::Output,
            init: BufferInit::Zeros,
        },
    ]
}

pub fn loaded(bench: &Bench, text: &str, count: u32, outputs: u32) -> Loaded {
    let mut session = bench.open();
    let candidate = session.load(text.as_bytes(), Origin::Candidate).unwrap();
    let trusted = session.load(text.as_bytes(), Origin::Trusted).unwrap();
    session.alloc(&specs(count, outputs)).unwrap();
    Loaded { session, candidate, trusted, count }
}

impl Loaded {
    /// A launch over `x`, `y` and how many elements `x` has.
    pub fn step(&self, module: u32, kernel: &str, blocks: u32) -> PlanStep {
        PlanStep::Launch(KernelLaunch {
            module,
            kernel: kernel.to_owned(),
            grid: Dim3 { x: blocks, y: 1, z: 1 },
            block: Dim3 { x: BLOCK, y: 1, z: 1 },
            cooperative: false,
            dynamic_shared_bytes: 0,
            args: vec![buffer(0), buffer(1), KernelArg::I32(self.count as i32)],
        })
    }

    /// One thread an element.
    pub fn plan(&self, module: u32, kernel: &str) -> Vec<PlanStep> {
        vec![self.step(module, kernel, self.count.div_ceil(BLOCK))]
    }
}

pub fn buffer(number: u32) -> KernelArg {
    KernelArg::Address(BufferAddress { buffer: number, offset: 0 })
}

pub fn pairs() -> [Pair; 1] {
    let tolerance = BufferTolerance {
        absolute: 1e-6,
        relative: 1e-6,
        matched_ratio: 1.0,
        allow_nonfinite: false,
    };
    [Pair { got: 1, want: 1, tolerance }]
}

/// A line of the report, and of what the test prints.
pub fn report(test: &str, name: &str, value: impl serde::Serialize, unit: &str) {
    let line =
        serde_json::json!({ "test": test, "name": name, "value": value, "unit": unit }).to_string();
    println!("{line}");
    if let Some(path) = std::env::var_os("ASSAY_GPU_REPORT") {
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(file, "{line}").unwrap();
    }
}

pub fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

pub fn median(mut samples: Vec<u64>) -> u64 {
    samples.sort_unstable();
    samples[samples.len() / 2]
}
