//! Batches as a list, with what each left.

use assay_api::batch::{Batch, BatchState};
use assay_api::view::{BatchStateFilter, BatchSummary};
use assay_core::id::{BatchId, TenantId};
use assay_core::plugin::VersionName;
use assay_core::time::Micros;
use time::OffsetDateTime;
use uuid::Uuid;

use super::Span;
use crate::batches::{consumes_of, state_of};
use crate::plugins::stored_digest;
use crate::summaries::{StoredRewards, StoredSummary, counts, expected};
use crate::{Store, StoreError};

/// Which batches are asked for.
#[derive(Debug, Default)]
pub struct BatchFilter {
    pub state: Option<BatchStateFilter>,
    pub run: Option<String>,
    pub plugin: Option<String>,
    pub announced: Span,
    /// Whether only batches are asked for that ended later than T + D.
    pub late: bool,
    /// The last batch of the page before; the list goes on with batches that were announced earlier.
    pub after: Option<BatchId>,
    pub limit: u32,
}

struct Row {
    id: Uuid,
    run: String,
    iteration: i64,
    plugin: String,
    version: String,
    digest: Vec<u8>,
    expected_size: Option<i32>,
    group_size: Option<i32>,
    max_extra_delay_ms: Option<i32>,
    consumes_groups: bool,
    late: bool,
    state: String,
    announced_at: OffsetDateTime,
    first_request_at: Option<OffsetDateTime>,
    sealed_at: Option<OffsetDateTime>,
    ended_at: Option<OffsetDateTime>,
    earliest_end_at: Option<OffsetDateTime>,
    submitted: Option<i32>,
    scored: Option<i32>,
    timed_out: Option<i32>,
    error: Option<i32>,
    shared: i32,
    reward_sum: Option<f64>,
    expired_at: Option<OffsetDateTime>,
    reward_mean: Option<f64>,
    reward_std: Option<f64>,
    reward_min: Option<f64>,
    reward_max: Option<f64>,
    histogram_from: Option<f64>,
    histogram_to: Option<f64>,
    histogram: Option<Vec<i32>>,
    verdicts: Option<String>,
    errors: Option<String>,
    worker_seconds: Option<String>,
    cost: Option<String>,
    groups: Option<i32>,
    complete_groups: Option<i32>,
    zero_variance_groups: Option<i32>,
    critical_seq: Option<i32>,
    last_seq: Option<i32>,
    expected_earliest_end_at: Option<OffsetDateTime>,
    expected_done_at: Option<OffsetDateTime>,
}

/// Batches where the condition, which has the index that serves it, holds. One plan serves all
/// calls of a query, so that each index has a query of its own; the other filters are looked at row
/// by row.
macro_rules! batches_where {
    ($pool:expr, $condition:literal, $first:expr, $tenant:expr, $range:expr, $filter:expr) => {{
        let range: &Range = $range;
        let filter: &BatchFilter = $filter;
        sqlx::query_as!(
            Row,
            r#"
            select b.id, b.run, b.iteration, b.plugin, b.version, b.digest, b.expected_size,
                b.group_size, b.max_extra_delay_ms, b.consumes_groups,
                coalesce(b.state = 'done' and b.ended_at - b.earliest_end_at
                    > coalesce(b.tolerance_ms, b.max_extra_delay_ms) * interval '1 millisecond',
                    false) as "late!", b.state, b.announced_at, b.first_request_at,
                b.sealed_at, b.ended_at, b.earliest_end_at, b.submitted, b.scored, b.timed_out,
                b.error, b.shared, b.reward_sum, b.expired_at,
                u.reward_mean as "reward_mean?", u.reward_std as "reward_std?",
                u.reward_min as "reward_min?", u.reward_max as "reward_max?",
                u.histogram_from as "histogram_from?", u.histogram_to as "histogram_to?",
                u.histogram as "histogram?", u.verdicts::text as "verdicts?",
                u.errors::text as "errors?", u.worker_seconds::text as "worker_seconds?",
                u.cost::text as "cost?", u.groups as "groups?", u.complete_groups as "complete_groups?",
                u.zero_variance_groups as "zero_variance_groups?",
                u.critical_seq as "critical_seq?", u.last_seq as "last_seq?",
                u.expected_earliest_end_at as "expected_earliest_end_at?",
                u.expected_done_at as "expected_done_at?"
            from batches b left join lateral (
                select * from batch_rollups
                where tenant_id = b.tenant_id and batch_id = b.id limit 1
            ) u on true
            where b.tenant_id = $1 and b.sealed_at is distinct from b.announced_at and "#
                + $condition
                + r#" and b.id >= $3 and b.id < $4 and b.announced_at >= $5 and b.announced_at < $6
                and ($7::text is null or b.run = $7)
                and ($8::text is null or b.plugin = $8)
                and ($9::text is null or b.state = $9 or ($9 = 'ended' and b.ended_at is not null)
                    or ($9 = 'live' and b.ended_at is null))
            order by b.id desc limit $10
            "#,
            $tenant.0,
            $first,
            range.ids.0,
            range.ids.1,
            filter.announced.from().to_datetime(),
            filter.announced.to().to_datetime(),
            filter.run.as_deref(),
            filter.plugin.as_deref(),
            filter.state.map(state_word),
            i64::from(filter.limit),
        )
        .fetch_all($pool)
        .await?
    }};
}

