//! The numbers that are gathered while a batch's requests end, and the batch summary that they
//! become. They are a few numbers for each request, not a second copy of the results.

use std::collections::BTreeMap;

use assay_api::result::{ResultItem, StageTime};
use assay_api::view::{
    Histogram, Quantiles, Rewards, Rollup, STAGE_BINS, StageStats, stage_edge_ms,
};
use assay_core::group::GroupStats;
use assay_core::limits;
use assay_core::outcome::Outcome;
use assay_core::plugin::Stage;
use assay_core::time::Micros;

use assay_store::usage::UsageRow;

/// The word for verdicts that are not counted or not listed one by one.
const OTHER: &str = "other";

#[derive(Debug, Default)]
pub struct BatchStats {
    rewards: Vec<f64>,
    verdicts: BTreeMap<String, u32>,
    errors: BTreeMap<String, u32>,
    /// Groups by number.
    groups: Vec<GroupStats>,
    /// Times by stage.
    stages: Vec<Times>,
    critical: Option<(Micros, u32)>,
    /// The last request: its position in the order of completion, and its sequence number.
    last: Option<(u32, u32)>,
}

#[derive(Debug, Default)]
struct Times {
    queued_us: Vec<u64>,
    ran_us: Vec<u64>,
    retries: u32,
}

impl BatchStats {
    /// Adds the result of a request that has ended; `earliest_end` is the paper's t_i.
    pub fn add(
        &mut self,
        stages: &[Stage],
        item: &ResultItem,
        group: Option<u32>,
        earliest_end: Micros,
    ) {
        let reward = item.outcome.reward();
        self.rewards.extend(reward);
        count(&mut self.verdicts, item.outcome.verdict());
        if let Outcome::Error { code, .. } = &item.outcome {
            count(&mut self.errors, code.as_str());
        }
        if let Some(group) = group {
            self.add_to_group(group as usize, reward);
        }
        self.stages.resize_with(stages.len(), Times::default);
        for time in &item.stages {
            let place = stages.iter().position(|stage| stage.name == time.stage);
            if let Some(times) = place.and_then(|place| self.stages.get_mut(place)) {
                times.add(time);
            }
        }
        if self.critical.is_none_or(|(latest, _)| earliest_end > latest) {
            self.critical = Some((earliest_end, item.id.seq));
        }
        self.last = self.last.max(Some((item.cursor, item.id.seq)));
    }

    fn add_to_group(&mut self, group: usize, reward: Option<f64>) {
        if self.groups.len() <= group {
            self.groups.resize(group + 1, GroupStats::default());
        }
        self.groups[group].add(reward);
    }

    /// The summary at the batch's end. `group_size` is the size of a complete group, `usage` the
    /// batch's use of each pool.
    #[must_use]
    pub fn summary(self, stages: &[Stage], group_size: Option<u32>, usage: &[UsageRow]) -> Rollup {
        let complete = |group: &&GroupStats| group.is_complete(group_size);
        let groups = |wanted: &dyn Fn(&&GroupStats) -> bool| {
            u32::try_from(self.groups.iter().filter(wanted).count()).expect("fewer than requests")
        };
        let by_pool = |value: fn(&UsageRow) -> f64| {
            usage.iter().map(|row| (row.pool.clone(), finite(value(row)))).collect()
        };
        Rollup {
            groups: groups(&|group| group.ended > 0),
            complete_groups: groups(&complete),
            zero_variance_groups: groups(&|group| complete(group) && !group.differ),
            rewards: rewards(&self.rewards),
            verdicts: most_frequent(self.verdicts),
            errors: self.errors,
            worker_seconds: by_pool(|row| row.worker_seconds),
            cost: by_pool(|row| row.cost),
            critical_seq: self.critical.map(|(_, seq)| seq),
            last_seq: self.last.map(|(_, seq)| seq),
            stages: stages
                .iter()
                .zip(self.stages)
                .map(|(stage, times)| times.stats(stage))
                .collect(),
            expected: None,
        }
    }
}

/// Counts a word. A plugin may have any number of them, so the number that is counted is limited.
fn count(counts: &mut BTreeMap<String, u32>, word: &str) {
    if let Some(count) = counts.get_mut(word) {
        *count += 1;
        return;
    }
    let word = if counts.len() < limits::VERDICTS_COUNTED_MAX { word } else { OTHER };
    *counts.entry(word.to_owned()).or_default() += 1;
}

fn most_frequent(counts: BTreeMap<String, u32>) -> BTreeMap<String, u32> {
    if counts.len() <= limits::VERDICTS_TOLD_MAX {
        return counts;
    }
    let mut counts: Vec<(String, u32)> = counts.into_iter().collect();
    counts.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    let rest = counts.split_off(limits::VERDICTS_TOLD_MAX);
    let mut told: BTreeMap<String, u32> = counts.into_iter().collect();
    *told.entry(OTHER.to_owned()).or_default() += rest.iter().map(|(_, count)| count).sum::<u32>();
    told
}

