//! The conditions of operation: start-up times, quotas, groups that are waited for, faults.

use assay_core::limits::WORKER_LOST_RETRIES_MAX;
use assay_core::time::Micros;
use assay_sched::{Consumes, Discipline};
use assay_sim::faults::{Fault, Faults, Scarcity, Slow};
use assay_sim::policy::{Hint, QUOTA_DEFAULT, Settings};
use assay_sim::report::PolicyReport;
use assay_sim::trace::Trace;

use super::comparison::{
    CPU, Comparison, DELAYS, GPU, HEADING, compare, compare_all, delay, delays, fixed, norm,
    policy_goal, pool, rows, settings,
};
use super::ordering::{FEW_S, factor};
use super::page::Page;
use super::published::{Measured, paper, reference};
use super::workloads::Workloads;

/// The design goal of `assay` with six tasks and 30 s of billed start-up.
const WANTED: Measured = Measured { policy: "assay", delay_s: 0.4, gpu_norm: 1.15, cpu_norm: 1.20 };

const STARTUP_S: u64 = 30;

/// The draws of faults, and the goals for the mean delay that they cost.
const FAULT_SEEDS: [u64; 6] = [1, 2, 3, 4, 5, 6];
const LOST_DELAY_MAX_S: f64 = 2.5;
const SLOW_DELAY_MAX_S: f64 = 2.0;

/// GPUs, for batches of this many requests; fewer for smaller ones.
const QUOTAS: [usize; 6] = [70, 85, 100, 130, 160, 200];
const QUOTAS_FOR: usize = 6 * 2_048;

/// The largest time by which the order inside a batch may change the batch's own delay.
const GROUPS_LATER_MAX_S: f64 = 0.3;

pub(super) fn add(page: &mut Page, workloads: &Workloads) -> anyhow::Result<()> {
    let workload = workloads.together()?;
    page.heading("Six tasks with start-up times");
    page.say(format!(
        "{}, {STARTUP_S} s from asking for a worker until it takes work, all of it billed. First \
         without a hint, as the reference ran it: a batch is known by its first request.",
        workload.origin
    ));
    let policies = "zq,distrs,ideal,assay,limit";
    let unannounced = Settings { hint: Hint::FirstRequest, ..settings(STARTUP_S) };
    let comparison = compare(&workload.trace, policies, &unannounced)?;
    let measured = if workload.is_shared { &reference::SIX_TASKS_STARTUP[..] } else { &[] };
    page.table(&HEADING, &rows(&comparison, measured));
    let seen = comparison.get("assay");
    policy_goal(page, "six tasks, 30 s billed, no hint", seen, &WANTED);
    page.say(
        "With the hint, as in the rest of this page: batches are announced as their rollouts start. \
         `zq`, `distrs` and `ideal` hold their workers from then on, before there is work for them; \
         `assay` has them started when they are due.",
    );
    let comparison = compare(&workload.trace, policies, &settings(STARTUP_S))?;
    page.table(&HEADING, &rows(&comparison, &[]));
    let seen = comparison.get("assay");
    policy_goal(page, "six tasks, 30 s billed, with the hint", seen, &WANTED);
    groups(page, workloads, &workload.trace)?;
    slow_starts(page, &workload.trace)?;
    scarcity(page, workloads, &workload.trace)?;
    quotas(page, workloads, &workload.trace)?;
    faults(page, &workload.trace)
}

/// The rows of the table: their name, the discipline, the unit for which trainers wait, and the policy.
const CONSUMED: [(&str, Discipline, Consumes, &str); 7] = [
    ("`ebf`, batches", Discipline::EBF, Consumes::Batch, "distrs"),
    ("`ebf-groups`, batches", Discipline::EBF_GROUPS, Consumes::Batch, "distrs"),
    ("`ebf`, batches", Discipline::EBF, Consumes::Batch, "assay"),
    ("`ebf-groups`, batches", Discipline::EBF_GROUPS, Consumes::Batch, "assay"),
    ("`ebf`, groups", Discipline::EBF, Consumes::Groups, "assay"),
    ("`fcfs`, groups", Discipline::FCFS, Consumes::Groups, "assay"),
    ("`ebf`, groups", Discipline::EBF, Consumes::Groups, "limit"),
];

