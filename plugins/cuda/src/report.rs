//! From what was found to a reward, with its explanation.

use assay_plugin::Scored;

use crate::limits::EXPLANATION_BYTES_MAX;
use crate::settings::Settings;
use crate::verdict::{Failure, Verdict, beginning};

/// The findings so far.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// The place from which the source was taken, and its form.
    pub(crate) origin: String,
    pub(crate) simulated: bool,
    /// The sizes; absent in the first stage.
    pub(crate) sizes: Option<Sizes>,
    pub(crate) times: Option<Times>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) passed: usize,
    pub(crate) all: usize,
}

/// Medians of runs of the timed size.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    pub(crate) candidate_ns: u64,
    pub(crate) baseline_ns: u64,
}

impl Times {
    /// Both hold what a launch costs at the least, which favours neither.
    pub(crate) fn speedup(self) -> f64 {
        // Nanoseconds of runs of at most a minute.
        self.baseline_ns as f64 / self.candidate_ns.max(1) as f64
    }
}

impl Report {
    pub(crate) fn failed(&self, settings: &Settings, failure: &Failure) -> Scored {
        let reward = settings.rewards.of(failure.verdict);
        self.scored(reward, failure.verdict, &failure.reason)
    }

    pub(crate) fn succeeded(&self, settings: &Settings) -> Scored {
        let all = self.sizes.map_or(0, |sizes| sizes.all);
        let right = format!("right at all {all} sizes");
        match self.times {
            None => self.scored(settings.reward_of_speedup(1.0), Verdict::Success, &right),
            Some(times) => {
                let speedup = times.speedup();
                let told = format!(
                    "{right}; {speedup:.3} times as fast as the baseline ({} ns against {} ns)",
                    times.candidate_ns, times.baseline_ns
                );
                self.scored(settings.reward_of_speedup(speedup), Verdict::Success, &told)
            }
        }
    }

    fn scored(&self, reward: f64, verdict: Verdict, told: &str) -> Scored {
        let label = if self.simulated { "simulated: " } else { "" };
        let origin = match self.origin.as_str() {
            "" => String::new(),
            origin => format!("\nprogram: {origin}"),
        };
        // The mark of what was left out takes three bytes.
        let room = EXPLANATION_BYTES_MAX.saturating_sub(label.len() + origin.len() + 3);
        let mut scored = Scored::new(reward, verdict.as_str())
            .explain(format!("{label}{}{origin}", beginning(told, room)));
        if let Some(sizes) = self.sizes {
            scored = scored
                .component("sizes_passed", sizes.passed as f64)
                .component("sizes", sizes.all as f64);
        }
        if let Some(times) = self.times {
            scored = scored
                .component("speedup", times.speedup())
                .component("candidate_ns", times.candidate_ns as f64)
                .component("baseline_ns", times.baseline_ns as f64);
        }
        if self.simulated { scored.component("simulated", 1.0) } else { scored }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_explanation_fits_and_keeps_what_must_be_said() {
        let report = Report { origin: "a block".into(), simulated: true, ..Report::default() };
        let failure = Failure::new(Verdict::CompileFailed, "ü".repeat(5_000));
        let scored = report.failed(&Settings::default(), &failure);
        assert!(scored.explanation.len() <= EXPLANATION_BYTES_MAX);
        assert!(scored.explanation.starts_with("simulated: ü"));
        assert!(scored.explanation.ends_with("…\nprogram: a block"), "{}", scored.explanation);
    }
}
