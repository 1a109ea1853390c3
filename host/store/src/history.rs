//! The profiles of completed batches: written with their end, read by a starting dispatcher and by their
//! tenants, and deleted when they are old.

use assay_api::history::{BatchHistory, BatchProfile, ProfileStage, RequestProfile};
use assay_core::id::{BatchId, TenantId};
use assay_core::limits;
use assay_core::plugin::VersionName;
use assay_core::time::Micros;
use futures_util::TryStreamExt as _;
use serde::Serialize;
use serde_json::value::RawValue;
use time::OffsetDateTime;
use uuid::Uuid;

use super::plugins::stored_digest;
use super::summaries::from_json;
use super::{Store, StoreError};

/// The stored profile of a completed batch.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryRow {
    pub tenant: TenantId,
    pub batch: BatchId,
    pub run: String,
    /// The digest of the plugin.
    pub digest: Vec<u8>,
    /// `ProfileStage`s as JSON.
    pub stages: String,
    pub announced_at: Micros,
    pub first_arrival_at: Micros,
    pub earliest_end_at: Micros,
    pub ended_at: Micros,
    /// The worker seconds of each pool, as JSON.
    pub worker_seconds: String,
    /// The arrival times of the requests in microseconds, in the order of their completion.
    pub arrived_us: Vec<i64>,
    /// The running times in microseconds: all stages of the first request, then of the next; zero for a
    /// stage that was not reached.
    pub ran_us: Vec<i64>,
    /// One letter for each request; see [`ENDINGS`].
    pub endings: String,
}

/// How a request may end: the letter that stands for it, and the outcome's kind.
pub const ENDINGS: [(char, &str); 3] = [('s', "scored"), ('t', "timed_out"), ('e', "error")];

impl HistoryRow {
    pub(super) fn bytes(&self) -> usize {
        let times = self.arrived_us.len() + self.ran_us.len();
        times * size_of::<i64>() + self.endings.len() + self.stages.len()
    }
}

/// A row of `batch_history` as JSON for a query: fields are named as the columns.
#[derive(Serialize)]
pub(super) struct HistoryJson<'a> {
    tenant_id: Uuid,
    batch_id: Uuid,
    run: &'a str,
    digest: String,
    stages: &'a RawValue,
    announced_at: Micros,
    first_arrival_at: Micros,
    earliest_end_at: Micros,
    ended_at: Micros,
    requests: usize,
    worker_seconds: &'a RawValue,
    arrived_us: &'a [i64],
    ran_us: &'a [i64],
    endings: &'a str,
}

impl HistoryRow {
    pub(super) fn json(&self) -> HistoryJson<'_> {
        let json = |text| serde_json::from_str(text).expect("a profile is plain data");
        HistoryJson {
            tenant_id: self.tenant.0,
            batch_id: self.batch.0,
            run: &self.run,
            digest: bytea(&self.digest),
            stages: json(&self.stages),
            announced_at: self.announced_at,
            first_arrival_at: self.first_arrival_at,
            earliest_end_at: self.earliest_end_at,
            ended_at: self.ended_at,
            requests: self.arrived_us.len(),
            worker_seconds: json(&self.worker_seconds),
            arrived_us: &self.arrived_us,
            ran_us: &self.ran_us,
            endings: &self.endings,
        }
    }
}

/// Bytes as PostgreSQL reads them in text.
fn bytea(bytes: &[u8]) -> String {
    format!("\\x{}", hex::encode(bytes))
}

/// A batch without its requests.
struct SummaryRow {
    batch_id: Uuid,
    run: String,
    digest: Vec<u8>,
    requests: i32,
    announced_at: OffsetDateTime,
    first_arrival_at: OffsetDateTime,
    earliest_end_at: OffsetDateTime,
    ended_at: OffsetDateTime,
    worker_seconds: String,
    iteration: i64,
    plugin: String,
    version: String,
}

impl SummaryRow {
    fn into_history(self) -> Result<BatchHistory, StoreError> {
        let earliest_end_at = Micros::from_datetime(self.earliest_end_at);
        let done_at = Micros::from_datetime(self.ended_at);
        Ok(BatchHistory {
            id: BatchId(self.batch_id),
            run: self.run,
            iteration: self.iteration.cast_unsigned(),
            plugin: VersionName { name: &self.plugin, version: &self.version }.to_string(),
            plugin_digest: stored_digest(&self.digest)?,
            requests: self.requests.cast_unsigned(),
            announced_at: Micros::from_datetime(self.announced_at),
            first_request_at: Micros::from_datetime(self.first_arrival_at),
            earliest_end_at,
            done_at,
            extra_delay_ms: done_at.since(earliest_end_at).as_ms_f64(),
            worker_seconds: from_json(&self.worker_seconds)?,
        })
    }
}

