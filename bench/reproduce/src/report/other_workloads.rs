//! Rewards and trainers other than the DistRS paper's: PolyTrace's task types, and trainers that run ahead.

use assay_sched::Consumes;
use assay_sim::policy::Settings;
use assay_sim::report::PolicyReport;
use assay_sim::trace::{Trace, TrainerMode};
use assay_sim::workload::{Agent, Judge, Mixture, Rewards, Spec, TaskKind, Trainer, generate};

use super::comparison::{compare_all, delay, delays, fixed, settings};
use super::page::Page;
use super::workloads::{Scale, Workloads};

const POLICIES: [&str; 3] = ["distrs", "assay", "limit"];

const STARTUP_S: u64 = 30;

/// The time by which a row counts as later.
const LATER_MAX_S: f64 = 0.3;

/// The part by which a training may take longer or shorter than a rollout.
const TRAIN_JITTER: f64 = 0.3;

/// The steps of training that weights may lack.
const STALE: [u32; 3] = [1, 2, 4];

/// A row of a table: its name and what is run.
struct WorkloadCase {
    name: String,
    trace: Trace,
    settings: Settings,
}

pub(super) fn add(page: &mut Page, workloads: &Workloads) -> anyhow::Result<()> {
    let scale = workloads.scale;
    page.heading("Other rewards and other trainers");
    page.say(format!(
        "{} tasks × {} iterations × {} requests of a seed that nothing was tuned on, {STARTUP_S} s of start-up billed, \
         batches announced as their rollouts start. The norm is over all pools: the cost of what was allocated over the \
         cost of what was executed.",
        scale.tasks, scale.iterations, scale.batch,
    ));
    rewards(page, workloads)?;
    trainers(page, workloads)
}

fn rewards(page: &mut Page, workloads: &Workloads) -> anyhow::Result<()> {
    page.say(
        "**Rewards.** Programs are judged as an online judge does: extracted, compiled, run on tests. The other rows have \
         the task types of PolyTrace, with the output lengths, turns and likeness within a prompt that it publishes; it \
         publishes no times of rewards and of tool calls, which are assumed (`host/sim/src/workload/mixture`). \
         Programming is judged as above, tool use by a judge model on a GPU, the others by rules on a CPU, in \
         milliseconds. Rollouts of tool use and of searching have up to ten turns, with waits for tools between them. In the \
         rows of agents as judges the reward itself has turns: a judge model on a GPU, of ten times a CPU's cost, is \
         asked, calls a tool on a CPU and is asked again, a third of the requests once, others up to so many times, and \
         all its turns share one pool (`host/sim/src/workload/agent.rs`).",
    );
    let mixture = |kinds: &[(TaskKind, f64)]| {
        let weights = kinds.iter().copied().collect();
        Rewards::Mixture(Mixture { weights, ..Mixture::default() })
    };
    let mut named = vec![
        ("programs (`judge`)".to_owned(), Rewards::Judge(Judge::default())),
        ("mixture: 4 mathematics, 3 programming, 2 tool use, 1 searching".to_owned(), {
            Rewards::Mixture(Mixture::default())
        }),
        ("agents: 2 tool use, 1 searching".to_owned(), {
            mixture(&[(TaskKind::ToolUse, 2.0), (TaskKind::Searching, 1.0)])
        }),
    ];
    for (name, kind) in [
        ("mathematics", TaskKind::Mathematics),
        ("image", TaskKind::Image),
        ("programming", TaskKind::Programming),
        ("video", TaskKind::Video),
        ("searching", TaskKind::Searching),
        ("tool use", TaskKind::ToolUse),
    ] {
        named.push((format!("{name} alone"), mixture(&[(kind, 1.0)])));
    }
    let agent = Agent::default();
    for (name, agent) in [
        ("up to 4 turns", agent),
        ("up to 8 turns", Agent { turns_max: 8, ..agent }),
        ("up to 4 turns, all tools remote", Agent { local: 0.0, ..agent }),
    ] {
        named.push((format!("agent as judge, {name}"), Rewards::Agent(agent)));
    }
    let cases = named.into_iter().map(|(name, rewards)| WorkloadCase {
        name,
        trace: draw(workloads, rewards, trainer(workloads)),
        settings: settings(STARTUP_S),
    });
    let compared = table(page, "rewards", &cases.collect::<Vec<_>>())?;
    let later =
        compared.iter().filter(|case| case.assay.delay_s > case.distrs.delay_s + LATER_MAX_S);
    let dearer = compared.iter().filter(|case| case.assay.norm > case.distrs.norm);
    page.say(format!(
        "`assay` costs more than `distrs` in {} of {} rows, and is later by more than {LATER_MAX_S} s in {}. Rewards by rules \
         take milliseconds, so that one start of a worker costs more than all requests of a batch: the norm of such a row \
         says what starts cost, under any policy.",
        dearer.count(),
        compared.len(),
        later.count(),
    ));
    Ok(())
}