/// Sums of the largest numbers overflow, and JSON has no infinity.
fn finite(value: f64) -> f64 {
    if value.is_nan() { 0.0 } else { value.clamp(f64::MIN, f64::MAX) }
}

fn rewards(rewards: &[f64]) -> Option<Rewards> {
    if rewards.is_empty() {
        return None;
    }
    let all = rewards.len() as f64;
    let mean = finite(rewards.iter().map(|reward| reward / all).sum());
    let variance: f64 =
        rewards.iter().map(|reward| (reward - mean) * ((reward - mean) / all)).sum();
    let min = rewards.iter().copied().fold(f64::INFINITY, f64::min);
    let max = rewards.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let unit = min >= 0.0 && max <= 1.0;
    let (from, to) = if unit { (0.0, 1.0) } else { (min, max) };
    Some(Rewards {
        count: u32::try_from(rewards.len()).expect("within a batch's limit"),
        mean,
        std: finite(variance.sqrt()),
        min,
        max,
        histogram: histogram(rewards, from, to),
    })
}

fn histogram(rewards: &[f64], from: f64, to: f64) -> Histogram {
    let bins = limits::REWARD_BINS;
    let mut counts = vec![0; bins];
    // Halved, so that no difference overflows.
    let width = to / 2.0 - from / 2.0;
    for reward in rewards {
        let share = if width > 0.0 { (reward / 2.0 - from / 2.0) / width } else { 0.0 };
        counts[((share * bins as f64) as usize).min(bins - 1)] += 1;
    }
    Histogram { from, to, counts }
}

impl Times {
    fn add(&mut self, time: &StageTime) {
        self.queued_us.push(Micros::from_ms_f64(time.queued_ms).0);
        self.ran_us.push(Micros::from_ms_f64(time.ran_ms).0);
        self.retries += time.attempts.saturating_sub(1);
    }

    fn stats(self, stage: &Stage) -> StageStats {
        let mut ran_counts = vec![0; STAGE_BINS];
        let edges: Vec<f64> = (0..STAGE_BINS - 1).map(stage_edge_ms).collect();
        for ran in &self.ran_us {
            let ran_ms = Micros(*ran).as_ms_f64();
            ran_counts[edges.partition_point(|edge| *edge <= ran_ms)] += 1;
        }
        StageStats {
            stage: stage.name.clone(),
            pool: stage.pool.clone(),
            timeout_ms: stage.timeout_ms,
            requests: u32::try_from(self.ran_us.len()).expect("within a batch's limit"),
            retries: self.retries,
            queued: quantiles(self.queued_us),
            ran: quantiles(self.ran_us),
            ran_counts,
        }
    }
}

/// Quantiles by the nearest rank.
fn quantiles(mut times_us: Vec<u64>) -> Quantiles {
    if times_us.is_empty() {
        return Quantiles::default();
    }
    let mut at = |percent: usize| {
        let rank = (times_us.len() * percent).div_ceil(100).max(1);
        Micros(*times_us.select_nth_unstable(rank - 1).1).as_ms_f64()
    };
    Quantiles { median_ms: at(50), p95_ms: at(95), max_ms: at(100) }
}

#[cfg(test)]
mod tests {
    use assay_core::id::{BatchId, RequestId};
    use assay_core::outcome::{ErrorCode, Scored};

    use super::*;

    fn stages() -> Vec<Stage> {
        let stage = |name: &str, pool: &str| Stage {
            name: name.into(),
            pool: pool.into(),
            timeout_ms: 1_000,
            memory_bytes_max: 1,
            retries_max: 0,
        };
        vec![stage("compile", "cpu"), stage("execute", "gpu")]
    }

    fn scored(reward: f64, verdict: &str) -> Outcome {
        Outcome::Scored(Scored {
            reward,
            verdict: verdict.into(),
            components: BTreeMap::new(),
            explanation: String::new(),
        })
    }

    fn failed() -> Outcome {
        let code = ErrorCode::PluginTrap;
        Outcome::Error { code, message: String::new(), retryable: false, attempts: 1 }
    }

    /// Results of one batch in the order of completion, each with its group and its t_i.
    fn rollup(results: Vec<(Outcome, Option<u32>, u64)>, group_size: Option<u32>) -> Rollup {
        let batch = BatchId::generate();
        let mut stats = BatchStats::default();
        for ((outcome, group, earliest_end), at) in results.into_iter().zip(1..) {
            let time = |stage: &str, ran_ms| StageTime {
                stage: stage.into(),
                queued_ms: 1.0,
                ran_ms,
                attempts: 2,
            };
            let mut times = vec![time("compile", f64::from(at))];
            times.extend(outcome.reward().map(|_| time("execute", 0.05)));
            let id = RequestId { batch, seq: 10_000 - at };
            let item = ResultItem {
                cursor: at,
                id,
                key: String::new(),
                group: None,
                outcome,
                stages: times,
                shared_from: None,
                trace_id: None,
            };
            stats.add(&stages(), &item, group, Micros(earliest_end));
        }
        let usage = [UsageRow { pool: "cpu".into(), requests: 1, worker_seconds: 2.0, cost: 4.0 }];
        stats.summary(&stages(), group_size, &usage)
    }