impl Store {
    /// The latest batches of each run and of each plugin, of all tenants and within the limits, the
    /// oldest first. It is for a starting dispatcher.
    pub async fn read_history(&self, mut read: impl FnMut(HistoryRow)) -> Result<(), StoreError> {
        let mut rows = sqlx::query!(
            r#"
            with latest as (
                select h.tenant_id, h.batch_id from runs r cross join lateral (
                    select tenant_id, batch_id from batch_history
                    where tenant_id = r.tenant_id and run = r.name
                    order by ended_at desc limit $1
                ) h
                union
                select h.tenant_id, h.batch_id
                from (select distinct digest from plugins) p cross join lateral (
                    select tenant_id, batch_id from batch_history
                    where digest = p.digest
                    order by ended_at desc limit $1
                ) h
            ), counted as (
                select h.*, sum(h.requests) over (order by h.ended_at desc, h.batch_id) as read
                from latest join batch_history h using (tenant_id, batch_id)
                order by h.ended_at desc, h.batch_id limit $2
            )
            select tenant_id as "tenant_id!", batch_id as "batch_id!", run, digest,
                stages::text as "stages!", announced_at, first_arrival_at, earliest_end_at,
                ended_at, worker_seconds::text as "worker_seconds!", arrived_us, ran_us, endings
            from counted where read <= $3 order by ended_at, batch_id
            "#,
            i64::from(limits::HISTORY_BATCHES_EACH),
            i64::from(limits::HISTORY_BATCHES_MAX),
            i64::from(limits::HISTORY_REQUESTS_MAX),
        )
        .fetch(&self.upkeep);
        while let Some(row) = rows.try_next().await? {
            read(HistoryRow {
                tenant: TenantId(row.tenant_id),
                batch: BatchId(row.batch_id),
                run: row.run,
                digest: row.digest,
                stages: row.stages,
                announced_at: Micros::from_datetime(row.announced_at),
                first_arrival_at: Micros::from_datetime(row.first_arrival_at),
                earliest_end_at: Micros::from_datetime(row.earliest_end_at),
                ended_at: Micros::from_datetime(row.ended_at),
                worker_seconds: row.worker_seconds,
                arrived_us: row.arrived_us,
                ran_us: row.ran_us,
                endings: row.endings,
            });
        }
        Ok(())
    }

    /// Completed batches of a run, the latest first.
    pub async fn run_history(
        &self,
        tenant: TenantId,
        run: &str,
        limit: u32,
    ) -> Result<Vec<BatchHistory>, StoreError> {
        let rows = sqlx::query_as!(
            SummaryRow,
            r#"
            select h.batch_id, h.run, h.digest, h.requests, h.announced_at, h.first_arrival_at,
                h.earliest_end_at, h.ended_at, h.worker_seconds::text as "worker_seconds!",
                b.iteration, b.plugin, b.version
            from batch_history h join batches b on b.tenant_id = h.tenant_id and b.id = h.batch_id
            where h.tenant_id = $1 and h.run = $2
            order by h.ended_at desc, h.batch_id limit $3
            "#,
            tenant.0,
            run,
            i64::from(limit),
        )
        .fetch_all(&self.pool)
        .await?;
        rows.into_iter().map(SummaryRow::into_history).collect()
    }

    /// Completed batches of a run up to this one, the latest first: each with its requests.
    pub async fn batches_up_to(
        &self,
        tenant: TenantId,
        run: &str,
        ended_by: Micros,
        limit: u32,
    ) -> Result<Vec<(BatchId, u32)>, StoreError> {
        let rows = sqlx::query!(
            "select batch_id, requests from batch_history
            where tenant_id = $1 and run = $2 and ended_at <= $3
            order by ended_at desc, batch_id limit $4",
            tenant.0,
            run,
            ended_by.to_datetime(),
            i64::from(limit),
        )
        .fetch_all(&self.pool)
        .await?;
        Ok(rows
            .into_iter()
            .map(|row| (BatchId(row.batch_id), row.requests.cast_unsigned()))
            .collect())
    }

