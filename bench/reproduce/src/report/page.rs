//! The page that a report becomes: Markdown, its charts beside it, and what was met or missed.

use std::fmt::{Display, Write as _};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

/// The page's name, and that of the folder with its charts.
const NAME: &str = "reproduction";

#[derive(Debug)]
pub(super) struct Page {
    text: String,
    charts: Vec<(String, String)>,
    goals: Vec<Goal>,
}

/// Something that was to be reached.
#[derive(Debug)]
struct Goal {
    what: String,
    wanted: String,
    seen: String,
    is_met: bool,
}

impl Page {
    pub(super) fn new() -> Self {
        Self { text: String::new(), charts: Vec::new(), goals: Vec::new() }
    }

    pub(super) fn heading(&mut self, title: &str) {
        self.add(&format!("## {title}"));
    }

    /// A paragraph, or a list.
    pub(super) fn say(&mut self, text: impl Display) {
        self.add(&text.to_string());
    }

    /// Words are to the left, numbers to the right.
    pub(super) fn table(&mut self, heading: &[&str], rows: &[Vec<String>]) {
        let line = |cells: &[String]| format!("| {} |", cells.join(" | "));
        let heading: Vec<String> = heading.iter().map(|&cell| cell.to_owned()).collect();
        let is_number = |cell: &String| {
            cell == "-"
                || cell.trim_start_matches(['+', '-']).starts_with(|c: char| c.is_ascii_digit())
        };
        let rule = |column: usize| {
            let is_right = rows.iter().all(|row| is_number(&row[column]));
            if is_right { "---:" } else { "---" }.to_owned()
        };
        let rule: Vec<String> = (0..heading.len()).map(rule).collect();
        let mut lines = vec![line(&heading), line(&rule)];
        lines.extend(rows.iter().map(|row| line(row)));
        self.add(&lines.join("\n"));
    }

    pub(super) fn chart(&mut self, name: &str, caption: &str, chart: String) {
        self.add(&format!("![{caption}]({NAME}/{name}.svg)"));
        self.charts.push((format!("{name}.svg"), chart));
    }

    pub(super) fn goal(
        &mut self,
        what: impl Into<String>,
        wanted: impl Into<String>,
        seen: impl Into<String>,
        is_met: bool,
    ) {
        let (what, wanted, seen) = (what.into(), wanted.into(), seen.into());
        self.goals.push(Goal { what, wanted, seen, is_met });
    }

    /// Writes `reproduction.md` with its charts; what was there of an earlier one is replaced.
    /// Returns the page's path and how many goals were met, of how many.
    pub(super) fn write(
        &self,
        folder: &Path,
        opening: &str,
    ) -> anyhow::Result<(PathBuf, usize, usize)> {
        let charts = folder.join(NAME);
        fs::create_dir_all(&charts).with_context(|| format!("cannot make {}", charts.display()))?;
        for (name, chart) in &self.charts {
            write(&charts.join(name), chart)?;
        }
        let page = folder.join(format!("{NAME}.md"));
        write(&page, &format!("{opening}\n\n{}\n\n{}", self.summary(), self.text))?;
        let met = self.goals.iter().filter(|goal| goal.is_met).count();
        Ok((page, met, self.goals.len()))
    }

    fn summary(&self) -> String {
        let missed = self.goals.iter().filter(|goal| !goal.is_met).count();
        let mut text = format!("## What was to be reached\n\n{} goals, ", self.goals.len());
        let _ = match missed {
            0 => write!(text, "all met."),
            1 => write!(text, "one of them missed."),
            _ => write!(text, "{missed} of them missed."),
        };
        text.push_str("\n\n| goal | wanted | here | |\n| --- | ---: | ---: | --- |");
        for Goal { what, wanted, seen, is_met } in &self.goals {
            let verdict = if *is_met { "met" } else { "**missed**" };
            let _ = write!(text, "\n| {what} | {wanted} | {seen} | {verdict} |");
        }
        text
    }

    fn add(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(text);
        self.text.push('\n');
    }
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_begins_with_what_was_missed_and_has_its_charts_beside_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut page = Page::new();
        page.heading("One");
        page.table(&["policy", "norm"], &[vec!["assay".into(), "1.1".into()]]);
        page.chart("one", "A chart", "<svg/>".into());
        page.goal("cheap", "1.2", "1.1", true);
        page.goal("fast", "2 s", "3 s", false);
        let (path, met, goals) = page.write(folder.path(), "# Page").expect("written");
        assert_eq!((met, goals), (1, 2));
        let wanted = "# Page

## What was to be reached

2 goals, one of them missed.

| goal | wanted | here | |
| --- | ---: | ---: | --- |
| cheap | 1.2 | 1.1 | met |
| fast | 2 s | 3 s | **missed** |

## One

| policy | norm |
| --- | ---: |
| assay | 1.1 |

![A chart](reproduction/one.svg)
";
        assert_eq!(fs::read_to_string(path).expect("the page"), wanted);
        let chart = fs::read_to_string(folder.path().join("reproduction/one.svg"));
        assert_eq!(chart.expect("the chart"), "<svg/>");
    }
}
