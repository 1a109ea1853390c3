//! Six tasks at once (section 6.2 of the paper, figures 10 to 12).

use assay_sim::plot::{Bars, Labels, bars, policies};

use super::comparison::{
    CPU, Comparison, GPU, HEADING, compare, delay, fixed, norm, policy_goal, pool, rows, saving,
    settings,
};
use super::page::Page;
use super::published::{Measured, Savings, paper, reference};
use super::workloads::{Workload, Workloads};

const POLICIES: &str = "zq,history,distrs,ideal,assay,limit";
/// The policies whose lines the paper's figures show, and ours.
const DRAWN: [&str; 4] = ["zq", "distrs", "ideal", "assay"];

/// ZQ-Dedicated's GPU time over that of `assay`, at least.
const GPU_SAVING_MIN: f64 = 3.5;

pub(super) fn add(page: &mut Page, workloads: &Workloads) -> anyhow::Result<()> {
    page.heading("Six tasks at once (figures 10, 11 and 12)");
    let colocated = Figure {
        number: "10",
        name: "colocated",
        paper: paper::COLOCATED,
        reference: reference::COLOCATED,
        measured: &reference::SIX_TASKS,
    };
    let together = colocated.add(page, &workloads.together()?)?;
    let best = &reference::SIX_TASKS_BEST;
    policy_goal(page, "six tasks, no start-up", together.get("assay"), best);
    let disaggregated = Figure {
        number: "11",
        name: "disaggregated",
        paper: paper::DISAGGREGATED,
        reference: reference::DISAGGREGATED,
        measured: &[],
    };
    let apart = disaggregated.add(page, &workloads.together_disaggregated()?)?;
    reasons(page, &together);
    bar_chart(page, &[("colocated", &together), ("disaggregated", &apart)]);
    Ok(())
}

struct Figure {
    number: &'static str,
    name: &'static str,
    paper: Savings,
    reference: Savings,
    measured: &'static [Measured],
}

impl Figure {
    fn add(&self, page: &mut Page, workload: &Workload) -> anyhow::Result<Comparison> {
        let comparison = compare(&workload.trace, POLICIES, &settings(0))?;
        page.say(format!(
            "**Figure {}, {}.** {}, no start-up time, no hint before the first request.",
            self.number, self.name, workload.origin
        ));
        let measured = if workload.is_shared { self.measured } else { &[] };
        page.table(&HEADING, &rows(&comparison, measured));
        self.savings(page, &comparison);
        self.charts(page, &comparison);
        let seen = saving(comparison.get("assay"), GPU);
        page.goal(
            format!("GPU time of ZQ-Dedicated over `assay`, {}", self.name),
            format!("{GPU_SAVING_MIN:.1}"),
            fixed(seen, 2),
            seen >= GPU_SAVING_MIN,
        );
        Ok(comparison)
    }

    /// The paper's own numbers beside ours.
    fn savings(&self, page: &mut Page, comparison: &Comparison) {
        let row = |what: &str, value: fn(&Savings) -> f64, here: [f64; 2]| {
            let (paper, reference) = (value(&self.paper), value(&self.reference));
            let numbers = [paper, reference, here[0], here[1]];
            let cells = numbers.into_iter().map(|number| fixed(number, 2));
            std::iter::once(what.to_owned()).chain(cells).collect()
        };
        let policies = ["distrs", "assay"].map(|policy| comparison.get(policy));
        let table = [
            row("GPU time, ×", |savings| savings.gpu, policies.map(|one| saving(one, GPU))),
            row("CPU time, ×", |savings| savings.cpu, policies.map(|one| saving(one, CPU))),
            row("mean d, s", |savings| savings.delay_s, policies.map(delay)),
        ];
        let heading = [
            "ZQ-Dedicated over",
            "DistRS in the paper",
            "DistRS in the reference",
            "`distrs` here",
            "`assay` here",
        ];
        page.table(&heading, &table);
    }

    fn charts(&self, page: &mut Page, comparison: &Comparison) {
        let of = |policy: &&str| {
            let place = comparison.reports.iter().position(|report| report.policy == **policy);
            comparison.runs[place.expect("what is drawn was run")].clone()
        };
        let drawn: Vec<_> = DRAWN.iter().map(of).collect();
        for (letter, unit, stage) in [("a", "GPU", GPU), ("b", "CPU", CPU)] {
            let title = format!("Figure {}{letter}: {unit} workers, {}", self.number, self.name);
            let chart = policies::workers(&title, &drawn, comparison.pool(stage));
            page.chart(&format!("figure-{}{letter}", self.number), &title, chart);
        }
        let title = format!("Figure {}c: extra delay of each batch, {}", self.number, self.name);
        let chart = policies::delays(&title, &drawn);
        page.chart(&format!("figure-{}c", self.number), &title, chart);
    }
}

fn reasons(page: &mut Page, comparison: &Comparison) {
    let gpu = |policy| fixed(norm(comparison.get(policy), GPU), 2);
    let starts = |policy| pool(comparison.get(policy), GPU).starts;
    let delay = &comparison.get("distrs").extra_delay_s;
    page.say(format!(
        "Where these differ from the paper:\n\n\
         - **The factor on GPU time** is the norm of ZQ-Dedicated over that of the policy: {} over \
           {} for `distrs`. How much a dedicated pool wastes is a property of the trace, of how far \
           a batch's peak stands above its mean, and the paper's trace is not public; the same \
           goes for CPU time. The reference's factors are of a trace of its own, by the same \
           generator; its norms stand beside those of the very same trace.\n\
         - **The norm of DistRS** is \"very close to 1\" in the paper and {} here. As published, a plan \
           holds its N workers from one batch edge to the next, whatever is left to do. `assay` plans \
           again every ten seconds and comes to {}.\n\
         - **Without start-up time a start costs nothing**, so that nothing is worth holding: \
           `assay` lets demand alone decide ({} GPU starts, {} of `distrs`). These rows bound what \
           planning more often can bring; the rows with start-up times, below, are those that an \
           operator will see.\n\
         - **The delay of `distrs`** is that of few batches: the median is {:.2} s, the largest {:.1} s.\n\
         - `ideal` knows all requests and plans at batch edges, as the paper's; it may use the \
           tolerance D, and does. `limit` knows them and plans as often as `assay`: a floor.",
        gpu("zq"),
        gpu("distrs"),
        gpu("distrs"),
        gpu("assay"),
        starts("assay"),
        starts("distrs"),
        delay.p50,
        delay.max,
    ));
}

fn bar_chart(page: &mut Page, modes: &[(&str, &Comparison)]) {
    let categories: Vec<&str> = modes.iter().map(|(name, _)| *name).collect();
    let values = DRAWN.map(|policy| {
        let norm = |(_, comparison): &(&str, &Comparison)| norm(comparison.get(policy), GPU);
        modes.iter().map(norm).collect::<Vec<f64>>()
    });
    let series: Vec<Bars> =
        DRAWN.iter().zip(&values).map(|(name, values)| Bars { name, values }).collect();
    let title = "Figure 12: GPU time, allocated over executed";
    let labels = Labels { title, x: "training", y: "norm" };
    page.chart("figure-12", title, bars(&labels, &categories, &series));
}
