//! The rewards of a group, and when it is complete: a trainer compares the rewards of the samples of one prompt.

/// The requests of a group that have ended, and whether their rewards differ.
#[derive(Debug, Default, Clone, Copy)]
pub struct GroupStats {
    /// The number of requests that have ended.
    pub ended: u32,
    /// The number of requests with a reward.
    pub rewarded: u32,
    /// The first reward; zero before it.
    pub first: f64,
    /// Whether some reward differs from the first one.
    pub differ: bool,
}

impl GroupStats {
    /// Adds a request that has ended, with its reward if it has one.
    pub fn add(&mut self, reward: Option<f64>) {
        self.ended += 1;
        let Some(reward) = reward else { return };
        if self.rewarded == 0 {
            self.first = reward;
        }
        self.differ |= reward != self.first;
        self.rewarded += 1;
    }

    /// Whether the group has at least two requests, each with a reward, and as many as were announced, if a size was.
    #[must_use]
    pub fn is_complete(&self, size: Option<u32>) -> bool {
        self.ended >= 2 && self.rewarded == self.ended && size.is_none_or(|size| self.ended == size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(rewards: &[Option<f64>]) -> GroupStats {
        let mut group = GroupStats::default();
        rewards.iter().for_each(|reward| group.add(*reward));
        group
    }

    #[test]
    fn a_group_is_complete_with_a_reward_of_each_request() {
        let of = |rewards: &[Option<f64>], size| group(rewards).is_complete(size);
        assert!(of(&[Some(1.0), Some(0.0)], None) && of(&[Some(1.0); 3], Some(3)));
        assert!(!of(&[Some(1.0)], None) && !of(&[Some(1.0)], Some(1)));
        assert!(!of(&[Some(1.0), None], None) && !of(&[Some(1.0); 2], Some(3)));
    }

    #[test]
    fn rewards_differ_from_the_first_one() {
        assert!(!group(&[None, Some(0.5), Some(0.5)]).differ);
        assert!(group(&[Some(0.5), None, Some(0.25), Some(0.5)]).differ);
    }
}