/// The rows of `CONSUMED` with `assay` for batches and for groups.
const PLAIN: usize = 2;
const CONSUMING: usize = 4;

/// The goals for a run that consumes groups: the mean delay of a group, and the GPU norm.
const GROUP_DELAY_MAX_S: f64 = 2.0;
const GROUP_NORM_MAX: f64 = 1.2;

fn groups(page: &mut Page, workloads: &Workloads, trace: &Trace) -> anyhow::Result<()> {
    page.heading("Groups that are waited for");
    page.say(
        "A trainer that streams mini-batches waits for groups, and its run says so (`consumes`). Then \
         `assay` plans for the time that requests wait and not for the batch's end alone, and its \
         groups are served one after the other, as discipline `ebf-groups` does for all batches: inside \
         a batch, the group that is nearest to its end comes first. Rows with the order alone \
         (`ebf-groups`, batches) and with the plan alone (`fcfs`, groups) show what each is worth. A group's delay is from when its \
         last request could have ended to when it did.",
    );
    let mut table = Vec::new();
    let mut seen = Vec::new();
    for (name, discipline, consumes, policy) in CONSUMED {
        let settings = Settings { discipline, consumes, ..settings(STARTUP_S) };
        let compared = compare(trace, policy, &settings)?;
        table.push(consumed(format!("`{policy}`, {name}"), compared.get(policy)));
        seen.push(compared);
    }
    // The results of `assay` for batches and for groups, by trace.
    let mut pairs = vec![(seen.remove(PLAIN), seen.remove(CONSUMING - 1))];
    let scale = workloads.scale;
    let [batches, groups] = [Consumes::Batch, Consumes::Groups]
        .map(|consumes| Settings { consumes, ..settings(STARTUP_S) });
    for seed in scale.seeds {
        let trace = workloads.draw(scale.tasks, scale.iterations, *seed, &[]);
        let pair = (compare(&trace, "assay", &batches)?, compare(&trace, "assay", &groups)?);
        for (what, compared) in [("batches", &pair.0), ("groups", &pair.1)] {
            let name = format!("`assay`, `ebf`, {what}, seed {seed}");
            table.push(consumed(name, compared.get("assay")));
        }
        pairs.push(pair);
    }
    let heading = [
        "policy, discipline, what is consumed",
        "group delay: mean, s",
        "p99, s",
        DELAYS,
        "GPU norm",
        "CPU norm",
    ];
    page.table(&heading, &table);
    let worst = |of: &dyn Fn(&PolicyReport, &PolicyReport) -> f64| {
        let each =
            pairs.iter().map(|(batches, groups)| of(batches.get("assay"), groups.get("assay")));
        each.fold(f64::NEG_INFINITY, f64::max)
    };
    let waited = worst(&|_, groups| groups.group_delay_s.mean);
    let norm = worst(&|_, groups| norm(groups, GPU));
    let later = worst(&|batches, groups| delay(groups) - delay(batches));
    page.goal(
        format!(
            "`assay` for groups, the worst of {} traces: mean group delay, GPU norm, batches later",
            pairs.len()
        ),
        format!("{GROUP_DELAY_MAX_S:.1} s, {GROUP_NORM_MAX:.2}, {GROUPS_LATER_MAX_S:+.1} s"),
        format!("{} s, {}, {later:+.2} s", fixed(waited, 2), fixed(norm, 3)),
        waited <= GROUP_DELAY_MAX_S && norm <= GROUP_NORM_MAX && later <= GROUPS_LATER_MAX_S,
    );
    Ok(())
}

