//! Two batches 100 s apart on a fixed number of GPUs: what the order of a queue does (figure 14).

use assay_core::time::Micros;
use assay_sched::Discipline;
use assay_sim::plot::{Labels, Line, Scale, Scales, Series, curve, line_chart};
use assay_sim::policy::{Settings, SimulatedPolicy};
use assay_sim::trace::{Task, Trace};
use assay_sim::{BatchRun, Run};
use assay_simulation::runs::{Job, run_all};

use super::comparison::{CPU, GPU, fixed, settings};
use super::page::Page;
use super::published::paper;
use super::workloads::Workloads;

const APART: Micros = Micros::from_secs(100);

/// Pairs of batches, drawn by as many seeds.
const PAIRS: u64 = 5;

/// GPUs, for batches of this many requests; fewer for smaller ones.
const GPUS: [usize; 18] = [12, 14, 16, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 30, 32, 36, 40];
const GPUS_FOR: usize = 2_048;

/// Upper limits of a low delay, in seconds.
const LOW_S: [f64; 3] = [2.0, 5.0, 10.0];
/// The one that the paper's "just a few seconds" is held to.
pub(super) const FEW_S: f64 = 5.0;

const ORDERS: [(&str, Discipline); 2] = [("EBF", Discipline::EBF), ("FCFS", Discipline::FCFS)];
/// The place of the runs of single batches, after those of the orders.
const ALONE: usize = ORDERS.len();

pub(super) fn add(page: &mut Page, workloads: &Workloads) -> anyhow::Result<()> {
    let sweep = Sweep::run(workloads)?;
    page.heading("Earliest batch first against first come, first served (figure 14)");
    page.say(format!(
        "Two tasks, one batch of {} requests each, the second {} s after the first; a fixed number \
         of GPUs and as many CPU workers as there are requests. Each point is the mean extra delay \
         over {PAIRS} pairs of batches. The last column bounds what any order could reach: each batch is as late as with all \
         GPUs for itself, or one is on time and the other as late as all work together ends.",
        workloads.scale.batch,
        APART.as_secs_f64()
    ));
    let rows = sweep.gpus.iter().enumerate().map(|(place, gpus)| {
        let delays = [sweep.delay(0, place), sweep.delay(1, place), sweep.bound(place)];
        std::iter::once(gpus.to_string()).chain(delays.map(|delay| fixed(delay, 1))).collect()
    });
    let heading = ["GPUs", "EBF: mean d, s", "FCFS: mean d, s", "any order: mean d, s, at least"];
    page.table(&heading, &rows.collect::<Vec<_>>());
    let rows = LOW_S.map(|low| {
        let [ebf, fcfs] = [0, 1].map(|order| sweep.least(order, low));
        let any = sweep.least_of(low, |place| sweep.bound(place));
        let number = |gpus: Option<usize>| gpus.map_or("-".to_owned(), |gpus| gpus.to_string());
        let [reached, most] = [ebf, any].map(|least| fixed(factor(least, fcfs), 2));
        vec![format!("{low} s"), number(ebf), number(fcfs), number(any), reached, most]
    });
    let heading = [
        "fewest GPUs for a mean d of",
        "EBF",
        "FCFS",
        "any order, at least",
        "FCFS over EBF",
        "FCFS over any order, at most",
    ];
    page.table(&heading, &rows);
    let seen = factor(sweep.least(0, FEW_S), sweep.least(1, FEW_S));
    page.goal(
        format!("GPUs of FCFS over those of EBF for a mean d of {FEW_S} s, two batches"),
        format!("{:.1}", paper::EBF_FACTOR),
        fixed(seen, 2),
        seen >= paper::EBF_FACTOR,
    );
    page.say(
        "The paper finds 1.5× \"at the same low extra delay of just a few seconds\". The gain \
         depends on how far the batches overlap at the GPUs: EBF takes from the second batch what \
         it has to spare, and gives it to the first. EBF comes up to the bound of any order, so that no order \
         has a larger factor on these pairs. With more tasks there is more to gain: see the quotas below.",
    );
    sweep.chart(page);
    finish_times(page, &sweep);
    Ok(())
}

struct Sweep {
    gpus: Vec<usize>,
    /// The runs by order, by number of GPUs, by pair; then those of single batches.
    runs: Vec<Vec<Vec<Run>>>,
}

impl Sweep {
    fn run(workloads: &Workloads) -> anyhow::Result<Self> {
        let batch = workloads.scale.batch as usize;
        let mut gpus: Vec<usize> =
            GPUS.iter().map(|gpus| (gpus * batch / GPUS_FOR).max(1)).collect();
        gpus.dedup();
        let policy = |gpus: &usize| {
            let counts = [(CPU.to_owned(), 2 * batch), (GPU.to_owned(), *gpus)];
            SimulatedPolicy::Fixed(counts.into())
        };
        let policies: Vec<SimulatedPolicy> = gpus.iter().map(policy).collect();
        let pairs: Vec<Trace> = (1..=PAIRS).map(|seed| pair(workloads, seed)).collect();
        let settings = ORDERS.map(|(_, discipline)| Settings { discipline, ..settings(0) });
        let mut jobs = Vec::new();
        for settings in &settings {
            for policy in &policies {
                jobs.extend(pairs.iter().map(|trace| Job { trace, policy, settings }));
            }
        }
        let single: Vec<Trace> = pairs.iter().flat_map(each_alone).collect();
        for policy in &policies {
            let settings = &settings[0];
            jobs.extend(single.iter().map(|trace| Job { trace, policy, settings }));
        }
        let mut all = run_all(&jobs)?.into_iter();
        let mut by_gpus = |traces: usize| {
            let by_trace = |_| all.by_ref().take(traces).collect::<Vec<Run>>();
            gpus.iter().map(by_trace).collect::<Vec<_>>()
        };
        let mut runs: Vec<_> = ORDERS.iter().map(|_| by_gpus(pairs.len())).collect();
        runs.push(by_gpus(single.len()));
        Ok(Self { gpus, runs })
    }