    /// When the requests of a completed batch came and how long they ran.
    pub async fn batch_profile(
        &self,
        tenant: TenantId,
        batch: BatchId,
    ) -> Result<BatchProfile, StoreError> {
        let summary = sqlx::query_as!(
            SummaryRow,
            r#"
            select h.batch_id, h.run, h.digest, h.requests, h.announced_at, h.first_arrival_at,
                h.earliest_end_at, h.ended_at, h.worker_seconds::text as "worker_seconds!",
                b.iteration, b.plugin, b.version
            from batch_history h join batches b on b.tenant_id = h.tenant_id and b.id = h.batch_id
            where h.tenant_id = $1 and h.batch_id = $2
            "#,
            tenant.0,
            batch.0,
        )
        .fetch_optional(&self.pool)
        .await?
        .ok_or(StoreError::NotFound("profile"))?;
        let times = sqlx::query!(
            r#"
            select stages::text as "stages!", arrived_us, ran_us, endings from batch_history
            where tenant_id = $1 and batch_id = $2
            "#,
            tenant.0,
            batch.0,
        )
        .fetch_optional(&self.pool)
        .await?
        .ok_or(StoreError::NotFound("profile"))?;
        let stages: Vec<ProfileStage> = from_json(&times.stages)?;
        let mut requests =
            request_profiles(stages.len(), &times.arrived_us, &times.ran_us, &times.endings);
        self.name_requests(tenant, batch, &mut requests).await?;
        Ok(BatchProfile { batch: summary.into_history()?, stages, requests })
    }

    /// Outcomes have places in the very order in which history has requests.
    async fn name_requests(
        &self,
        tenant: TenantId,
        batch: BatchId,
        requests: &mut [RequestProfile],
    ) -> Result<(), StoreError> {
        let rows = sqlx::query!(
            r#"
            select o.position as "position!", o.seq as "seq!", o.verdict as "verdict!",
                r.group_name as "group_name?"
            from all_outcomes o left join lateral (
                -- With its limit it is looked up by its key, whatever the planner knows of the table.
                select group_name from requests
                where tenant_id = o.tenant_id and batch_id = o.batch_id and seq = o.seq limit 1
            ) r on true
            where o.tenant_id = $1 and o.batch_id = $2
            "#,
            tenant.0,
            batch.0,
        )
        .fetch_all(&self.pool)
        .await?;
        for row in rows {
            let place = usize::try_from(row.position - 1).ok();
            if let Some(request) = place.and_then(|place| requests.get_mut(place)) {
                request.seq = Some(row.seq.cast_unsigned());
                request.group = row.group_name;
                request.verdict = Some(row.verdict);
            }
        }
        Ok(())
    }

    /// Deletes the profiles of batches that ended before `before`, a piece at a time, and returns their
    /// number. A run with a younger batch keeps its last few.
    pub async fn forget_history(
        &self,
        tenant: TenantId,
        before: Micros,
    ) -> Result<u64, StoreError> {
        let mut forgotten = 0;
        loop {
            let deleted = sqlx::query!(
                r#"
                delete from batch_history where (tenant_id, batch_id) in (
                    select h.tenant_id, h.batch_id from batch_history h
                    where h.tenant_id = $4 and h.ended_at < $1 and not (
                        exists (
                            select from batch_history y where y.tenant_id = h.tenant_id
                                and y.run = h.run and y.ended_at >= $1
                        ) and (
                            select count(*) from (
                                select from batch_history l where l.tenant_id = h.tenant_id
                                    and l.run = h.run and l.ended_at > h.ended_at limit $2
                            ) as later
                        ) < $2
                    )
                    order by h.ended_at limit $3
                )
                "#,
                before.to_datetime(),
                i64::from(limits::HISTORY_BATCHES_EACH),
                i64::from(limits::HISTORY_FORGOTTEN_AT_ONCE),
                tenant.0,
            )
            .execute(&self.upkeep)
            .await?
            .rows_affected();
            forgotten += deleted;
            if deleted < u64::from(limits::HISTORY_FORGOTTEN_AT_ONCE) {
                return Ok(forgotten);
            }
        }
    }
}

fn request_profiles(
    stages: usize,
    arrived_us: &[i64],
    ran_us: &[i64],
    endings: &str,
) -> Vec<RequestProfile> {
    let ms = |us: i64| Micros(us.max(0).cast_unsigned()).as_ms_f64();
    let requests = arrived_us.iter().zip(ran_us.chunks(stages.max(1))).zip(endings.chars());
    let profiles = requests.map(|((arrived, ran), letter)| RequestProfile {
        seq: None,
        group: None,
        arrived_ms: ms(*arrived),
        ran_ms: ran.iter().map(|us| (*us > 0).then(|| ms(*us))).collect(),
        outcome: ENDINGS
            .iter()
            .find(|(own, _)| *own == letter)
            .map_or("error", |(_, kind)| kind)
            .to_owned(),
        verdict: None,
    });
    profiles.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_hexadecimal_text() {
        assert_eq!(bytea(&[0x00, 0x7f, 0xa0]), "\\x007fa0");
    }
}