fn consumed(name: String, report: &PolicyReport) -> Vec<String> {
    let group = &report.group_delay_s;
    vec![
        name,
        fixed(group.mean, 2),
        fixed(group.p99, 1),
        delays(report),
        fixed(norm(report, GPU), 3),
        fixed(norm(report, CPU), 3),
    ]
}

/// Seconds that a start takes on average.
const SLOW_STARTS_S: [u64; 4] = [30, 60, 120, 300];

/// The fraction by which a start is faster or slower at most.
const SPREAD: f64 = 0.5;

/// The goal with starts of a minute: mean d, and the GPU norm for it.
const SLOW_START: (u64, f64, f64) = (60, 1.0, 1.25);

fn slow_starts(page: &mut Page, trace: &Trace) -> anyhow::Result<()> {
    let settings =
        SLOW_STARTS_S.map(|startup| Settings { startup_spread: SPREAD, ..settings(startup) });
    let cases: Vec<_> = settings.iter().map(|settings| (trace, settings)).collect();
    let compared = compare_all(&cases, "distrs,assay")?;
    page.heading("Slow starts that differ");
    page.say(format!(
        "Each start takes its usual time, more or less by up to {:.0} %, all as likely. The planner \
         knows the mean of those that it saw.",
        SPREAD * 100.0
    ));
    let mut table = Vec::new();
    for (startup, compared) in SLOW_STARTS_S.iter().zip(&compared) {
        let mut row = vec![format!("{startup} s")];
        for policy in ["distrs", "assay"] {
            let report = compared.get(policy);
            row.extend([fixed(norm(report, GPU), 3), fixed(norm(report, CPU), 3), delays(report)]);
        }
        table.push(row);
        let (minute, delay_max_s, norm_max) = SLOW_START;
        if *startup == minute {
            let report = compared.get("assay");
            let (seen, norm) = (delay(report), norm(report, GPU));
            page.goal(
                format!("`assay`, starts of {minute} s that differ: mean d, GPU norm"),
                format!("{delay_max_s:.1} s, {norm_max:.2}"),
                format!("{} s, {}", fixed(seen, 2), fixed(norm, 3)),
                seen <= delay_max_s && norm <= norm_max,
            );
        }
    }
    let heading = ["usual start", "`distrs`: GPU", "CPU", DELAYS, "`assay`: GPU", "CPU", DELAYS];
    page.table(&heading, &table);
    Ok(())
}

fn quotas(page: &mut Page, workloads: &Workloads, trace: &Trace) -> anyhow::Result<()> {
    let requests = (workloads.scale.batch * workloads.scale.tasks) as usize;
    let mut quotas = QUOTAS.map(|quota| (quota * requests / QUOTAS_FOR).max(1)).to_vec();
    quotas.dedup();
    quotas.push(QUOTA_DEFAULT);
    let orders = [Discipline::EBF, Discipline::FCFS];
    let mut all: Vec<Settings> = Vec::new();
    for quota in &quotas {
        for discipline in orders {
            let mut one = Settings { discipline, ..settings(0) };
            one.quota.named.insert(GPU.to_owned(), *quota);
            all.push(one);
        }
    }
    let cases: Vec<_> = all.iter().map(|settings| (trace, settings)).collect();
    let compared = compare_all(&cases, "distrs,assay")?;
    page.heading("Quotas");
    page.say(
        "A hard limit on GPUs, no start-up time. SIMULATE knows it, so that the CPU side is not \
         planned for what the GPUs cannot take.",
    );
    let rows = quotas.iter().zip(compared.chunks(orders.len())).map(|(quota, by_order)| {
        let is_none = *quota == QUOTA_DEFAULT;
        let mut row = vec![if is_none { "none".to_owned() } else { quota.to_string() }];
        for policy in ["distrs", "assay"] {
            row.push(fixed(norm(by_order[0].get(policy), GPU), 3));
            row.extend(by_order.iter().map(|compared| delays(compared.get(policy))));
        }
        row
    });
    let heading = [
        "GPUs at most",
        "`distrs`: GPU norm",
        "EBF: mean d (p90, max), s",
        "FCFS",
        "`assay`: GPU norm",
        "EBF: mean d (p90, max), s",
        "FCFS",
    ];
    page.table(&heading, &rows.collect::<Vec<_>>());
    let least = |order: usize| {
        let is_low = |by_order: &[Comparison]| delay(by_order[order].get("distrs")) <= FEW_S;
        let low = compared.chunks(orders.len()).position(is_low);
        low.map(|place| quotas[place]).filter(|quota| *quota < QUOTA_DEFAULT)
    };
    let seen = factor(least(0), least(1));
    page.goal(
        format!("GPUs of FCFS over those of EBF for a mean d of {FEW_S} s, `distrs` under quotas"),
        fixed(paper::EBF_FACTOR, 1),
        fixed(seen, 2),
        seen >= paper::EBF_FACTOR,
    );
    Ok(())
}