    /// The mean over both batches of all pairs, in seconds.
    fn delay(&self, order: usize, place: usize) -> f64 {
        let batches: Vec<&BatchRun> =
            self.runs[order][place].iter().flat_map(|run| &run.batches).collect();
        let sum: f64 = batches.iter().map(|batch| batch.extra_delay().as_secs_f64()).sum();
        sum / batches.len() as f64
    }

    /// The mean delay of both batches of all pairs that no order can be below, in seconds: the last end is hardly a matter
    /// of the order, as no GPU is idle while something waits.
    fn bound(&self, place: usize) -> f64 {
        let bounds = (0..PAIRS as usize).map(|pair| {
            let alone = &self.runs[ALONE][place][2 * pair..2 * pair + 2];
            let alone = alone.iter().flat_map(|run| &run.batches);
            let alone: f64 = alone.map(|batch| batch.extra_delay().as_secs_f64()).sum();
            let of_order = |order: usize| &self.runs[order][place][pair].batches;
            let end = |order| of_order(order).iter().map(|batch| batch.completed).max();
            let earliest = of_order(0).iter().map(|batch| batch.earliest_end).max();
            let together = end(0).min(end(1)).zip(earliest);
            let together = together.map_or(0.0, |(end, t)| end.since(t).as_secs_f64());
            alone.max(together) / 2.0
        });
        bounds.sum::<f64>() / PAIRS as f64
    }

    /// The fewest GPUs from which on the delay of an order stays so low.
    fn least(&self, order: usize, low_s: f64) -> Option<usize> {
        self.least_of(low_s, |place| self.delay(order, place))
    }

    fn least_of(&self, low_s: f64, delay: impl Fn(usize) -> f64) -> Option<usize> {
        let high = (0..self.gpus.len()).rposition(|place| delay(place) > low_s);
        self.gpus.get(high.map_or(0, |high| high + 1)).copied()
    }

    fn chart(&self, page: &mut Page) {
        let points = [0, 1].map(|order| {
            let point = |(place, gpus): (usize, &usize)| (*gpus as f64, self.delay(order, place));
            self.gpus.iter().enumerate().map(point).collect::<Vec<_>>()
        });
        let series: Vec<Series> =
            ORDERS.iter().zip(&points).map(|((name, _), points)| Series { name, points }).collect();
        let title = "Figure 14a: extra delay by the number of GPUs";
        let labels = Labels { title, x: "GPUs", y: "mean extra delay (s)" };
        let scales = Scales { x: Scale::Linear, y: Scale::Linear };
        page.chart("figure-14a", title, curve(&labels, scales, &series));
    }
}

pub(super) fn factor(ebf: Option<usize>, fcfs: Option<usize>) -> f64 {
    match (ebf, fcfs) {
        (Some(ebf), Some(fcfs)) => fcfs as f64 / ebf as f64,
        _ => f64::NAN,
    }
}

/// The second iterations of two tasks; the first ones are history.
fn pair(workloads: &Workloads, seed: u64) -> Trace {
    let mut trace = workloads.draw(2, 2, seed, &[]);
    let first = trace.tasks[0].iterations[1].rollout_start;
    trace.tasks[1].iterations[1].rollout_start = first + APART;
    trace
}

/// The trace of each task.
fn each_alone(pair: &Trace) -> Vec<Trace> {
    let of_task = |task: &Task| Trace { meta: pair.meta.clone(), tasks: vec![task.clone()] };
    pair.tasks.iter().map(of_task).collect()
}

/// At the number of GPUs from which on EBF is fast enough.
fn finish_times(page: &mut Page, sweep: &Sweep) {
    let gpus = sweep.least(0, FEW_S).unwrap_or(sweep.gpus[0]);
    let place = sweep.gpus.iter().position(|count| *count == gpus).unwrap_or(0);
    let mut lines: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
    let mut rows = Vec::new();
    for (order, (name, _)) in ORDERS.iter().enumerate() {
        let run = &sweep.runs[order][place][0];
        let mut batches: Vec<&BatchRun> = run.batches.iter().collect();
        batches.sort_by_key(|batch| batch.task);
        let start = batches[0].rollout_start;
        for (batch, which) in batches.iter().zip(["first", "second"]) {
            let ends = (1..).zip(&batch.request_ends);
            let ends = ends.map(|(count, end)| (end.since(start).as_secs_f64(), f64::from(count)));
            lines.push((format!("{name}, {which} batch"), ends.collect()));
            let delay = fixed(batch.extra_delay().as_secs_f64(), 1);
            let end = fixed(batch.completed.since(start).as_secs_f64(), 0);
            rows.push(vec![format!("{name}, {which} batch"), end, delay]);
        }
    }
    let series: Vec<Series> = lines.iter().map(|(name, points)| Series { name, points }).collect();
    let title = format!("Figure 14b: requests finished, {gpus} GPUs");
    let labels =
        Labels { title: &title, x: "time since the first rollout's start (s)", y: "requests" };
    page.say(format!(
        "The finish times of the first pair with {gpus} GPUs (the paper shows them with 24, for \
         batches of its own)."
    ));
    page.table(&["batch", "complete after, s", "d, s"], &rows);
    page.chart("figure-14b", &title, line_chart(&labels, Line::Step, &series));
}
