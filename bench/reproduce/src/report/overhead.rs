//! How long a plan takes (figure 15).

use std::hint::black_box;
use std::time::{Duration, Instant};

use assay_planner::Policy;
use assay_sim::load::{BATCH, Load};
use assay_sim::plot::{Labels, Scale, Scales, Series, curve};

use super::comparison::fixed;
use super::page::Page;
use super::published::{paper, reference};
use super::workloads::Workloads;

/// Number of measurements; the minimum counts, as other load only adds to it.
const FIRST_PLANS: usize = 3;
const LATER_PLANS: usize = 5;

const POLICIES: [(&str, Policy); 2] = [("distrs", Policy::DISTRS), ("assay", Policy::ASSAY)];

/// Live requests, and how long the first plan for them may take.
const GOALS_S: [(usize, f64); 3] = [(16_000, 0.010), (100_000, 0.100), (1_000_000, 1.0)];

/// The planning times of one policy at one number of requests.
struct Timed {
    live: usize,
    simulated: usize,
    simulations: usize,
    first: Duration,
    later: Duration,
}

pub(super) fn add(page: &mut Page, workloads: &Workloads) {
    let batches = workloads.scale.live_batches;
    let timed = POLICIES.map(|(_, policy)| {
        batches.iter().map(|&batches| time(policy, batches)).collect::<Vec<Timed>>()
    });
    page.heading("How long a plan takes (figure 15)");
    page.say(format!(
        "Live batches of {BATCH} requests, each in the first third of its life, when nearly all is \
         still to be simulated; on one thread of the machine that wrote this page. A plan is \
         algorithm 2 and the search of both stages together; the first knows no earlier plan, later \
         ones start from the last one's result; the least of {FIRST_PLANS} and {LATER_PLANS}. The paper: about {} s for 16,000 requests; the \
         reference: {} s.",
        paper::PLAN_16K_S, reference::PLAN_16K_S
    ));
    let ms = |took: Duration| fixed(took.as_secs_f64() * 1e3, 2);
    let row = |(distrs, assay): (&Timed, &Timed)| {
        let live = distrs.live.to_string();
        let mut row = vec![live];
        for timed in [distrs, assay] {
            row.push(timed.simulated.to_string());
            row.push(timed.simulations.to_string());
            row.push(ms(timed.first));
            row.push(ms(timed.later));
        }
        row
    };
    let heading = [
        "live requests",
        "`distrs`: left to simulate",
        "SIMULATE calls",
        "first plan, ms",
        "later, ms",
        "`assay`: left to simulate",
        "SIMULATE calls",
        "first plan, ms",
        "later, ms",
    ];
    let rows: Vec<Vec<String>> = timed[0].iter().zip(&timed[1]).map(row).collect();
    page.table(&heading, &rows);
    chart(page, &timed);
    for (live, wanted) in GOALS_S {
        let Some(timed) = timed[1].iter().find(|timed| timed.live == live) else { continue };
        let seen = timed.first.as_secs_f64();
        page.goal(
            format!("a plan of `assay` for {live} live requests"),
            format!("{:.0} ms", wanted * 1e3),
            format!("{} ms", fixed(seen * 1e3, 1)),
            seen <= wanted,
        );
    }
}

fn time(policy: Policy, batches: usize) -> Timed {
    let timed = |load: &mut Load| {
        let started = Instant::now();
        let report = black_box(load.plan());
        (started.elapsed(), report)
    };
    let mut load = Load::new(policy, batches);
    let (mut first, report) = timed(&mut load);
    let later = (0..LATER_PLANS).map(|_| timed(&mut load).0).min().unwrap_or_default();
    for _ in 1..FIRST_PLANS {
        load = Load::new(policy, batches);
        first = first.min(timed(&mut load).0);
    }
    let (simulated, simulations) = (report.requests, report.simulations);
    Timed { live: batches * BATCH, simulated, simulations, first, later }
}

fn chart(page: &mut Page, timed: &[Vec<Timed>; 2]) {
    let points = timed.each_ref().map(|timed| {
        let point = |timed: &Timed| (timed.live as f64, timed.first.as_secs_f64());
        timed.iter().map(point).collect::<Vec<_>>()
    });
    let published = [(16_000.0, paper::PLAN_16K_S)];
    let mut series: Vec<Series> =
        POLICIES.iter().zip(&points).map(|((name, _), points)| Series { name, points }).collect();
    series.push(Series { name: "DistRS in the paper", points: &published });
    let title = "Figure 15: the first plan's time";
    let labels = Labels { title, x: "live requests", y: "time (s)" };
    let scales = Scales { x: Scale::Log, y: Scale::Log };
    page.chart("figure-15", title, curve(&labels, scales, &series));
}
