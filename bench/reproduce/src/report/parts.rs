//! The effect of each part of the policy `assay`: the same run without that part.

use assay_core::time::Micros;
use assay_planner::{Checked, Policy, Tuning};
use assay_sim::policy::Settings;

use super::comparison::{
    CPU, Comparison, DELAYS, GPU, compare_all, delays, fixed, norm, pool, settings,
};
use super::page::Page;
use super::workloads::Workloads;

const STARTUP_S: u64 = 30;

pub(super) fn add(page: &mut Page, workloads: &Workloads) -> anyhow::Result<()> {
    let workload = workloads.together()?;
    let parts = parts();
    let cases: Vec<_> = parts.iter().map(|(_, settings)| (&workload.trace, settings)).collect();
    let compared = compare_all(&cases, "assay")?;
    page.heading("What each part of `assay` is worth");
    page.say(format!(
        "{}, {STARTUP_S} s of start-up billed. Each row changes one thing of the policy as it is; \
         where a row is better in all columns, the part is not worth its place on this trace.",
        workload.origin
    ));
    let row = |((name, _), compared): (&(String, Settings), &Comparison)| {
        let report = compared.get("assay");
        vec![
            name.clone(),
            fixed(norm(report, GPU), 3),
            fixed(norm(report, CPU), 3),
            delays(report),
            pool(report, GPU).starts.to_string(),
        ]
    };
    let rows: Vec<Vec<String>> = parts.iter().zip(&compared).map(row).collect();
    page.table(&["`assay`", "GPU norm", "CPU norm", DELAYS, "GPU starts"], &rows);
    Ok(())
}

fn parts() -> Vec<(String, Settings)> {
    let usual = Policy::ASSAY.tuning();
    let tuned = |name: &str, tuning: Tuning| {
        (name.to_owned(), Settings { tuning: Some(tuning), ..settings(STARTUP_S) })
    };
    let risk = |ms: u64| Checked::Risk { budget: Micros::from_ms(ms) };
    let mut parts = vec![
        tuned("as it is", usual.clone()),
        tuned(
            "the paper's check of timeouts, no price of risk",
            Tuning { check: Checked::Timeouts, ..usual.clone() },
        ),
        tuned("no check of timeouts at all", Tuning { check: Checked::Late, ..usual.clone() }),
        tuned("a budget of 1 s for risk", Tuning { check: risk(1_000), ..usual.clone() }),
        tuned("the last batch alone as history", Tuning { history: 1, ..usual.clone() }),
        tuned(
            "T from service times as they were",
            Tuning { robust_quantile: 1.0, ..usual.clone() },
        ),
        tuned(
            "a worker is stopped by the first plan that does not need it",
            Tuning { held_plans: 0, ..usual.clone() },
        ),
        tuned("drift is not looked for", Tuning { follows_drift: false, ..usual.clone() }),
        tuned("what is to come from history, not size", Tuning { by_size: false, ..usual.clone() }),
        tuned("no starts beyond the plan", Tuning { headroom: 0.0, ..usual }),
    ];
    for seconds in [5, 20, 60] {
        let period = Micros::from_secs(seconds);
        parts.push((
            format!("planned every {seconds} s"),
            Settings { period, ..settings(STARTUP_S) },
        ));
    }
    parts
}
