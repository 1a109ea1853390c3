//! The results of a file, counted row by row, and its summary as JSON or text.

use std::collections::BTreeMap;
use std::fmt::Write;

use assay_api::result::ResultItem;
use assay_core::id::BatchId;
use assay_core::outcome::Outcome;
use serde::Serialize;

/// Maximum number of malformed lines that are listed; the others are only counted.
const MALFORMED_MAX: usize = 1_000;
const DISAGREEMENTS_MAX: usize = 10;
/// Maximum number of verdicts counted separately; a plugin may invent a new one for each row.
const VERDICTS_MAX: usize = 256;
const OTHER_VERDICTS: &str = "(other)";
/// Maximum number of malformed lines in the text.
const MALFORMED_SHOWN: usize = 10;

/// The progress of the work, in rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes read of the input, for an estimate of the end.
    pub bytes_read: u64,
    pub bytes_total: u64,
    pub malformed: u64,
    /// Rows that an earlier call scored.
    pub skipped: u64,
    pub submitted: u64,
    /// `scored + timed_out + error` of this call.
    pub finished: u64,
    pub scored: u64,
    pub timed_out: u64,
    pub error: u64,
    pub agreed: u64,
    pub disagreed: u64,
}

/// A line that could not be scored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Malformed {
    /// Line number, from 1.
    pub line: u64,
    pub problem: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Disagreement {
    pub line: u64,
    pub key: String,
    pub expected: f64,
    pub reward: f64,
}

/// Rewards compared with the rows' `expected`; a row without either is not compared.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Agreement {
    pub compared: u64,
    pub agreed: u64,
    /// The first disagreements.
    pub disagreements: Vec<Disagreement>,
}

/// The summary of a file, rows of earlier calls included.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Summary {
    /// `name@version`; absent if every row was scored before.
    pub plugin: Option<String>,
    pub plugin_digest: Option<String>,
    pub run: Option<String>,
    /// The file with the results; absent for standard output.
    pub output: Option<String>,
    /// Number of lines that are not blank.
    pub rows: u64,
    pub malformed_rows: u64,
    /// The first thousand malformed lines.
    pub malformed: Vec<Malformed>,
    /// Columns of the file that were not read, at most 32.
    pub ignored_columns: Vec<String>,
    /// Rows with a reward from an earlier call.
    pub skipped: u64,
    /// Rows that this call submitted.
    pub requests: u64,
    pub scored: u64,
    pub timed_out: u64,
    pub error: u64,
    /// Requests of this call that took the outcome of an equal request.
    pub shared: u64,
    /// Rows that this call submitted and that have no outcome at its end.
    pub unanswered: u64,
    /// Mean over scored and timed out rows; an error has no reward.
    pub mean_reward: Option<f64>,
    pub verdicts: BTreeMap<String, u64>,
    pub agreement: Agreement,
    pub require_agreement: bool,
    pub requests_per_s: f64,
    pub elapsed_s: f64,
    /// The largest extra delay of the batches.
    pub extra_delay_ms: Option<f64>,
    /// The batches of this call.
    pub batches: Vec<String>,
    pub interrupted: bool,
}

impl Summary {
    /// Whether every row has a reward (and, if required, the expected one).
    #[must_use]
    pub fn ok(&self) -> bool {
        let complete = self.error == 0
            && self.unanswered == 0
            && self.malformed_rows == 0
            && !self.interrupted;
        complete && (!self.require_agreement || self.agreement.agreed == self.agreement.compared)
    }

