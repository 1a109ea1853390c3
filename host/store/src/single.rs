//! Single requests: batch, request and outcome are committed together, after the outcome is known.

use assay_core::id::TenantId;
use assay_core::time::Micros;
use sqlx::PgConnection;
use time::{Date, OffsetDateTime};
use uuid::Uuid;

use super::admissions::{BatchRow, RequestRow};
use super::group_commit::Weigh;
use super::outcomes::{EndRow, OutcomeRow};
use super::usage::{UsageRow, insert_counted};

/// A single request from its arrival to its end.
#[derive(Debug)]
pub struct SingleRow {
    pub batch: BatchRow,
    pub request: RequestRow,
    pub outcome: OutcomeRow,
    pub end: EndRow,
}

impl Weigh for SingleRow {
    fn rows(&self) -> usize {
        3
    }

    fn bytes(&self) -> usize {
        self.request.body.len() + self.outcome.result.len()
    }
}

/// Inserts everything together; fails on a row that is there already.
///
/// This is one statement: every single request has a row in all of these tables, and its client waits
/// for the commit, so that each round trip counts.
pub async fn write(connection: &mut PgConnection, group: &[&SingleRow]) -> Result<(), sqlx::Error> {
    Columns::gather(group).insert(connection).await
}

/// Every single request has one row in each of three tables, which share these columns.
#[derive(Default)]
struct Columns<'a> {
    tenant: Vec<Uuid>,
    id: Vec<Uuid>,
    run: Vec<&'a str>,
    plugin: Vec<&'a str>,
    version: Vec<&'a str>,
    digest: Vec<&'a [u8]>,
    settings: Vec<&'a str>,
    arrived_at: Vec<OffsetDateTime>,
    ended_at: Vec<OffsetDateTime>,
    earliest_end_at: Vec<OffsetDateTime>,
    key: Vec<&'a str>,
    body: Vec<&'a [u8]>,
    kind: Vec<&'static str>,
    reward: Vec<Option<f64>>,
    verdict: Vec<&'a str>,
    result: Vec<&'a str>,
    usage: UsageColumns<'a>,
}

impl<'a> Columns<'a> {
    fn gather(group: &[&'a SingleRow]) -> Self {
        let mut columns = Self::default();
        for SingleRow { batch, request, outcome, end } in group {
            columns.tenant.push(batch.tenant.0);
            columns.id.push(batch.id.0);
            columns.run.push(&batch.run);
            columns.plugin.push(&batch.plugin);
            columns.version.push(&batch.version);
            columns.digest.push(&batch.digest.0);
            columns.settings.push(&batch.settings);
            columns.arrived_at.push(batch.announced_at.to_datetime());
            columns.ended_at.push(end.ended_at.to_datetime());
            columns.earliest_end_at.push(outcome.earliest_end_at.to_datetime());
            columns.key.push(&request.key);
            columns.body.push(&request.body);
            columns.kind.push(outcome.kind);
            columns.reward.push(outcome.reward);
            columns.verdict.push(&outcome.verdict);
            columns.result.push(std::str::from_utf8(&outcome.result).expect("JSON is UTF-8"));
            columns.usage.push(batch.tenant, end.ended_at, &end.usage);
        }
        columns
    }

    async fn insert(&self, connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        insert_counted!(
            "lone",
            [r#"
            single as materialized (
                select * from unnest(
                    $8::uuid[], $9::uuid[], $10::text[], $11::text[], $12::text[], $13::bytea[],
                    $14::text[], $15::timestamptz[], $16::timestamptz[], $17::timestamptz[],
                    $18::text[], $19::bytea[], $20::text[], $21::double precision[], $22::text[],
                    $23::text[]
                ) as t (
                    tenant_id, id, run, plugin, version, digest, settings, arrived_at, ended_at,
                    earliest_end_at, key, body, kind, reward, verdict, result
                )
            ), new_batches as (
                insert into batches (
                    tenant_id, id, run, iteration, plugin, version, digest, settings, expected_size,
                    state, announced_at, first_request_at, sealed_at, ended_at, earliest_end_at,
                    submitted, scored, timed_out, error, reward_sum
                )
                select tenant_id, id, run, 0, plugin, version, digest, settings, 1, 'done',
                    arrived_at, arrived_at, arrived_at, ended_at, earliest_end_at, 1,
                    (kind = 'scored')::integer, (kind = 'timed_out')::integer,
                    (kind = 'error')::integer, coalesce(reward, 0)
                from single
            ), new_requests as (
                insert into requests (tenant_id, batch_id, seq, key, body, arrived_at)
                select tenant_id, id, 0, key, body, arrived_at from single
            ), new_outcomes as (
                insert into outcome_rows (
                    tenant_id, batch_id, seq, position, kind, reward, verdict, earliest_end_at,
                    finished_at, result
                )
                select tenant_id, id, 0, 1, kind, reward, verdict, earliest_end_at, ended_at,
                    result::json
                from single
            ), added as (
                select tenant_id, octet_length(body) + octet_length(result) as bytes from single
            ), used as (
                insert into usage (tenant_id, day, pool, writer, requests, worker_seconds, cost)
                select tenant_id, day, pool, $1, sum(requests), sum(worker_seconds), sum(cost)
                from unnest(
                    $2::uuid[], $3::date[], $4::text[], $5::bigint[], $6::double precision[],
                    $7::double precision[]
                ) as u (tenant_id, day, pool, requests, worker_seconds, cost)
                group by tenant_id, day, pool
                on conflict (tenant_id, day, pool, writer) do update set
                    requests = usage.requests + excluded.requests,
                    worker_seconds = usage.worker_seconds + excluded.worker_seconds,
                    cost = usage.cost + excluded.cost
            )
            "#],
            &self.usage.tenant,
            &self.usage.day,
            &self.usage.pool as _,
            &self.usage.requests,
            &self.usage.worker_seconds,
            &self.usage.cost,
            &self.tenant,
            &self.id,
            &self.run as _,
            &self.plugin as _,
            &self.version as _,
            &self.digest as _,
            &self.settings as _,
            &self.arrived_at,
            &self.ended_at,
            &self.earliest_end_at,
            &self.key as _,
            &self.body as _,
            &self.kind as _,
            &self.reward as _,
            &self.verdict as _,
            &self.result as _,
        )
        .execute(connection)
        .await?;
        Ok(())
    }
}

/// The usage of single requests.
#[derive(Default)]
struct UsageColumns<'a> {
    tenant: Vec<Uuid>,
    day: Vec<Date>,
    pool: Vec<&'a str>,
    requests: Vec<i64>,
    worker_seconds: Vec<f64>,
    cost: Vec<f64>,
}

impl<'a> UsageColumns<'a> {
    fn push(&mut self, tenant: TenantId, ended_at: Micros, rows: &'a [UsageRow]) {
        for row in rows {
            self.tenant.push(tenant.0);
            self.day.push(ended_at.to_datetime().date());
            self.pool.push(&row.pool);
            self.requests.push(row.requests.into());
            self.worker_seconds.push(row.worker_seconds);
            self.cost.push(row.cost);
        }
    }
}
