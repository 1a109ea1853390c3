//! Workloads that nothing was tuned on: other seeds, and sudden changes.

use assay_sim::policy::Settings;
use assay_sim::trace::Trace;
use assay_sim::workload::Shift;

use super::comparison::{
    CPU, Comparison, DELAYS, GPU, compare_all, delay, delays, fixed, norm, settings,
};
use super::page::Page;
use super::workloads::Workloads;

const POLICIES: &str = "distrs,assay";

const STARTUPS_S: [u64; 2] = [0, 30];

/// The largest time by which a batch may be later than under the published policy.
const LATER_MAX_S: f64 = 0.3;

const SHIFTS_SEED: u64 = 11;

pub(super) fn add(page: &mut Page, workloads: &Workloads) -> anyhow::Result<()> {
    page.heading("Other seeds and sudden changes");
    page.say(format!(
        "`distrs` is the measure: mean d of `assay` less that of `distrs` is to stay within \
         {LATER_MAX_S} s in every row. Start-up times are billed; with them, batches are announced as their \
         rollouts start."
    ));
    seeds(page, workloads)?;
    shifts(page, workloads)
}

struct Case {
    name: String,
    trace: Trace,
}

fn seeds(page: &mut Page, workloads: &Workloads) -> anyhow::Result<()> {
    let scale = workloads.scale;
    let case = |&seed: &u64| Case {
        name: format!("seed {seed}"),
        trace: workloads.draw(scale.tasks, scale.iterations, seed, &[]),
    };
    let cases: Vec<Case> = scale.seeds.iter().map(case).collect();
    page.say(format!(
        "**Other seeds**: {} tasks × {} iterations × {} requests.",
        scale.tasks, scale.iterations, scale.batch
    ));
    table(page, "other seeds", &cases)
}

fn shifts(page: &mut Page, workloads: &Workloads) -> anyhow::Result<()> {
    let scale = workloads.scale;
    let mut cases = Vec::new();
    for (tasks, iterations) in [(1, scale.iterations_shifted), (scale.tasks, scale.iterations)] {
        for (what, shift) in changes() {
            let trace = changed(workloads, tasks, iterations, shift);
            let plural = if tasks == 1 { "" } else { "s" };
            cases.push(Case { name: format!("{what}, {tasks} task{plural}"), trace });
        }
    }
    // The hardest one: shorter batches, of which a single one says little about the next.
    let (what, shift) = changes()[0];
    let shift = Shift { at_iteration: scale.iterations / 2, ..shift };
    for seed in SHIFTS_SEED + 1..SHIFTS_SEED + 6 {
        let trace = workloads.draw(scale.tasks, scale.iterations, seed, &[shift]);
        let name = format!("{what}, {} tasks, seed {seed}", scale.tasks);
        cases.push(Case { name, trace });
    }
    page.say(format!(
        "**Sudden changes**: all tasks change at once, one task at iteration {} of {}, {} tasks at {} \
         of {}.",
        scale.iterations_shifted / 2,
        scale.iterations_shifted,
        scale.tasks,
        scale.iterations / 2,
        scale.iterations
    ));
    table(page, "sudden changes", &cases)
}

/// A workload that changes half-way.
pub(super) fn changed(workloads: &Workloads, tasks: u32, iterations: u32, shift: Shift) -> Trace {
    let shift = Shift { at_iteration: iterations / 2, ..shift };
    workloads.draw(tasks, iterations, SHIFTS_SEED, &[shift])
}

pub(super) fn changes() -> [(&'static str, Shift); 5] {
    let none = Shift::default();
    [
        ("lengths × 0.6", Shift { length: 0.6, ..none }),
        ("lengths × 1.4", Shift { length: 1.4, ..none }),
        ("execution × 2.5", Shift { execute: 2.5, ..none }),
        ("compilation × 1.5", Shift { compile: 1.5, ..none }),
        ("8 % time out", Shift { timeouts: Some(0.08), ..none }),
    ]
}

/// Each case with each start-up time, and the goal that all of them share.
fn table(page: &mut Page, what: &str, cases: &[Case]) -> anyhow::Result<()> {
    let settings: Vec<Settings> = STARTUPS_S.iter().map(|&startup| settings(startup)).collect();
    let mut all = Vec::new();
    for case in cases {
        all.extend(settings.iter().map(|settings| (&case.trace, settings)));
    }
    let compared = compare_all(&all, POLICIES)?;
    let later =
        |compared: &Comparison| delay(compared.get("assay")) - delay(compared.get("distrs"));
    let named = cases.iter().flat_map(|case| STARTUPS_S.map(|startup| (&case.name, startup)));
    let row = |((name, startup), compared): ((&String, u64), &Comparison)| {
        let mut row = vec![name.clone(), format!("{startup} s")];
        for policy in ["distrs", "assay"] {
            let report = compared.get(policy);
            row.push(fixed(norm(report, GPU), 3));
            row.push(fixed(norm(report, CPU), 3));
            row.push(delays(report));
        }
        row.push(format!("{:+.2}", later(compared)));
        row
    };
    let rows: Vec<Vec<String>> = named.zip(&compared).map(row).collect();
    let heading = [
        "workload",
        "start-up",
        "`distrs`: GPU",
        "CPU",
        DELAYS,
        "`assay`: GPU",
        "CPU",
        DELAYS,
        "d later, s",
    ];
    page.table(&heading, &rows);
    let worst = compared.iter().map(later).fold(f64::NEG_INFINITY, f64::max);
    let missed = compared.iter().filter(|compared| later(compared) > LATER_MAX_S).count();
    page.goal(
        format!("mean d of `assay` less that of `distrs`, {what}, each of {} rows", rows.len()),
        format!("{LATER_MAX_S:.1} s"),
        format!("{worst:+.2} s at most, {missed} rows beyond"),
        missed == 0,
    );
    Ok(())
}
