//! Every cheat that a kernel can try alone, on a GPU.

use assay_gpu::session::{CheckReport, MeasureOptions};
use assay_gpu::types::PlanStep;

use super::bench::{Bench, KERNELS, Loaded, bench, loaded, pairs};

const COUNT: u32 = 3000;
/// So many elements are not copied through this machine's memory: the judge's process reads them in the candidate's.
const SHARED_COUNT: u32 = 1 << 17;
const SEEDS: [u64; 3] = [11, 12, 13];

fn check(it: &mut Loaded, plan: &[PlanStep], seeds: &[u64]) -> Vec<CheckReport> {
    let reference = it.plan(it.trusted, "honest");
    it.session.check(plan, &reference, &pairs(), seeds).unwrap()
}

fn is_clean(report: &CheckReport) -> bool {
    report.outputs[0].ok && report.inputs_changed.is_empty() && report.overrun.is_empty()
}

#[test]
fn an_honest_kernel_is_clean() {
    let Some(bench) = bench("honest") else { return };
    let mut it = loaded(&bench, KERNELS, COUNT, COUNT);
    let plan = it.plan(it.candidate, "honest");
    let reports = check(&mut it, &plan, &SEEDS);
    assert!(reports.iter().all(is_clean), "{reports:?}");
}

type Seen = fn(&CheckReport, u64) -> bool;

/// Kernels, and how a report about so many elements shows what each did.
const CHEATS: [(&str, Seen); 6] = [
    ("empty", |report, count| report.outputs[0].never_written == count),
    ("partial", |report, count| {
        let output = &report.outputs[0];
        !output.ok && output.never_written == 1 && output.first_wrong == Some(count - 1)
    }),
    ("no_numbers", |report, count| {
        !report.outputs[0].ok && report.outputs[0].got_nonfinite == count
    }),
    ("changes_inputs", |report, _| report.inputs_changed == [0]),
    ("writes_behind", |report, _| report.outputs[0].ok && report.overrun == [1]),
    ("writes_before", |report, _| report.outputs[0].ok && report.overrun == [1]),
];

fn assert_seen(bench: &Bench, cheats: &[(&str, Seen)], count: u32, seeds: &[u64]) {
    for (kernel, seen) in cheats {
        let mut it = loaded(bench, KERNELS, count, count);
        let plan = it.plan(it.candidate, kernel);
        let reports = check(&mut it, &plan, seeds);
        assert!(reports.iter().all(|report| seen(report, count.into())), "{kernel}: {reports:?}");
    }
}

#[test]
fn each_cheat_is_seen() {
    let Some(bench) = bench("cheats") else { return };
    assert_seen(&bench, &CHEATS, COUNT, &SEEDS);
}

#[test]
fn an_honest_kernel_is_clean_in_memory_that_is_shared() {
    let Some(bench) = bench("honest, in shared memory") else { return };
    assert_seen(&bench, &[("honest", |report, _| is_clean(report))], SHARED_COUNT, &[11]);
}

#[test]
fn cheats_are_seen_in_memory_that_is_shared() {
    let Some(bench) = bench("cheats, in shared memory") else { return };
    let cheats: Vec<(&str, Seen)> = CHEATS
        .into_iter()
        .filter(|(kernel, _)| ["partial", "changes_inputs"].contains(kernel))
        .collect();
    assert_seen(&bench, &cheats, SHARED_COUNT, &[11]);
}

#[test]
fn a_result_that_was_kept_is_wrong_the_second_time() {
    let Some(bench) = bench("cached") else { return };
    let mut it = loaded(&bench, KERNELS, COUNT, COUNT);
    let mut plan = it.plan(it.candidate, "cached");
    plan.push(it.step(it.candidate, "cached_is_there", 1));
    let reports = check(&mut it, &plan, &SEEDS);
    assert!(is_clean(&reports[0]), "the first is honest: {:?}", reports[0]);
    assert!(reports[1..].iter().all(|report| !report.outputs[0].ok), "{reports:?}");
    drop(it);
    // In the trials as well: the warm-ups fill what it keeps.
    let mut it = loaded(&bench, KERNELS, COUNT, COUNT);
    let reference = it.plan(it.trusted, "honest");
    let options = MeasureOptions {
        warm_ups: 2,
        trials: 20,
        relative_error: 0.0,
        budget_ms: 10_000,
        flush_l2: true,
        spot_checks: 3,
    };
    let measured = it.session.measure(&plan, &reference, &pairs(), 5, &options).unwrap();
    assert_eq!(measured.spot.len(), 3);
    assert!(measured.spot.iter().all(|report| !report.outputs[0].ok), "{:?}", measured.spot);
}
