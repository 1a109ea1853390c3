//! The state that a starting dispatcher reads back: every batch that has not ended, of all tenants.

use std::collections::BTreeMap;

use assay_core::id::{BatchId, TenantId};
use assay_core::outcome::Artifact;
use assay_core::time::Micros;
use bytes::Bytes;

use super::admissions::BatchRow;
use super::batches::consumes_of;
use super::plugins::stored_digest;
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
    pub expected_ms: Option<u32>,
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
        left: Option<LastArtifact>,
        /// The number of its last log line; 0 without one.
        log_lines: u32,
    },
}

/// The artifact of the last stage that ended.
pub struct LastArtifact {
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
                share_equal, consumes_groups, idle_ms
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
                        digest: stored_digest(&row.digest)?,
                        settings: row.settings,
                        expected_size: row.expected_size.map(i32::cast_unsigned),
                        group_size: row.group_size.map(i32::cast_unsigned),
                        max_extra_delay_ms: row.max_extra_delay_ms.map(i32::cast_unsigned),
                        consumes: consumes_of(row.consumes_groups),
                        share_equal: row.share_equal,
                        idle_ms: row.idle_ms.map(i32::cast_unsigned),
                        idempotency: None,
                        announced_at: Micros::from_datetime(row.announced_at),
                        sealed_at: row.sealed_at.map(Micros::from_datetime),
                    },
                })
            })
            .collect()
    }

    /// Outcomes first, all together, and then the requests: to look up the outcome of each would open its segment anew.
    /// Nothing is written between the two, as a dispatcher that starts has ended the writers of the former one.
    pub async fn live_requests(
        &self,
        tenant: TenantId,
        batch: BatchId,
    ) -> Result<Vec<LiveRequestRow>, StoreError> {
        let mut finished = self.finished_requests(tenant, batch).await?;
        let ended = bits(finished.keys().map(|seq| seq.cast_unsigned()));
        let rows = sqlx::query!(
            r#"
            select r.seq, r.key, r.group_name, r.arrived_at, r.expected_ms,
                case when o.is_waiting then r.body end as body,
                a.stage as "stage?", a.content_type as "content_type?", a.bytes as "bytes?",
                a.times::text as times,
                case when o.is_waiting then (
                    select max(l.line) from logs l
                    where l.tenant_id = r.tenant_id and l.batch_id = r.batch_id and l.seq = r.seq
                ) end as log_lines
            from requests r
            cross join lateral (
                select case when r.seq < octet_length($3::bytea) * 8 then get_bit($3, r.seq) = 0 else true end
                    as is_waiting
            ) o
            left join lateral (
                select a.stage, a.content_type, a.bytes, a.times from artifacts a
                where o.is_waiting and a.tenant_id = r.tenant_id and a.batch_id = r.batch_id
                    and a.seq = r.seq
                order by a.stage desc limit 1
            ) a on true
            where r.tenant_id = $1 and r.batch_id = $2
            order by r.seq
            "#,
            tenant.0,
            batch.0,
            ended,
        )
        .fetch_all(&self.upkeep)
        .await?;
        let requests = rows.into_iter().map(|row| {
            let state = finished.remove(&row.seq).unwrap_or_else(|| LiveRequestState::Waiting {
                body: row.body.unwrap_or_default().into(),
                left: row.stage.zip(row.content_type).zip(row.bytes).map(
                    |((stage, content_type), bytes)| LastArtifact {
                        stage: usize::from(stage.cast_unsigned()),
                        artifact: Artifact { content_type, bytes },
                        times: row.times.unwrap_or_default(),
                    },
                ),
                log_lines: row.log_lines.unwrap_or_default().cast_unsigned(),
            });
            LiveRequestRow {
                seq: row.seq.cast_unsigned(),
                key: row.key,
                group: row.group_name,
                arrived_at: Micros::from_datetime(row.arrived_at),
                expected_ms: row.expected_ms.map(i32::cast_unsigned),
                state,
            }
        });
        Ok(requests.collect())
    }

    async fn finished_requests(
        &self,
        tenant: TenantId,
        batch: BatchId,
    ) -> Result<BTreeMap<i32, LiveRequestState>, StoreError> {
        let rows = sqlx::query!(
            r#"
            select seq as "seq!", position as "position!", earliest_end_at as "earliest_end_at!",
                reward, kind as "kind!", result as "result!"
            from all_results where tenant_id = $1 and batch_id = $2
            "#,
            tenant.0,
            batch.0,
        )
        .fetch_all(&self.upkeep)
        .await?;
        let finished = rows.into_iter().map(|row| {
            let state = LiveRequestState::Finished {
                position: row.position.cast_unsigned(),
                earliest_end_at: Micros::from_datetime(row.earliest_end_at),
                reward: row.reward,
                kind: row.kind,
                result: row.result.into(),
            };
            (row.seq, state)
        });
        Ok(finished.collect())
    }
}

/// Numbers as bits, as PostgreSQL's `get_bit` counts them.
fn bits(numbers: impl Iterator<Item = u32>) -> Vec<u8> {
    let mut bits = Vec::new();
    for number in numbers {
        let place = number as usize / 8;
        if place >= bits.len() {
            bits.resize(place + 1, 0);
        }
        bits[place] |= 1_u8 << (number % 8);
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_bits_from_the_lowest_on() {
        assert_eq!(bits([].into_iter()), [0; 0]);
        assert_eq!(bits([0, 3, 15].into_iter()), [0b1001, 0b1000_0000]);
    }
}
