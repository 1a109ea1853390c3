//! The task that prepares samples: after the end of a batch it writes a row for each of its requests, by
//! which readers sort, filter and search.
//!
//! It owns no state: what is still to be done follows from the database, so that a server that was stopped goes
//! on where it was. It never delays a reward or a page: it waits for a machine without work, unless somebody looks or it is
//! minutes late, and then it writes small pieces with pauses.

mod groups;
mod passes;

use std::time::Duration;

use assay_api::result::ResultItem;
use assay_api::sample::SamplesPrepared;
use assay_core::limits;
use assay_core::outcome::Outcome;
use assay_dispatch::{Dispatch, now};
use assay_store::samples::{NewSample, SampledSummary, UnsampledBatch};
use assay_store::views::samples::{SampleRow, Texts};
use assay_store::{Store, StoreError};
use assay_wire::proto;
use prost::Message as _;
use tokio::sync::watch;
use tokio::time::Instant;

use groups::Groups;
use passes::{Components, pass_at_powers, solve_rates};

/// The time between two looks for batches without samples.
const PERIOD: Duration = Duration::from_secs(1);
/// Samples that are written together: few, as each takes the database a millisecond in which a reward may wait for it.
const PIECE: usize = 16;
/// One part of so many of the machine's processor time goes to samples that do not wait while workers have work or
/// somebody looks.
const PARTS_OF_MACHINE: u32 = 20;
/// The time without work, and without anybody who looks, after which the machine counts as idle: between single requests it
/// is, for a moment.
const IDLE_AFTER: Duration = Duration::from_secs(3);
/// Samples wait so long for a machine without work. Trainers compute no rewards while they train, for a minute or some.
const WAIT_MAX: Duration = Duration::from_mins(5);
/// The time between two looks whether workers have work, while samples wait.
const BUSY_PERIOD: Duration = Duration::from_millis(100);

/// The task and its parts.
pub struct Sampling {
    store: Store,
    dispatch: Dispatch,
    /// The time of the last call of somebody who is signed in, or who reads samples or runs.
    looked_at: watch::Receiver<Option<Instant>>,
    prepared: SamplesPrepared,
    /// The time at which workers were last seen with work.
    busy_at: Option<Instant>,
    /// The time since which some batch has no samples.
    behind_since: Option<Instant>,
}

/// When the next piece may be read or written.
#[derive(Debug, PartialEq, Eq)]
enum Turn {
    Now,
    AfterRest,
    /// Not while the machine has work.
    Later,
}

impl Sampling {
    pub fn new(
        store: Store,
        dispatch: Dispatch,
        looked_at: watch::Receiver<Option<Instant>>,
        prepared: SamplesPrepared,
    ) -> Self {
        Self { store, dispatch, looked_at, prepared, busy_at: None, behind_since: None }
    }

    /// Works until it is dropped, unless nothing is to be prepared.
    pub async fn run(mut self) {
        if self.prepared == SamplesPrepared::Nothing {
            return;
        }
        loop {
            match self.prepare_newest().await {
                Ok(0) => tokio::time::sleep(PERIOD).await,
                Ok(_) => {}
                Err(error) => {
                    tracing::warn!("samples cannot be prepared: {error}");
                    tokio::time::sleep(PERIOD).await;
                }
            }
        }
    }

    /// Prepares the newest batch of each tenant and returns their number. A batch that fails keeps no other
    /// tenant's back.
    async fn prepare_newest(&mut self) -> Result<usize, StoreError> {
        let mut prepared = 0;
        let batches = self.store.unsampled_batches().await?;
        self.behind_since = match self.behind_since {
            _ if batches.is_empty() => None,
            None => Some(Instant::now()),
            since => since,
        };
        for batch in batches {
            match self.prepare(&batch).await {
                Ok(()) => prepared += 1,
                Err(error) => {
                    tracing::warn!(batch.id = %batch.id, "samples cannot be prepared: {error}");
                }
            }
        }
        Ok(prepared)
    }

    async fn prepare(&mut self, batch: &UnsampledBatch) -> Result<(), StoreError> {
        let (tenant, id) = (batch.tenant, batch.id);
        self.pause(Duration::ZERO).await;
        let (groups, components) = self.sums(batch).await?;
        let mut after = self.store.last_sample(tenant, id).await?;
        loop {
            let began = Instant::now();
            let rows = self.store.samples(tenant, id, after, Texts::Read).await?;
            let Some(last) = rows.last() else { break };
            after = Some(last.seq);
            let samples: Vec<NewSample> =
                rows.into_iter().filter_map(|row| self.sample(row, &groups)).collect();
            self.pause(began.elapsed()).await;
            for piece in samples.chunks(PIECE) {
                let began = Instant::now();
                if !self.write(batch, piece).await? {
                    return Ok(());
                }
                self.pause(began.elapsed()).await;
            }
        }
        self.store.mark_sampled(tenant, id, &summary(&groups, &components), now()).await?;
        tracing::debug!(tenant.id = %tenant, batch.id = %id, "samples are prepared");
        Ok(())
    }

