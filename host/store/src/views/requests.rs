//! The requests of a batch as rows, and what surrounds one of them.

use assay_api::result::ResultItem;
use assay_api::view::{ArtifactSummary, RequestKindFilter, RequestSummary};
use assay_core::id::{BatchId, RequestId, TenantId};
use assay_core::outcome::Outcome;
use assay_core::time::Micros;
use time::OffsetDateTime;

use crate::summaries::integer;
use crate::{Store, StoreError};

/// The blocks of requests, of 1,024 each, that are looked through at once: few first, then more, then all. PostgreSQL opens
/// the segments of all of them before it sorts what it found.
const BLOCKS_AT_ONCE: [i32; 3] = [4, 64, i32::MAX];
/// The characters of a message that a table shows.
const MESSAGE_CHARS_MAX: usize = 200;

/// The conditions by which requests are listed.
#[derive(Debug, Default)]
pub struct RequestFilter {
    pub kind: Option<RequestKindFilter>,
    pub verdict: Option<String>,
    /// A part of the key or of the group's name.
    pub text: Option<String>,
    /// The number of the request (seq) after which the list begins.
    pub after: Option<u32>,
    pub limit: u32,
}

impl RequestFilter {
    /// Whether only requests are asked for that have ended.
    fn ended(&self) -> bool {
        let waiting = self.kind == Some(RequestKindFilter::Waiting);
        self.verdict.is_some() || (self.kind.is_some() && !waiting)
    }

    fn kind(&self) -> Option<&'static str> {
        self.kind.map(|kind| match kind {
            RequestKindFilter::Scored => "scored",
            RequestKindFilter::TimedOut => "timed_out",
            RequestKindFilter::Error => "error",
            RequestKindFilter::Waiting => "waiting",
        })
    }
}

struct Row {
    seq: i32,
    key: String,
    group_name: Option<String>,
    arrived_at: OffsetDateTime,
    kind: Option<String>,
    verdict: Option<String>,
    reward: Option<f64>,
    finished_at: Option<OffsetDateTime>,
    result: Option<String>,
}

impl Row {
    fn summary(self, batch: BatchId) -> RequestSummary {
        let seq = self.seq.cast_unsigned();
        let arrived_at = Micros::from_datetime(self.arrived_at);
        let finished_at = self.finished_at.map(Micros::from_datetime);
        RequestSummary {
            id: RequestId { batch, seq },
            seq,
            key: self.key,
            group: self.group_name,
            arrived_at,
            kind: self.kind,
            verdict: self.verdict,
            reward: self.reward,
            took_ms: finished_at.map(|finished| finished.since(arrived_at).as_ms_f64()),
            message: self.result.as_deref().and_then(message),
        }
    }
}

fn message(result: &str) -> Option<String> {
    let result: ResultItem = serde_json::from_str(result).ok()?;
    let whole = match result.outcome {
        Outcome::Error { message, .. } => message,
        Outcome::Scored(scored) => scored.explanation,
        Outcome::TimedOut { stage, .. } => format!("the stage {stage} ran into its timeout"),
    };
    Some(whole.chars().take(MESSAGE_CHARS_MAX).collect()).filter(|text: &String| !text.is_empty())
}

/// The data on a request's page beside the request and its result.
pub struct RequestSurroundings {
    /// The run's settings, as JSON text.
    pub settings: String,
    pub earliest_end_at: Option<Micros>,
    pub finished_at: Option<Micros>,
}

impl Store {
    /// Lists the requests of a batch in the order of admission.
    pub async fn requests(
        &self,
        tenant: TenantId,
        batch: BatchId,
        filter: &RequestFilter,
    ) -> Result<Vec<RequestSummary>, StoreError> {
        if !filter.ended() {
            let rows = self.all_requests(tenant, batch, filter).await?;
            return Ok(rows.into_iter().map(|row| row.summary(batch)).collect());
        }
        let limit = filter.limit as usize;
        let mut rows = Vec::new();
        for part in parts(filter) {
            rows.extend(self.ended_requests(tenant, batch, filter, part).await?);
            if rows.len() >= limit {
                break;
            }
        }
        rows.truncate(limit);
        Ok(rows.into_iter().map(|row| row.summary(batch)).collect())
    }

    async fn all_requests(
        &self,
        tenant: TenantId,
        batch: BatchId,
        filter: &RequestFilter,
    ) -> Result<Vec<Row>, StoreError> {
        let waiting = filter.kind == Some(RequestKindFilter::Waiting);
        let rows = sqlx::query_as!(
            Row,
            r#"
            select r.seq, r.key, r.group_name, r.arrived_at, o.kind as "kind?",
                o.verdict as "verdict?", o.reward as "reward?", o.finished_at as "finished_at?",
                o.result as "result?"
            from requests r left join lateral (
                select kind, verdict, reward, finished_at, result
                from outcome_of(r.tenant_id, r.batch_id, r.seq) limit 1
            ) o on true
            where r.tenant_id = $1 and r.batch_id = $2 and r.seq > $3
                and ($4::text is null or position(lower($4) in lower(r.key)) > 0
                    or position(lower($4) in lower(r.group_name)) > 0)
                and (not $5 or o.kind is null)
            order by r.seq limit $6
            "#,
            tenant.0,
            batch.0,
            after(filter),
            filter.text.as_deref(),
            waiting,
            i64::from(filter.limit),
        )
        .fetch_all(&self.pool)
        .await?;
        Ok(rows)
    }