    #[test]
    fn a_rollup_is_what_its_results_come_to() {
        let results = vec![
            (scored(1.0, "success"), Some(0), 5),
            (scored(0.0, "wrong"), Some(0), 9),
            (failed(), Some(1), 9),
            (scored(0.5, "success"), Some(1), 3),
            (scored(0.5, "success"), Some(2), 1),
            (scored(0.5, "success"), Some(2), 2),
        ];
        let rollup = rollup(results, None);
        let rewards = rollup.rewards.expect("five rewards");
        assert_eq!((rewards.count, rewards.mean, rewards.min, rewards.max), (5, 0.5, 0.0, 1.0));
        assert!((rewards.std - 0.1f64.sqrt()).abs() < 1e-12, "{rewards:?}");
        assert_eq!((rewards.histogram.from, rewards.histogram.to), (0.0, 1.0));
        let [low, middle, high] = [0, 10, 19].map(|bin| rewards.histogram.counts[bin]);
        assert_eq!((low, middle, high), (1, 3, 1));
        let words: Vec<_> = rollup.verdicts.iter().map(|(word, n)| (word.as_str(), *n)).collect();
        assert_eq!(words, [("plugin_trap", 1), ("success", 4), ("wrong", 1)]);
        assert_eq!(rollup.errors, BTreeMap::from([("plugin_trap".into(), 1)]));
        // One differs, one has an error, one has the same twice.
        assert_eq!((rollup.groups, rollup.complete_groups, rollup.zero_variance_groups), (3, 2, 1));
        // The first of those that could have ended last; the sixth ended last.
        assert_eq!((rollup.critical_seq, rollup.last_seq), (Some(9_998), Some(9_994)));
        assert_eq!(rollup.cost, BTreeMap::from([("cpu".into(), 4.0)]));
        let [compile, execute] = &rollup.stages[..] else { panic!("two stages") };
        assert_eq!((compile.requests, compile.retries), (6, 6));
        assert_eq!((execute.requests, execute.ran_counts[0]), (5, 5));
        let ran = Quantiles { median_ms: 3.0, p95_ms: 6.0, max_ms: 6.0 };
        assert_eq!(compile.ran, ran);
        // 1 ms lies between 0.8 and 1.13.
        assert_eq!(compile.ran_counts[7], 1);
        assert_eq!(compile.ran_counts.iter().sum::<u32>(), 6);
    }

    #[test]
    fn a_group_that_is_not_whole_says_nothing() {
        let results = || vec![(scored(1.0, "a"), Some(0), 1), (scored(1.0, "a"), Some(0), 1)];
        assert_eq!(rollup(results(), Some(2)).zero_variance_groups, 1);
        assert_eq!(rollup(results(), Some(3)).complete_groups, 0);
        assert_eq!(rollup(results()[..1].to_vec(), None).complete_groups, 0);
    }

    #[test]
    fn nothing_is_a_rollup_too() {
        let rollup = rollup(Vec::new(), Some(2));
        assert_eq!((rollup.rewards, rollup.critical_seq, rollup.groups), (None, None, 0));
    }

    #[test]
    fn many_words_are_told_in_part_and_counted_in_full() {
        let results = (0..2_000).map(|at| (scored(1.0, &format!("word-{}", at / 2)), None, 1));
        let rollup = rollup(results.collect(), None);
        assert_eq!(rollup.verdicts.len(), limits::VERDICTS_TOLD_MAX + 1);
        assert_eq!(rollup.verdicts.values().sum::<u32>(), 2_000);
    }

    #[test]
    fn the_largest_numbers_stay_numbers() {
        let results = vec![(scored(f64::MAX, "a"), None, 1), (scored(f64::MIN, "a"), None, 1)];
        let rewards = rollup(results, None).rewards.expect("two rewards");
        assert!(rewards.mean.is_finite() && rewards.std.is_finite(), "{rewards:?}");
        assert_eq!((rewards.histogram.counts[0], rewards.histogram.counts[19]), (1, 1));
        let same = vec![(scored(-3.0, "a"), None, 1), (scored(-3.0, "a"), None, 1)];
        let rewards = rollup(same, None).rewards.expect("two rewards");
        assert_eq!((rewards.std, rewards.histogram.counts[0]), (0.0, 2));
    }
}
