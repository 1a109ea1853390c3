//! The requests of a run with their texts and outcomes, in pieces that are bounded by rows and by bytes.

use std::collections::BTreeMap;

use assay_core::id::{BatchId, TenantId};
use assay_core::limits;
use assay_core::time::Micros;
use sqlx::PgConnection;
use time::OffsetDateTime;

use crate::summaries::integer;
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

struct SampleOutcome {
    verdict: String,
    finished_at: OffsetDateTime,
    result: String,
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
        // Outcomes are read together: one by one, each would open its segment anew. Both queries see the same moment, so that
        // retention does not take the outcomes from between them.
        let mut moment =
            self.pool.begin_with("begin isolation level repeatable read, read only").await?;
        // The lengths of bodies are known without reading those that are stored outside of their rows.
        let rows = sqlx::query!(
            r#"
            select p.seq as "seq!", p.key as "key!", p.group_name, p.arrived_at as "arrived_at!",
                case when $6 then p.body else ''::bytea end as "body!"
            from (
                select r.*, sum(octet_length(r.body)) over (order by r.seq) - octet_length(r.body)
                    as bytes_before
                from (
                    select seq, key, group_name, body, arrived_at from requests
                    where tenant_id = $1 and batch_id = $2 and seq > $3 order by seq limit $4
                ) r
            ) p
            where p.bytes_before < $5
            order by p.seq
            "#,
            tenant.0,
            batch.0,
            after.map_or(-1, integer),
            i64::from(limits::SAMPLES_READ),
            i64::from(limits::SAMPLE_BYTES_READ),
            texts == Texts::Read,
        )
        .fetch_all(&mut *moment)
        .await?;
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return Ok(Vec::new()) };
        let (first, last) = (first.seq, last.seq);
        let mut outcomes = outcomes_between(&mut moment, (tenant, batch), first, last).await?;
        moment.commit().await?;
        let rows = rows.into_iter().map(|row| {
            let (finished_at, verdict, result) = match outcomes.remove(&row.seq) {
                Some(SampleOutcome { verdict, finished_at, result }) => {
                    (Some(Micros::from_datetime(finished_at)), Some(verdict), Some(result))
                }
                None => (None, None, None),
            };
            SampleRow {
                seq: row.seq.cast_unsigned(),
                key: row.key,
                group: row.group_name,
                body: row.body,
                arrived_at: Micros::from_datetime(row.arrived_at),
                verdict,
                finished_at,
                result,
            }
        });
        Ok(rows.collect())
    }
}

/// The outcomes of the requests from one number to another, by number.
async fn outcomes_between(
    connection: &mut PgConnection,
    (tenant, batch): (TenantId, BatchId),
    first: i32,
    last: i32,
) -> Result<BTreeMap<i32, SampleOutcome>, StoreError> {
    let rows = sqlx::query!(
        r#"
        select seq as "seq!", verdict as "verdict!", finished_at as "finished_at!",
            result as "result!"
        from all_results
        where tenant_id = $1 and batch_id = $2 and seq >= $3 and seq <= $4
            and block >= $3 >> 10 and block <= $4 >> 10
            and first_seq <= $4 and last_seq >= $3
        "#,
        tenant.0,
        batch.0,
        first,
        last,
    )
    .fetch_all(connection)
    .await?;
    let outcomes = rows.into_iter().map(|row| {
        let (verdict, finished_at, result) = (row.verdict, row.finished_at, row.result);
        (row.seq, SampleOutcome { verdict, finished_at, result })
    });
    Ok(outcomes.collect())
}
