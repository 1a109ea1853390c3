//! Which part of a prompt's samples passes: solve rates, pass@k, and the means of reward components.
//!
//! pass@k is the chance that at least one of k samples of a prompt passes. With c of n samples passed, its unbiased
//! estimator is 1 - C(n-c, k) / C(n, k): Chen et al., Evaluating Large Language Models Trained on Code (2021),
//! section 2.1, equation 1. A prompt is a group; a sample without a reward counts neither as passed nor as failed.

use std::collections::BTreeMap;

use assay_core::limits;

/// The samples of a prompt that have a reward.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PromptSamples {
    pub samples: u32,
    pub passed: u32,
}

/// Whether a reward is a pass.
pub(super) fn passes(reward: f64) -> bool {
    reward >= limits::PASS_REWARD
}

/// The estimate of pass@k for one prompt; `None` where it has fewer than k samples.
fn pass_at(k: u32, PromptSamples { samples, passed }: PromptSamples) -> Option<f64> {
    if k == 0 || samples < k {
        return None;
    }
    // The quotient of the binomials, factor by factor, so that none overflows.
    let failed = samples - passed;
    let none_passes: f64 = (failed + 1..=samples)
        .map(|i| 1.0 - f64::from(k) / f64::from(i))
        // Fewer than k failed, so that any k have a pass.
        .map(|factor| if failed < k { 0.0 } else { factor })
        .product();
    Some(1.0 - none_passes)
}

/// pass@k by k, for the powers of two up to the samples of the largest prompt: the mean over the prompts with at
/// least k samples.
pub(super) fn pass_at_powers(prompts: &[PromptSamples]) -> BTreeMap<String, f64> {
    let largest = prompts.iter().map(|prompt| prompt.samples).max().unwrap_or(0);
    let powers = (0..=limits::PASS_AT_POWER_MAX).map(|power| 1_u32 << power);
    let of = |k: u32| {
        let estimates: Vec<f64> = prompts.iter().filter_map(|prompt| pass_at(k, *prompt)).collect();
        (k.to_string(), estimates.iter().sum::<f64>() / estimates.len() as f64)
    };
    powers.take_while(|k| *k <= largest).map(of).collect()
}

/// The number of prompts by solve rate, in bins of equal width from 0 to 1; the last one includes 1.
pub(super) fn solve_rates(prompts: &[PromptSamples]) -> Vec<u32> {
    let mut bins = vec![0; limits::SOLVE_RATE_BINS as usize];
    for PromptSamples { samples, passed } in prompts.iter().filter(|prompt| prompt.samples > 0) {
        let bin = u64::from(*passed) * u64::from(limits::SOLVE_RATE_BINS) / u64::from(*samples);
        bins[bin.min(u64::from(limits::SOLVE_RATE_BINS) - 1) as usize] += 1;
    }
    bins
}

/// The means of the components of a batch's rewards, each over the samples that have it.
#[derive(Debug, Default)]
pub(super) struct Components(BTreeMap<String, (u32, f64)>);

impl Components {
    /// Adds the components of a sample. Names after the first ones are left out, and what is no number.
    pub(super) fn add<'a>(&mut self, components: impl IntoIterator<Item = (&'a String, &'a f64)>) {
        for (name, value) in components {
            if !value.is_finite() || name.contains('\0') {
                continue;
            }
            if !self.0.contains_key(name) && self.0.len() >= limits::COMPONENT_MEANS_MAX {
                continue;
            }
            let (samples, mean) = self.0.entry(name.clone()).or_default();
            *samples += 1;
            // No large sums, so that the mean stays finite.
            *mean += value / f64::from(*samples) - *mean / f64::from(*samples);
        }
    }

    pub(super) fn means(&self) -> BTreeMap<&str, f64> {
        let means = self.0.iter().map(|(name, (_, mean))| (name.as_str(), *mean));
        means.filter(|(_, mean)| mean.is_finite()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempts(samples: u32, passed: u32) -> PromptSamples {
        PromptSamples { samples, passed }
    }

    /// The estimator as it is defined, by counting the choices of k samples without a pass.
    fn by_counting(k: u32, samples: u32, passed: u32) -> f64 {
        let choices = 0..1_u32 << samples;
        let of_k = choices.filter(|choice| choice.count_ones() == k);
        let passing = (1 << passed) - 1;
        let (mut all, mut good) = (0.0, 0.0);
        for choice in of_k {
            all += 1.0;
            good += f64::from(u8::from(choice & passing != 0));
        }
        good / all
    }

    #[test]
    fn pass_at_k_is_the_part_of_choices_with_a_pass() {
        for samples in 1..=10 {
            for passed in 0..=samples {
                for k in 1..=samples {
                    let estimate = pass_at(k, attempts(samples, passed)).expect("enough samples");
                    let counted = by_counting(k, samples, passed);
                    assert!(
                        (estimate - counted).abs() < 1e-12,
                        "{k} of {samples}, {passed} passed"
                    );
                }
            }
        }
        assert_eq!(pass_at(3, attempts(2, 2)), None);
        assert_eq!(pass_at(1_024, attempts(2_000, 1)), Some(1_024.0 / 2_000.0));
    }

    #[test]
    fn pass_at_powers_is_the_mean_over_the_prompts_with_enough_samples() {
        let of = pass_at_powers(&[attempts(4, 2), attempts(2, 0), attempts(0, 0)]);
        assert_eq!(of["1"], 0.25);
        // 1 - C(2,2)/C(4,2) of the first, and 0 of the second.
        assert!((of["2"] - (5.0 / 6.0) / 2.0).abs() < 1e-12);
        assert_eq!(of["4"], 1.0);
        assert_eq!(of.len(), 3);
        assert!(pass_at_powers(&[]).is_empty());
    }

    #[test]
    fn prompts_are_counted_by_solve_rate() {
        let prompts =
            [attempts(8, 0), attempts(8, 8), attempts(8, 4), attempts(8, 7), attempts(0, 0)];
        assert_eq!(solve_rates(&prompts), [1, 0, 0, 0, 0, 1, 0, 0, 1, 1]);
    }

    #[test]
    fn means_are_over_the_samples_that_have_a_component() {
        let mut components = Components::default();
        let of = |values: &[(&str, f64)]| -> BTreeMap<String, f64> {
            values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
        };
        components.add(&of(&[("format", 1.0), ("length", f64::MAX)]));
        components.add(&of(&[("format", 0.0), ("length", f64::MAX)]));
        components.add(&of(&[("exact", 1.0), ("wrong", f64::NAN)]));
        let means = components.means();
        assert_eq!((means["format"], means["exact"], means.len()), (0.5, 1.0, 3));
        assert!(means["length"].is_finite());
    }
}
