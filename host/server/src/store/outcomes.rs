//! What came out: artifacts, outcomes, logs and the ends of batches; one statement a group commit.

use assay_model::api::BatchState;
use assay_model::id::{BatchId, TenantId};
use assay_model::outcome::Artifact;
use assay_model::time::Micros;
use bytes::Bytes;
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use super::group_commit::Weigh;
use super::history::{HistoryColumns, HistoryRow};
use super::rollups::{RollupColumns, RollupRow};
use super::usage::{StoredColumns, UsageColumns, UsageRow};

#[derive(Debug)]
pub struct OutcomeRow {
    pub seq: u32,
    pub position: u32,
    pub kind: &'static str,
    pub reward: Option<f64>,
    pub verdict: String,
    pub earliest_end_at: Micros,
    pub finished_at: Micros,
    /// It is an equal request's; `result` says whose.
    pub shared: bool,
    /// A `ResultItem` as JSON: what the trainer gets.
    pub result: Bytes,
}

#[derive(Debug)]
pub struct ArtifactRow {
    pub seq: u32,
    pub stage: usize,
    pub artifact: Artifact,
    /// `StageTime`s up to this stage, as JSON.
    pub times: String,
    pub at: Micros,
}

#[derive(Debug)]
pub struct LogRow {
    pub seq: u32,
    pub line: u32,
    pub stage: String,
    pub level: String,
    pub message: String,
}

/// The end of a batch, with its totals.
#[derive(Debug)]
pub struct EndRow {
    pub state: BatchState,
    pub ended_at: Micros,
    pub earliest_end_at: Option<Micros>,
    pub counts: assay_model::api::Counts,
    pub reward_sum: f64,
    /// A row a pool.
    pub usage: Vec<UsageRow>,
    /// Of a batch that was completed.
    pub history: Option<Box<HistoryRow>>,
    /// Of every batch but one that was made for one request alone.
    pub rollup: Option<Box<RollupRow>>,
}

/// What was recorded of a request or of a batch.
#[derive(Debug)]
pub enum Record {
    Outcome(OutcomeRow),
    Artifact(ArtifactRow),
    Logs(Vec<LogRow>),
    End(EndRow),
}

/// A record and where it belongs.
#[derive(Debug)]
pub struct Recorded {
    pub tenant: TenantId,
    pub batch: BatchId,
    pub record: Record,
}

impl Weigh for Recorded {
    fn rows(&self) -> usize {
        match &self.record {
            Record::Logs(logs) => logs.len(),
            _ => 1,
        }
    }

    fn bytes(&self) -> usize {
        match &self.record {
            Record::Outcome(row) => row.result.len(),
            Record::Artifact(row) => row.artifact.bytes.len(),
            Record::Logs(logs) => logs.iter().map(|log| log.message.len()).sum(),
            Record::End(row) => row.history.as_ref().map_or(0, |history| history.bytes()),
        }
    }
}

/// Writes everything; the outcomes in one statement that fails on one which is there already.
pub async fn write(connection: &mut PgConnection, group: &[&Recorded]) -> Result<(), sqlx::Error> {
    let mut outcomes = OutcomeColumns::default();
    let mut others = OtherColumns::default();
    let mut ends = EndColumns::default();
    let mut histories = HistoryColumns::default();
    let mut usage = UsageColumns::default();
    let mut rollups = RollupColumns::default();
    let stored = StoredColumns::sum(group.iter().filter_map(|recorded| match &recorded.record {
        Record::Outcome(row) => Some((recorded.tenant, row.result.len())),
        _ => None,
    }));
    for recorded in group {
        let at = (recorded.tenant.0, recorded.batch.0);
        match &recorded.record {
            Record::Outcome(row) => outcomes.push(at, row),
            Record::Artifact(row) => others.push_artifact(at, row),
            Record::Logs(rows) => rows.iter().for_each(|row| others.push_log(at, row)),
            Record::End(row) => {
                ends.push(at, row);
                usage.push((recorded.tenant, recorded.batch), row.ended_at, &row.usage);
                row.history.iter().for_each(|history| histories.push(history));
                let at = (recorded.tenant, recorded.batch);
                if let Some(rollup) = row.rollup.as_deref() {
                    rollups.push(at, row.ended_at, row.counts, rollup);
                }
            }
        }
    }
    if !others.is_empty() {
        write_others(connection, &others).await?;
    }
    let rollups = rollups.json();
    write_outcomes(connection, &Columns { outcomes, ends, histories, usage, stored, rollups }).await
}

