//! Whether an iteration differs from those before it. Pure.
//!
//! "Before" is at most [`BASELINE_MAX`] iterations, by medians, so that one odd iteration changes little. An iteration
//! differs if it is far outside of the spread that they had among themselves, and if the difference matters.

use std::collections::{BTreeMap, BTreeSet};

use super::IncidentKind;

/// The iterations before that count.
pub(super) const BASELINE_MAX: usize = 20;
/// Fewer iterations before say nothing.
const BASELINE_MIN: usize = 8;
/// Smaller iterations say nothing.
const REQUESTS_MIN: u32 = 16;
/// How many spreads of the iterations before are far outside.
const SPREADS: f64 = 5.0;
/// The part of the rewards' standard deviation by which a drop of their mean matters.
const DROP_MIN: f64 = 0.25;
/// The part of the verdicts by which a change of them matters.
const CHANGE_MIN: f64 = 0.2;
/// From the median of distances from the median to a standard deviation, for a normal distribution.
const DEVIATIONS: f64 = 1.4826;
/// The verdicts that a sentence names.
const NAMED_MAX: usize = 3;

/// The figures of an iteration that are compared.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Figures {
    pub mean: f64,
    pub std: f64,
    /// Requests by verdict.
    pub verdicts: BTreeMap<String, u32>,
}

/// A difference, with words that follow "in iteration 7".
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Change {
    pub kind: IncidentKind,
    pub words: String,
}

/// Compares an iteration with those before it, the oldest first.
pub(super) fn compare(before: &[Figures], ended: &Figures) -> Vec<Change> {
    let large: Vec<_> = before.iter().filter(|it| it.requests() >= REQUESTS_MIN).collect();
    let before = &large[large.len().saturating_sub(BASELINE_MAX)..];
    if before.len() < BASELINE_MIN || ended.requests() < REQUESTS_MIN {
        return Vec::new();
    }
    reward_drop(before, ended).into_iter().chain(verdict_change(before, ended)).collect()
}

impl Figures {
    fn requests(&self) -> u32 {
        self.verdicts.values().sum()
    }

    /// The part of the requests with this verdict.
    fn share(&self, verdict: &str) -> f64 {
        f64::from(self.verdicts.get(verdict).copied().unwrap_or(0)) / f64::from(self.requests())
    }
}

fn reward_drop(before: &[&Figures], ended: &Figures) -> Option<Change> {
    let usual = median(before.iter().map(|it| it.mean));
    let spread = spread(before.iter().map(|it| it.mean), usual);
    let chance = ended.std / f64::from(ended.requests()).sqrt();
    let matters = DROP_MIN * median(before.iter().map(|it| it.std)).max(ended.std);
    let drop = usual - ended.mean;
    let is_far = drop > SPREADS * spread.max(chance) && drop > 0.0 && drop >= matters;
    is_far.then(|| Change {
        kind: IncidentKind::RewardDropped,
        words: format!(
            "the mean reward is {:.3}; in the {} before it was {usual:.3} at the median",
            ended.mean,
            before.len()
        ),
    })
}

fn verdict_change(before: &[&Figures], ended: &Figures) -> Option<Change> {
    let named: BTreeSet<&str> = before
        .iter()
        .copied()
        .chain([ended])
        .flat_map(|it| it.verdicts.keys())
        .map(String::as_str)
        .collect();
    let usual: BTreeMap<&str, f64> = named
        .iter()
        .map(|verdict| (*verdict, median(before.iter().map(|it| it.share(verdict)))))
        .collect();
    // The part of the requests that would need another verdict.
    let distance = |it: &Figures| {
        usual.iter().map(|(verdict, share)| (it.share(verdict) - share).abs()).sum::<f64>() / 2.0
    };
    let often = median(before.iter().map(|it| distance(it)));
    let spread = spread(before.iter().map(|it| distance(it)), often);
    let now = distance(ended);
    if now < CHANGE_MIN || now <= often + SPREADS * spread {
        return None;
    }
    let mut changed: Vec<_> =
        usual.iter().map(|(verdict, share)| (*verdict, *share, ended.share(verdict))).collect();
    changed.sort_by(|one, other| (other.2 - other.1).abs().total_cmp(&(one.2 - one.1).abs()));
    let words: Vec<_> = changed
        .iter()
        .take(NAMED_MAX)
        .filter(|(_, was, is)| was != is)
        .map(|(verdict, was, is)| {
            format!("`{verdict}` {:.0} % instead of {:.0} %", is * 100.0, was * 100.0)
        })
        .collect();
    Some(Change {
        kind: IncidentKind::VerdictsChanged,
        words: format!(
            "the verdicts differ from the {} before: {}",
            before.len(),
            words.join(", ")
        ),
    })
}

