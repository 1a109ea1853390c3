//! Runs with what their last batch left, and one run iteration by iteration.

use std::collections::HashMap;
use std::fmt;

use assay_api::batch::BatchState;
use assay_api::view::{ArrivalCurve, Histogram, Iterations, RunSummary};
use assay_core::id::{BatchId, TenantId};
use assay_core::limits;
use assay_core::plugin::VersionName;
use assay_core::time::Micros;
use serde_json::value::RawValue;
use time::OffsetDateTime;
use uuid::Uuid;

use super::Span;
use crate::batches::state_of;
use crate::plugins::stored_digest;
use crate::summaries::{StoredRewards, count, counts, map, settings};
use crate::{Store, StoreError};

/// Which runs are asked for.
#[derive(Debug, Default)]
pub struct RunFilter {
    /// A part of the name.
    pub name: Option<String>,
    pub plugin: Option<String>,
    pub active: Span,
    pub after: Option<RunCursor>,
    pub limit: u32,
}

/// The end of a page of runs: the last activity and the name of its last run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunCursor {
    pub at: Micros,
    pub name: String,
}

impl RunCursor {
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (at, name) = text.split_once('.')?;
        Some(Self { at: Micros(at.parse().ok()?).min(super::END_OF_TIME), name: name.to_owned() })
    }
}

impl fmt::Display for RunCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.at.0, self.name)
    }
}

struct RunRow {
    name: String,
    plugin: String,
    version: String,
    digest: Vec<u8>,
    settings: String,
    created_at: OffsetDateTime,
    ended_batches: i32,
    last_batch_at: Option<OffsetDateTime>,
    iteration: Option<i64>,
    reward_mean: Option<f64>,
}

impl RunRow {
    fn summary(self, live_batches: u32) -> Result<RunSummary, StoreError> {
        Ok(RunSummary {
            name: self.name,
            plugin: VersionName { name: &self.plugin, version: &self.version }.to_string(),
            plugin_digest: stored_digest(&self.digest)?,
            created_at: Micros::from_datetime(self.created_at),
            batches: self.ended_batches.cast_unsigned(),
            live_batches,
            last_batch_at: self.last_batch_at.map(Micros::from_datetime),
            last_iteration: self.iteration.map(i64::cast_unsigned),
            last_mean_reward: self.reward_mean,
        })
    }

    fn active_at(&self) -> Micros {
        Micros::from_datetime(self.last_batch_at.unwrap_or(self.created_at))
    }
}

/// Makes a checked query of `RunRow`s; `$filter` begins with `where`.
macro_rules! run_rows {
    ($filter:tt, $($parameters:tt)*) => {
        sqlx::query_as!(
            RunRow,
            r#"
            select r.name, r.plugin, r.version, r.digest, r.settings, r.created_at, r.ended_batches,
                r.last_batch_at, b.iteration as "iteration?", u.reward_mean as "reward_mean?"
            from runs r
            left join lateral (
                select iteration from batches
                where tenant_id = r.tenant_id and id = r.last_batch_id limit 1
            ) b on true
            left join lateral (
                select reward_mean from batch_rollups
                where tenant_id = r.tenant_id and batch_id = r.last_batch_id limit 1
            ) u on true
            "# + $filter,
            $($parameters)*
        )
    };
}

/// A batch of a run with its summary.
struct IterationRow {
    id: Uuid,
    iteration: i64,
    state: String,
    announced_at: OffsetDateTime,
    first_request_at: Option<OffsetDateTime>,
    ended_at: Option<OffsetDateTime>,
    earliest_end_at: Option<OffsetDateTime>,
    max_extra_delay_ms: Option<i32>,
    submitted: Option<i32>,
    scored: Option<i32>,
    timed_out: Option<i32>,
    error: Option<i32>,
    shared: i32,
    reward_sum: Option<f64>,
    reward_mean: Option<f64>,
    reward_std: Option<f64>,
    reward_min: Option<f64>,
    reward_max: Option<f64>,
    histogram_from: Option<f64>,
    histogram_to: Option<f64>,
    histogram: Option<Vec<i32>>,
    verdicts: Option<String>,
    worker_seconds: Option<String>,
    cost: Option<String>,
    complete_groups: Option<i32>,
    zero_variance_groups: Option<i32>,
    all_right_groups: Option<i32>,
    pass_at: Option<String>,
    solve_rates: Option<Vec<i32>>,
    components: Option<String>,
}

