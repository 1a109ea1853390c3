//! The samples that are known to have got no reward. A trainer that repeats a call, or asks for one sample again and
//! again, gets many answers without a reward for it; it counts once.

use std::collections::HashSet;
use std::time::Duration;

use assay_core::id::{Digest, RequestId, TenantId};
use assay_core::limits;
use parking_lot::Mutex;
use tokio::time::Instant;

/// The time for which a sample is known at least, after its last answer without a reward.
const KNOWN: Duration = Duration::from_secs(limits::COMPAT_REPEAT_SECONDS);

/// Two sets of digests: when the newer one is full or old it takes the place of the older one, whose samples are
/// forgotten. A sample that is forgotten too soon counts twice, which is better than never.
#[derive(Debug, Default)]
pub(crate) struct ToldSamples(Mutex<Generations>);

#[derive(Debug, Default)]
struct Generations {
    since: Option<Instant>,
    newer: HashSet<Digest>,
    older: HashSet<Digest>,
}

impl ToldSamples {
    /// Notes an answer without a reward; true if it is the sample's first.
    pub(crate) fn note(&self, sample: Digest, now: Instant) -> bool {
        self.0.lock().note(sample, now, limits::COMPAT_TOLD_MAX / 2)
    }
}

impl Generations {
    fn note(&mut self, sample: Digest, now: Instant, each_max: usize) -> bool {
        let is_old = now.duration_since(*self.since.get_or_insert(now)) >= KNOWN;
        if is_old || self.newer.len() >= each_max {
            self.older = std::mem::take(&mut self.newer);
            self.since = Some(now);
        }
        let was_known = self.older.contains(&sample);
        self.newer.insert(sample) && !was_known
    }
}

/// The sample of a call, by the call's body and place.
pub(crate) fn sample_of_call(tenant: TenantId, plugin: &str, run: &str, call: Digest) -> Digest {
    Digest::of(format!("call\0{tenant}\0{plugin}\0{run}\0{call}").as_bytes())
}

/// The sample of a request.
pub(crate) fn sample_of_request(tenant: TenantId, request: RequestId) -> Digest {
    Digest::of(format!("request\0{tenant}\0{request}").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(number: u32) -> Digest {
        Digest::of(&number.to_be_bytes())
    }

    #[test]
    fn a_sample_is_new_once_within_the_time_of_its_repeats() {
        let (mut told, start) = (Generations::default(), Instant::now());
        assert!(told.note(sample(1), start, 8));
        assert!(told.note(sample(2), start, 8));
        // Each answer prolongs it, as the polls of a sample do.
        for times in 1..10 {
            let later = start + times * (KNOWN - Duration::from_secs(1));
            assert!(!told.note(sample(1), later, 8), "{times}");
        }
        let after = start + 12 * KNOWN;
        assert!(told.note(sample(2), after, 8), "it was forgotten long ago");
    }

    #[test]
    fn the_number_of_known_samples_is_bounded() {
        let (mut told, now) = (Generations::default(), Instant::now());
        for number in 0..1_000 {
            assert!(told.note(sample(number), now, 8));
            assert!(!told.note(sample(number), now, 8));
            assert!(told.newer.len() + told.older.len() <= 16);
        }
        assert!(!told.note(sample(992), now, 8), "the latest are known");
        assert!(told.note(sample(0), now, 8), "the first ones are forgotten");
    }
}