    /// The few that failed are found among the outcomes, which are small without their results.
    async fn ended_requests(
        &self,
        tenant: TenantId,
        batch: BatchId,
        filter: &RequestFilter,
        part: BlockRange,
    ) -> Result<Vec<Row>, StoreError> {
        let rows = sqlx::query_as!(
            Row,
            r#"
            select r.seq, r.key, r.group_name, r.arrived_at, o.kind as "kind?",
                o.verdict as "verdict?", o.reward as "reward?", o.finished_at as "finished_at?",
                o.result as "result?"
            from (
                select e.seq from (
                    select seq, kind, verdict from all_outcomes
                    where tenant_id = $1 and batch_id = $2 and seq > $3 and block >= $3 >> 10
                        and block <= $8 and ($5::text is null or kind = $5)
                        and ($6::text is null or verdict = $6)
                    order by seq
                ) e cross join lateral (
                    select key, group_name from requests
                    where tenant_id = $1 and batch_id = $2 and seq = e.seq limit 1
                ) r
                where $4::text is null or position(lower($4) in lower(r.key)) > 0
                    or position(lower($4) in lower(r.group_name)) > 0
                order by e.seq limit $7
            ) found cross join lateral (
                select seq, key, group_name, arrived_at from requests
                where tenant_id = $1 and batch_id = $2 and seq = found.seq limit 1
            ) r cross join lateral (
                select kind, verdict, reward, finished_at, result
                from outcome_of($1, $2, found.seq) limit 1
            ) o
            order by r.seq
            "#,
            tenant.0,
            batch.0,
            part.after,
            filter.text.as_deref(),
            filter.kind(),
            filter.verdict.as_deref(),
            i64::from(filter.limit),
            part.last_block,
        )
        .fetch_all(&self.pool)
        .await?;
        Ok(rows)
    }

    pub async fn request_surroundings(
        &self,
        tenant: TenantId,
        id: RequestId,
    ) -> Result<RequestSurroundings, StoreError> {
        let row = sqlx::query!(
            r#"
            select b.settings, o.earliest_end_at as "earliest_end_at?",
                o.finished_at as "finished_at?"
            from batches b left join lateral (
                select earliest_end_at, finished_at
                from outcome_of(b.tenant_id, b.id, $3) limit 1
            ) o on true
            where b.tenant_id = $1 and b.id = $2
            "#,
            tenant.0,
            id.batch.0,
            id.seq.cast_signed(),
        )
        .fetch_optional(&self.pool)
        .await?
        .ok_or(StoreError::NotFound("request"))?;
        Ok(RequestSurroundings {
            settings: row.settings,
            earliest_end_at: row.earliest_end_at.map(Micros::from_datetime),
            finished_at: row.finished_at.map(Micros::from_datetime),
        })
    }

    /// The artifacts that the stages of a request returned; `stages` has the names of the stages.
    pub async fn artifacts(
        &self,
        tenant: TenantId,
        id: RequestId,
        stages: &[String],
    ) -> Result<Vec<ArtifactSummary>, StoreError> {
        let rows = sqlx::query!(
            r#"
            select stage, content_type, octet_length(bytes) as "bytes!", created_at from artifacts
            where tenant_id = $1 and batch_id = $2 and seq = $3 order by stage
            "#,
            tenant.0,
            id.batch.0,
            id.seq.cast_signed(),
        )
        .fetch_all(&self.pool)
        .await?;
        let artifacts = rows.into_iter().filter_map(|row| {
            Some(ArtifactSummary {
                stage: stages.get(usize::try_from(row.stage).ok()?)?.clone(),
                content_type: row.content_type,
                bytes: u64::from(row.bytes.cast_unsigned()),
                created_at: Micros::from_datetime(row.created_at),
            })
        });
        Ok(artifacts.collect())
    }
}

/// The requests after one number, up to the end of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct BlockRange {
    after: i32,
    last_block: i32,
}

/// The parts of a batch in which requests are looked for, one after the other.
fn parts(filter: &RequestFilter) -> impl Iterator<Item = BlockRange> {
    let first = after(filter).max(0) >> 10;
    let mut after = after(filter);
    BLOCKS_AT_ONCE.into_iter().map(move |blocks| {
        let last_block = first.saturating_add(blocks).min(i32::MAX >> 10);
        let part = BlockRange { after, last_block };
        after = (last_block << 10) | 1_023;
        part
    })
}

fn after(filter: &RequestFilter) -> i32 {
    filter.after.map_or(-1, integer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_follow_each_other_to_the_last_request() {
        for after in [None, Some(0), Some(1_023), Some(1_024), Some(70_000), Some(u32::MAX)] {
            let filter = RequestFilter { after, ..RequestFilter::default() };
            let parts: Vec<BlockRange> = parts(&filter).collect();
            assert_eq!(parts[0].after, after.map_or(-1, integer));
            for pair in parts.windows(2) {
                assert_eq!(pair[1].after >> 10, pair[0].last_block);
                assert_eq!(pair[1].after & 1_023, 1_023);
            }
            assert_eq!(parts[2].last_block, i32::MAX >> 10);
        }
    }
}