/// When the last rollout of the trace starts.
fn last_rollout(trace: &Trace) -> Micros {
    let last = trace.tasks.iter().flat_map(|task| task.iterations.last());
    last.map(|last| last.rollout_start).max().unwrap_or_default()
}

/// GPUs that can be had in the second third of the trace, for batches of `QUOTAS_FOR` requests. The first number is
/// just enough, so that the goal for slow starts holds there too.
const SCARCE: [usize; 3] = [100, 85, 70];
/// Seconds without any GPU.
const OUTAGE_S: u64 = 60;

fn scarcity(page: &mut Page, workloads: &Workloads, trace: &Trace) -> anyhow::Result<()> {
    let requests = (workloads.scale.batch * workloads.scale.tasks) as usize;
    let third = Micros(last_rollout(trace).0 / 3);
    let (startup, delay_max_s, norm_max) = SLOW_START;
    let scarce = |workers, until| {
        let fault = Scarcity { pool: GPU.to_owned(), workers, from: third, until };
        Settings { faults: [Fault::Scarcity(fault)].into_iter().collect(), ..settings(startup) }
    };
    let mut rows = vec![("all".to_owned(), settings(startup))];
    for gpus in SCARCE {
        let gpus = (gpus * requests / QUOTAS_FOR).max(1);
        rows.push((format!("{gpus} GPUs in the second third"), scarce(gpus, third + third)));
    }
    let outage = scarce(0, third + Micros::from_secs(OUTAGE_S));
    rows.push((format!("no GPU for {OUTAGE_S} s"), outage));
    let cases: Vec<_> = rows.iter().map(|(_, settings)| (trace, settings)).collect();
    let compared = compare_all(&cases, "distrs,assay")?;
    page.heading("Capacity that ends");
    page.say(format!(
        "Start-up {startup} s. At a third of the trace fewer GPUs can be had than before: workers above that are lost \
         at once, in the middle of what they run, and starts wait for a place, which is not billed, until the \
         capacity is back. The planner is told how many starts have no place: `assay` goes on asking for them, expects \
         them to wait as long again as they have waited, and measures a start from its place on. T is that of a run \
         without the fault.",
    ));
    let table = rows.iter().zip(&compared).map(|((name, _), compared)| {
        let mut row = vec![name.clone()];
        for policy in ["distrs", "assay"] {
            let report = compared.get(policy);
            row.extend([fixed(norm(report, GPU), 3), fixed(norm(report, CPU), 3), delays(report)]);
        }
        row
    });
    let heading =
        ["what can be had", "`distrs`: GPU", "CPU", DELAYS, "`assay`: GPU", "CPU", DELAYS];
    page.table(&heading, &table.collect::<Vec<_>>());
    let (what, enough) = (&rows[1].0, compared[1].get("assay"));
    let (seen, norm) = (delay(enough), norm(enough, GPU));
    page.goal(
        format!("`assay`, starts of {startup} s, {what}: mean d, GPU norm"),
        format!("{delay_max_s:.1} s, {norm_max:.2}"),
        format!("{} s, {}", fixed(seen, 2), fixed(norm, 3)),
        seen <= delay_max_s && norm <= norm_max,
    );
    Ok(())
}

