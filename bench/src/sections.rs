//! The measured numbers of each contender, section by section, as tables for people and JSON for programs.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use crate::goal::{Goal, Unit};
use crate::machine::Machine;
use crate::{output, table};

/// The contender with which the others are compared.
pub const PLAIN: &str = "plain";
/// The contender that has goals.
pub const ASSAY: &str = "Assay";

/// One number of each contender.
#[derive(Debug, Serialize)]
pub struct Measure {
    name: String,
    unit: Unit,
    values: BTreeMap<&'static str, f64>,
    goal: Option<Goal>,
}

impl Measure {
    pub fn new(name: impl Into<String>, unit: Unit) -> Self {
        Self { name: name.into(), unit, values: BTreeMap::new(), goal: None }
    }

    /// Leaves the contender out where there is no value.
    pub fn value(mut self, contender: &'static str, value: Option<f64>) -> Self {
        self.values.extend(value.map(|value| (contender, value)));
        self
    }

    pub fn goal(self, goal: Goal) -> Self {
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
pub struct Section {
    pub title: String,
    /// The work that each contender does and does not do.
    pub about: &'static str,
    pub measures: Vec<Measure>,
    /// Observations beside the numbers.
    pub notes: Vec<String>,
}

impl Section {
    /// Plain first, then Assay, then the others by name.
    fn rows(&self) -> Vec<Vec<String>> {
        let measured = self.measures.iter().flat_map(|one| one.values.keys().copied());
        let mut contenders: Vec<&str> = measured.collect();
        contenders.sort_unstable_by_key(|&name| (name != PLAIN, name != ASSAY, name));
        contenders.dedup();
        let head = std::iter::once("").chain(contenders.iter().copied()).chain(["goal"]);
        let head = head.map(str::to_owned).collect();
        let measures = self.measures.iter().map(|measure| measure.row(&contenders));
        std::iter::once(head).chain(measures).collect()
    }
}

#[derive(Debug, Serialize)]
pub struct Report {
    pub title: &'static str,
    pub machine: Machine,
    pub rounds: usize,
    pub sections: Vec<Section>,
    /// The parts that were left out, with the reasons.
    pub left_out: Vec<String>,
}

impl Report {
    #[must_use]
    pub fn new(title: &'static str, machine: Machine, rounds: usize) -> Self {
        Self { title, machine, rounds, sections: Vec::new(), left_out: Vec::new() }
    }
}

/// Notes a part that is left out and prints it immediately, because reports are read later.
pub fn leave_out(left_out: &mut Vec<String>, what: String) {
    output::say(&format!("LEFT OUT: {what}"));
    left_out.push(what);
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
        let Self { title, machine, rounds, .. } = self;
        let mut text = format!("# {title}\n\n{machine}; {rounds} rounds. {HEAD}\n");
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
    use super::*;
    use crate::output::Report as _;

    fn report() -> Report {
        let median = Measure::new("median", Unit::Milliseconds)
            .value(PLAIN, Some(0.5))
            .value(ASSAY, Some(1.75))
            .value("another", None);
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
        Report { title: "Boxes", machine, rounds: 3, sections: vec![section], left_out }
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
