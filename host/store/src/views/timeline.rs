//! The data of one batch's timeline. It takes one bounded read of the requests and one of the outcomes,
//! both by key; a large batch is sampled.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use assay_api::batch::Batch;
use assay_api::history::ProfileStage;
use assay_api::result::StageTime;
use assay_api::view::Rollup;
use assay_core::id::{BatchId, TenantId};
use assay_core::limits;
use assay_core::time::Micros;
use serde::Deserialize;

use crate::summaries::{StoredRewards, StoredSummary, expected};
use crate::{Store, StoreError};

/// The requests of a batch as far as they are known now.
pub struct KnownRequests {
    pub stages: Vec<ProfileStage>,
    /// The requests, or a sample of those of a large batch, by seq.
    pub requests: Vec<KnownRequest>,
    pub thinned: bool,
    pub extremes: Extremes,
    /// The tolerance by which the batch was judged at its end.
    pub tolerance_ms: Option<u32>,
    pub rollup: Option<Rollup>,
}

pub struct KnownRequest {
    pub seq: u32,
    pub key: String,
    pub group: Option<String>,
    pub arrived_at: Micros,
    pub ended: Option<RequestEnd>,
    /// The stages that ended.
    pub stages: Vec<StageTime>,
}

pub struct RequestEnd {
    pub kind: String,
    pub verdict: String,
    pub reward: Option<f64>,
    pub earliest_end_at: Micros,
    pub finished_at: Micros,
}

/// The requests that decide when a batch could have ended and when it did, as far as they ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extremes {
    pub critical_seq: Option<u32>,
    /// The paper's T.
    pub earliest_end_at: Option<Micros>,
    pub last_seq: Option<u32>,
}

#[derive(Deserialize)]
struct Times {
    stages: Vec<StageTime>,
}

impl Store {
    pub async fn timeline(
        &self,
        tenant: TenantId,
        batch: &Batch,
    ) -> Result<KnownRequests, StoreError> {
        let plugin = self.plugin_of_batch(tenant, batch).await?;
        let stages = plugin.description.stages.into_iter().map(|stage| ProfileStage {
            name: stage.name,
            pool: stage.pool,
            timeout_ms: stage.timeout_ms,
            retries_max: stage.retries_max,
        });
        let rollup = self.rollup(tenant, batch.id).await?;
        let extremes = match &rollup {
            Some(rollup) => Extremes {
                critical_seq: rollup.critical_seq,
                earliest_end_at: batch
                    .done_at
                    .zip(batch.extra_delay_ms)
                    .map(|(done, delay)| done.since(Micros::from_ms_f64(delay))),
                last_seq: rollup.last_seq,
            },
            None => self.extremes(tenant, batch.id).await?,
        };
        let seqs = shown(batch.counts.submitted, extremes);
        let requests = self.known_requests(tenant, batch, &seqs).await?;
        let thinned = batch.counts.submitted > limits::TIMELINE_REQUESTS_MAX;
        let tolerance_ms = self.judged_tolerance_ms(tenant, batch.id).await?;
        Ok(KnownRequests {
            stages: stages.collect(),
            requests,
            thinned,
            extremes,
            tolerance_ms,
            rollup,
        })
    }

    async fn judged_tolerance_ms(
        &self,
        tenant: TenantId,
        batch: BatchId,
    ) -> Result<Option<u32>, StoreError> {
        let found = sqlx::query_scalar!(
            "select coalesce(tolerance_ms, max_extra_delay_ms) from batches
            where tenant_id = $1 and id = $2",
            tenant.0,
            batch.0,
        )
        .fetch_optional(&self.pool)
        .await?;
        Ok(found.flatten().map(i32::cast_unsigned))
    }

    /// The roll-up of one batch, once it has ended.
    pub async fn rollup(
        &self,
        tenant: TenantId,
        batch: BatchId,
    ) -> Result<Option<Rollup>, StoreError> {
        let row = sqlx::query!(
            r#"
            select scored, timed_out, reward_mean, reward_std, reward_min, reward_max,
                histogram_from, histogram_to, histogram, verdicts::text as "verdicts!",
                errors::text as "errors!", worker_seconds::text as "worker_seconds!",
                cost::text as "cost!", stages::text as "stages!", groups, complete_groups,
                zero_variance_groups, critical_seq, last_seq, expected_earliest_end_at, expected_done_at
            from batch_rollups where tenant_id = $1 and batch_id = $2
            "#,
            tenant.0,
            batch.0,
        )
        .fetch_optional(&self.pool)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let stored = StoredSummary {
            verdicts: Some(row.verdicts),
            errors: Some(row.errors),
            worker_seconds: Some(row.worker_seconds),
            cost: Some(row.cost),
            stages: Some(row.stages),
            rewards: StoredRewards {
                count: row.scored + row.timed_out,
                mean: row.reward_mean,
                std: row.reward_std,
                min: row.reward_min,
                max: row.reward_max,
                from: row.histogram_from,
                to: row.histogram_to,
                histogram: row.histogram,
            },
            groups: Some(row.groups),
            complete_groups: Some(row.complete_groups),
            zero_variance_groups: Some(row.zero_variance_groups),
            critical_seq: row.critical_seq,
            last_seq: row.last_seq,
            expected: expected(row.expected_earliest_end_at, row.expected_done_at),
        };
        stored.summary()
    }