impl Store {
    /// A page of runs, and where the next one begins.
    pub async fn runs(
        &self,
        tenant: TenantId,
        filter: &RunFilter,
    ) -> Result<(Vec<RunSummary>, Option<RunCursor>), StoreError> {
        let to = RunCursor { at: filter.active.to(), name: String::new() };
        let before = filter.after.clone().filter(|after| after.at < to.at).unwrap_or(to);
        let rows = run_rows!(
            r#"
            where r.tenant_id = $1
                and (coalesce(r.last_batch_at, r.created_at), r.name) < ($2, $3)
                and coalesce(r.last_batch_at, r.created_at) >= $4
                and ($5::text is null or position(lower($5) in lower(r.name)) > 0)
                and ($6::text is null or r.plugin = $6)
            order by coalesce(r.last_batch_at, r.created_at) desc, r.name desc limit $7
            "#,
            tenant.0,
            before.at.to_datetime(),
            before.name,
            filter.active.from().to_datetime(),
            filter.name.as_deref(),
            filter.plugin.as_deref(),
            i64::from(filter.limit),
        )
        .fetch_all(&self.pool)
        .await?;
        let last = rows.last().filter(|_| rows.len() == filter.limit as usize);
        let next = last.map(|row| RunCursor { at: row.active_at(), name: row.name.clone() });
        let names: Vec<String> = rows.iter().map(|row| row.name.clone()).collect();
        let live = self.live_batches_of(tenant, &names).await?;
        let runs = rows.into_iter().map(|row| {
            let live = live.get(&row.name).copied().unwrap_or(0);
            row.summary(live)
        });
        Ok((runs.collect::<Result<_, _>>()?, next))
    }

    async fn live_batches_of(
        &self,
        tenant: TenantId,
        runs: &[String],
    ) -> Result<HashMap<String, u32>, StoreError> {
        let rows = sqlx::query!(
            r#"
            select run, count(*)::integer as "batches!" from batches
            where tenant_id = $1 and run = any ($2) and ended_at is null
                and sealed_at is distinct from announced_at
            group by run
            "#,
            tenant.0,
            runs,
        )
        .fetch_all(&self.pool)
        .await?;
        Ok(rows.into_iter().map(|row| (row.run, row.batches.cast_unsigned())).collect())
    }

    /// One run, with its settings.
    pub async fn run_summary(
        &self,
        tenant: TenantId,
        name: &str,
    ) -> Result<(RunSummary, Box<RawValue>), StoreError> {
        let row = run_rows!(
            r#"
            where r.tenant_id = $1 and r.name = $2
            "#,
            tenant.0,
            name,
        )
        .fetch_optional(&self.pool)
        .await?
        .ok_or(StoreError::NotFound("run"))?;
        let live = self.live_batches_of(tenant, std::slice::from_ref(&row.name)).await?;
        let settings = settings(row.settings.clone())?;
        let live = live.get(&row.name).copied().unwrap_or(0);
        Ok((row.summary(live)?, settings))
    }

