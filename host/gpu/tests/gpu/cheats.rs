//! Every cheat that a kernel can try alone, on a GPU.

use assay_gpu::session::{CheckReport, MeasureOptions};
use assay_gpu::types::PlanStep;

use super::bench::{KERNELS, Loaded, bench, loaded, pairs};

const COUNT: u32 = 3000;

fn check(it: &mut Loaded, plan: &[PlanStep]) -> Vec<CheckReport> {
    let reference = it.plan(it.trusted, "honest");
    it.session.check(plan, &reference, &pairs(), &[11, 12, 13]).unwrap()
}

fn is_clean(report: &CheckReport) -> bool {
    report.outputs[0].ok && report.inputs_changed.is_empty() && report.overrun.is_empty()
}

#[test]
fn an_honest_kernel_is_clean() {
    let Some(bench) = bench("honest") else { return };
    let mut it = loaded(&bench, KERNELS, COUNT, COUNT);
    let plan = it.plan(it.candidate, "honest");
    let reports = check(&mut it, &plan);
    assert!(reports.iter().all(is_clean), "{reports:?}");
}

#[test]
fn each_cheat_is_seen() {
    let Some(bench) = bench("cheats") else { return };
    type Seen = fn(&CheckReport) -> bool;
    let cases: [(&str, Seen); 6] = [
        ("empty", |report| report.outputs[0].never_written == u64::from(COUNT)),
        ("partial", |report| {
            let output = &report.outputs[0];
            !output.ok
                && output.never_written == 1
                && output.first_wrong == Some(u64::from(COUNT) - 1)
        }),
        ("no_numbers", |report| {
            !report.outputs[0].ok && report.outputs[0].got_nonfinite == u64::from(COUNT)
        }),
        ("changes_inputs", |report| report.inputs_changed == [0]),
        ("writes_behind", |report| report.outputs[0].ok && report.overrun == [1]),
        ("writes_before", |report| report.outputs[0].ok && report.overrun == [1]),
    ];
    for (kernel, seen) in cases {
        let mut it = loaded(&bench, KERNELS, COUNT, COUNT);
        let plan = it.plan(it.candidate, kernel);
        let reports = check(&mut it, &plan);
        assert!(reports.iter().all(seen), "{kernel}: {reports:?}");
    }
}

#[test]
fn a_result_that_was_kept_is_wrong_the_second_time() {
    let Some(bench) = bench("cached") else { return };
    let mut it = loaded(&bench, KERNELS, COUNT, COUNT);
    let mut plan = it.plan(it.candidate, "cached");
    plan.push(it.step(it.candidate, "cached_is_there", 1));
    let reports = check(&mut it, &plan);
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
