//! The number of workers that batches would have kept busy at once if nothing had waited.

use std::collections::BTreeMap;

use assay_api::history::BatchProfile;

/// The peak of each pool over all batches; at least one for a pool of a stage.
#[must_use]
pub fn peaks(profiles: &[BatchProfile]) -> BTreeMap<String, u32> {
    let mut peaks = BTreeMap::new();
    for profile in profiles {
        for (pool, changes) in changes(profile) {
            let peak = peaks.entry(pool).or_insert(1);
            *peak = peak_of(changes).max(*peak);
        }
    }
    peaks
}

/// The starts and ends of stages by pool: a time in milliseconds, and what it adds.
fn changes(profile: &BatchProfile) -> BTreeMap<String, Vec<(f64, i32)>> {
    let mut changes: BTreeMap<String, Vec<(f64, i32)>> = BTreeMap::new();
    for request in &profile.requests {
        let mut at = request.arrived_ms;
        for (stage, ran) in profile.stages.iter().zip(&request.ran_ms) {
            let Some(ran) = ran else { break };
            let of_pool = changes.entry(stage.pool.clone()).or_default();
            of_pool.push((at, 1));
            at += ran;
            of_pool.push((at, -1));
        }
    }
    changes
}

fn peak_of(mut changes: Vec<(f64, i32)>) -> u32 {
    // At the same time, an end comes before a start.
    changes.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    let (mut busy, mut peak) = (0_i32, 0);
    for (_, change) in changes {
        busy += change;
        peak = peak.max(busy);
    }
    peak.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_frees_its_worker_for_a_start_at_the_same_time() {
        assert_eq!(peak_of(vec![(0.0, 1), (10.0, -1), (10.0, 1), (20.0, -1)]), 1);
        assert_eq!(
            peak_of(vec![(0.0, 1), (10.0, -1), (5.0, 1), (20.0, -1), (6.0, 1), (7.0, -1)]),
            3
        );
        assert_eq!(peak_of(Vec::new()), 0);
    }
}