    /// The summary as text of several lines.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        self.write_text(&mut text).expect("a string takes everything");
        text
    }

    fn write_text(&self, text: &mut String) -> std::fmt::Result {
        let head = if self.interrupted { "interrupted" } else { "done" };
        let plugin = self.plugin.as_deref().unwrap_or("nothing new to score");
        write!(text, "{head}: {plugin}")?;
        if let Some(digest) = &self.plugin_digest {
            write!(text, " ({})", digest.get(..12).unwrap_or(digest))?;
        }
        writeln!(text)?;
        write!(text, "  rows        {}", grouped(self.rows))?;
        if self.skipped > 0 {
            write!(text, ", {} of them scored before", grouped(self.skipped))?;
        }
        if self.malformed_rows > 0 {
            write!(text, ", {} malformed", grouped(self.malformed_rows))?;
        }
        writeln!(text)?;
        let [scored, timed_out, error] = [self.scored, self.timed_out, self.error].map(grouped);
        write!(text, "  outcomes    {scored} scored, {timed_out} timed out, {error} error")?;
        if self.shared > 0 {
            write!(text, "; {} shared with equal requests", grouped(self.shared))?;
        }
        if self.unanswered > 0 {
            write!(text, ", {} without an answer", grouped(self.unanswered))?;
        }
        writeln!(text)?;
        if let Some(mean) = self.mean_reward {
            writeln!(text, "  mean reward {mean:.4}")?;
        }
        let verdicts: Vec<_> =
            self.verdicts.iter().map(|(word, rows)| format!("{word} {}", grouped(*rows))).collect();
        if !verdicts.is_empty() {
            writeln!(text, "  verdicts    {}", verdicts.join(", "))?;
        }
        self.write_agreement(text)?;
        write!(
            text,
            "  speed       {} requests in {:.1} s, {} a second",
            grouped(self.requests),
            self.elapsed_s,
            grouped(self.requests_per_s.round() as u64),
        )?;
        if let Some(extra_delay_ms) = self.extra_delay_ms {
            write!(text, ", extra delay {extra_delay_ms:.1} ms")?;
        }
        writeln!(text)?;
        for malformed in self.malformed.iter().take(MALFORMED_SHOWN) {
            writeln!(text, "  line {}: {}", malformed.line, malformed.problem)?;
        }
        if self.malformed_rows > MALFORMED_SHOWN as u64 {
            let more = self.malformed_rows - MALFORMED_SHOWN as u64;
            writeln!(text, "  and {} more malformed lines", grouped(more))?;
        }
        if !self.ignored_columns.is_empty() {
            let names: Vec<_> =
                self.ignored_columns.iter().map(|name| name.escape_debug().to_string()).collect();
            writeln!(text, "  ignored     columns that nothing reads: {}", names.join(", "))?;
        }
        if let Some(output) = &self.output {
            writeln!(text, "  results     {output}")?;
        }
        Ok(())
    }

    fn write_agreement(&self, text: &mut String) -> std::fmt::Result {
        let Agreement { compared, agreed, disagreements } = &self.agreement;
        if *compared == 0 {
            return Ok(());
        }
        let percent = 100.0 * *agreed as f64 / *compared as f64;
        let [agreed, compared] = [*agreed, *compared].map(grouped);
        writeln!(text, "  expected    {agreed} of {compared} agree ({percent:.2} %)")?;
        for Disagreement { line, key, expected, reward } in disagreements {
            writeln!(text, "    line {line}, {key}: reward {reward}, expected {expected}")?;
        }
        Ok(())
    }
}

/// 1234567 as `1,234,567`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// One row's reward, from this call or an earlier one.
pub(super) struct Rewarded<'a> {
    pub(super) line: u64,
    pub(super) key: &'a str,
    pub(super) expected: Option<f64>,
    pub(super) reward: f64,
    pub(super) timed_out: bool,
    pub(super) verdict: &'a str,
}

/// The running counts for [`Summary`] and [`Progress`].
pub(super) struct Tally {
    pub(super) summary: Summary,
    pub(super) progress: Progress,
    tolerance: f64,
    reward_sum: f64,
}

impl Tally {
    pub(super) fn new(tolerance: f64, bytes_total: u64) -> Self {
        let progress = Progress { bytes_total, ..Progress::default() };
        Self { summary: Summary::default(), progress, tolerance, reward_sum: 0.0 }
    }

    pub(super) fn malformed(&mut self, malformed: Malformed) {
        self.summary.malformed_rows += 1;
        self.progress.malformed += 1;
        if self.summary.malformed.len() < MALFORMED_MAX {
            self.summary.malformed.push(malformed);
        }
    }

    pub(super) fn submitted(&mut self, rows: usize) {
        self.summary.requests += rows as u64;
        self.progress.submitted += rows as u64;
    }

    /// Removes a row that the server did not accept from the counts.
    pub(super) fn refused(&mut self, malformed: Malformed) {
        self.summary.requests -= 1;
        self.progress.submitted -= 1;
        self.malformed(malformed);
    }

