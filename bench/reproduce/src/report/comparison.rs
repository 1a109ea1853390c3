//! Policies side by side: the runs, and the numbers that tables take from them.

use assay_core::time::Micros;
use assay_sim::Run;
use assay_sim::policy::{ByPool, Hint, Settings, parse_policies};
use assay_sim::report::{PolicyReport, PoolReport, Report};
use assay_sim::trace::Trace;
use assay_simulation::runs::{Job, run_all};

use super::page::Page;
use super::published::Measured;

/// The stages of the paper's task.
pub(super) const CPU: &str = "compile";
pub(super) const GPU: &str = "execute";

#[derive(Debug)]
pub(super) struct Comparison {
    pub(super) runs: Vec<Run>,
    pub(super) reports: Vec<PolicyReport>,
}

/// Without start-up times there is nothing to warm up: trainers give no hint, as in the reference.
/// With them they announce a batch as its rollout starts.
pub(super) fn settings(startup_s: u64) -> Settings {
    Settings {
        startup: ByPool::all(Micros::from_secs(startup_s)),
        hint: if startup_s == 0 { Hint::FirstRequest } else { Hint::RolloutStart },
        ..Settings::default()
    }
}

/// Each policy on a trace, under the same settings.
pub(super) fn compare(
    trace: &Trace,
    policies: &str,
    settings: &Settings,
) -> anyhow::Result<Comparison> {
    Ok(compare_all(&[(trace, settings)], policies)?.remove(0))
}

/// Each policy on each trace; all runs share the cores.
pub(super) fn compare_all(
    cases: &[(&Trace, &Settings)],
    policies: &str,
) -> anyhow::Result<Vec<Comparison>> {
    let policies = parse_policies(policies)?;
    let mut jobs = Vec::new();
    for &(trace, settings) in cases {
        jobs.extend(policies.iter().map(|policy| Job { trace, policy, settings }));
    }
    let mut runs = run_all(&jobs)?.into_iter();
    let case = |_| Comparison::of(runs.by_ref().take(policies.len()).collect());
    Ok(cases.iter().map(case).collect())
}

impl Comparison {
    fn of(runs: Vec<Run>) -> Self {
        let reports = Report::of(&runs).policies;
        Self { runs, reports }
    }

    pub(super) fn get(&self, policy: &str) -> &PolicyReport {
        let found = self.reports.iter().find(|report| report.policy == policy);
        found.expect("a section looks at the policies that it has run")
    }

    /// The index of a pool among the runs' pools.
    pub(super) fn pool(&self, name: &str) -> usize {
        let pools = &self.runs.first().expect("a comparison has runs").pools;
        pools.iter().position(|pool| pool.pool == name).expect("the paper's task has it")
    }
}

pub(super) fn delay(report: &PolicyReport) -> f64 {
    report.extra_delay_s.mean
}

pub(super) fn pool<'a>(report: &'a PolicyReport, stage: &str) -> &'a PoolReport {
    &report.pools[stage]
}

/// Allocated over executed; a stage that ran nothing has none.
pub(super) fn norm(report: &PolicyReport, stage: &str) -> f64 {
    pool(report, stage).norm.unwrap_or(f64::NAN)
}

/// ZQ-Dedicated's time over this policy's.
pub(super) fn saving(report: &PolicyReport, stage: &str) -> f64 {
    pool(report, stage).ratio_to_zq.unwrap_or(f64::NAN)
}

pub(super) fn fixed(value: f64, places: usize) -> String {
    if value.is_finite() { format!("{value:.places$}") } else { "-".to_owned() }
}

pub(super) const DELAYS: &str = "mean d (p90, max), s";

pub(super) fn delays(report: &PolicyReport) -> String {
    let delay = &report.extra_delay_s;
    format!("{:.2} ({:.1}, {:.1})", delay.mean, delay.p90, delay.max)
}

/// The table of every comparison of policies, with the reference's numbers if it has them.
pub(super) const HEADING: [&str; 8] = [
    "policy",
    "GPU norm",
    "reference",
    "CPU norm",
    "reference",
    DELAYS,
    "reference: mean d",
    "GPU starts",
];

pub(super) fn rows(comparison: &Comparison, reference: &[Measured]) -> Vec<Vec<String>> {
    let row = |report: &PolicyReport| {
        let measured = reference.iter().find(|measured| measured.policy == report.policy);
        let or_none = |value: Option<f64>, places| fixed(value.unwrap_or(f64::NAN), places);
        vec![
            format!("`{}`", report.policy),
            fixed(norm(report, GPU), 3),
            or_none(measured.map(|measured| measured.gpu_norm), 3),
            fixed(norm(report, CPU), 3),
            or_none(measured.map(|measured| measured.cpu_norm), 3),
            delays(report),
            or_none(measured.map(|measured| measured.delay_s), 2),
            pool(report, GPU).starts.to_string(),
        ]
    };
    comparison.reports.iter().map(row).collect()
}

/// Delay and norms of `assay`, together.
pub(super) fn policy_goal(page: &mut Page, what: &str, report: &PolicyReport, wanted: &Measured) {
    let (gpu, cpu, delay) = (norm(report, GPU), norm(report, CPU), delay(report));
    let Measured { delay_s, gpu_norm, cpu_norm, .. } = *wanted;
    page.goal(
        format!("`assay`, {what}: mean d, GPU norm, CPU norm"),
        format!("{delay_s:.2} s, {gpu_norm:.3}, {cpu_norm:.3}"),
        format!("{} s, {}, {}", fixed(delay, 2), fixed(gpu, 3), fixed(cpu, 3)),
        delay <= delay_s && gpu <= gpu_norm && cpu <= cpu_norm,
    );
}
