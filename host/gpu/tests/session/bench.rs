//! A GPU, a session, and the launches of `kernels.cu`.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use assay_gpu::device::BufferTolerance;
use assay_gpu::session::{
    BufferInit, BufferRole, BufferSpec, CheckReport, DeviceKind, Gpu, GpuSession, GpuSettings,
    Origin, Pair, SessionError, SessionLimits,
};
use assay_gpu::types::{BufferAddress, Dim3, ElementType, KernelArg, KernelLaunch, PlanStep};

pub const KERNELS: &[u8] = include_bytes!("kernels.ptx");
pub const LIMITS: SessionLimits = SessionLimits {
    memory_bytes: 1 << 26,
    plan_ms: 100,
    total_ms: 1_000,
    steps_max: 16,
    printed_bytes: 1 << 10,
};
pub const EXACT: BufferTolerance =
    BufferTolerance { absolute: 0.0, relative: 0.0, matched_ratio: 1.0, allow_nonfinite: false };
/// Not a multiple of anything.
pub const COUNT: u64 = 1_001;

pub fn gpu() -> Gpu {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_assay-gpu"));
    Gpu::new(GpuSettings { program, kind: DeviceKind::Simulated })
}

/// Far away: no test gets there.
pub fn later() -> Instant {
    Instant::now() + Duration::from_secs(120)
}

pub fn open(gpu: &Gpu) -> GpuSession {
    gpu.open(LIMITS, later()).unwrap()
}

pub fn buffer(role: BufferRole, init: BufferInit) -> BufferSpec {
    BufferSpec { dtype: ElementType::Fp32, count: COUNT, role, init }
}

pub fn at(buffer: u32) -> KernelArg {
    KernelArg::Address(BufferAddress { buffer, offset: 0 })
}

pub fn launch(module: u32, kernel: &str, args: Vec<KernelArg>) -> KernelLaunch {
    let one = |x| Dim3 { x, y: 1, z: 1 };
    KernelLaunch {
        module,
        kernel: kernel.into(),
        grid: one(1),
        block: one(1_024),
        cooperative: false,
        dynamic_shared_bytes: 0,
        args,
    }
}

/// A session with an input 0 and an output 1, and a module on either side.
pub struct Task {
    pub session: GpuSession,
    pub candidate: u32,
    pub reference: u32,
}

impl Task {
    pub fn new(gpu: &Gpu) -> Task {
        Task::with(gpu, LIMITS)
    }

    pub fn with(gpu: &Gpu, limits: SessionLimits) -> Task {
        let mut session = gpu.open(limits, later()).unwrap();
        let candidate = session.load(KERNELS, Origin::Candidate).unwrap();
        let reference = session.load(KERNELS, Origin::Trusted).unwrap();
        let uniform = BufferInit::Uniform { low: -1.0, high: 1.0 };
        let specs =
            [buffer(BufferRole::Input, uniform), buffer(BufferRole::Output, BufferInit::Zeros)];
        assert_eq!(session.alloc(&specs), Ok(vec![0, 1]));
        Task { session, candidate, reference }
    }

    /// `kernel(x, y, n)`, or `kernel(y)`.
    pub fn step(&self, kernel: &str) -> Vec<PlanStep> {
        let args = match kernel {
            "traps" | "far_away" | "misaligned" | "bad_barrier" | "stuck" => vec![at(1)],
            _ => vec![at(0), at(1), KernelArg::I32(COUNT as i32)],
        };
        vec![PlanStep::Launch(launch(self.candidate, kernel, args))]
    }

    pub fn reference(&self) -> Vec<PlanStep> {
        let args = vec![at(0), at(1), KernelArg::I32(COUNT as i32)];
        vec![PlanStep::Launch(launch(self.reference, "twice", args))]
    }

    pub fn check(
        &mut self,
        plan: &[PlanStep],
        seeds: &[u64],
    ) -> Result<Vec<CheckReport>, SessionError> {
        self.session.check(plan, &self.reference(), &[pair(EXACT)], seeds)
    }

    pub fn check_kernel(&mut self, kernel: &str) -> CheckReport {
        let plan = self.step(kernel);
        self.check(&plan, &[7]).unwrap().remove(0)
    }

    pub fn fault(&mut self, kernel: &str) -> SessionError {
        let plan = self.step(kernel);
        self.check(&plan, &[7]).unwrap_err()
    }
}

pub fn pair(tolerance: BufferTolerance) -> Pair {
    Pair { got: 1, want: 1, tolerance }
}

pub fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|one| f32::from_le_bytes(one.try_into().unwrap())).collect()
}

/// Whether a process is there; one that only waits to be collected is not.
pub fn lives(pid: u32) -> bool {
    let Ok(status) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    !status.rsplit(") ").next().unwrap().starts_with('Z')
}

/// Polls until so, at the longest for a while.
#[track_caller]
pub fn soon(what: &str, mut condition: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(120);
    while !condition() {
        assert!(Instant::now() < until, "not in time: {what}");
        std::thread::yield_now();
    }
}