    /// Writes samples; one that the database refuses is left out, so that it keeps nothing else back.
    async fn write(
        &self,
        batch: &UnsampledBatch,
        samples: &[NewSample],
    ) -> Result<bool, StoreError> {
        match self.store.write_samples(batch, samples.to_vec()).await {
            Err(StoreError::Broken(_)) => {}
            written => return written,
        }
        for sample in samples {
            let seq = sample.seq;
            match self.store.write_samples(batch, vec![sample.clone()]).await {
                Ok(true) => {}
                Err(StoreError::Broken(error)) => {
                    tracing::warn!(batch.id = %batch.id, seq, %error, "a sample is refused");
                }
                ended => return ended,
            }
        }
        Ok(true)
    }

    /// Rests after work that took so long, or waits: rewards come first while workers have any to compute, and pages while
    /// somebody looks.
    async fn pause(&mut self, took: Duration) {
        loop {
            if self.workers_have_work().await {
                self.busy_at = Some(Instant::now());
            }
            let looked_at = *self.looked_at.borrow();
            match turn(Instant::now(), self.busy_at, looked_at, self.behind_since) {
                Turn::Now => return,
                Turn::AfterRest => return tokio::time::sleep(took * rest(cores())).await,
                Turn::Later => tokio::time::sleep(BUSY_PERIOD).await,
            }
        }
    }

    async fn workers_have_work(&self) -> bool {
        match self.dispatch.capacity().await {
            Ok(capacity) => {
                capacity.pools.iter().any(|pool| pool.queued > 0 || pool.workers.busy > 0)
            }
            // The server stops.
            Err(_) => true,
        }
    }

    /// Reads all outcomes of a batch for the sums over its groups and components.
    async fn sums(&mut self, batch: &UnsampledBatch) -> Result<(Groups, Components), StoreError> {
        let mut groups = Groups::default();
        let mut components = Components::default();
        let mut after = None;
        loop {
            let began = Instant::now();
            let rows = self.store.samples(batch.tenant, batch.id, after, Texts::LeftOut).await?;
            let Some(last) = rows.last() else { break };
            after = Some(last.seq);
            self.pause(began.elapsed()).await;
            for row in &rows {
                let Some(outcome) = outcome(row) else { continue };
                if let Outcome::Scored(scored) = &outcome {
                    components.add(&scored.components);
                }
                if let Some(group) = &row.group {
                    groups.add(group, outcome.reward());
                }
            }
        }
        groups.complete(batch.group_size);
        Ok((groups, components))
    }

    /// The sample of a request; `None` if the request has no outcome.
    fn sample(&self, row: SampleRow, groups: &Groups) -> Option<NewSample> {
        let outcome = outcome(&row)?;
        let body = proto::Body::decode(&row.body[..]).unwrap_or_default();
        let (prompt, response, label) =
            (stored(&body.prompt), stored(&body.response), stored(&body.label));
        let searched = (self.prepared == SamplesPrepared::Words).then(|| {
            let prompt = both_ends(&prompt, limits::SAMPLE_PROMPT_CHARS_INDEXED);
            let response = both_ends(&response, limits::SAMPLE_RESPONSE_CHARS_INDEXED);
            format!("{prompt}\n{response}")
        });
        let reward = outcome.reward();
        let group = row.group.as_deref();
        let finished_at = row.finished_at?;
        Some(NewSample {
            seq: row.seq,
            arrived_at: row.arrived_at,
            took: finished_at.since(row.arrived_at),
            kind: outcome.kind(),
            verdict: row.verdict?,
            reward,
            advantage: group
                .zip(reward)
                .and_then(|(group, reward)| groups.advantage(group, reward)),
            group_rewards: group.and_then(|group| groups.rewards(group)),
            components: components(&outcome),
            prompt_chars: chars(&prompt),
            response_chars: chars(&response),
            prompt: beginning(&prompt),
            response: beginning(&response),
            label: beginning(&label),
            searched,
            key: row.key,
            group: row.group,
        })
    }
}

