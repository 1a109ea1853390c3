//! The effect of each part of the policy `assay`: the same runs without that part.

use assay_core::time::Micros;
use assay_planner::{Checked, Policy, Tuning};
use assay_sched::Discipline;
use assay_sim::policy::{Hint, Settings};
use assay_sim::report::PolicyReport;
use assay_sim::trace::Trace;
use assay_sim::workload::Trainer;

use super::comparison::{CPU, Comparison, GPU, compare_all, delay, fixed, norm, settings};
use super::page::Page;
use super::robustness;
use super::workloads::{Workloads, draw};

const STARTUP_S: u64 = 30;

/// The least part of a batch's usual size, where sizes differ.
const SIZE_LEAST: f64 = 0.3;

const BY_HISTORY: &str = "what is to come from history, not size";

/// The first row of a table, and those that differ from it by chance alone.
const WHOLE: usize = 0;
const CHANCE: [usize; 2] = [1, 2];

/// A row differs from the whole if it is this many times as far from it as the rows of chance are.
const BEYOND_CHANCE: f64 = 2.0;

pub(super) fn add(page: &mut Page, workloads: &Workloads) -> anyhow::Result<()> {
    let scale = workloads.scale;
    let parts = parts();
    page.heading("What each part of `assay` is worth");
    page.say(format!(
        "{} tasks × {} iterations × {} requests of seeds that nothing was tuned on, {STARTUP_S} s of start-up billed. Each \
         row changes one thing of the policy as it is. A period of planning that is 0.3 s longer or shorter should change \
         nothing: these two rows show what chance does. The last column names what is at least {BEYOND_CHANCE} times as \
         far from the first row as the farther of them. Where it is empty in both tables, the part is not told from chance \
         on these workloads; where a row is only better, the part is not worth its place. Other parts have tables of their \
         own: groups that are waited for, hedging under faults, starts without a place under capacity that ends.",
        scale.tasks, scale.iterations, scale.batch,
    ));
    let steady: Vec<Trace> = scale
        .seeds_of_parts
        .iter()
        .map(|seed| workloads.draw(scale.tasks, scale.iterations, *seed, &[]))
        .collect();
    page.say(format!(
        "**Workloads that stay as they are**: the means over {} seeds.",
        steady.len()
    ));
    table(page, &parts, &steady)?;
    let changed: Vec<Trace> = robustness::changes()
        .into_iter()
        .map(|change| robustness::changed(workloads, scale.tasks, scale.iterations, change.1))
        .collect();
    page.say(format!("**Sudden changes**: the means over the {} changes above.", changed.len()));
    table(page, &parts, &changed)?;
    let sized = scale.seeds_of_parts.iter().map(|seed| {
        let trainer = Trainer {
            tasks: scale.tasks,
            iterations: scale.iterations,
            batch: scale.batch,
            batch_least: SIZE_LEAST,
            ..Trainer::default()
        };
        draw(trainer, *seed, &[])
    });
    let sized: Vec<Trace> = sized.collect();
    page.say(format!(
        "**Batches that differ in size**: each has {SIZE_LEAST} to 1 of {} requests, drawn anew, and its trainer says how many \
         (`expected_size`, or `outstanding` where that changes on the way); the means over {} seeds.",
        scale.batch,
        sized.len()
    ));
    let of_size = parts.iter().filter(|(name, _)| name == BY_HISTORY);
    let rows: Vec<_> = parts[..=CHANCE[1]].iter().chain(of_size).cloned().collect();
    table(page, &rows, &sized)
}

fn table(page: &mut Page, parts: &[(String, Settings)], traces: &[Trace]) -> anyhow::Result<()> {
    let cases =
        parts.iter().flat_map(|(_, settings)| traces.iter().map(move |trace| (trace, settings)));
    let compared = compare_all(&cases.collect::<Vec<_>>(), "assay")?;
    let all: Vec<Worth> = compared.chunks(traces.len()).map(Worth::of).collect();
    let rows = parts.iter().zip(&all).map(|((name, _), worth)| {
        let numbers = [(worth.delay_s, 2), (worth.delay_max_s, 1), (worth.gpu, 3), (worth.cpu, 3)];
        let numbers = numbers.map(|(number, places)| fixed(number, places));
        std::iter::once(name.clone()).chain(numbers).chain([worth.differs(&all)]).collect()
    });
    let heading = ["`assay`", "mean d, s", "max d, s", "GPU norm", "CPU norm", "differs in"];
    page.table(&heading, &rows.collect::<Vec<_>>());
    Ok(())
}

