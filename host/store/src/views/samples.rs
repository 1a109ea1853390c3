//! The requests of a run with their texts and outcomes, in pieces that are bounded by rows and by bytes.

use assay_core::id::{BatchId, TenantId};
use assay_core::limits;
use assay_core::time::Micros;

use crate::{Store, StoreError};

/// A request as it is stored.
pub struct SampleRow {
    pub seq: u32,
    pub key: String,
    pub group: Option<String>,
    /// A serialised `assay.worker.v1.Body`; empty unless texts are asked for.
    pub body: Vec<u8>,
    pub arrived_at: Micros,
    pub verdict: Option<String>,
    pub finished_at: Option<Micros>,
    /// A `ResultItem` as JSON.
    pub result: Option<String>,
}

/// Whether prompts, responses, labels and metadata are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Texts {
    Read,
    LeftOut,
}

impl Store {
    /// Batches of a run with their iterations in the order of announcement, after one of them, whose requests
    /// are kept.
    pub async fn sampled_batches(
        &self,
        tenant: TenantId,
        run: &str,
        after: Option<BatchId>,
    ) -> Result<Vec<(BatchId, u64)>, StoreError> {
        let rows = sqlx::query!(
            "select id, iteration from batches
            where tenant_id = $1 and run = $2 and sealed_at is distinct from announced_at
                and id > $3 and expired_at is null
            order by id limit $4",
            tenant.0,
            run,
            after.map_or(uuid::Uuid::nil(), |after| after.0),
            i64::from(limits::SAMPLE_BATCHES_READ),
        )
        .fetch_all(&self.pool)
        .await?;
        Ok(rows.into_iter().map(|row| (BatchId(row.id), row.iteration.cast_unsigned())).collect())
    }

    /// Requests of a batch in the order of admission, after one of them: at least one if there are any, and
    /// no more than the limits of rows and bytes allow.
    pub async fn samples(
        &self,
        tenant: TenantId,
        batch: BatchId,
        after: Option<u32>,
        texts: Texts,
    ) -> Result<Vec<SampleRow>, StoreError> {
        // The lengths of bodies are known without reading those that are stored outside of their rows.
        let rows = sqlx::query!(
            r#"
            select p.seq as "seq!", p.key as "key!", p.group_name, p.arrived_at as "arrived_at!",
                case when $6 then p.body else ''::bytea end as "body!",
                o.verdict as "verdict?", o.finished_at as "finished_at?", o.result::text as "result?"
            from (
                select r.*, sum(octet_length(r.body)) over (order by r.seq) - octet_length(r.body)
                    as bytes_before
                from (
                    select seq, key, group_name, body, arrived_at from requests
                    where tenant_id = $1 and batch_id = $2 and seq > $3 order by seq limit $4
                ) r
            ) p left join lateral (
                select verdict, finished_at, result from outcomes
                where tenant_id = $1 and batch_id = $2 and seq = p.seq limit 1
            ) o on true
            where p.bytes_before < $5
            order by p.seq
            "#,
            tenant.0,
            batch.0,
            after.map_or(-1, |after| i32::try_from(after).unwrap_or(i32::MAX)),
            i64::from(limits::SAMPLES_READ),
            i64::from(limits::SAMPLE_BYTES_READ),
            texts == Texts::Read,
        )
        .fetch_all(&self.pool)
        .await?;
        let rows = rows.into_iter().map(|row| SampleRow {
            seq: row.seq.cast_unsigned(),
            key: row.key,
            group: row.group_name,
            body: row.body,
            arrived_at: Micros::from_datetime(row.arrived_at),
            verdict: row.verdict,
            finished_at: row.finished_at.map(Micros::from_datetime),
            result: row.result,
        });
        Ok(rows.collect())
    }
}