    pub(super) fn skipped(&mut self, row: &Rewarded<'_>) {
        self.summary.skipped += 1;
        self.progress.skipped += 1;
        self.rewarded(row);
    }

    pub(super) fn finished(&mut self, line: u64, expected: Option<f64>, item: &ResultItem) {
        self.progress.finished += 1;
        self.summary.shared += u64::from(item.shared_from.is_some());
        let timed_out = matches!(item.outcome, Outcome::TimedOut { .. });
        match item.outcome.reward() {
            Some(reward) => {
                let (key, verdict) = (item.key.as_str(), item.outcome.verdict());
                if timed_out {
                    self.progress.timed_out += 1;
                } else {
                    self.progress.scored += 1;
                }
                self.rewarded(&Rewarded { line, key, expected, reward, timed_out, verdict });
            }
            None => {
                self.progress.error += 1;
                self.summary.error += 1;
                self.verdict(item.outcome.verdict());
            }
        }
    }

    pub(super) fn batch_ended(&mut self, batch: BatchId, extra_delay_ms: Option<f64>) {
        self.summary.batches.push(batch.to_string());
        let seen = self.summary.extra_delay_ms;
        self.summary.extra_delay_ms = match (seen, extra_delay_ms) {
            (Some(seen), Some(more)) => Some(seen.max(more)),
            (seen, more) => seen.or(more),
        };
    }

    pub(super) fn into_summary(mut self) -> Summary {
        let summary = &mut self.summary;
        let rewarded = summary.scored + summary.timed_out;
        summary.mean_reward = (rewarded > 0).then(|| self.reward_sum / rewarded as f64);
        summary.malformed.sort_by_key(|malformed| malformed.line);
        summary.ignored_columns.sort();
        self.summary
    }

    fn rewarded(&mut self, row: &Rewarded<'_>) {
        if row.timed_out {
            self.summary.timed_out += 1;
        } else {
            self.summary.scored += 1;
        }
        self.reward_sum += row.reward;
        self.verdict(row.verdict);
        let Some(expected) = row.expected else { return };
        let agreement = &mut self.summary.agreement;
        agreement.compared += 1;
        if (row.reward - expected).abs() <= self.tolerance {
            agreement.agreed += 1;
            self.progress.agreed += 1;
            return;
        }
        self.progress.disagreed += 1;
        if agreement.disagreements.len() < DISAGREEMENTS_MAX {
            let (line, key, reward) = (row.line, row.key.to_owned(), row.reward);
            agreement.disagreements.push(Disagreement { line, key, expected, reward });
        }
    }

    fn verdict(&mut self, word: &str) {
        let verdicts = &mut self.summary.verdicts;
        if let Some(rows) = verdicts.get_mut(word) {
            *rows += 1;
        } else {
            let word = if verdicts.len() < VERDICTS_MAX { word } else { OTHER_VERDICTS };
            *verdicts.entry(word.to_owned()).or_default() += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        let cases = [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")];
        for (number, text) in cases {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn the_decision_follows_errors_and_the_asked_agreement() {
        let good = Summary { scored: 2, rows: 2, ..Summary::default() };
        assert!(good.ok());
        assert!(!Summary { error: 1, ..good.clone() }.ok());
        assert!(!Summary { unanswered: 1, ..good.clone() }.ok());
        assert!(!Summary { malformed_rows: 1, ..good.clone() }.ok());
        assert!(!Summary { interrupted: true, ..good.clone() }.ok());
        let agreement = Agreement { compared: 2, agreed: 1, disagreements: Vec::new() };
        let disagreeing = Summary { agreement, ..good };
        assert!(disagreeing.ok());
        assert!(!Summary { require_agreement: true, ..disagreeing }.ok());
    }

    #[test]
    fn verdicts_without_end_stay_bounded() {
        let mut tally = Tally::new(0.0, 0);
        for row in 0..1_000 {
            tally.verdict(&format!("verdict-{row}"));
        }
        let summary = tally.into_summary();
        assert_eq!(summary.verdicts.len(), VERDICTS_MAX + 1);
        assert_eq!(summary.verdicts[OTHER_VERDICTS], 1_000 - VERDICTS_MAX as u64);
    }
}
