//! The cost of a session.

use std::time::{Duration, Instant};

use assay_gpu::cuda::CudaDevice;
use assay_gpu::device::Device;

use super::bench::{
    KERNELS, bench, is_wanted, limits, loaded, milliseconds, pairs, report, soon, turn,
};

const COUNT: u32 = 1 << 16;

#[test]
fn the_gpu_is_described() {
    let test = "machine";
    let Some(bench) = bench(test) else { return };
    report(test, "properties", &bench.properties, "");
    assert!(bench.properties.arch.starts_with("sm_"), "{:?}", bench.properties);
    assert!(bench.properties.memory_bytes > 0 && bench.properties.l2_bytes > 0);
}

#[test]
fn a_session_starts() {
    let test = "start";
    let Some(bench) = bench(test) else { return };
    let (gpu, _turn) = bench.anew();
    for what in ["with nothing there", "with a judge and a spare", "once more"] {
        let started = Instant::now();
        let session = gpu.open(limits(), soon()).unwrap();
        report(test, &format!("a session, {what}"), milliseconds(started), "ms");
        drop(session);
    }
}

#[test]
fn a_context_starts() {
    let test = "context";
    if !is_wanted(test) {
        return;
    }
    let _turn = turn();
    for what in ["the first of a process", "the next"] {
        let started = Instant::now();
        let mut device = CudaDevice::open(0).unwrap();
        report(
            test,
            &format!("a context with the judge's kernels, {what}"),
            milliseconds(started),
            "ms",
        );
        let started = Instant::now();
        let module = device.load(KERNELS.as_bytes()).unwrap();
        report(test, "18 small kernels from PTX", milliseconds(started), "ms");
        assert_eq!(device.kernels(module).unwrap().len(), 18);
    }
}

/// One buffer of 1 GiB in and one out; and what it costs to bring as much through this machine's memory.
#[test]
fn a_large_check() {
    let test = "large check";
    let Some(bench) = bench(test) else { return };
    let count = 256 << 20;
    let mut it = loaded(&bench, KERNELS, count, count);
    let (plan, reference) = (it.plan(it.candidate, "honest"), it.plan(it.trusted, "honest"));
    for what in ["1 GiB in and 1 GiB out, the first", "the next"] {
        let started = Instant::now();
        let reports = it.session.check(&plan, &reference, &pairs(), &[1]).unwrap();
        report(test, what, milliseconds(started), "ms");
        assert!(reports[0].outputs[0].ok && reports[0].inputs_changed.is_empty());
    }
    drop(it);
    let mut device = CudaDevice::open(0).unwrap();
    let mut bytes = vec![1; 1 << 30];
    let at = device.alloc(bytes.len() as u64).unwrap();
    let started = Instant::now();
    device.read(at, &mut bytes).unwrap();
    device.write(at, &bytes).unwrap();
    report(test, "1 GiB from the GPU and back to it", milliseconds(started), "ms");
}

#[test]
fn checks_in_a_second() {
    let test = "rate";
    let Some(bench) = bench(test) else { return };
    let mut it = loaded(&bench, KERNELS, COUNT, COUNT);
    let (plan, reference) = (it.plan(it.candidate, "honest"), it.plan(it.trusted, "honest"));
    let mut checks = 0;
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(3) {
        let reports = it.session.check(&plan, &reference, &pairs(), &[checks]).unwrap();
        assert!(reports[0].outputs[0].ok);
        checks += 1;
    }
    report(
        test,
        "checks of 65536 elements",
        checks as f64 / started.elapsed().as_secs_f64(),
        "1/s",
    );
    drop(it);
    let mut sessions = 0;
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(5) {
        let mut it = loaded(&bench, KERNELS, COUNT, COUNT);
        let reports = it.session.check(&plan, &reference, &pairs(), &[1, 2, 3, 4, 5]).unwrap();
        assert!(reports.iter().all(|report| report.outputs[0].ok));
        sessions += 1;
    }
    let rate = f64::from(sessions) / started.elapsed().as_secs_f64();
    report(test, "sessions with two modules and five checks", rate, "1/s");
    assert!(checks > 0 && sessions > 0);
}
