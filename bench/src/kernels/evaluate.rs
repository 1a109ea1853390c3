//! The cost of a session for a check of a kernel.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Result, ensure};
use assay_bench::goal::Unit;
use assay_bench::sections::{ASSAY, Measure, PLAIN, Section};
use assay_bench::stats::median;
use assay_gpu::compiler::FrontEnd;
use assay_gpu::device::BufferTolerance;
use assay_gpu::session::{
    BufferInit, BufferRole, BufferSpec, GpuSession, Origin, Pair, SessionLimits,
};
use assay_gpu::types::{BufferAddress, Dim3, ElementType, KernelArg, KernelLaunch, PlanStep};
use assay_ptx::{Memory, PtxModule, StepBudget};

use crate::bench::{CALL_MAX, KernelBenchmark, source};

const ROWS: u32 = 16;
const COLUMNS: i32 = 256;
const THREADS: u32 = 256;
/// The checks of one round.
const CHECKS: u64 = 20;

const ABOUT: &str = "\
A softmax kernel over 16 rows of 256 numbers, checked against itself. Plain runs it twice in this process, \
by the interpreter alone, over the same inputs each time. Assay makes inputs from a seed, poisons \
outputs, guards buffers, runs candidate and reference in two processes, compares, and looks at inputs and \
guards; a session starts a process for the candidate and ends it.";

pub(crate) fn measure(bench: &mut KernelBenchmark, peer: &Path, rounds: usize) -> Result<Section> {
    let image = bench.compile(FrontEnd::Nvrtc, source(peer, 0)?)?.image;
    let [mut plain, mut within, mut whole, mut opened] = [const { Vec::new() }; 4];
    // The judge's process starts with the first session.
    drop(open(bench)?);
    for _ in 0..rounds {
        plain.push(twice(&image)?);
        let mut session = open(bench)?;
        prepare(&mut session, &image)?;
        let taken: Result<Vec<f64>> = (0..CHECKS)
            .map(|seed| {
                let started = Instant::now();
                check(&mut session, seed)?;
                Ok(started.elapsed().as_secs_f64() * 1e3)
            })
            .collect();
        within.extend(median(&taken?));
        drop(session);
        let started = Instant::now();
        let mut session = open(bench)?;
        opened.push(started.elapsed().as_secs_f64() * 1e3);
        prepare(&mut session, &image)?;
        check(&mut session, 1)?;
        drop(session);
        whole.push(started.elapsed().as_secs_f64() * 1e3);
    }
    let milliseconds = |name: &str| Measure::new(name, Unit::Milliseconds);
    let rate = |taken: &[f64]| median(taken).map(|ms| 1e3 / ms);
    Ok(Section {
        title: "A kernel checked over one seed".into(),
        about: ABOUT,
        measures: vec![
            milliseconds("in an open session")
                .value(PLAIN, median(&plain))
                .value(ASSAY, median(&within)),
            milliseconds("in a session of its own")
                .value(PLAIN, median(&plain))
                .value(ASSAY, median(&whole)),
            milliseconds("of it until the session is open").value(ASSAY, median(&opened)),
            Measure::new("candidates, one after the other", Unit::PerSecond)
                .value(PLAIN, rate(&plain))
                .value(ASSAY, rate(&whole)),
        ],
        notes: Vec::new(),
    })
}

/// Candidate and reference by the interpreter, in milliseconds.
fn twice(image: &[u8]) -> Result<f64> {
    let module = Arc::new(PtxModule::parse(std::str::from_utf8(image)?)?);
    let mut memory = Memory::new(1 << 30);
    let loaded = memory.load(&module)?;
    let bytes = u64::from(ROWS) * COLUMNS as u64 * 4;
    let (x, y) = (memory.alloc(bytes)?, memory.alloc(bytes)?);
    let launch = assay_ptx::GridLaunch {
        grid: [ROWS, 1, 1],
        block: [THREADS, 1, 1],
        dynamic_shared_bytes: 0,
        args: vec![x.into(), y.into(), COLUMNS.into()],
    };
    let started = Instant::now();
    for _ in 0..2 {
        let mut budget = StepBudget { steps: u64::MAX };
        assay_ptx::launch(&loaded, "softmax", &launch, &mut memory, &mut budget)?;
    }
    Ok(started.elapsed().as_secs_f64() * 1e3)
}

fn open(bench: &KernelBenchmark) -> Result<GpuSession> {
    let limits = SessionLimits {
        memory_bytes: 64 << 20,
        plan_ms: 60_000,
        total_ms: 120_000,
        steps_max: 16,
        printed_bytes: 0,
    };
    Ok(bench.gpu.open(limits, Instant::now() + CALL_MAX)?)
}

/// The same image is candidate, module 0, and reference, module 1.
fn prepare(session: &mut GpuSession, image: &[u8]) -> Result<()> {
    session.load(image, Origin::Candidate)?;
    session.load(image, Origin::Trusted)?;
    let buffer = |role, init| BufferSpec {
        dtype: ElementType::Fp32,
        count: u64::from(ROWS) * COLUMNS as u64,
        role,
        init,
    };
    session.alloc(&[
        buffer(BufferRole::Input, BufferInit::Normal { mean: 0.0, deviation: 1.0 }),
        buffer(BufferRole::Output, BufferInit::Zeros),
    ])?;
    Ok(())
}

fn check(session: &mut GpuSession, seed: u64) -> Result<()> {
    let tolerance = BufferTolerance {
        absolute: 1e-6,
        relative: 1e-6,
        matched_ratio: 1.0,
        allow_nonfinite: false,
    };
    let pair = Pair { got: 1, want: 1, tolerance };
    let reports = session.check(&[step(0)], &[step(1)], &[pair], &[seed])?;
    ensure!(reports[0].outputs[0].ok, "a kernel differs from itself: {reports:?}");
    Ok(())
}

fn step(module: u32) -> PlanStep {
    let buffer = |buffer| KernelArg::Address(BufferAddress { buffer, offset: 0 });
    PlanStep::Launch(KernelLaunch {
        module,
        kernel: "softmax".into(),
        grid: Dim3 { x: ROWS, y: 1, z: 1 },
        block: Dim3 { x: THREADS, y: 1, z: 1 },
        cooperative: false,
        dynamic_shared_bytes: 0,
        args: vec![buffer(0), buffer(1), KernelArg::I32(COLUMNS)],
    })
}
