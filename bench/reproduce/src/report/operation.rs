//! The conditions of operation: start-up times, quotas, groups that are waited for, faults.

use assay_core::limits::WORKER_LOST_RETRIES_MAX;
use assay_core::time::Micros;
use assay_sched::Discipline;
use assay_sim::faults::{Fault, Faults};
use assay_sim::policy::{Hint, QUOTA_DEFAULT, Settings};
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

/// GPUs, for batches of this many requests; fewer for smaller ones.
const QUOTAS: [usize; 6] = [70, 85, 100, 130, 160, 200];
const QUOTAS_FOR: usize = 6 * 2_048;

/// By how much the order inside a batch may change the batch's own delay.
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
    groups(page, &workload.trace)?;
    quotas(page, workloads, &workload.trace)?;
    faults(page, &workload.trace)
}

fn groups(page: &mut Page, trace: &Trace) -> anyhow::Result<()> {
    let orders = [("`ebf`", Discipline::EBF), ("`ebf-groups`", Discipline::EBF_GROUPS)];
    let settings = orders.map(|(_, discipline)| Settings { discipline, ..settings(STARTUP_S) });
    let cases: Vec<_> = settings.iter().map(|settings| (trace, settings)).collect();
    let compared = compare_all(&cases, "distrs,assay")?;
    page.heading("Groups that are waited for");
    page.say(
        "A trainer that streams mini-batches waits for groups. Discipline `ebf-groups` serves, inside a \
         batch, the group that is nearest to its end. A group's delay is from when its last \
         request could have ended to when it did.",
    );
    let mut table = Vec::new();
    for policy in ["distrs", "assay"] {
        for ((name, _), compared) in orders.iter().zip(&compared) {
            let report = compared.get(policy);
            let group = &report.group_delay_s;
            table.push(vec![
                format!("`{policy}`, {name}"),
                fixed(group.mean, 2),
                fixed(group.p99, 1),
                delays(report),
                fixed(norm(report, GPU), 3),
                fixed(norm(report, CPU), 3),
            ]);
        }
    }
    page.table(
        &["policy, discipline", "group delay: mean, s", "p99, s", DELAYS, "GPU norm", "CPU norm"],
        &table,
    );
    let [plain, grouped] = [0, 1].map(|order: usize| compared[order].get("assay"));
    let later = delay(grouped) - delay(plain);
    let (before, after) = (plain.group_delay_s.mean, grouped.group_delay_s.mean);
    page.goal(
        "`ebf-groups` under `assay`: mean group delay falls, and batches are no later",
        format!("{} s, {GROUPS_LATER_MAX_S:+.1} s", fixed(before, 1)),
        format!("{} s, {later:+.2} s", fixed(after, 1)),
        after < before && later <= GROUPS_LATER_MAX_S,
    );
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

fn faults(page: &mut Page, trace: &Trace) -> anyhow::Result<()> {
    let middle = trace.tasks.iter().flat_map(|task| task.iterations.last());
    let middle = middle.map(|last| last.rollout_start).max().unwrap_or_default();
    let restart = Micros(middle.0 / 2);
    let cases: [(String, &[&str]); 4] = [
        ("none".into(), &[]),
        ("60 busy workers lost an hour".into(), &["lose=60"]),
        ("1 worker in 20 is 3 times slower".into(), &["slow=0.05:3"]),
        (format!("the host restarts at {:.0} s", restart.as_secs_f64()), &[]),
    ];
    let settings = cases.each_ref().map(|(_, texts)| {
        let parse = |text: &&str| text.parse::<Fault>().expect("a report writes faults correctly");
        Settings { faults: texts.iter().map(parse).collect(), ..settings(STARTUP_S) }
    });
    let [none, lost, slow, mut restarts] = settings;
    restarts.faults = Faults { host_restarts: vec![restart], ..Faults::default() };
    let settings = [none, lost, slow, restarts];
    let traced: Vec<_> = settings.iter().map(|settings| (trace, settings)).collect();
    let compared = compare_all(&traced, "distrs,assay")?;
    page.heading("Faults");
    page.say(format!(
        "Start-up {STARTUP_S} s. T is that of a faultless run, so that d holds what a fault costs. \
         A request that loses its worker more than {WORKER_LOST_RETRIES_MAX} times ends as an error, \
         never as a number; these are counted. Workers are lost among those that are busy: near a \
         batch's end that is often the same request's."
    ));
    let mut table = Vec::new();
    for ((name, _), compared) in cases.iter().zip(&compared) {
        let mut row = vec![name.clone()];
        for policy in ["distrs", "assay"] {
            let report = compared.get(policy);
            row.extend([fixed(norm(report, GPU), 3), delays(report)]);
            row.push(pool(report, GPU).starts.to_string());
        }
        row.push(
            compared.reports.iter().map(|report| report.failed_requests).sum::<usize>().to_string(),
        );
        table.push(row);
    }
    let heading = [
        "fault",
        "`distrs`: GPU norm",
        DELAYS,
        "GPU starts",
        "`assay`: GPU norm",
        DELAYS,
        "GPU starts",
        "errors",
    ];
    page.table(&heading, &table);
    Ok(())
}
