//! What was measured of each contender, as tables for people and JSON for programs.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use assay_bench::goal::{Goal, Unit};
use assay_bench::machine::Machine;
use assay_bench::output;
use assay_bench::table;
use serde::Serialize;

/// Without any box: what the others are compared with.
pub(crate) const PLAIN: &str = "plain";
/// The one that has goals.
pub(crate) const ASSAY: &str = "Assay";
pub(crate) const BUBBLEWRAP: &str = "bubblewrap";
pub(crate) const HAKONIWA: &str = "hakoniwa";
const CONTENDERS: [&str; 4] = [PLAIN, ASSAY, BUBBLEWRAP, HAKONIWA];

/// One number of each contender.
#[derive(Debug, Serialize)]
pub(crate) struct Measure {
    name: String,
    unit: Unit,
    values: BTreeMap<&'static str, f64>,
    goal: Option<Goal>,
}

impl Measure {
    pub(crate) fn new(name: impl Into<String>, unit: Unit) -> Self {
        Self { name: name.into(), unit, values: BTreeMap::new(), goal: None }
    }

    /// Leaves the contender out where there is no value.
    pub(crate) fn value(mut self, contender: &'static str, value: Option<f64>) -> Self {
        self.values.extend(value.map(|value| (contender, value)));
        self
    }

    pub(crate) fn goal(self, goal: Goal) -> Self {
        Self { goal: Some(goal), ..self }
    }

    /// A contender's number, and how many times the plain one's it is.
    fn cell(&self, contender: &str) -> String {
        let Some(value) = self.values.get(contender) else { return "-".into() };
        let text = self.unit.text(*value);
        match self.values.get(PLAIN) {
            Some(plain) if contender != PLAIN => format!("{text} ({:.2}x)", value / plain),
            _ => text,
        }
    }

    fn row(&self, contenders: &[&str]) -> Vec<String> {
        let value = self.values.get(ASSAY).copied();
        let goal = self.goal.map_or("-".into(), |goal| goal.text(self.unit, value));
        let cells = contenders.iter().map(|contender| self.cell(contender));
        std::iter::once(self.name.clone()).chain(cells).chain([goal]).collect()
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct Section {
    pub(crate) title: String,
    /// What each contender does and does not do.
    pub(crate) about: &'static str,
    pub(crate) measures: Vec<Measure>,
    /// What was seen beside the numbers.
    pub(crate) notes: Vec<String>,
}

impl Section {
    fn rows(&self) -> Vec<Vec<String>> {
        let measured =
            |contender: &&str| self.measures.iter().any(|one| one.values.contains_key(*contender));
        let contenders: Vec<_> = CONTENDERS.into_iter().filter(measured).collect();
        let head = std::iter::once("").chain(contenders.iter().copied()).chain(["goal"]);
        let head = head.map(str::to_owned).collect();
        let measures = self.measures.iter().map(|measure| measure.row(&contenders));
        std::iter::once(head).chain(measures).collect()
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) machine: Machine,
    pub(crate) rounds: usize,
    pub(crate) sections: Vec<Section>,
    /// What was left out, and why.
    pub(crate) left_out: Vec<String>,
}

const HEAD: &str = "Contenders take turns; times and rates are medians over the rounds.";

impl output::Report for Report {
    fn text(&self) -> String {
        let Self { machine, rounds, .. } = self;
        let mut text = format!("{machine}\n{rounds} rounds. {HEAD}\n");
        for section in &self.sections {
            let Section { title, about, .. } = section;
            let table = table::padded(&section.rows());
            write!(text, "\n{title}\n\n{table}\n{about}\n").expect("a string takes everything");
            section.notes.iter().for_each(|note| text += &format!("{note}\n"));
        }
        self.left_out.iter().for_each(|note| text += &format!("\nLEFT OUT: {note}\n"));
        text
    }

    fn markdown(&self) -> String {
        let Self { machine, rounds, .. } = self;
        let mut text = format!("# Benchmark of boxes\n\n{machine}; {rounds} rounds. {HEAD}\n");
        for section in &self.sections {
            let Section { title, about, .. } = section;
            let table = table::markdown(&section.rows());
            write!(text, "\n## {title}\n\n{table}\n{about}\n").expect("a string takes everything");
            section.notes.iter().for_each(|note| text += &format!("\n{note}\n"));
        }
        self.left_out.iter().for_each(|note| text += &format!("\n**Left out**: {note}\n"));
        text
    }
}

#[cfg(test)]
mod tests {
    use assay_bench::output::Report as _;

    use super::*;

    fn report() -> Report {
        let median = Measure::new("median", Unit::Milliseconds)
            .value(PLAIN, Some(0.5))
            .value(ASSAY, Some(1.75))
            .value(BUBBLEWRAP, None);
        let over = Measure::new("over plain", Unit::Milliseconds)
            .value(ASSAY, Some(1.25))
            .goal(Goal::AtMost(1.2));
        let section = Section {
            title: "A run".into(),
            about: "What each does.",
            measures: vec![median, over],
            notes: vec!["Something was seen.".into()],
        };
        let machine = Machine {
            cores: 2,
            cpu: "some processor".into(),
            memory_gib: 8.0,
            kernel: "6.1".into(),
        };
        let left_out = vec!["bubblewrap is not here.".into()];
        Report { machine, rounds: 3, sections: vec![section], left_out }
    }

    #[test]
    fn columns_are_the_contenders_that_were_measured() {
        let markdown = report().markdown();
        for line in [
            "|  | plain | Assay | goal |\n|---|--:|--:|---|\n",
            "| median | 0.50 ms | 1.75 ms (3.50x) | - |\n",
            "| over plain | - | 1.25 ms | at most 1.20 ms: missed |\n",
            "\n**Left out**: bubblewrap is not here.\n",
        ] {
            assert!(markdown.contains(line), "{markdown}");
        }
    }

    #[test]
    fn text_and_json_say_the_same() {
        let report = report();
        let text = report.text();
        for line in ["Something was seen.\n", "LEFT OUT: bubblewrap", "1.75 ms (3.50x)"] {
            assert!(text.contains(line), "{text}");
        }
        let json = serde_json::to_value(&report).expect("plain");
        let measures = &json["sections"][0]["measures"];
        assert_eq!(measures[0]["values"]["Assay"], 1.75);
        assert_eq!(measures[1]["goal"]["at_most"], 1.2);
    }
}