/// The median; of no numbers, zero.
fn median(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = numbers.collect();
    sorted.sort_by(f64::total_cmp);
    let Some(upper) = sorted.get(sorted.len() / 2) else { return 0.0 };
    let lower = sorted[(sorted.len() - 1) / 2];
    f64::midpoint(lower, *upper)
}

/// The standard deviation that the middle half of the numbers suggests.
fn spread(numbers: impl Iterator<Item = f64>, middle: f64) -> f64 {
    DEVIATIONS * median(numbers.map(|number| (number - middle).abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(mean: f64, right: u32, wrong: u32) -> Figures {
        let verdicts = [("right", right), ("wrong", wrong)];
        let verdicts = verdicts
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .map(|(name, it)| (name.into(), it));
        Figures { mean, std: 0.5, verdicts: verdicts.collect() }
    }

    /// Iterations of 256 requests whose means lie around a half.
    fn usual(count: u32) -> Vec<Figures> {
        let right = |at: u32| 128 + (at * 7) % 9 - 4;
        (0..count).map(right).map(|it| figures(f64::from(it) / 256.0, it, 256 - it)).collect()
    }

    fn kinds(before: &[Figures], ended: &Figures) -> Vec<IncidentKind> {
        compare(before, ended).into_iter().map(|it| it.kind).collect()
    }

    #[test]
    fn a_run_that_goes_on_is_no_incident() {
        let all = usual(60);
        for at in 0..all.len() {
            assert_eq!(compare(&all[..at], &all[at]), [], "{at}");
        }
        // It learns, slowly.
        let learns = |at: u32| figures(f64::from(64 + 3 * at) / 256.0, 64 + 3 * at, 192 - 3 * at);
        let all: Vec<_> = (0..60).map(learns).collect();
        for at in 0..all.len() {
            assert_eq!(compare(&all[..at], &all[at]), [], "{at}");
        }
    }

    #[test]
    fn a_drop_and_other_verdicts_are_told_in_words() {
        let told = compare(&usual(20), &figures(0.125, 32, 224));
        assert_eq!(
            told.iter().map(|it| it.kind).collect::<Vec<_>>(),
            [IncidentKind::RewardDropped, IncidentKind::VerdictsChanged]
        );
        assert_eq!(
            told[0].words,
            "the mean reward is 0.125; in the 20 before it was 0.500 at the median"
        );
        assert_eq!(
            told[1].words,
            "the verdicts differ from the 20 before: `right` 12 % instead of 50 %, \
             `wrong` 88 % instead of 50 %"
        );
    }

    #[test]
    fn a_new_verdict_is_a_change_although_the_mean_is_the_same() {
        let mut ended = figures(0.5, 128, 48);
        ended.verdicts.insert("unreadable".into(), 80);
        assert_eq!(kinds(&usual(20), &ended), [IncidentKind::VerdictsChanged]);
    }

    #[test]
    fn what_says_too_little_is_no_incident() {
        let low = figures(0.0, 0, 256);
        assert_eq!(kinds(&usual(7), &low), []);
        assert_eq!(kinds(&usual(20), &figures(0.0, 0, 15)), []);
        assert_eq!(kinds(&usual(20), &figures(1.0, 140, 116)), [], "a rise is none");
        let small: Vec<_> = (0..20).map(|_| figures(0.5, 4, 4)).collect();
        assert_eq!(kinds(&small, &low), []);
        // By chance: 32 requests of such a run lie there now and then.
        assert_eq!(kinds(&usual(20), &figures(0.375, 12, 20)), []);
    }

    #[test]
    fn one_odd_iteration_before_changes_nothing() {
        let mut before = usual(20);
        before[13] = figures(0.0, 0, 256);
        assert_eq!(kinds(&before, &figures(0.0, 0, 256)).len(), 2);
        assert_eq!(kinds(&before, &usual(1)[0]), []);
    }

    #[test]
    fn a_run_whose_rewards_were_all_the_same_drops_too() {
        let all_right: Vec<_> =
            (0..10).map(|_| Figures { std: 0.0, ..figures(1.0, 64, 0) }).collect();
        assert_eq!(kinds(&all_right, &figures(0.5, 32, 32)).len(), 2);
        assert_eq!(kinds(&all_right, &all_right[0]), []);
    }
}