    /// The last batches of a run, the newest last, and whether there are earlier ones.
    pub async fn run_iterations(
        &self,
        tenant: TenantId,
        run: &str,
        last: u32,
    ) -> Result<(Iterations, bool), StoreError> {
        let mut rows = sqlx::query_as!(
            IterationRow,
            r#"
            select b.id, b.iteration, b.state, b.announced_at, b.first_request_at, b.ended_at,
                b.earliest_end_at,
                coalesce(b.tolerance_ms, b.max_extra_delay_ms) as max_extra_delay_ms, b.submitted, b.scored, b.timed_out, b.error,
                b.shared, b.reward_sum, u.reward_mean as "reward_mean?", u.reward_std as "reward_std?",
                u.reward_min as "reward_min?", u.reward_max as "reward_max?",
                u.histogram_from as "histogram_from?", u.histogram_to as "histogram_to?",
                u.histogram as "histogram?", u.verdicts::text as "verdicts?",
                u.worker_seconds::text as "worker_seconds?", u.cost::text as "cost?",
                u.complete_groups as "complete_groups?",
                u.zero_variance_groups as "zero_variance_groups?",
                u.all_right_groups as "all_right_groups?", u.pass_at::text as "pass_at?",
                u.solve_rates as "solve_rates?", u.components::text as "components?"
            from batches b left join lateral (
                select * from batch_rollups
                where tenant_id = b.tenant_id and batch_id = b.id limit 1
            ) u on true
            where b.tenant_id = $1 and b.run = $2 and b.sealed_at is distinct from b.announced_at
            order by b.id desc limit $3
            "#,
            tenant.0,
            run,
            i64::from(last) + 1,
        )
        .fetch_all(&self.pool)
        .await?;
        let earlier = rows.len() > last as usize;
        rows.truncate(last as usize);
        let mut columns = Iterations::default();
        for row in rows.into_iter().rev() {
            push(&mut columns, row)?;
        }
        Ok((columns, earlier))
    }

    /// The arrival curves of the chosen batches of a run, or of the last completed ones, the oldest first.
    pub async fn arrival_curves(
        &self,
        tenant: TenantId,
        run: &str,
        chosen: Option<&[BatchId]>,
    ) -> Result<Vec<ArrivalCurve>, StoreError> {
        let ids = match chosen {
            Some(chosen) => chosen.iter().map(|id| id.0).collect(),
            None => self.last_completed(tenant, run).await?,
        };
        let rows = sqlx::query!(
            r#"
            select h.batch_id, h.arrived_us, b.iteration
            from batch_history h join batches b on b.tenant_id = h.tenant_id and b.id = h.batch_id
            where h.tenant_id = $1 and h.batch_id = any ($2) and h.run = $3
            order by h.batch_id limit $4
            "#,
            tenant.0,
            &ids,
            run,
            limits::RUN_CURVES_MAX as i64,
        )
        .fetch_all(&self.pool)
        .await?;
        let curves = rows
            .into_iter()
            .map(|row| curve(BatchId(row.batch_id), row.iteration.cast_unsigned(), row.arrived_us));
        Ok(curves.collect())
    }

    async fn last_completed(&self, tenant: TenantId, run: &str) -> Result<Vec<Uuid>, StoreError> {
        let ids = sqlx::query_scalar!(
            "select batch_id from batch_history where tenant_id = $1 and run = $2
            order by ended_at desc limit $3",
            tenant.0,
            run,
            limits::RUN_CURVES_MAX as i64,
        )
        .fetch_all(&self.pool)
        .await?;
        Ok(ids)
    }
}

