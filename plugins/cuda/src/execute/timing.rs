//! How fast a right response is, beside the baseline; only on a device that has a clock.

use assay_plugin::Error;
use assay_plugin::gpu::device::{MeasureOptions, Measurement};

use crate::compile::Prepared;
use crate::execute::{Detail, Part, TaskSession, candidate, findings, seeds};
use crate::label::Task;
use crate::limits::{MEASURE_MS, RELATIVE_ERROR, SPOT_CHECKS, TIMING_TOTAL_MS, WARM_UPS};
use crate::machine::Machine;
use crate::report::Times;
use crate::settings::Settings;
use crate::verdict::{Failure, Stop, Verdict};

/// The number that stands for the timed size in its seeds. Fewer sizes are checked, so no check has the
/// same seeds.
const SEEDS_OF: usize = 1_000;

pub(crate) fn measure<M: Machine>(
    machine: &M,
    settings: &Settings,
    task: &Task,
    prepared: &Prepared,
    seed: u64,
    stated_baseline_ns: Option<u64>,
) -> Result<Times, Stop> {
    let size = task.timed();
    let missing = || Error::internal("the artifact has no plan for the timed size");
    let last = prepared.candidate.plans.last().ok_or_else(missing)?;
    let own = prepared.baseline.as_ref().unwrap_or(&prepared.reference);
    let part = Part {
        size: &size,
        candidate: last,
        reference: own.plans.last().ok_or_else(missing)?,
        copies: prepared.candidate.copies,
    };
    let images = (&prepared.candidate.images[..], &own.images[..]);
    let bench = TaskSession::open(machine, settings, TIMING_TOTAL_MS, task, images, &[part])?;
    let seeds = seeds(seed, SEEDS_OF, 1);
    bench.check(0, &seeds)?;
    let options = MeasureOptions {
        warm_ups: WARM_UPS,
        trials: settings.trials,
        relative_error: RELATIVE_ERROR,
        budget_ms: MEASURE_MS,
        flush_l2: true,
        spot_checks: SPOT_CHECKS,
    };
    let (plans, pairs) = (bench.plans(0), bench.pairs(0));
    // A baseline that was measured before is not run: the reference checks what is timed, and may be slow.
    let measured = match stated_baseline_ns {
        None => machine.measure(bench.session(), plans, pairs, seeds[0], options),
        Some(_) => machine.time(bench.session(), plans, pairs, seeds[0], options),
    };
    let measured =
        measured.map_err(|error| candidate(error, "while it was timed", Detail::Whole))?;
    if let Some(reason) = suspicion(&bench, &measured) {
        return Err(Failure::new(Verdict::Suspicious, reason).into());
    }
    let baseline_ns = stated_baseline_ns.or(measured.reference.map(|timing| timing.median_ns));
    match (measured.candidate, baseline_ns) {
        (Some(candidate), Some(baseline_ns)) if candidate.median_ns > 0 && baseline_ns > 0 => {
            Ok(Times { candidate_ns: candidate.median_ns, baseline_ns })
        }
        _ => Err(Error::unavailable("the device gave no times").into()),
    }
}

/// Why the times are not to be believed.
fn suspicion<M: Machine>(bench: &TaskSession<'_, M>, measured: &Measurement) -> Option<String> {
    let name = |number: u32| bench.name(0, number);
    let mut spots = measured.spot.iter();
    let found = spots.find_map(|report| findings::in_report(report, &name, bench.pairs(0), true));
    if let Some(found) = found {
        return Some(format!("right when it was checked, and not while it was timed: {found}"));
    }
    let reasons = &measured.suspicious;
    (!reasons.is_empty())
        .then(|| format!("its times are not to be believed: {}", reasons.join("; ")))
}
