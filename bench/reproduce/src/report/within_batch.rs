//! The order of the requests inside one batch: what others than the scheduler's would bring.
//!
//! `served` replays single batches, `told` says what a trainer tells of its requests, `predicted` what the server can
//! tell of them itself.

mod predicted;
mod prediction;
mod served;
mod told;

use assay_core::time::Micros;
use assay_sim::trace::{Iteration, Trace};
use assay_sim::workload::{Judge, Mixture, Rewards, Spec, Trainer, generate};

use served::{BatchDelays, Given, RequestOrder, ServedBatch};
use told::{RANKED, ROUGH_SIGMA, Told, Untold};

use super::comparison::fixed;
use super::page::Page;
use super::workloads::Workloads;

/// The work of a stage until T, of what its workers could do until then.
const LOADS: [f64; 2] = [0.8, 1.0];

/// Batches of a workload, drawn by one seed.
const BATCHES: usize = 20;

const ORDERS: [(&str, RequestOrder, Told); 19] = [
    ("as submitted (`ebf`)", RequestOrder::AsReady, Told::Nothing),
    ("group with the fewest left first (`ebf-groups`)", RequestOrder::FewestLeft, Told::Nothing),
    ("group with the least expected work left first", RequestOrder::LeastLeft, Told::Nothing),
    ("longest expected first", RequestOrder::Longest, Told::Nothing),
    ("shortest expected first", RequestOrder::Shortest, Told::Nothing),
    ("shortest first, all times known", RequestOrder::ShortestKnown, Told::Nothing),
    ("longest first, all times known", RequestOrder::LongestGiven, Told::Exact),
    ("longest first, all times off by a random factor", RequestOrder::LongestGiven, Told::Rough),
    (
        "longest first, every second time known, else zero",
        RequestOrder::LongestGiven,
        Told::Half(Untold::Zero),
    ),
    (
        "longest first, every second time known, else the mean",
        RequestOrder::LongestGiven,
        Told::Half(Untold::Mean),
    ),
    (
        "longest first, every second time known, else the longest",
        RequestOrder::LongestGiven,
        Told::Half(Untold::Longest),
    ),
    ("the longest fifth first, known", RequestOrder::LongestGiven, Told::LongFifth { found: 100 }),
    (
        "the longest fifth first, 87 % of it found",
        RequestOrder::LongestGiven,
        Told::LongFifth { found: RANKED },
    ),
    ("ready - told, all times known", RequestOrder::ReadyLessGiven, Told::Exact),
    ("ready - told, all times off by a random factor", RequestOrder::ReadyLessGiven, Told::Rough),
    (
        "ready - told, every second time known, else the mean",
        RequestOrder::ReadyLessGiven,
        Told::Half(Untold::Mean),
    ),
    (
        "ready - told, 87 % of the longest fifth found",
        RequestOrder::ReadyLessGiven,
        Told::LongFifth { found: RANKED },
    ),
    (
        "fewest left first, then ready - told, all times known",
        RequestOrder::FewestLeftReadyLessGiven,
        Told::Exact,
    ),
    (
        "fewest left first, then ready - told, 87 % of the longest fifth found",
        RequestOrder::FewestLeftReadyLessGiven,
        Told::LongFifth { found: RANKED },
    ),
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
         time of its reward. The rows with all times known bound what any estimate could bring. A random factor is log-normal with a \
         sigma of {ROUGH_SIGMA}. The time that is told of a request is that of all its stages; those that it has ended no longer \
         count. *Ready - told* subtracts it from the time since which the request is ready for its stage; the smallest is served \
         first. Where 87 % of the longest fifth are found, the mean of the fifth is told for them, and zero for the others.",
        workloads.scale.batch
    ));
    let mut names = Vec::new();
    let mut columns = Vec::new();
    for (name, rewards) in named() {
        let trace = draw(workloads, rewards, None);
        for load in LOADS {
            names.push(format!("{name}, {:.0} %", load * 100.0));
            columns.push(ORDERS.map(|(_, order, told)| mean(&trace, load, order, told)));
        }
    }
    let goals: [(&str, DelayMeasure); 2] =
        [("mean d, s", |delays| delays.batch), ("mean group delay, s", |delays| delays.groups)];
    for (goal, of) in goals {
        let heading: Vec<&str> =
            std::iter::once(goal).chain(names.iter().map(String::as_str)).collect();
        let rows = ORDERS.iter().enumerate().map(|(row, (order, ..))| {
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
    page.say(
        "Where trainers tell how long requests take, the one with the longest time left comes first, however long others have \
         waited: even times that are off by a factor of 1.6 bring nearly all of the gain. *Ready - told* brings half of it, as \
         requests wait longer than they run. A request without a told time counts as the mean of all: as zero, the long ones among \
         them come last, and nothing is gained. As the longest, they would be best served where trainers tell any half, but a \
         trainer that tells of its long requests only would have them served last. Longest first is the worst order for groups. \
         Where they are consumed, the group with the fewest left comes first as before, whatever is told: *ready - told* \
         among groups with as many left would end groups of CUDA 6 % earlier, and others at the same time.",
    );
    predicted::add(page, workloads);
    Ok(())
}

fn named() -> [(&'static str, Rewards); 3] {
    [
        ("CUDA", Rewards::default()),
        ("judge", Rewards::Judge(Judge::default())),
        ("mixture", Rewards::Mixture(Mixture::default())),
    ]
}

fn draw(workloads: &Workloads, rewards: Rewards, problems: Option<u32>) -> Trace {
    let trainer = Trainer {
        tasks: 1,
        iterations: BATCHES as u32,
        batch: workloads.scale.batch,
        problems,
        ..Trainer::default()
    };
    let seed = workloads.scale.seeds[0];
    generate(&Spec { seed, trainer, rewards, ..Spec::default() }).expect("it is within the ranges")
}

fn mean(trace: &Trace, load: f64, order: RequestOrder, told: Told) -> BatchDelays {
    let iterations = &trace.tasks[0].iterations;
    let mut sum = BatchDelays::default();
    for iteration in iterations {
        let delays =
            ServedBatch::new(iteration, &workers(iteration, load), order, Given::Told(told)).run();
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