fn push(columns: &mut Iterations, row: IterationRow) -> Result<(), StoreError> {
    let counts = counts([row.submitted, row.scored, row.timed_out, row.error], row.shared);
    let stored = StoredRewards {
        count: counts.rewarded().cast_signed(),
        mean: row.reward_mean,
        std: row.reward_std,
        min: row.reward_min,
        max: row.reward_max,
        from: row.histogram_from,
        to: row.histogram_to,
        histogram: row.histogram,
    };
    let rewards = stored.rewards();
    let plain_mean = counts.mean_reward(row.reward_sum);
    let state: BatchState = state_of(&row.state);
    let ended_at = row.ended_at.map(Micros::from_datetime);
    let span = |from: Option<OffsetDateTime>| {
        let from = from.map(Micros::from_datetime);
        ended_at.zip(from).map(|(ended, from)| ended.since(from).as_ms_f64())
    };
    let (complete, equal) = (count(row.complete_groups), count(row.zero_variance_groups));
    columns.batch.push(BatchId(row.id));
    columns.iteration.push(row.iteration.cast_unsigned());
    columns.state.push(state);
    columns.announced_at.push(Micros::from_datetime(row.announced_at));
    columns.ended_at.push(ended_at);
    columns.duration_ms.push(span(row.first_request_at));
    columns.counts.push(counts);
    columns.mean.push(rewards.as_ref().map(|rewards| rewards.mean).or(plain_mean));
    columns.std.push(rewards.as_ref().map(|rewards| rewards.std));
    columns.min.push(rewards.as_ref().map(|rewards| rewards.min));
    columns.max.push(rewards.as_ref().map(|rewards| rewards.max));
    columns.histogram.push(rewards.map(|rewards| -> Histogram { rewards.histogram }));
    let share = (complete > 0).then(|| f64::from(equal) / f64::from(complete));
    columns.zero_variance_share.push(share);
    let right = row.all_right_groups.filter(|_| complete > 0);
    columns.all_right_share.push(right.map(|right| f64::from(right) / f64::from(complete)));
    columns.pass_at.push(map(row.pass_at)?);
    columns.solve_rates.push(row.solve_rates.and_then(solve_rates));
    columns.components.push(map(row.components)?);
    columns.verdicts.push(map(row.verdicts)?);
    columns.extra_delay_ms.push(span(row.earliest_end_at));
    columns.max_extra_delay_ms.push(row.max_extra_delay_ms.map(i32::cast_unsigned));
    columns.worker_seconds.push(map(row.worker_seconds)?);
    columns.cost.push(map(row.cost)?);
    Ok(())
}

/// The prompts of a batch by solve rate; `None` if it has no groups.
fn solve_rates(groups: Vec<i32>) -> Option<Histogram> {
    let counts: Vec<u32> = groups.into_iter().map(i32::cast_unsigned).collect();
    let has_groups = counts.iter().any(|groups| *groups > 0);
    has_groups.then_some(Histogram { from: 0.0, to: 1.0, counts })
}

fn curve(batch: BatchId, iteration: u64, mut arrived_us: Vec<i64>) -> ArrivalCurve {
    arrived_us.sort_unstable();
    let all = arrived_us.len().max(1) as f64;
    let last = arrived_us.last().copied().unwrap_or(0) as f64;
    let steps = (limits::RUN_CURVE_POINTS - 1) as f64;
    let at_us = (0..limits::RUN_CURVE_POINTS).map(|step| last * step as f64 / steps);
    let points = at_us.map(|at| {
        let come = arrived_us.partition_point(|arrived| *arrived as f64 <= at);
        (at / 1e3, come as f64 / all)
    });
    let (at_ms, share) = points.unzip();
    ArrivalCurve { batch, iteration, at_ms, share }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_ends_with_everything() {
        let curve = curve(BatchId::generate(), 3, vec![0, 490_000, 100_000, 0]);
        assert_eq!(curve.at_ms.len(), limits::RUN_CURVE_POINTS);
        assert_eq!((curve.at_ms[0], curve.at_ms[49]), (0.0, 490.0));
        assert_eq!((curve.share[0], curve.share[9], curve.share[10]), (0.5, 0.5, 0.75));
        assert_eq!((curve.share[48], curve.share[49]), (0.75, 1.0));
    }

    #[test]
    fn one_moment_is_a_curve_too() {
        let curve = curve(BatchId::generate(), 0, vec![0]);
        assert!(curve.share.iter().all(|share| *share == 1.0));
    }

    #[test]
    fn a_cursor_survives_its_text() {
        let cursor = RunCursor { at: Micros(7), name: "a.run / of ours".into() };
        assert_eq!(RunCursor::parse(&cursor.to_string()), Some(cursor));
        assert_eq!(RunCursor::parse("nonsense"), None);
    }
}