fn turn(
    now: Instant,
    busy_at: Option<Instant>,
    looked_at: Option<Instant>,
    behind_since: Option<Instant>,
) -> Turn {
    let is_recent = |at: Option<Instant>| at.is_some_and(|at| now < at + IDLE_AFTER);
    if is_recent(looked_at) {
        Turn::AfterRest
    } else if !is_recent(busy_at) {
        Turn::Now
    } else if behind_since.is_some_and(|since| now >= since + WAIT_MAX) {
        Turn::AfterRest
    } else {
        Turn::Later
    }
}

fn cores() -> u32 {
    std::thread::available_parallelism()
        .map_or(1, |cores| u32::try_from(cores.get()).unwrap_or(u32::MAX))
}

/// The rest after each piece, in times of what it took: a piece keeps one core busy.
fn rest(cores: u32) -> u32 {
    (PARTS_OF_MACHINE / cores).saturating_sub(1)
}

fn summary(groups: &Groups, components: &Components) -> SampledSummary {
    let attempts = groups.attempts();
    let json = |numbers: serde_json::Result<String>| numbers.expect("names and numbers");
    SampledSummary {
        all_right_groups: groups.all_right(),
        pass_at: json(serde_json::to_string(&pass_at_powers(&attempts))),
        solve_rates: solve_rates(&attempts),
        components: json(serde_json::to_string(&components.means())),
    }
}

fn outcome(row: &SampleRow) -> Option<Outcome> {
    let result: ResultItem = serde_json::from_str(row.result.as_deref()?).ok()?;
    Some(result.outcome)
}

/// The components as JSON, without names that the database cannot hold.
fn components(outcome: &Outcome) -> String {
    let Outcome::Scored(scored) = outcome else { return "{}".into() };
    let held: std::collections::BTreeMap<_, _> =
        scored.components.iter().filter(|(name, _)| !name.contains('\0')).collect();
    serde_json::to_string(&held).expect("names and numbers")
}

/// A text that the database can hold.
fn stored(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

fn chars(text: &str) -> u32 {
    u32::try_from(text.chars().count()).unwrap_or(u32::MAX)
}

fn beginning(text: &str) -> String {
    text.chars().take(limits::SAMPLE_SHOWN_CHARS_MAX).collect()
}

/// The text, or half of the characters from its start and half from its end.
fn both_ends(text: &str, chars_max: usize) -> String {
    let half = chars_max / 2;
    let start = text.char_indices().nth(half).map_or(text.len(), |(at, _)| at);
    let end = text.char_indices().rev().nth(half.saturating_sub(1)).map_or(0, |(at, _)| at);
    if end <= start {
        return text.to_owned();
    }
    format!("{}\n{}", &text[..start], &text[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_take_a_twentieth_of_the_machine_beside_other_work() {
        assert_eq!([1, 2, 4, 8, 20, 128].map(rest), [19, 9, 4, 1, 0, 0]);
    }

    #[test]
    fn samples_wait_for_a_machine_without_work_unless_somebody_looks_or_they_are_late() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let then = |seconds| Some(at(seconds));
        // Nothing was asked for yet; work just now; work some seconds ago.
        assert_eq!(turn(at(10), None, None, then(0)), Turn::Now);
        assert_eq!(turn(at(10), then(10), None, then(0)), Turn::Later);
        assert_eq!(turn(at(10), then(8), None, then(0)), Turn::Later);
        assert_eq!(turn(at(10), then(7), None, then(0)), Turn::Now);
        // Somebody looks, whether there is work or not.
        assert_eq!(turn(at(10), then(10), then(9), then(0)), Turn::AfterRest);
        assert_eq!(turn(at(10), None, then(9), then(0)), Turn::AfterRest);
        assert_eq!(turn(at(10), then(10), then(7), then(0)), Turn::Later);
        // Minutes late.
        assert_eq!(turn(at(299), then(299), None, then(0)), Turn::Later);
        assert_eq!(turn(at(300), then(300), None, then(0)), Turn::AfterRest);
        assert_eq!(turn(at(300), then(290), None, then(0)), Turn::Now);
    }

    #[test]
    fn a_long_text_is_searched_at_both_ends() {
        assert_eq!(both_ends("", 4), "");
        assert_eq!(both_ends("äbcd", 4), "äbcd");
        assert_eq!(both_ends("äbcde", 4), "äb\nde");
        assert_eq!(both_ends(&"x".repeat(100), 10), format!("{0}\n{0}", "xxxxx"));
    }

    #[test]
    fn a_text_of_a_stranger_can_be_stored() {
        assert_eq!(stored("a\0b"), "a\u{fffd}b");
    }
}
