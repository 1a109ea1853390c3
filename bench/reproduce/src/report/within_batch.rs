//! The order of the requests inside one batch: what others than the scheduler's would bring.
//!
//! `served` replays single batches.

mod served;

use assay_core::time::Micros;
use assay_sim::trace::{Iteration, Trace};
use assay_sim::workload::{Judge, Mixture, Rewards, Spec, Trainer, generate};

use served::{BatchDelays, RequestOrder, ServedBatch};

use super::comparison::fixed;
use super::page::Page;
use super::workloads::Workloads;

/// The work of a stage until T, of what its workers could do until then.
const LOADS: [f64; 2] = [0.8, 1.0];

/// Batches of a workload, drawn by one seed.
const BATCHES: usize = 20;

/// The part of the longest fifth that StreamRL's ranking of output lengths finds (its table 4), in per cent.
const RANKED: u32 = 87;

const ORDERS: [(&str, RequestOrder); 9] = [
    ("as submitted (`ebf`)", RequestOrder::AsReady),
    ("group with the fewest left first (`ebf-groups`)", RequestOrder::FewestLeft),
    ("group with the least expected work left first", RequestOrder::LeastLeft),
    ("longest expected first", RequestOrder::Longest),
    ("shortest expected first", RequestOrder::Shortest),
    ("longest first, all times known", RequestOrder::LongestKnown),
    ("shortest first, all times known", RequestOrder::ShortestKnown),
    ("the longest fifth first, known", RequestOrder::LongFifth { found: 100 }),
    ("the longest fifth first, 87 % of it found", RequestOrder::LongFifth { found: RANKED }),
];

type DelayMeasure = fn(&BatchDelays) -> f64;

pub(super) fn add(page: &mut Page, workloads: &Workloads) -> anyhow::Result<()> {
    page.heading("The order of requests inside a batch");
    page.say(format!(
        "One batch alone on a fixed number of workers of each stage, so few that the batch's work keeps them busy for the \
         given part of the time until T; means over {BATCHES} batches of {} requests. The time that a request is expected \
         to take is, at each of its remaining stages, the mean of those of its group that have ended it, or of all that \
         have where fewer than two of its group did. \
         Nothing else is known at submission: in the first two workloads the length of a response says nothing about the \
         time of its reward. The rows with all times known bound what any estimate could bring.",
        workloads.scale.batch
    ));
    let named = [
        ("CUDA", Rewards::default()),
        ("judge", Rewards::Judge(Judge::default())),
        ("mixture", Rewards::Mixture(Mixture::default())),
    ];
    let mut names = Vec::new();
    let mut columns = Vec::new();
    for (name, rewards) in named {
        let trace = draw(workloads, rewards);
        for load in LOADS {
            names.push(format!("{name}, {:.0} %", load * 100.0));
            columns.push(ORDERS.map(|(_, order)| mean(&trace, load, order)));
        }
    }
    let goals: [(&str, DelayMeasure); 2] =
        [("mean d, s", |delays| delays.batch), ("mean group delay, s", |delays| delays.groups)];
    for (goal, of) in goals {
        let heading: Vec<&str> =
            std::iter::once(goal).chain(names.iter().map(String::as_str)).collect();
        let rows = ORDERS.iter().enumerate().map(|(row, (order, _))| {
            let delays = columns.iter().map(|column| fixed(of(&column[row]), 1));
            std::iter::once((*order).to_owned()).chain(delays).collect()
        });
        page.table(&heading, &rows.collect::<Vec<_>>());
    }
    page.say(
        "Which requests are long is enough to know: with the longest fifth first a batch ends about as early as with all times \
         known. But nearly all of them must be found: a ranking as good as StreamRL's of output lengths, which finds 87 % of the \
         longest fifth, brings half of that. \
         So the group with the fewest requests left comes first where groups are consumed, at next to no cost to the batch, and \
         elsewhere requests are served as they were submitted. For groups no estimate is as good as counting what is left. \
         For the end of a batch an estimate by group adds nothing: longest and shortest expected first are alike. A batch \
         of CUDA is late by requests that run into their timeouts, and no group says which. With all times \
         known, longest first ends a batch early: a workload whose long requests can be told beforehand would gain.",
    );
    Ok(())
}

fn draw(workloads: &Workloads, rewards: Rewards) -> Trace {
    let trainer = Trainer {
        tasks: 1,
        iterations: BATCHES as u32,
        batch: workloads.scale.batch,
        ..Trainer::default()
    };
    let seed = workloads.scale.seeds[0];
    generate(&Spec { seed, trainer, rewards, ..Spec::default() }).expect("it is within the ranges")
}

fn mean(trace: &Trace, load: f64, order: RequestOrder) -> BatchDelays {
    let iterations = &trace.tasks[0].iterations;
    let mut sum = BatchDelays::default();
    for iteration in iterations {
        let delays = ServedBatch::new(iteration, &workers(iteration, load), order).run();
        sum.batch += delays.batch;
        sum.groups += delays.groups;
    }
    let count = iterations.len() as f64;
    BatchDelays { batch: sum.batch / count, groups: sum.groups / count }
}

/// The workers of each stage.
fn workers(iteration: &Iteration, load: f64) -> Vec<usize> {
    let first = iteration.requests.iter().map(|request| request.rollout).min().unwrap_or_default();
    let span = iteration.earliest_end().since(first).as_secs_f64();
    let stages = iteration.requests.first().map_or(0, |request| request.service.len());
    let work = |stage: usize| {
        let times = iteration.requests.iter().filter_map(|request| request.service[stage]);
        times.map(Micros::as_secs_f64).sum::<f64>()
    };
    (0..stages).map(|stage| ((work(stage) / span / load).ceil() as usize).max(1)).collect()
}