/// What one statement writes.
struct Columns<'a> {
    outcomes: OutcomeColumns<'a>,
    ends: EndColumns,
    histories: HistoryColumns<'a>,
    usage: UsageColumns<'a>,
    stored: StoredColumns,
    /// As one JSON array.
    rollups: String,
}

/// Usage counts with a batch's end, once: a repeat finds no batch that has not ended.
async fn write_outcomes(
    connection: &mut PgConnection,
    columns: &Columns<'_>,
) -> Result<(), sqlx::Error> {
    let Columns { outcomes, ends, histories, usage, stored, rollups } = columns;
    sqlx::query!(
        r#"
        with new_outcomes as (
            insert into outcomes (
                tenant_id, batch_id, seq, position, kind, reward, verdict, earliest_end_at,
                finished_at, result
            )
            select tenant_id, batch_id, seq, position, kind, reward, verdict, earliest_end_at,
                finished_at, result::json
            from unnest(
                $1::uuid[], $2::uuid[], $3::integer[], $4::integer[], $5::text[],
                $6::double precision[], $7::text[], $8::timestamptz[], $9::timestamptz[],
                $10::text[]
            ) as t (
                tenant_id, batch_id, seq, position, kind, reward, verdict, earliest_end_at,
                finished_at, result
            )
        ), new_history as (
            insert into batch_history (
                tenant_id, batch_id, run, digest, stages, announced_at, first_arrival_at,
                earliest_end_at, ended_at, requests, worker_seconds, arrived_us, ran_us, endings
            )
            select tenant_id, batch_id, run, digest, stages::json, announced_at, first_arrival_at,
                earliest_end_at, ended_at, arrived_to - arrived_from + 1, worker_seconds::json,
                ($36::bigint[])[arrived_from : arrived_to], ($37::bigint[])[ran_from : ran_to],
                endings
            from unnest(
                $21::uuid[], $22::uuid[], $23::text[], $24::bytea[], $25::text[],
                $26::timestamptz[], $27::timestamptz[], $28::timestamptz[], $29::timestamptz[],
                $30::text[], $31::text[], $32::integer[], $33::integer[], $34::integer[],
                $35::integer[]
            ) as h (
                tenant_id, batch_id, run, digest, stages, announced_at, first_arrival_at,
                earliest_end_at, ended_at, worker_seconds, endings, arrived_from, arrived_to,
                ran_from, ran_to
            )
        ), stored as (
            insert into stored_bytes (tenant_id, writer, bytes)
            select tenant_id, 'outcomes', bytes
            from unnest($38::uuid[], $39::bigint[]) as t (tenant_id, bytes)
            on conflict (tenant_id, writer)
            do update set bytes = stored_bytes.bytes + excluded.bytes
        ), ended as (
            update batches set
                state = ends.state,
                ended_at = ends.ended_at,
                earliest_end_at = ends.earliest_end_at,
                submitted = ends.submitted,
                scored = ends.scored,
                timed_out = ends.timed_out,
                error = ends.error,
                shared = ends.shared,
                reward_sum = ends.reward_sum,
                sealed_at = case when ends.state = 'done'
                    then coalesce(batches.sealed_at, ends.ended_at) else batches.sealed_at end
            from unnest(
                $11::uuid[], $12::uuid[], $13::text[], $14::timestamptz[], $15::timestamptz[],
                $16::integer[], $17::integer[], $18::integer[], $19::integer[],
                $20::double precision[], $48::integer[]
            ) as ends (
                tenant_id, id, state, ended_at, earliest_end_at, submitted, scored, timed_out, error,
                reward_sum, shared
            )
            where batches.tenant_id = ends.tenant_id and batches.id = ends.id
                -- Said so that no index of all that live offers itself for the few that end.
                and coalesce(batches.ended_at, 'infinity') = 'infinity'
            returning batches.tenant_id, batches.id
        ), new_rollups as (
            insert into batch_rollups (
                tenant_id, batch_id, run, plugin, version, ended_at, scored, timed_out, error,
                reward_mean, reward_std, reward_min, reward_max, histogram_from, histogram_to,
                histogram, verdicts, errors, worker_seconds, cost, groups, complete_groups,
                zero_variance_groups, critical_seq, last_seq, stages
            )
            select r.tenant_id, r.batch_id, r.run, r.plugin, r.version, r.ended_at, r.scored,
                r.timed_out, r.error, r.reward_mean, r.reward_std, r.reward_min, r.reward_max,
                r.histogram_from, r.histogram_to, r.histogram, r.verdicts, r.errors,
                r.worker_seconds, r.cost, r.groups, r.complete_groups, r.zero_variance_groups,
                r.critical_seq, r.last_seq, r.stages
            from json_populate_recordset(null::batch_rollups, $47::text::json) as r
            join ended on ended.tenant_id = r.tenant_id and ended.id = r.batch_id
            returning tenant_id, batch_id, run, ended_at
        ), run_ends as (
            update runs set
                ended_batches = runs.ended_batches + its.batches,
                last_batch_at = its.ended_at,
                last_batch_id = its.batch_id
            from (
                select tenant_id, run, count(*)::integer as batches, max(ended_at) as ended_at,
                    (array_agg(batch_id order by ended_at desc))[1] as batch_id
                from new_rollups group by tenant_id, run
            ) as its
            where runs.tenant_id = its.tenant_id and runs.name = its.run
        )
        insert into usage (tenant_id, day, pool, writer, requests, worker_seconds, cost)
        select u.tenant_id, u.day, u.pool, 'outcomes', sum(u.requests), sum(u.worker_seconds),
            sum(u.cost)
        from unnest(
            $40::uuid[], $41::uuid[], $42::date[], $43::text[], $44::bigint[],
            $45::double precision[], $46::double precision[]
        ) as u (tenant_id, batch_id, day, pool, requests, worker_seconds, cost)
        join ended on ended.tenant_id = u.tenant_id and ended.id = u.batch_id
        group by u.tenant_id, u.day, u.pool
        on conflict (tenant_id, day, pool, writer) do update set
            requests = usage.requests + excluded.requests,
            worker_seconds = usage.worker_seconds + excluded.worker_seconds,
            cost = usage.cost + excluded.cost
        "#,
        &outcomes.tenant,
        &outcomes.batch,
        &outcomes.seq,
        &outcomes.position,
        &outcomes.kind as _,
        &outcomes.reward as _,
        &outcomes.verdict as _,
        &outcomes.earliest_end_at,
        &outcomes.finished_at,
        &outcomes.result as _,
        &ends.tenant,
        &ends.batch,
        &ends.state as _,
        &ends.ended_at,
        &ends.earliest_end_at as _,
        &ends.submitted,
        &ends.scored,
        &ends.timed_out,
        &ends.error,
        &ends.reward_sum,
        &histories.tenant,
        &histories.batch,
        &histories.run as _,
        &histories.digest as _,
        &histories.stages as _,
        &histories.announced_at,
        &histories.first_arrival_at,
        &histories.earliest_end_at,
        &histories.ended_at,
        &histories.worker_seconds as _,
        &histories.endings as _,
        &histories.arrived_from,
        &histories.arrived_to,
        &histories.ran_from,
        &histories.ran_to,
        &histories.arrived_us,
        &histories.ran_us,
        &stored.tenant,
        &stored.bytes,
        &usage.tenant,
        &usage.batch,
        &usage.day,
        &usage.pool as _,
        &usage.requests,
        &usage.worker_seconds,
        &usage.cost,
        rollups,
        &ends.shared,
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Artifacts and logs are committed before the outcomes that follow them in the group.
async fn write_others(
    connection: &mut PgConnection,
    others: &OtherColumns<'_>,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        r#"
        with new_logs as (
            insert into logs (tenant_id, batch_id, seq, line, stage, level, message)
            select * from unnest(
                $9::uuid[], $10::uuid[], $11::integer[], $12::integer[], $13::text[], $14::text[],
                $15::text[]
            )
            on conflict do nothing
            returning tenant_id, octet_length(message) as bytes
        ), new_artifacts as (
            insert into artifacts (
                tenant_id, batch_id, seq, stage, content_type, bytes, times, created_at
            )
            select tenant_id, batch_id, seq, stage, content_type, bytes, times::json, created_at
            from unnest(
                $1::uuid[], $2::uuid[], $3::integer[], $4::smallint[], $5::text[], $6::bytea[],
                $7::text[], $8::timestamptz[]
            ) as t (tenant_id, batch_id, seq, stage, content_type, bytes, times, created_at)
            on conflict do nothing
            returning tenant_id, octet_length(bytes) as bytes
        )
        insert into stored_bytes (tenant_id, writer, bytes)
        select tenant_id, 'others', sum(bytes)
        from (select * from new_logs union all select * from new_artifacts) as rows
        group by tenant_id
        on conflict (tenant_id, writer)
        do update set bytes = stored_bytes.bytes + excluded.bytes
        "#,
        &others.tenant,
        &others.batch,
        &others.seq,
        &others.stage,
        &others.content_type as _,
        &others.bytes as _,
        &others.times as _,
        &others.created_at,
        &others.log_tenant,
        &others.log_batch,
        &others.log_seq,
        &others.log_line,
        &others.log_stage as _,
        &others.log_level as _,
        &others.log_message as _,
    )
    .execute(connection)
    .await?;
    Ok(())
}

#[derive(Default)]
struct OutcomeColumns<'a> {
    tenant: Vec<Uuid>,
    batch: Vec<Uuid>,
    seq: Vec<i32>,
    position: Vec<i32>,
    kind: Vec<&'static str>,
    reward: Vec<Option<f64>>,
    verdict: Vec<&'a str>,
    earliest_end_at: Vec<OffsetDateTime>,
    finished_at: Vec<OffsetDateTime>,
    result: Vec<&'a str>,
}

