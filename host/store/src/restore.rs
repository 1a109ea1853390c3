//! The state that a starting dispatcher reads back: every batch that has not ended, of all tenants.

use assay_core::id::{BatchId, TenantId};
use assay_core::outcome::Artifact;
use assay_core::time::Micros;
use bytes::Bytes;

use super::admissions::BatchRow;
use super::batches::consumes_of;
use super::plugins::digest_of;
use super::{Store, StoreError};

pub struct LiveBatchRow {
    pub row: BatchRow,
    pub first_request_at: Option<Micros>,
    pub sealed_at: Option<Micros>,
}

/// A request of a live batch, in the order of admission.
pub struct LiveRequestRow {
    pub seq: u32,
    pub key: String,
    pub group: Option<String>,
    pub arrived_at: Micros,
    pub state: LiveRequestState,
}

pub enum LiveRequestState {
    Finished {
        position: u32,
        earliest_end_at: Micros,
        reward: Option<f64>,
        kind: String,
        result: Bytes,
    },
    Waiting {
        body: Bytes,
        left: Option<Left>,
        /// The number of its last log line; 0 without one.
        log_lines: u32,
    },
}

/// The artifact of the last stage that ended.
pub struct Left {
    /// The number of the stage, from 0.
    pub stage: usize,
    pub artifact: Artifact,
    /// `StageTime`s up to this stage, as JSON.
    pub times: String,
}

impl Store {
    pub async fn live_batches(&self) -> Result<Vec<LiveBatchRow>, StoreError> {
        let rows = sqlx::query!(
            "select tenant_id, id, run, iteration, plugin, version, digest, settings, expected_size,
                group_size, max_extra_delay_ms, announced_at, first_request_at, sealed_at,
                share_equal, consumes_groups
            from batches where ended_at is null order by id",
        )
        .fetch_all(&self.upkeep)
        .await?;
        rows.into_iter()
            .map(|row| {
                Ok(LiveBatchRow {
                    first_request_at: row.first_request_at.map(Micros::from_datetime),
                    sealed_at: row.sealed_at.map(Micros::from_datetime),
                    row: BatchRow {
                        tenant: TenantId(row.tenant_id),
                        id: BatchId(row.id),
                        run: row.run,
                        iteration: row.iteration.cast_unsigned(),
                        plugin: row.plugin,
                        version: row.version,
                        digest: digest_of(&row.digest)?,
                        settings: row.settings,
                        expected_size: row.expected_size.map(i32::cast_unsigned),
                        group_size: row.group_size.map(i32::cast_unsigned),
                        max_extra_delay_ms: row.max_extra_delay_ms.map(i32::cast_unsigned),
                        consumes: consumes_of(row.consumes_groups),
                        share_equal: row.share_equal,
                        idempotency: None,
                        announced_at: Micros::from_datetime(row.announced_at),
                        sealed_at: row.sealed_at.map(Micros::from_datetime),
                    },
                })
            })
            .collect()
    }

    pub async fn live_requests(
        &self,
        tenant: TenantId,
        batch: BatchId,
    ) -> Result<Vec<LiveRequestRow>, StoreError> {
        let rows = sqlx::query!(
            r#"
            select r.seq, r.key, r.group_name, r.arrived_at,
                case when o.seq is null then r.body end as body,
                o.position as "position?", o.earliest_end_at as "earliest_end_at?", o.reward, o.kind as "kind?",
                o.result::text as result,
                a.stage as "stage?", a.content_type as "content_type?", a.bytes as "bytes?",
                a.times::text as times,
                case when o.seq is null then (
                    select max(l.line) from logs l
                    where l.tenant_id = r.tenant_id and l.batch_id = r.batch_id and l.seq = r.seq
                ) end as log_lines
            from requests r
            left join lateral (
                -- With its limit it is looked up by its key, whatever the planner knows of the table.
                select seq, position, earliest_end_at, reward, kind, result from outcomes
                where tenant_id = r.tenant_id and batch_id = r.batch_id and seq = r.seq limit 1
            ) o on true
            left join lateral (
                select a.stage, a.content_type, a.bytes, a.times from artifacts a
                where o.seq is null and a.tenant_id = r.tenant_id and a.batch_id = r.batch_id
                    and a.seq = r.seq
                order by a.stage desc limit 1
            ) a on true
            where r.tenant_id = $1 and r.batch_id = $2
            order by r.seq
            "#,
            tenant.0,
            batch.0,
        )
        .fetch_all(&self.upkeep)
        .await?;
        let requests = rows.into_iter().map(|row| {
            let state = match (row.position, row.earliest_end_at, row.result) {
                (Some(position), Some(earliest_end_at), Some(result)) => {
                    LiveRequestState::Finished {
                        position: position.cast_unsigned(),
                        earliest_end_at: Micros::from_datetime(earliest_end_at),
                        reward: row.reward,
                        kind: row.kind.unwrap_or_default(),
                        result: result.into(),
                    }
                }
                _ => LiveRequestState::Waiting {
                    body: row.body.unwrap_or_default().into(),
                    left: row.stage.zip(row.content_type).zip(row.bytes).map(
                        |((stage, content_type), bytes)| Left {
                            stage: usize::from(stage.cast_unsigned()),
                            artifact: Artifact { content_type, bytes },
                            times: row.times.unwrap_or_default(),
                        },
                    ),
                    log_lines: row.log_lines.unwrap_or_default().cast_unsigned(),
                },
            };
            LiveRequestRow {
                seq: row.seq.cast_unsigned(),
                key: row.key,
                group: row.group_name,
                arrived_at: Micros::from_datetime(row.arrived_at),
                state,
            }
        });
        Ok(requests.collect())
    }
}
