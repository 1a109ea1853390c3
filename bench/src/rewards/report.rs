//! The measured numbers, as a table for people and JSON for programs.

use std::fmt::Write;

use assay_bench::goal::{Goal, Unit};
use assay_bench::machine::Machine;
use assay_bench::output;
use assay_bench::stats::Latency;
use assay_bench::table;
use serde::Serialize;

/// One number of each side: the median over the rounds.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Measure {
    pub(crate) name: String,
    pub(crate) unit: Unit,
    pub(crate) assay: Option<f64>,
    pub(crate) peer: Option<f64>,
    pub(crate) goal: Option<Goal>,
}

impl Measure {
    pub(crate) fn new(name: impl Into<String>, unit: Unit) -> Self {
        Self { name: name.into(), unit, assay: None, peer: None, goal: None }
    }

    pub(crate) fn sides(self, assay: Option<f64>, peer: Option<f64>) -> Self {
        Self { assay, peer, ..self }
    }

    pub(crate) fn goal(self, goal: Goal) -> Self {
        Self { goal: Some(goal), ..self }
    }

    fn ratio(&self) -> Option<f64> {
        self.assay.zip(self.peer).map(|(assay, peer)| assay / peer)
    }

    fn cells(&self) -> Vec<String> {
        let number = |value: Option<f64>| value.map_or("-".into(), |value| self.unit.text(value));
        let goal = self.goal.map_or("-".into(), |goal| goal.text(self.unit, self.assay));
        let ratio = self.ratio().map_or("-".into(), |ratio| format!("{ratio:.2}"));
        vec![self.name.clone(), number(self.assay), number(self.peer), ratio, goal]
    }
}

/// Three rows for single requests.
pub(crate) fn latency_measures(
    name: &str,
    assay: Option<Latency>,
    peer: Option<Latency>,
) -> [Measure; 3] {
    let row = |what: &str, unit, pick: fn(Latency) -> f64| {
        Measure::new(format!("{name}, {what}"), unit).sides(assay.map(pick), peer.map(pick))
    };
    [
        row("median", Unit::Milliseconds, |latency| latency.p50_ms),
        row("99th percentile", Unit::Milliseconds, |latency| latency.p99_ms),
        row("rate", Unit::RequestsPerSecond, |latency| latency.per_second),
    ]
}

#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) machine: Machine,
    pub(crate) rounds: usize,
    pub(crate) measures: Vec<Measure>,
    /// The parts that were left out, with the reasons.
    pub(crate) notes: Vec<String>,
}

const HEAD: [&str; 5] = ["", "Assay", "peer", "ratio", "goal"];
const ABOUT: &str = "\
Assay: one server, two workers, a private PostgreSQL; every request is written durably before it \
is acknowledged and every result before it is shown, and every request runs in a fresh WebAssembly \
instance. The peer: FastAPI on uvicorn with two worker processes and the reward function in plain \
Python, as trainers use it today; it keeps nothing, isolates nothing and knows no batches. Both \
share the machine with the load generator, which speaks HTTP/1.1 over kept connections. The ratio \
is Assay's number over the peer's: for rates more is better, for times less.";

impl output::Report for Report {
    /// A table with padded columns.
    fn text(&self) -> String {
        let mut text = format!("{}\nmedian of {} rounds\n\n", self.machine, self.rounds);
        text += &table::padded(&self.rows());
        for note in &self.notes {
            writeln!(text, "\n{note}").expect("a string takes everything");
        }
        text
    }

    fn markdown(&self) -> String {
        let mut text = format!(
            "# Benchmark\n\n{}; median of {} rounds.\n\n{ABOUT}\n\n",
            self.machine, self.rounds
        );
        text += &table::markdown(&self.rows());
        for note in &self.notes {
            text += &format!("\n{note}\n");
        }
        text
    }
}

impl Report {
    fn rows(&self) -> Vec<Vec<String>> {
        let head = HEAD.map(str::to_owned).to_vec();
        std::iter::once(head).chain(self.measures.iter().map(Measure::cells)).collect()
    }
}

#[cfg(test)]
mod tests {
    use assay_bench::output::Report as _;

    use super::*;

    #[test]
    fn a_report_shows_sides_ratio_and_goal() {
        let rate = Measure::new("batches", Unit::RequestsPerSecond)
            .sides(Some(30_000.0), Some(20_000.0))
            .goal(Goal::AtLeast(40_000.0));
        let kept = Measure::new("memory", Unit::Bytes)
            .sides(Some(900.0), None)
            .goal(Goal::AtMost(4_096.0));
        let machine = Machine {
            cores: 2,
            cpu: "some processor".into(),
            memory_gib: 8.0,
            kernel: "6.1".into(),
        };
        let notes = vec!["Nothing was left out.".into()];
        let report = Report { machine, rounds: 3, measures: vec![rate, kept], notes };
        let markdown = report.markdown();
        for line in [
            "| batches | 30000/s | 20000/s | 1.50 | at least 40000/s: missed |",
            "| memory | 900 B | - | - | at most 4096 B: met |",
        ] {
            assert!(markdown.contains(line), "{markdown}");
        }
        let text = report.text();
        assert!(text.contains("batches  30000/s  20000/s   1.50  at least"), "{text}");
        let json = serde_json::to_value(&report).expect("plain");
        assert_eq!(json["measures"][0]["goal"]["at_least"], 40_000.0);
    }
}
