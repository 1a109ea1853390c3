//! From what the tests found to a reward, with its explanation.

use std::collections::BTreeSet;

use assay_plugin::Scored;

use crate::program::Program;
use crate::settings::{Scoring, Settings};
use crate::verdict::{Failure, Verdict};

/// The bytes of an explanation that the platform keeps.
const EXPLANATION_BYTES_MAX: usize = 4_000;

/// The results of all tests.
pub(crate) struct Tally {
    pub(crate) total: usize,
    pub(crate) passed: usize,
    /// The points earned and the points possible. Both are zero if the problem has no points; then the
    /// share of passed tests counts.
    pub(crate) earned: f64,
    pub(crate) points: f64,
    pub(crate) first: Option<(String, Failure)>,
    pub(crate) slowest_cpu_us: u64,
    pub(crate) weakened: BTreeSet<String>,
}

impl Tally {
    pub(crate) fn new(total: usize) -> Self {
        Self {
            total,
            passed: 0,
            earned: 0.0,
            points: 0.0,
            first: None,
            slowest_cpu_us: 0,
            weakened: BTreeSet::new(),
        }
    }

    /// Only the first failure is explained.
    pub(crate) fn fail(&mut self, test: &str, failure: Failure) {
        self.first.get_or_insert_with(|| (test.to_owned(), failure));
    }

    fn share(&self) -> f64 {
        if self.points > 0.0 {
            return self.earned / self.points;
        }
        // At most TESTS_MAX.
        self.passed as f64 / self.total.max(1) as f64
    }

    pub(crate) fn into_scored(self, settings: &Settings, program: &Program) -> Scored {
        let verdict = self.first.as_ref().map_or(Verdict::Success, |(_, failure)| failure.verdict);
        let reward = match settings.scoring {
            Scoring::All => settings.rewards.of(verdict),
            Scoring::Share if verdict == Verdict::Success => settings.rewards.of(verdict),
            Scoring::Share => settings.rewards.partial(verdict, self.share()),
        };
        let (passed, total) = (self.passed, self.total);
        let told = match &self.first {
            None => format!("all {total} tests passed"),
            Some((test, failure)) => {
                let shown = if settings.show_tests { failure.shown.as_str() } else { "" };
                format!("test {test}: {}; {passed} of {total} passed{shown}", failure.detail)
            }
        };
        Scored::new(reward, verdict.as_str())
            .component("passed", passed as f64)
            .component("total", total as f64)
            .component("slowest_cpu_ms", self.slowest_cpu_us as f64 / 1_000.0)
            .explain(explanation(&told, Some(&program.origin), &self.weakened))
    }
}

/// A program that never came to its tests.
pub(crate) fn without_tests(
    settings: &Settings,
    verdict: Verdict,
    reason: &str,
    origin: Option<&str>,
    weakened: &BTreeSet<String>,
) -> Scored {
    Scored::new(settings.rewards.of(verdict), verdict.as_str())
        .explain(explanation(reason, origin, weakened))
}

fn explanation(told: &str, origin: Option<&str>, weakened: &BTreeSet<String>) -> String {
    let mut around = origin.map_or(String::new(), |origin| format!("\nprogram: {origin}"));
    if !weakened.is_empty() {
        let parts: Vec<&str> = weakened.iter().map(String::as_str).collect();
        around.push_str(&format!("\nthe sandbox of this machine lacks: {}", parts.join(", ")));
    }
    let bytes_max = EXPLANATION_BYTES_MAX.saturating_sub(around.len());
    format!("{}{around}", &told[..told.floor_char_boundary(bytes_max)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_explanation_fits_and_keeps_what_must_be_said() {
        let weakened = BTreeSet::from(["cgroups".to_owned()]);
        let text = explanation(&"ü".repeat(5_000), Some("the cpp block at line 1"), &weakened);
        assert!(text.len() <= EXPLANATION_BYTES_MAX);
        assert!(text.ends_with("at line 1\nthe sandbox of this machine lacks: cgroups"), "{text}");
    }

    #[test]
    fn points_decide_where_there_are_any() {
        let mut tally = Tally::new(4);
        tally.passed = 1;
        assert_eq!(tally.share(), 0.25);
        (tally.earned, tally.points) = (30.0, 40.0);
        assert_eq!(tally.share(), 0.75);
    }
}