/// Ids from the first on, up to the second.
struct Range {
    ids: (Uuid, Uuid),
}

/// An id is made a moment before the batch is announced.
const ID_SLACK: Micros = Micros::from_secs(1);

impl Range {
    /// Ids grow with the time at which they were made, in their first 48 bits in milliseconds.
    fn of(filter: &BatchFilter) -> Self {
        let least = |at: Micros| Uuid::from_u128(u128::from(at.0 / 1_000) << 80);
        let to = least(filter.announced.to() + ID_SLACK);
        let to = filter.after.map_or(to, |after| to.min(after.0));
        Self { ids: (least(filter.announced.from() - ID_SLACK), to) }
    }
}

/// Each row's state, or whether it has ended, as the queries compare it.
fn state_word(state: BatchStateFilter) -> &'static str {
    match (state, state.state()) {
        (_, Some(state)) => state.as_str(),
        (BatchStateFilter::Live, None) => "live",
        (_, None) => "ended",
    }
}

impl Store {
    /// The newest first.
    pub async fn batches(
        &self,
        tenant: TenantId,
        filter: &BatchFilter,
    ) -> Result<Vec<BatchSummary>, StoreError> {
        let range = &Range::of(filter);
        let pool = &self.pool;
        let state = filter.state.and_then(BatchStateFilter::state).map(BatchState::as_str);
        // The first that narrows most; what has no filter matches whatever it is compared to.
        let rows = if filter.late {
            // The words of the index `batches_late`.
            batches_where!(
                pool,
                "$2::text = 'late' and b.state = 'done' and b.ended_at - b.earliest_end_at
                > coalesce(b.tolerance_ms, b.max_extra_delay_ms) * interval '1 millisecond'",
                "late",
                tenant,
                range,
                filter
            )
        } else if let Some(run) = &filter.run {
            batches_where!(pool, "b.run = $2::text", run, tenant, range, filter)
        } else if filter.state == Some(BatchStateFilter::Live) {
            let live = "live";
            batches_where!(
                pool,
                "b.ended_at is null and $2::text = 'live'",
                live,
                tenant,
                range,
                filter
            )
        } else if let Some(state) = state {
            batches_where!(pool, "b.state = $2::text", state, tenant, range, filter)
        } else if let Some(plugin) = &filter.plugin {
            batches_where!(pool, "b.plugin = $2::text", plugin, tenant, range, filter)
        } else {
            let all = "all";
            batches_where!(pool, "$2::text = 'all'", all, tenant, range, filter)
        };
        rows.into_iter().map(Row::summary).collect()
    }
}

impl Row {
    fn summary(self) -> Result<BatchSummary, StoreError> {
        let counts = counts([self.submitted, self.scored, self.timed_out, self.error], self.shared);
        let ended_at = self.ended_at.map(Micros::from_datetime);
        let earliest_end_at = self.earliest_end_at.map(Micros::from_datetime);
        let delay = ended_at.zip(earliest_end_at).map(|(ended, earliest)| ended.since(earliest));
        let tolerated = self.max_extra_delay_ms.map(i32::cast_unsigned);
        let batch = Batch {
            id: BatchId(self.id),
            state: state_of(&self.state),
            plugin: VersionName { name: &self.plugin, version: &self.version }.to_string(),
            plugin_digest: stored_digest(&self.digest)?,
            run: self.run,
            iteration: self.iteration.cast_unsigned(),
            expected_size: self.expected_size.map(i32::cast_unsigned),
            group_size: self.group_size.map(i32::cast_unsigned),
            max_extra_delay_ms: tolerated,
            consumes: consumes_of(self.consumes_groups),
            outstanding: None,
            counts,
            mean_reward: counts.mean_reward(self.reward_sum),
            announced_at: Micros::from_datetime(self.announced_at),
            first_request_at: self.first_request_at.map(Micros::from_datetime),
            sealed_at: self.sealed_at.map(Micros::from_datetime),
            done_at: ended_at,
            estimated_done_at: ended_at,
            extra_delay_ms: delay.map(Micros::as_ms_f64),
            expired_at: self.expired_at.map(Micros::from_datetime),
        };
        let stored = StoredSummary {
            verdicts: self.verdicts,
            errors: self.errors,
            worker_seconds: self.worker_seconds,
            cost: self.cost,
            stages: None,
            rewards: StoredRewards {
                count: counts.rewarded().cast_signed(),
                mean: self.reward_mean,
                std: self.reward_std,
                min: self.reward_min,
                max: self.reward_max,
                from: self.histogram_from,
                to: self.histogram_to,
                histogram: self.histogram,
            },
            groups: self.groups,
            complete_groups: self.complete_groups,
            zero_variance_groups: self.zero_variance_groups,
            critical_seq: self.critical_seq,
            last_seq: self.last_seq,
            expected: expected(self.expected_earliest_end_at, self.expected_done_at),
        };
        Ok(BatchSummary { batch, late: self.late, rollup: stored.summary()? })
    }
}