    /// The critical and the last request of a batch that has no summary: it is live, or ended in a version
    /// that wrote none.
    async fn extremes(&self, tenant: TenantId, batch: BatchId) -> Result<Extremes, StoreError> {
        let row = sqlx::query!(
            r#"
            with ended as (
                select seq, position, earliest_end_at from all_outcomes
                where tenant_id = $1 and batch_id = $2
            )
            select critical.seq as "critical_seq?", critical.earliest_end_at as "earliest_end_at?",
                last.seq as "last_seq?"
            from (select * from ended order by earliest_end_at desc, seq limit 1) as critical
            cross join (select seq from ended order by position desc limit 1) as last
            "#,
            tenant.0,
            batch.0,
        )
        .fetch_optional(&self.pool)
        .await?;
        let seq = |seq: Option<i32>| seq.map(i32::cast_unsigned);
        Ok(row.map_or_else(Extremes::default, |row| Extremes {
            critical_seq: seq(row.critical_seq),
            earliest_end_at: row.earliest_end_at.map(Micros::from_datetime),
            last_seq: seq(row.last_seq),
        }))
    }

    async fn known_requests(
        &self,
        tenant: TenantId,
        batch: &Batch,
        seqs: &[i32],
    ) -> Result<Vec<KnownRequest>, StoreError> {
        let rows = sqlx::query!(
            "select seq, key, group_name, arrived_at from requests
            where tenant_id = $1 and batch_id = $2 and seq = any ($3)",
            tenant.0,
            batch.id.0,
            seqs,
        )
        .fetch_all(&self.pool)
        .await?;
        let requests = rows.into_iter().map(|row| KnownRequest {
            seq: row.seq.cast_unsigned(),
            key: row.key,
            group: row.group_name,
            arrived_at: Micros::from_datetime(row.arrived_at),
            ended: None,
            stages: Vec::new(),
        });
        let mut requests: BTreeMap<u32, KnownRequest> =
            requests.map(|request| (request.seq, request)).collect();
        self.add_outcomes(tenant, batch.id, seqs, &mut requests).await?;
        if !batch.state.is_final() {
            self.add_progress(tenant, batch.id, &mut requests).await?;
        }
        Ok(requests.into_values().collect())
    }

    async fn add_outcomes(
        &self,
        tenant: TenantId,
        batch: BatchId,
        seqs: &[i32],
        requests: &mut BTreeMap<u32, KnownRequest>,
    ) -> Result<(), StoreError> {
        let rows = sqlx::query!(
            r#"
            select o.seq as "seq!", o.kind as "kind!", o.verdict as "verdict!", o.reward,
                o.earliest_end_at as "earliest_end_at!", o.finished_at as "finished_at!",
                o.result as "result!"
            from unnest($3::integer[]) as asked (seq)
                cross join lateral (select * from outcome_of($1, $2, asked.seq) limit 1) o
            "#,
            tenant.0,
            batch.0,
            seqs,
        )
        .fetch_all(&self.pool)
        .await?;
        for row in rows {
            let Some(request) = requests.get_mut(&row.seq.cast_unsigned()) else { continue };
            let times: Option<Times> = serde_json::from_str(&row.result).ok();
            request.stages = times.map_or_else(Vec::new, |times| times.stages);
            request.ended = Some(RequestEnd {
                kind: row.kind,
                verdict: row.verdict,
                reward: row.reward,
                earliest_end_at: Micros::from_datetime(row.earliest_end_at),
                finished_at: Micros::from_datetime(row.finished_at),
            });
        }
        Ok(())
    }

    /// The stages that requests of a live batch have completed.
    async fn add_progress(
        &self,
        tenant: TenantId,
        batch: BatchId,
        requests: &mut BTreeMap<u32, KnownRequest>,
    ) -> Result<(), StoreError> {
        let open = requests.values().filter(|request| request.ended.is_none());
        let seqs: Vec<i32> = open.map(|request| request.seq.cast_signed()).collect();
        let rows = sqlx::query!(
            r#"
            select seq, stage, times::text as "times!" from artifacts
            where tenant_id = $1 and batch_id = $2 and seq = any ($3)
            "#,
            tenant.0,
            batch.0,
            &seqs,
        )
        .fetch_all(&self.pool)
        .await?;
        // Each artifact has the times up to its stage: the longest list is the latest.
        let mut latest: HashMap<i32, (i16, String)> = HashMap::new();
        for row in rows {
            let known = latest.entry(row.seq).or_insert((-1, String::new()));
            if row.stage > known.0 {
                *known = (row.stage, row.times);
            }
        }
        for (seq, (_, times)) in latest {
            if let Some(request) = requests.get_mut(&seq.cast_unsigned()) {
                request.stages = serde_json::from_str(&times).unwrap_or_default();
            }
        }
        Ok(())
    }
}

/// The requests to be shown: all of them, or an evenly chosen sample that includes the extremes.
fn shown(total: u32, extremes: Extremes) -> Vec<i32> {
    let most = limits::TIMELINE_REQUESTS_MAX;
    if total <= most {
        return (0..total.cast_signed()).collect();
    }
    // Two places are the extremes'.
    let even = most - 2;
    let place = |at: u32| u64::from(at) * u64::from(total) / u64::from(even);
    let mut seqs: BTreeSet<u32> =
        (0..even).map(|at| u32::try_from(place(at)).expect("below the total")).collect();
    seqs.extend(extremes.critical_seq);
    seqs.extend(extremes.last_seq);
    seqs.into_iter().map(u32::cast_signed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_a_batch_are_shown_or_so_many_with_the_extremes() {
        let none = Extremes::default();
        assert_eq!(shown(3, none), [0, 1, 2]);
        assert_eq!(shown(4_096, none).len(), 4_096);
        let extremes =
            Extremes { critical_seq: Some(77), last_seq: Some(131_070), earliest_end_at: None };
        let some = shown(131_072, extremes);
        assert_eq!(some.len(), 4_096);
        assert!(some.contains(&77) && some.contains(&131_070) && some[0] == 0);
        assert!(some.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