fn trainers(page: &mut Page, workloads: &Workloads) -> anyhow::Result<()> {
    page.say(
        "**Trainers that run ahead.** Rollouts go on with weights that lack up to so many steps of training, and a training \
         takes as long as a rollout on average, more or less by up to 30 %, as StreamRL balances both. The more steps may \
         lack, the less often a late batch holds up a rollout. A trainer that streams mini-batches, as StreamRL's, also \
         consumes groups.",
    );
    let mut cases = Vec::new();
    for (name, rewards) in
        [("CUDA", Rewards::default()), ("mixture", Rewards::Mixture(Mixture::default()))]
    {
        let train_s = mean_rollout_s(&draw(workloads, rewards.clone(), trainer(workloads)));
        for stale in STALE {
            let mode = TrainerMode::Disaggregated { stale };
            let trainer =
                Trainer { mode, train_s, train_jitter: TRAIN_JITTER, ..trainer(workloads) };
            let trace = draw(workloads, rewards.clone(), trainer);
            for (consumes, unit) in [(Consumes::Batch, ""), (Consumes::Groups, ", consumes groups")]
            {
                if consumes == Consumes::Groups && stale != STALE[0] {
                    continue;
                }
                let plural = if stale == 1 { "" } else { "s" };
                cases.push(WorkloadCase {
                    name: format!("{name}, {stale} step{plural} stale{unit}"),
                    trace: trace.clone(),
                    settings: Settings { consumes, ..settings(STARTUP_S) },
                });
            }
        }
    }
    table(page, "trainers", &cases)?;
    Ok(())
}

fn trainer(workloads: &Workloads) -> Trainer {
    let Scale { tasks, iterations, batch, .. } = workloads.scale;
    Trainer { tasks, iterations, batch, ..Trainer::default() }
}

fn mean_rollout_s(trace: &Trace) -> f64 {
    let iterations = trace.tasks.iter().flat_map(|task| &task.iterations);
    let (count, sum) = iterations.fold((0, 0.0), |(count, sum), iteration| {
        (count + 1, sum + iteration.rollout.as_secs_f64())
    });
    sum / f64::from(count.max(1))
}

fn draw(workloads: &Workloads, rewards: Rewards, trainer: Trainer) -> Trace {
    let seed = workloads.scale.seeds[0];
    generate(&Spec { seed, trainer, rewards, ..Spec::default() }).expect("it is within the ranges")
}

/// The cost of a case under a policy, and its mean d.
struct CaseCost {
    norm: f64,
    delay_s: f64,
}

struct ComparedCase {
    distrs: CaseCost,
    assay: CaseCost,
}

fn table(page: &mut Page, what: &str, cases: &[WorkloadCase]) -> anyhow::Result<Vec<ComparedCase>> {
    let jobs: Vec<_> = cases.iter().map(|case| (&case.trace, &case.settings)).collect();
    let compared = compare_all(&jobs, &POLICIES.join(","))?;
    let mut heading = vec![what.to_owned()];
    for policy in POLICIES {
        let columns = [&format!("`{policy}`: norm"), "mean d (p90, max), s", "group delay, s"];
        heading.extend(columns.map(str::to_owned));
    }
    let rows = cases.iter().zip(&compared).map(|(case, compared)| {
        let of = |policy: &&str| {
            let report = compared.get(policy);
            let group = fixed(report.group_delay_s.mean, 1);
            [fixed(norm(&case.trace, report), 3), delays(report), group]
        };
        std::iter::once(case.name.clone()).chain(POLICIES.iter().flat_map(of)).collect()
    });
    let heading: Vec<&str> = heading.iter().map(String::as_str).collect();
    page.table(&heading, &rows.collect::<Vec<_>>());
    let costs = cases.iter().zip(&compared).map(|(case, compared)| {
        let of = |policy: &str| {
            let report = compared.get(policy);
            CaseCost { norm: norm(&case.trace, report), delay_s: delay(report) }
        };
        ComparedCase { distrs: of("distrs"), assay: of("assay") }
    });
    Ok(costs.collect())
}

/// The cost of what was allocated over the cost of what was executed.
fn norm(trace: &Trace, report: &PolicyReport) -> f64 {
    let (mut allocated, mut executed) = (0.0, 0.0);
    for of in trace.meta.pools().expect("the trace was run") {
        let pool = &report.pools[&of.name];
        allocated += of.cost * pool.allocated_worker_s;
        executed += of.cost * pool.executed_worker_s;
    }
    allocated / executed
}
