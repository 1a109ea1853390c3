//! Whether a time is a true one.

use std::io::Write as _;
use std::process::Command;

use assay_gpu::cuda::CudaDevice;
use assay_gpu::device::{Device, RawLaunch};
use assay_gpu::session::{MeasureOptions, Measurement};
use assay_gpu::types::Dim3;

use super::bench::{
    BLOCK, Bench, KERNELS, NATIVE, bench, is_wanted, loaded, median, pairs, report, turn,
};

const TRIALS: u32 = 200;
/// 256 MiB read and as much written: longer than any launch takes.
const COUNT: u32 = 64 << 20;

fn options(flush_l2: bool) -> MeasureOptions {
    MeasureOptions {
        warm_ups: 10,
        trials: TRIALS,
        relative_error: 0.0,
        budget_ms: 60_000,
        flush_l2,
        spot_checks: 2,
    }
}

fn measured_honest(bench: &Bench, count: u32) -> Measurement {
    let mut it = loaded(bench, KERNELS, count, count);
    let (plan, reference) = (it.plan(it.candidate, "honest"), it.plan(it.trusted, "honest"));
    it.session.measure(&plan, &reference, &pairs(), 9, &options(true)).unwrap()
}

/// The same kernel in this process, without sessions; nanoseconds.
fn direct(device: &mut CudaDevice, count: u32, trials: u32) -> u64 {
    let module = device.load(KERNELS.as_bytes()).unwrap();
    let bytes = u64::from(count) * 4;
    let (x, y) = (device.alloc(bytes).unwrap(), device.alloc(bytes).unwrap());
    device.set(x, bytes, 0).unwrap();
    let launch = RawLaunch {
        kernel: "honest".into(),
        grid: Dim3 { x: count.div_ceil(BLOCK), y: 1, z: 1 },
        block: Dim3 { x: BLOCK, y: 1, z: 1 },
        cooperative: false,
        dynamic_shared_bytes: 0,
        args: vec![
            x.to_le_bytes().to_vec(),
            y.to_le_bytes().to_vec(),
            count.to_le_bytes().to_vec(),
        ],
    };
    let mut trial = || {
        device.flush().unwrap();
        device.begin().unwrap();
        device.launch(module, &launch).unwrap();
        device.end().unwrap().unwrap()
    };
    let samples = (0..10 + trials).map(|_| trial()).skip(10).collect();
    device.reset().unwrap();
    median(samples)
}

#[test]
fn times_are_those_of_a_plain_program() {
    let test = "timing";
    let Some(bench) = bench(test) else { return };
    let measured = measured_honest(&bench, COUNT);
    let (ours, theirs) = (measured.candidate.unwrap(), measured.reference.unwrap());
    report(test, "a session, candidate", ours.median_ns, "ns");
    report(test, "a session, reference", theirs.median_ns, "ns");
    report(test, "of which an empty plan", ours.overhead_ns, "ns");
    report(test, "by the host's clock", ours.wall_median_ns, "ns");
    report(test, "suspicious", &measured.suspicious, "");
    assert!(measured.suspicious.is_empty(), "{:?}", measured.suspicious);
    assert!(measured.spot.iter().all(|report| report.outputs[0].ok));
    let bytes_per_s = f64::from(COUNT) * 8.0 / (ours.median_ns as f64 / 1e9);
    report(test, "memory read and written", bytes_per_s / 1e9, "GB/s");
    report(test, "the data sheet's", bench.properties.peak_bytes_per_s as f64 / 1e9, "GB/s");
    let ratio = ours.median_ns as f64 / theirs.median_ns as f64;
    assert!((0.98..1.02).contains(&ratio), "candidate and reference are the same: {ratio}");
    let Some(plain) = std::env::var_os("ASSAY_GPU_PLAIN") else {
        // Past the capture of what passing tests print.
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED: {test}: ASSAY_GPU_PLAIN names no plain program (it needs nvcc)"
        );
        return;
    };
    let (_gpu, _turn, _locks) = bench.anew();
    let output =
        Command::new(plain).args([COUNT.to_string(), TRIALS.to_string()]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let plain: f64 = String::from_utf8(output.stdout).unwrap().trim().parse().unwrap();
    report(test, "a plain CUDA program", plain, "ns");
    let ratio = ours.median_ns as f64 / plain;
    report(test, "a session beside it", ratio, "");
    assert!((0.99..1.01).contains(&ratio), "{} ns beside {plain} ns", ours.median_ns);
}

#[test]
fn a_small_kernels_time() {
    let test = "small kernel";
    let Some(bench) = bench(test) else { return };
    let timing = measured_honest(&bench, 4096).candidate.unwrap();
    report(test, "median", timing.median_ns, "ns");
    report(test, "of which an empty plan", timing.overhead_ns, "ns");
    report(test, "by the host's clock", timing.wall_median_ns, "ns");
    assert!(timing.median_ns >= timing.overhead_ns);
}

#[test]
fn a_flushed_cache_is_cold() {
    let test = "cache";
    let Some(bench) = bench(test) else { return };
    // A quarter of the cache, read by so many threads.
    let count = (bench.properties.l2_bytes / 16) as u32;
    let blocks = bench.properties.multiprocessors * 4;
    let times = |text: &str, kernel: &str, flush: bool| {
        let mut it = loaded(&bench, text, count, blocks * BLOCK);
        let plan = [it.step(it.candidate, kernel, blocks)];
        let reference = [it.step(it.trusted, kernel, blocks)];
        let measured = it.session.measure(&plan, &reference, &pairs(), 9, &options(flush)).unwrap();
        let timing = measured.candidate.unwrap();
        timing.median_ns.saturating_sub(timing.overhead_ns)
    };
    let (cold, warm) = (times(KERNELS, "sum", true), times(KERNELS, "sum", false));
    let kept = times(NATIVE, "sum_and_keep", true);
    report(test, "a quarter of the cache, flushed", cold, "ns");
    report(test, "not flushed", warm, "ns");
    report(test, "flushed, though it asked to be kept", kept, "ns");
    assert!(kept as f64 > cold as f64 * 0.9, "what is kept is {kept} ns, what is not {cold} ns");
}

#[test]
fn idle_executors_change_nothing() {
    let test = "idle executors";
    if !is_wanted(test) {
        return;
    }
    let alone = {
        let _turn = turn();
        direct(&mut CudaDevice::open(0).unwrap(), COUNT, TRIALS)
    };
    let Some(bench) = bench(test) else { return };
    let session = bench.open();
    let beside = direct(&mut CudaDevice::open(0).unwrap(), COUNT, TRIALS);
    drop(session);
    report(test, "a process alone", alone, "ns");
    report(test, "beside two that are idle", beside, "ns");
    let ratio = beside as f64 / alone as f64;
    assert!((0.98..1.02).contains(&ratio), "{beside} ns beside idle executors, {alone} ns alone");
}
