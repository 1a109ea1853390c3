//! Roll-ups of batches: written with their end in the statement that ends them, read a row at a
//! time. What they are made of is the dispatcher's.

use std::collections::BTreeMap;

use assay_model::api::Counts;
use assay_model::id::{BatchId, TenantId};
use assay_model::time::Micros;
use assay_model::view::{Histogram, Rewards, Rollup};
use serde::Serialize;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::StoreError;

/// A batch's roll-up on its way to its row.
#[derive(Debug)]
pub struct RollupRow {
    pub run: String,
    pub plugin: String,
    pub version: String,
    pub rollup: Rollup,
}

/// A row of `batch_rollups` as `json_to_recordset` takes it: named as the columns.
#[derive(Serialize)]
struct Row<'a> {
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
    stages: &'a [assay_model::view::StageStats],
}

/// The roll-ups of one commit, as one JSON array: they are few beside the outcomes, and have many
/// columns.
#[derive(Default)]
pub(super) struct RollupColumns<'a>(Vec<Row<'a>>);

impl<'a> RollupColumns<'a> {
    pub(super) fn push(
        &mut self,
        (tenant, batch): (TenantId, BatchId),
        ended_at: Micros,
        counts: Counts,
        row: &'a RollupRow,
    ) {
        let rollup = &row.rollup;
        let rewards = rollup.rewards.as_ref();
        let histogram = rewards.map(|rewards| &rewards.histogram);
        self.0.push(Row {
            tenant_id: tenant.0,
            batch_id: batch.0,
            run: &row.run,
            plugin: &row.plugin,
            version: &row.version,
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
            verdicts: &rollup.verdicts,
            errors: &rollup.errors,
            worker_seconds: &rollup.worker_seconds,
            cost: &rollup.cost,
            groups: rollup.groups,
            complete_groups: rollup.complete_groups,
            zero_variance_groups: rollup.zero_variance_groups,
            critical_seq: rollup.critical_seq,
            last_seq: rollup.last_seq,
            stages: &rollup.stages,
        });
    }

    /// All of them as JSON.
    pub(super) fn json(&self) -> String {
        serde_json::to_string(&self.0).expect("roll-ups are plain data")
    }
}

/// What a query reads of a batch's roll-up, all of it absent where there is none.
pub(super) struct StoredRollup {
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

impl StoredRollup {
    pub(super) fn rollup(self) -> Result<Option<Rollup>, StoreError> {
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
        }))
    }
}

pub(super) fn count(value: Option<i32>) -> u32 {
    value.map_or(0, i32::cast_unsigned)
}

/// By name; nothing where there is no roll-up.
pub(super) fn map<T: serde::de::DeserializeOwned>(
    json: Option<String>,
) -> Result<BTreeMap<String, T>, StoreError> {
    json.as_deref().map_or(Ok(BTreeMap::new()), from_json)
}

pub(super) fn from_json<T: serde::de::DeserializeOwned>(json: &str) -> Result<T, StoreError> {
    serde_json::from_str(json)
        .map_err(|error| StoreError::Broken(sqlx::Error::Decode(error.into())))
}

/// Settings as they were given, which were an object then.
pub(super) fn settings(text: String) -> Result<Box<RawValue>, StoreError> {
    RawValue::from_string(text)
        .map_err(|error| StoreError::Broken(sqlx::Error::Decode(error.into())))
}
