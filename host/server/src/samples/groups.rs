//! The rewards of a batch's groups: how each differs from the mean of its group.

use std::collections::HashMap;

use assay_api::sample::GroupRewards;
use assay_core::group::GroupStats;

use super::passes::{PromptSamples, passes};

/// The groups of a batch by name.
#[derive(Debug, Default)]
pub(super) struct Groups(HashMap<String, Group>);

#[derive(Debug, Default)]
struct Group {
    stats: GroupStats,
    passed: u32,
    mean: f64,
    /// The sum of the squared distances from the mean.
    squares: f64,
    complete: bool,
}

impl Groups {
    /// Adds a request that has ended, with its reward if it has one.
    pub(super) fn add(&mut self, group: &str, reward: Option<f64>) {
        if !self.0.contains_key(group) {
            self.0.insert(group.to_owned(), Group::default());
        }
        let group = self.0.get_mut(group).expect("it is there");
        group.stats.add(reward);
        let Some(reward) = reward else { return };
        group.passed += u32::from(passes(reward));
        // Welford's method: no difference of large sums.
        let distance = reward - group.mean;
        group.mean += distance / f64::from(group.stats.rewarded);
        group.squares += distance * (reward - group.mean);
    }

    /// All requests are added; a group of fewer than `size` is not complete.
    pub(super) fn complete(&mut self, size: Option<u32>) {
        for group in self.0.values_mut() {
            group.complete = group.stats.is_complete(size);
        }
    }

    /// The distance of a reward from the mean of its group, in standard deviations.
    pub(super) fn advantage(&self, group: &str, reward: f64) -> Option<f64> {
        let group = self.0.get(group)?;
        if !group.stats.differ {
            return Some(0.0);
        }
        let std = (group.squares / f64::from(group.stats.rewarded)).sqrt();
        // Rewards as large as numbers may be have no finite distances.
        Some((reward - group.mean) / std).filter(|advantage| advantage.is_finite())
    }

    /// The number of groups whose rewards are all equal and above zero.
    pub(super) fn all_right(&self) -> u32 {
        let right = self.0.values().filter(|group| rewards(group) == Some(GroupRewards::AllRight));
        u32::try_from(right.count()).expect("fewer than requests")
    }

    /// The samples of each group that have a reward, and those that passed.
    pub(super) fn attempts(&self) -> Vec<PromptSamples> {
        let attempts =
            |group: &Group| PromptSamples { samples: group.stats.rewarded, passed: group.passed };
        self.0.values().map(attempts).filter(|attempts| attempts.samples > 0).collect()
    }

    /// How the rewards of a complete group differ.
    pub(super) fn rewards(&self, group: &str) -> Option<GroupRewards> {
        rewards(self.0.get(group)?)
    }
}

fn rewards(group: &Group) -> Option<GroupRewards> {
    group.complete.then_some(match (group.stats.differ, group.stats.first > 0.0) {
        (true, _) => GroupRewards::Mixed,
        (false, true) => GroupRewards::AllRight,
        (false, false) => GroupRewards::AllWrong,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(rewards: &[Option<f64>], size: Option<u32>) -> Groups {
        let mut groups = Groups::default();
        rewards.iter().for_each(|reward| groups.add("g", *reward));
        groups.complete(size);
        groups
    }

    #[test]
    fn an_advantage_is_counted_in_standard_deviations() {
        let of = groups(&[Some(1.0), Some(0.0), Some(0.0), Some(1.0)], None);
        assert_eq!((of.advantage("g", 1.0), of.advantage("g", 0.0)), (Some(1.0), Some(-1.0)));
        assert_eq!(of.rewards("g"), Some(GroupRewards::Mixed));
        assert_eq!(of.advantage("other", 1.0), None);
        let huge = groups(&[Some(f64::MAX), Some(f64::MIN)], None);
        assert_eq!(huge.advantage("g", f64::MAX), None);
    }

    #[test]
    fn groups_without_variance_are_all_right_or_all_wrong() {
        let right = groups(&[Some(0.5), Some(0.5)], Some(2));
        assert_eq!((right.rewards("g"), right.all_right()), (Some(GroupRewards::AllRight), 1));
        assert_eq!(right.advantage("g", 0.5), Some(0.0));
        assert_eq!(groups(&[Some(0.0); 2], None).rewards("g"), Some(GroupRewards::AllWrong));
        // A group with an error, one of a single request, and one that is smaller than announced.
        for (rewards, size) in
            [(&[Some(1.0), None][..], None), (&[Some(1.0)], None), (&[Some(1.0); 2], Some(3))]
        {
            assert_eq!(groups(rewards, size).rewards("g"), None);
        }
    }
}