impl<'a> OutcomeColumns<'a> {
    fn push(&mut self, (tenant, batch): (Uuid, Uuid), row: &'a OutcomeRow) {
        self.tenant.push(tenant);
        self.batch.push(batch);
        self.seq.push(row.seq.cast_signed());
        self.position.push(row.position.cast_signed());
        self.kind.push(row.kind);
        self.reward.push(row.reward);
        self.verdict.push(&row.verdict);
        self.earliest_end_at.push(row.earliest_end_at.to_datetime());
        self.finished_at.push(row.finished_at.to_datetime());
        self.result.push(std::str::from_utf8(&row.result).expect("JSON is UTF-8"));
    }
}

#[derive(Default)]
struct OtherColumns<'a> {
    tenant: Vec<Uuid>,
    batch: Vec<Uuid>,
    seq: Vec<i32>,
    stage: Vec<i16>,
    content_type: Vec<&'a str>,
    bytes: Vec<&'a [u8]>,
    times: Vec<&'a str>,
    created_at: Vec<OffsetDateTime>,
    log_tenant: Vec<Uuid>,
    log_batch: Vec<Uuid>,
    log_seq: Vec<i32>,
    log_line: Vec<i32>,
    log_stage: Vec<&'a str>,
    log_level: Vec<&'a str>,
    log_message: Vec<&'a str>,
}

