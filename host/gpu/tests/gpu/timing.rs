//! Whether a time is a true one.

use std::ffi::OsStr;
use std::io::Write as _;
use std::process::Command;

use assay_gpu::cuda::CudaDevice;
use assay_gpu::device::{Device, RawLaunch};
use assay_gpu::session::{MeasureOptions, Measurement};
use assay_gpu::types::{Dim3, PlanStep};

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

/// A launch of the kernel `honest`: over so many elements, each made so many times over. It is measured in so many
/// sessions, with as many plain programs between them: where a process's memory lies on the GPU changes short times.
struct TimedLaunch {
    name: &'static str,
    count: u32,
    times: u32,
    sessions: u32,
}

/// Launches that take from about 10 µs to about 100 ms.
const WORKS: [TimedLaunch; 4] = [
    TimedLaunch { name: "4 Mi elements", count: 4 << 20, times: 1, sessions: 5 },
    TimedLaunch { name: "64 Mi elements", count: COUNT, times: 1, sessions: 3 },
    TimedLaunch { name: "64 Mi elements, 16 times", count: COUNT, times: 16, sessions: 1 },
    TimedLaunch { name: "64 Mi elements, 500 times", count: COUNT, times: 500, sessions: 1 },
];

fn measured(bench: &Bench, work: &TimedLaunch) -> Measurement {
    let mut it = loaded(bench, KERNELS, work.count, work.count);
    let plan = |module| {
        let mut plan = it.plan(module, "honest");
        if let PlanStep::Launch(launch) = &mut plan[0] {
            launch.grid.y = work.times;
        }
        plan
    };
    let (plan, reference) = (plan(it.candidate), plan(it.trusted));
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
    if !is_wanted(test) {
        return;
    }
    let plain = std::env::var_os("ASSAY_GPU_PLAIN");
    if plain.is_none() {
        // Past the capture of what passing tests print.
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED: {test}: ASSAY_GPU_PLAIN names no plain program (it needs nvcc)"
        );
    }
    let ratios = WORKS.iter().map(|work| {
        let report = |what: &str, value: f64, unit: &str| {
            report(test, &format!("{}: {what}", work.name), value, unit);
        };
        let (mut ours, mut theirs, mut plains) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..work.sessions {
            let bench = bench(test).expect("a GPU");
            let measured = measured(&bench, work);
            assert!(measured.suspicious.is_empty(), "{:?}", measured.suspicious);
            assert!(measured.spot.iter().all(|report| report.outputs[0].ok));
            let (candidate, reference) = (measured.candidate.unwrap(), measured.reference.unwrap());
            assert_eq!(candidate.samples_ns.len(), TRIALS as usize);
            report("a session, candidate", candidate.median_ns as f64, "ns");
            report("of which an empty plan", candidate.overhead_ns as f64, "ns");
            report("by the host's clock", candidate.wall_median_ns as f64, "ns");
            ours.push(candidate.median_ns);
            theirs.push(reference.median_ns);
            if let Some(plain) = &plain {
                let (_gpu, _turn) = bench.anew();
                plains.push(plain_ns(plain, work));
                report("a plain CUDA program", plains[plains.len() - 1] as f64, "ns");
            }
        }
        let (ours, theirs) = (median(ours) as f64, median(theirs) as f64);
        let moved = f64::from(work.count) * 8.0 * f64::from(work.times);
        report("read and written", moved / ours, "GB/s");
        report("the candidate's median beside the reference's", ours / theirs, "");
        let mut ratios = vec![ours / theirs];
        if plain.is_some() {
            ratios.push(ours / median(plains) as f64);
            report("a session's median beside the plain program's", ratios[1], "");
        }
        ratios
    });
    let ratios: Vec<Vec<f64>> = ratios.collect();
    let is_same = |ratio: &f64| (0.99..1.01).contains(ratio);
    assert!(ratios.iter().flatten().all(is_same), "beside the reference, and plain: {ratios:?}");
}

/// The median of a plain program's times.
fn plain_ns(program: &OsStr, work: &TimedLaunch) -> u64 {
    let arguments = [work.count, work.times, TRIALS].map(|it| it.to_string());
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
}

#[test]
fn a_small_kernels_time() {
    let test = "small kernel";
    let Some(bench) = bench(test) else { return };
    let work = TimedLaunch { name: "4096 elements", count: 4096, times: 1, sessions: 1 };
    let timing = measured(&bench, &work).candidate.unwrap();
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