type WorthMeasure = fn(&Worth) -> f64;

/// Means over traces, and the largest delay of all.
struct Worth {
    delay_s: f64,
    delay_max_s: f64,
    gpu: f64,
    cpu: f64,
}

impl Worth {
    fn of(compared: &[Comparison]) -> Self {
        let reports: Vec<&PolicyReport> =
            compared.iter().map(|compared| compared.get("assay")).collect();
        let mean = |of: &dyn Fn(&PolicyReport) -> f64| {
            reports.iter().map(|report| of(report)).sum::<f64>() / reports.len() as f64
        };
        let largest = reports.iter().map(|report| report.extra_delay_s.max);
        Self {
            delay_s: mean(&delay),
            delay_max_s: largest.fold(0.0, f64::max),
            gpu: mean(&|report| norm(report, GPU)),
            cpu: mean(&|report| norm(report, CPU)),
        }
    }

    /// The measures that are farther from those of the whole than chance explains.
    fn differs(&self, all: &[Self]) -> String {
        let measures: [(&str, WorthMeasure); 3] = [
            ("mean d", |worth| worth.delay_s),
            ("GPU", |worth| worth.gpu),
            ("CPU", |worth| worth.cpu),
        ];
        let beyond = measures.into_iter().filter_map(|(name, of)| {
            let whole = of(&all[WHOLE]);
            let chance =
                CHANCE.iter().map(|row| (of(&all[*row]) - whole).abs()).fold(0.0, f64::max);
            let off = of(self) - whole;
            let word = if off > 0.0 { "worse" } else { "better" };
            (off.abs() >= BEYOND_CHANCE * chance && off != 0.0).then(|| format!("{name} {word}"))
        });
        beyond.collect::<Vec<_>>().join(", ")
    }
}

fn parts() -> Vec<(String, Settings)> {
    let usual = Policy::ASSAY.tuning();
    let tuned = |name: &str, tuning: Tuning| {
        (name.to_owned(), Settings { tuning: Some(tuning), ..settings(STARTUP_S) })
    };
    let planned =
        |name: &str, period: Micros| (name.to_owned(), Settings { period, ..settings(STARTUP_S) });
    vec![
        tuned("as it is", usual.clone()),
        planned("chance: planned every 9.7 s", Micros::from_ms(9_700)),
        planned("chance: planned every 10.3 s", Micros::from_ms(10_300)),
        tuned(
            "the paper's check of timeouts, no price of risk",
            Tuning { check: Checked::Timeouts, ..usual.clone() },
        ),
        tuned("no check of timeouts at all", Tuning { check: Checked::Late, ..usual.clone() }),
        tuned("the last batch alone as history", Tuning { history: 1, ..usual.clone() }),
        tuned(
            "T from service times as they were",
            Tuning { robust_quantile: 1.0, ..usual.clone() },
        ),
        tuned(BY_HISTORY, Tuning { by_size: false, ..usual.clone() }),
        tuned("drift is not looked for", Tuning { follows_drift: false, ..usual.clone() }),
        tuned(
            "a start counts as a worker at once",
            Tuning { models_startup: false, ..usual.clone() },
        ),
        tuned("all that were searched are held", Tuning { holds_used: false, ..usual.clone() }),
        tuned(
            "a worker is stopped by the first plan that does not need it",
            Tuning { held_plans: 0, ..usual.clone() },
        ),
        tuned("no starts beyond the plan", Tuning { headroom: 0.0, ..usual }),
        planned("planned at the edges of batches alone", Micros::MAX),
        (
            "no hint before the first request".to_owned(),
            Settings { hint: Hint::FirstRequest, ..settings(STARTUP_S) },
        ),
        (
            "queues by first come, first served".to_owned(),
            Settings { discipline: Discipline::FCFS, ..settings(STARTUP_S) },
        ),
    ]
}
