//! Batch summaries: written with a batch's end, read a row at a time. The dispatcher computes them.

use std::collections::BTreeMap;

use assay_api::result::Counts;
use assay_api::view::{ExpectedEnds, Histogram, Rewards, Rollup};
use assay_core::id::{BatchId, TenantId};
use assay_core::time::Micros;
use serde::Serialize;
use serde_json::value::RawValue;
use time::OffsetDateTime;
use uuid::Uuid;

use super::StoreError;

/// The summary of a batch that ends.
#[derive(Debug)]
pub struct BatchSummaryRow {
    pub run: String,
    pub plugin: String,
    pub version: String,
    pub summary: Rollup,
}

/// A row of `batch_rollups` as JSON for a query: fields are named as the columns.
#[derive(Serialize)]
pub(super) struct SummaryJson<'a> {
    tenant_id: Uuid,
    batch_id: Uuid,
    run: &'a str,
    plugin: &'a str,
    version: &'a str,
    ended_at: Micros,
    scored: u32,
    timed_out: u32,
    error: u32,
    reward_mean: Option<f64>,
    reward_std: Option<f64>,
    reward_min: Option<f64>,
    reward_max: Option<f64>,
    histogram_from: Option<f64>,
    histogram_to: Option<f64>,
    histogram: Option<&'a [u32]>,
    verdicts: &'a BTreeMap<String, u32>,
    errors: &'a BTreeMap<String, u32>,
    worker_seconds: &'a BTreeMap<String, f64>,
    cost: &'a BTreeMap<String, f64>,
    groups: u32,
    complete_groups: u32,
    zero_variance_groups: u32,
    critical_seq: Option<u32>,
    last_seq: Option<u32>,
    stages: &'a [assay_api::view::StageStats],
    expected_earliest_end_at: Option<Micros>,
    expected_done_at: Option<Micros>,
}

impl BatchSummaryRow {
    pub(super) fn json(
        &self,
        (tenant, batch): (TenantId, BatchId),
        ended_at: Micros,
        counts: Counts,
    ) -> SummaryJson<'_> {
        let summary = &self.summary;
        let rewards = summary.rewards.as_ref();
        let histogram = rewards.map(|rewards| &rewards.histogram);
        SummaryJson {
            tenant_id: tenant.0,
            batch_id: batch.0,
            run: &self.run,
            plugin: &self.plugin,
            version: &self.version,
            ended_at,
            scored: counts.scored,
            timed_out: counts.timed_out,
            error: counts.error,
            reward_mean: rewards.map(|rewards| rewards.mean),
            reward_std: rewards.map(|rewards| rewards.std),
            reward_min: rewards.map(|rewards| rewards.min),
            reward_max: rewards.map(|rewards| rewards.max),
            histogram_from: histogram.map(|histogram| histogram.from),
            histogram_to: histogram.map(|histogram| histogram.to),
            histogram: histogram.map(|histogram| histogram.counts.as_slice()),
            verdicts: &summary.verdicts,
            errors: &summary.errors,
            worker_seconds: &summary.worker_seconds,
            cost: &summary.cost,
            groups: summary.groups,
            complete_groups: summary.complete_groups,
            zero_variance_groups: summary.zero_variance_groups,
            critical_seq: summary.critical_seq,
            last_seq: summary.last_seq,
            stages: &summary.stages,
            expected_earliest_end_at: summary.expected.map(|expected| expected.earliest_end_at),
            expected_done_at: summary.expected.map(|expected| expected.done_at),
        }
    }
}

/// The columns of a batch's summary as a query reads them; all are absent where there is none.
pub(super) struct StoredSummary {
    pub verdicts: Option<String>,
    pub errors: Option<String>,
    pub worker_seconds: Option<String>,
    pub cost: Option<String>,
    pub stages: Option<String>,
    pub rewards: StoredRewards,
    pub groups: Option<i32>,
    pub complete_groups: Option<i32>,
    pub zero_variance_groups: Option<i32>,
    pub critical_seq: Option<i32>,
    pub last_seq: Option<i32>,
    pub expected: Option<ExpectedEnds>,
}

pub(super) struct StoredRewards {
    pub count: i32,
    pub mean: Option<f64>,
    pub std: Option<f64>,
    pub min: Option<f64>,
    pub max: Option<f64>,
    pub from: Option<f64>,
    pub to: Option<f64>,
    pub histogram: Option<Vec<i32>>,
}

impl StoredRewards {
    pub(super) fn rewards(self) -> Option<Rewards> {
        Some(Rewards {
            count: self.count.cast_unsigned(),
            mean: self.mean?,
            std: self.std?,
            min: self.min?,
            max: self.max?,
            histogram: Histogram {
                from: self.from?,
                to: self.to?,
                counts: self.histogram?.into_iter().map(i32::cast_unsigned).collect(),
            },
        })
    }
}

impl StoredSummary {
    pub(super) fn summary(self) -> Result<Option<Rollup>, StoreError> {
        let Some(verdicts) = self.verdicts else { return Ok(None) };
        Ok(Some(Rollup {
            rewards: self.rewards.rewards(),
            verdicts: from_json(&verdicts)?,
            errors: map(self.errors)?,
            groups: count(self.groups),
            complete_groups: count(self.complete_groups),
            zero_variance_groups: count(self.zero_variance_groups),
            worker_seconds: map(self.worker_seconds)?,
            cost: map(self.cost)?,
            critical_seq: self.critical_seq.map(i32::cast_unsigned),
            last_seq: self.last_seq.map(i32::cast_unsigned),
            stages: self.stages.as_deref().map_or(Ok(Vec::new()), from_json)?,
            expected: self.expected,
        }))
    }
}

/// The ends that were expected of a batch, if both columns hold one.
pub(super) fn expected(
    earliest_end_at: Option<OffsetDateTime>,
    done_at: Option<OffsetDateTime>,
) -> Option<ExpectedEnds> {
    Some(ExpectedEnds {
        earliest_end_at: Micros::from_datetime(earliest_end_at?),
        done_at: Micros::from_datetime(done_at?),
    })
}

/// A count or a place as columns hold it; the largest stands for those above it.
pub(super) fn integer(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

pub(super) fn count(value: Option<i32>) -> u32 {
    value.map_or(0, i32::cast_unsigned)
}

/// The counts of a batch by its columns.
pub(super) fn counts(
    [submitted, scored, timed_out, error]: [Option<i32>; 4],
    shared: i32,
) -> Counts {
    Counts {
        submitted: count(submitted),
        scored: count(scored),
        timed_out: count(timed_out),
        error: count(error),
        shared: shared.cast_unsigned(),
    }
}

/// Values by name; empty where there is no summary.
pub(super) fn map<T: serde::de::DeserializeOwned>(
    json: Option<String>,
) -> Result<BTreeMap<String, T>, StoreError> {
    json.as_deref().map_or(Ok(BTreeMap::new()), from_json)
}

pub(super) fn from_json<T: serde::de::DeserializeOwned>(json: &str) -> Result<T, StoreError> {
    serde_json::from_str(json).map_err(StoreError::undecodable)
}

/// Settings as the client sent them.
pub(super) fn settings(text: String) -> Result<Box<RawValue>, StoreError> {
    RawValue::from_string(text).map_err(StoreError::undecodable)
}
