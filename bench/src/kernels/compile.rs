//! The cost of a box for a compilation.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use assay_bench::goal::Unit;
use assay_bench::sections::{ASSAY, Measure, PLAIN, Section};
use assay_bench::stats::median;
use assay_gpu::compiler::{EntryArgument, FrontEnd, Recording, Tensor};
use assay_gpu::types::ElementType;

use crate::bench::{ARCH, KernelBenchmark, source};

/// The sources that NVRTC compiles in one round.
const KERNELS: usize = 20;
/// The sources that nvcc compiles in one round; each takes seconds.
const FILES: usize = 2;

const ABOUT: &str = "\
A softmax kernel of 27 lines, another source each time. Plain NVRTC is a Python script that compiles in \
its own process, one kernel after the other, with nothing between the source and the machine; Assay runs \
the compiler in a fresh box each time, with limits. Plain nvcc is the command. A host function is \
compiled by nvcc for the host as well and then run against a recording CUDA runtime, in a box.";

const HOST: &str = "
extern \"C\" void solve(const float* x, float* y, int rows, int columns) {
    softmax<<<rows, 256>>>(x, y, columns);
}
";

pub(crate) fn measure(bench: &mut KernelBenchmark, peer: &Path, rounds: usize) -> Result<Section> {
    let mut next = 0;
    let mut fresh = || {
        next += 1;
        source(peer, 1_000 + next)
    };
    // A worker starts the helper and the compiler's program once: that must not count.
    bench.compile(FrontEnd::Nvrtc, fresh()?)?;
    let [mut plain, mut boxed, mut again] = [const { Vec::new() }; 3];
    let [mut plain_file, mut boxed_file, mut host, mut recorded] = [const { Vec::new() }; 4];
    for _ in 0..rounds {
        plain.extend(median(&script(&bench.toolkit, peer)?));
        let mut taken = Vec::new();
        let mut last = String::new();
        for _ in 0..KERNELS {
            last = fresh()?;
            taken.push(timed(|| bench.compile(FrontEnd::Nvrtc, last.clone()))?);
        }
        boxed.extend(median(&taken));
        again.push(timed(|| bench.compile(FrontEnd::Nvrtc, last.clone()))?);
        for _ in 0..FILES {
            let text = fresh()?;
            plain_file.push(nvcc(&bench.toolkit, &text)?);
            boxed_file.push(timed(|| bench.compile(FrontEnd::NvccDevice, text.clone()))?);
            let text = text + HOST;
            host.push(timed(|| bench.compile(FrontEnd::NvccHost, text.clone()))?);
            recorded.push(record(bench, text)?);
        }
    }
    let milliseconds = |name: &str| Measure::new(name, Unit::Milliseconds);
    let rate = |taken: &[f64]| median(taken).map(|ms| 1e3 / ms);
    Ok(Section {
        title: "A kernel compiled to PTX".into(),
        about: ABOUT,
        measures: vec![
            milliseconds("NVRTC").value(PLAIN, median(&plain)).value(ASSAY, median(&boxed)),
            Measure::new("NVRTC, one after the other", Unit::PerSecond)
                .value(PLAIN, rate(&plain))
                .value(ASSAY, rate(&boxed)),
            milliseconds("the same source again").value(ASSAY, median(&again)),
            milliseconds("nvcc, device code")
                .value(PLAIN, median(&plain_file))
                .value(ASSAY, median(&boxed_file)),
            milliseconds("nvcc, with a host function").value(ASSAY, median(&host)),
            milliseconds("the host function recorded").value(ASSAY, median(&recorded)),
        ],
        notes: Vec::new(),
    })
}

fn timed<T>(run: impl FnOnce() -> Result<T>) -> Result<f64> {
    let started = Instant::now();
    run()?;
    Ok(started.elapsed().as_secs_f64() * 1e3)
}

/// Milliseconds a kernel, the first one apart: it loads the library.
fn script(toolkit: &Path, peer: &Path) -> Result<Vec<f64>> {
    let output = Command::new("/usr/bin/python3")
        .arg(peer.join("nvrtc.py"))
        .arg(toolkit)
        .args([ARCH, &(KERNELS + 1).to_string()])
        .output()
        .context("running the plain script")?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "the plain script: {}: {errors}", output.status);
    let taken: Vec<f64> = serde_json::from_slice(&output.stdout)?;
    Ok(taken[1..].to_vec())
}

fn nvcc(toolkit: &Path, text: &str) -> Result<f64> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("kernel.cu");
    std::fs::write(&file, text)?;
    timed(|| {
        let output = Command::new(toolkit.join("bin/nvcc"))
            .args(["-ptx", "-arch", ARCH, "-o"])
            .arg(folder.path().join("kernel.ptx"))
            .arg(&file)
            .output()
            .context("running nvcc")?;
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "nvcc: {}: {errors}", output.status);
        Ok(())
    })
}

fn record(bench: &mut KernelBenchmark, text: String) -> Result<f64> {
    let compiled = bench.compile(FrontEnd::NvccHost, text)?;
    let (rows, columns) = (64, 256);
    let tensor = |buffer| {
        EntryArgument::Tensor(Tensor {
            buffer,
            offset: 0,
            dtype: ElementType::Fp32,
            shape: vec![rows, columns],
        })
    };
    let recording = Recording {
        host_object: compiled.host_object.context("a host function was compiled")?,
        entry: "solve".into(),
        buffers: vec![4 * rows * columns; 2],
        arguments: vec![
            tensor(0),
            tensor(1),
            EntryArgument::I32(rows as i32),
            EntryArgument::I32(columns as i32),
        ],
        cpu_ms: 0,
    };
    timed(|| {
        let trace = bench.record(&recording)?;
        ensure!(trace.steps.len() == 1, "one launch was expected: {trace:?}");
        Ok(())
    })
}
