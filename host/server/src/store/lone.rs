//! Lone requests: batch, request and outcome in one statement, as they are only acknowledged by
//! their answer.

use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use super::admissions::{BatchRow, RequestRow};
use super::group_commit::Weigh;
use super::outcomes::{EndRow, OutcomeRow};
use super::usage::UsageColumns;

/// A lone request from its arrival to its end.
#[derive(Debug)]
pub struct LoneRow {
    pub batch: BatchRow,
    pub request: RequestRow,
    pub outcome: OutcomeRow,
    pub end: EndRow,
}

impl Weigh for LoneRow {
    fn rows(&self) -> usize {
        3
    }

    fn bytes(&self) -> usize {
        self.request.body.len() + self.outcome.result.len()
    }
}

/// Inserts everything; fails on a row that is there already.
pub async fn write(connection: &mut PgConnection, group: &[&LoneRow]) -> Result<(), sqlx::Error> {
    let columns = Columns::gather(group);
    sqlx::query!(
        r#"
        with lone as materialized (
            select * from unnest(
                $1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::bytea[], $7::text[],
                $8::timestamptz[], $9::timestamptz[], $10::timestamptz[], $11::text[], $12::bytea[],
                $13::text[], $14::double precision[], $15::text[], $16::text[]
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
            select tenant_id, id, run, 0, plugin, version, digest, settings, 1, 'done', arrived_at,
                arrived_at, arrived_at, ended_at, earliest_end_at, 1, (kind = 'scored')::integer,
                (kind = 'timed_out')::integer, (kind = 'error')::integer, coalesce(reward, 0)
            from lone
        ), new_requests as (
            insert into requests (tenant_id, batch_id, seq, key, body, arrived_at)
            select tenant_id, id, 0, key, body, arrived_at from lone
        ), stored as (
            insert into stored_bytes (tenant_id, writer, bytes)
            select tenant_id, 'lone', sum(octet_length(body) + octet_length(result))
            from lone group by tenant_id
            on conflict (tenant_id, writer)
            do update set bytes = stored_bytes.bytes + excluded.bytes
        ), used as (
            insert into usage (tenant_id, day, pool, writer, requests, worker_seconds, cost)
            select tenant_id, day, pool, 'lone', sum(requests), sum(worker_seconds), sum(cost)
            from unnest(
                $17::uuid[], $18::date[], $19::text[], $20::bigint[], $21::double precision[],
                $22::double precision[]
            ) as u (tenant_id, day, pool, requests, worker_seconds, cost)
            group by tenant_id, day, pool
            on conflict (tenant_id, day, pool, writer) do update set
                requests = usage.requests + excluded.requests,
                worker_seconds = usage.worker_seconds + excluded.worker_seconds,
                cost = usage.cost + excluded.cost
        )
        insert into outcomes (
            tenant_id, batch_id, seq, position, kind, reward, verdict, earliest_end_at,
            finished_at, result
        )
        select tenant_id, id, 0, 1, kind, reward, verdict, earliest_end_at, ended_at, result::json
        from lone
        "#,
        &columns.tenant,
        &columns.id,
        &columns.run as _,
        &columns.plugin as _,
        &columns.version as _,
        &columns.digest as _,
        &columns.settings as _,
        &columns.arrived_at,
        &columns.ended_at,
        &columns.earliest_end_at,
        &columns.key as _,
        &columns.body as _,
        &columns.kind as _,
        &columns.reward as _,
        &columns.verdict as _,
        &columns.result as _,
        &columns.usage.tenant,
        &columns.usage.day,
        &columns.usage.pool as _,
        &columns.usage.requests,
        &columns.usage.worker_seconds,
        &columns.usage.cost,
    )
    .execute(connection)
    .await?;
    Ok(())
}

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
    fn gather(group: &[&'a LoneRow]) -> Self {
        let mut columns = Self::default();
        for LoneRow { batch, request, outcome, end } in group {
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
            columns.usage.push((batch.tenant, batch.id), end.ended_at, &end.usage);
        }
        columns
    }
}