impl<'a> OtherColumns<'a> {
    fn is_empty(&self) -> bool {
        self.seq.is_empty() && self.log_seq.is_empty()
    }

    fn push_artifact(&mut self, (tenant, batch): (Uuid, Uuid), row: &'a ArtifactRow) {
        self.tenant.push(tenant);
        self.batch.push(batch);
        self.seq.push(row.seq.cast_signed());
        self.stage.push(i16::try_from(row.stage).expect("stages are few"));
        self.content_type.push(&row.artifact.content_type);
        self.bytes.push(&row.artifact.bytes);
        self.times.push(&row.times);
        self.created_at.push(row.at.to_datetime());
    }

    fn push_log(&mut self, (tenant, batch): (Uuid, Uuid), row: &'a LogRow) {
        self.log_tenant.push(tenant);
        self.log_batch.push(batch);
        self.log_seq.push(row.seq.cast_signed());
        self.log_line.push(row.line.cast_signed());
        self.log_stage.push(&row.stage);
        self.log_level.push(&row.level);
        self.log_message.push(&row.message);
    }
}

#[derive(Default)]
struct EndColumns {
    tenant: Vec<Uuid>,
    batch: Vec<Uuid>,
    state: Vec<&'static str>,
    ended_at: Vec<OffsetDateTime>,
    earliest_end_at: Vec<Option<OffsetDateTime>>,
    submitted: Vec<i32>,
    scored: Vec<i32>,
    timed_out: Vec<i32>,
    error: Vec<i32>,
    shared: Vec<i32>,
    reward_sum: Vec<f64>,
}

impl EndColumns {
    fn push(&mut self, (tenant, batch): (Uuid, Uuid), row: &EndRow) {
        self.tenant.push(tenant);
        self.batch.push(batch);
        self.state.push(super::batches::state_text(row.state));
        self.ended_at.push(row.ended_at.to_datetime());
        self.earliest_end_at.push(row.earliest_end_at.map(Micros::to_datetime));
        self.submitted.push(row.counts.submitted.cast_signed());
        self.scored.push(row.counts.scored.cast_signed());
        self.timed_out.push(row.counts.timed_out.cast_signed());
        self.error.push(row.counts.error.cast_signed());
        self.shared.push(row.counts.shared.cast_signed());
        self.reward_sum.push(row.reward_sum);
    }
}