fn faults(page: &mut Page, trace: &Trace) -> anyhow::Result<()> {
    let restart = Fault::HostRestart { at: Micros(last_rollout(trace).0 / 2) };
    let lost = [Fault::Lose { per_hour: 60.0 }];
    let slow = [Fault::Slow(Slow { fraction: 0.05, factor: 3.0 })];
    let unhedged = Settings { hedge_after: None, ..settings(STARTUP_S) };
    let cases: [(&str, &[Fault], Settings, Option<f64>); 5] = [
        ("none", &[], settings(STARTUP_S), None),
        ("60 busy workers lost an hour", &lost, settings(STARTUP_S), Some(LOST_DELAY_MAX_S)),
        ("the same, nothing hedged", &lost, unhedged, None),
        ("1 worker in 20 is 3 times slower", &slow, settings(STARTUP_S), Some(SLOW_DELAY_MAX_S)),
        ("the host restarts in the middle", &[restart], settings(STARTUP_S), None),
    ];
    page.heading("Faults");
    page.say(format!(
        "Start-up {STARTUP_S} s. T is that of a faultless run, so that d holds what a fault costs; means over {} \
         draws of the faults, and of d the least and the most as well. \
         A request that loses its worker more than {WORKER_LOST_RETRIES_MAX} times ends as an error, \
         never as a number; these are counted. Workers are lost among those that are busy: near a \
         batch's end that is often the same request's. So in a pool that has lost a busy worker, the last requests \
         of a batch run on two workers where one is idle (hedging), and a worker that is slow again and again is \
         replaced, under each policy.",
        FAULT_SEEDS.len()
    ));
    let mut table = Vec::new();
    for (name, faults, settings, wanted) in cases {
        let faults: Faults = faults.iter().cloned().collect();
        let draws: Vec<Settings> = FAULT_SEEDS
            .iter()
            .map(|&seed| Settings { faults: faults.clone(), seed, ..settings.clone() })
            .collect();
        let traced: Vec<_> = draws.iter().map(|settings| (trace, settings)).collect();
        let compared = compare_all(&traced, "distrs,assay")?;
        let mut row = vec![name.to_owned()];
        for policy in ["distrs", "assay"] {
            let reports: Vec<_> = compared.iter().map(|compared| compared.get(policy)).collect();
            let of = |number: &dyn Fn(&PolicyReport) -> f64| {
                let numbers: Vec<f64> = reports.iter().map(|report| number(report)).collect();
                let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
                let most = numbers.iter().copied().fold(0.0, f64::max);
                (numbers.iter().sum::<f64>() / numbers.len() as f64, least, most)
            };
            let (mean, least, most) = of(&delay);
            row.push(fixed(of(&|report| norm(report, GPU)).0, 3));
            row.push(format!("{mean:.2} ({least:.2} to {most:.2})"));
            row.push(fixed(of(&|report| pool(report, GPU).starts as f64).0, 0));
            row.push(fixed(of(&|report| report.failed_requests as f64).0, 1));
            if let Some(wanted) = wanted.filter(|_| policy == "assay") {
                page.goal(
                    format!("mean d of `assay`, {name}"),
                    format!("{wanted:.1} s"),
                    format!("{mean:.2} s"),
                    mean <= wanted,
                );
            }
        }
        table.push(row);
    }
    let heading = [
        "fault",
        "`distrs`: GPU norm",
        "mean d, s",
        "GPU starts",
        "errors",
        "`assay`: GPU norm",
        "mean d, s",
        "GPU starts",
        "errors",
    ];
    page.table(&heading, &table);
    Ok(())
}
