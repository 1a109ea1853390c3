//! Batches and requests on their way in: one statement a group commit.

use std::collections::BTreeMap;

use assay_model::id::{BatchId, Digest, TenantId};
use assay_model::time::Micros;
use bytes::Bytes;
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use super::group_commit::Weigh;
use super::usage::StoredColumns;

/// What is written of a new batch.
#[derive(Debug, Clone)]
pub struct BatchRow {
    pub tenant: TenantId,
    pub id: BatchId,
    pub run: String,
    pub iteration: u64,
    pub plugin: String,
    pub version: String,
    pub digest: Digest,
    pub settings: String,
    pub expected_size: Option<u32>,
    pub group_size: Option<u32>,
    pub max_extra_delay_ms: Option<u32>,
    /// Whether its requests may share computations with equal ones.
    pub share_equal: bool,
    pub idempotency: Option<Idempotency>,
    pub announced_at: Micros,
    /// Set from the start for a request that comes alone, as its batch comes with it.
    pub sealed_at: Option<Micros>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Idempotency {
    pub key: String,
    pub call_hash: Digest,
}

#[derive(Debug, Clone)]
pub struct RequestRow {
    pub seq: u32,
    pub key: String,
    pub group: Option<String>,
    pub body: Bytes,
}

/// One admission; several share a commit.
#[derive(Debug, Default)]
pub struct Admission {
    pub batch: Option<BatchRow>,
    pub requests: Vec<RequestRow>,
    pub mark: BatchMark,
}

/// What an admission changes on its batch's row.
#[derive(Debug, Clone, Copy, Default)]
pub struct BatchMark {
    pub first_request_at: Option<Micros>,
    pub sealed_at: Option<Micros>,
}

/// An admission and where it belongs.
#[derive(Debug)]
pub struct Admitted {
    pub tenant: TenantId,
    pub batch: BatchId,
    pub at: Micros,
    pub admission: Admission,
}

impl Weigh for Admitted {
    fn rows(&self) -> usize {
        1 + self.admission.requests.len()
    }

    fn bytes(&self) -> usize {
        self.admission.requests.iter().map(|request| request.body.len()).sum()
    }
}

/// Inserts and marks everything in one statement; fails on a row that is there already.
pub async fn write(connection: &mut PgConnection, group: &[&Admitted]) -> Result<(), sqlx::Error> {
    let batches = BatchColumns::gather(group);
    let requests = RequestColumns::gather(group);
    let marks = MarkColumns::gather(group);
    let stored = StoredColumns::sum(group.iter().map(|it| (it.tenant, it.bytes())));
    sqlx::query!(
        r#"
        with new_batches as (
            insert into batches (
                tenant_id, id, run, iteration, plugin, version, digest, settings, expected_size,
                group_size, max_extra_delay_ms, idempotency_key, call_hash, state, announced_at,
                first_request_at, sealed_at, share_equal
            )
            select tenant_id, id, run, iteration, plugin, version, digest, settings, expected_size,
                group_size, max_extra_delay_ms, idempotency_key, call_hash,
                case when sealed_at is null then 'announced' else 'sealed' end,
                announced_at, sealed_at, sealed_at, share_equal
            from unnest(
                $1::uuid[], $2::uuid[], $3::text[], $4::bigint[], $5::text[], $6::text[],
                $7::bytea[], $8::text[], $9::integer[], $10::integer[], $11::integer[],
                $12::text[], $13::bytea[], $14::timestamptz[], $15::timestamptz[],
                $29::boolean[]
            ) as t (
                tenant_id, id, run, iteration, plugin, version, digest, settings, expected_size,
                group_size, max_extra_delay_ms, idempotency_key, call_hash, announced_at, sealed_at,
                share_equal
            )
        ), new_requests as (
            insert into requests (tenant_id, batch_id, seq, key, group_name, body, arrived_at)
            select * from unnest(
                $16::uuid[], $17::uuid[], $18::integer[], $19::text[], $20::text[], $21::bytea[],
                $22::timestamptz[]
            )
        ), stored as (
            insert into stored_bytes (tenant_id, writer, bytes)
            select tenant_id, 'admissions', bytes
            from unnest($27::uuid[], $28::bigint[]) as t (tenant_id, bytes)
            on conflict (tenant_id, writer)
            do update set bytes = stored_bytes.bytes + excluded.bytes
        )
        update batches set
            first_request_at = coalesce(batches.first_request_at, marks.first_request_at),
            sealed_at = coalesce(batches.sealed_at, marks.sealed_at),
            state = case
                when batches.ended_at is not null then batches.state
                when coalesce(batches.sealed_at, marks.sealed_at) is not null then 'sealed'
                when coalesce(batches.first_request_at, marks.first_request_at) is not null then 'open'
                else batches.state
            end
        from unnest($23::uuid[], $24::uuid[], $25::timestamptz[], $26::timestamptz[])
            as marks (tenant_id, id, first_request_at, sealed_at)
        where batches.tenant_id = marks.tenant_id and batches.id = marks.id
        "#,
        &batches.tenant,
        &batches.id,
        &batches.run,
        &batches.iteration,
        &batches.plugin,
        &batches.version,
        &batches.digest as _,
        &batches.settings,
        &batches.expected_size as _,
        &batches.group_size as _,
        &batches.max_extra_delay_ms as _,
        &batches.idempotency_key as _,
        &batches.call_hash as _,
        &batches.announced_at,
        &batches.sealed_at as _,
        &requests.tenant,
        &requests.batch,
        &requests.seq,
        &requests.key as _,
        &requests.group as _,
        &requests.body as _,
        &requests.arrived_at,
        &marks.tenant,
        &marks.batch,
        &marks.first_request_at as _,
        &marks.sealed_at as _,
        &stored.tenant,
        &stored.bytes,
        &batches.share_equal,
    )
    .execute(connection)
    .await?;
    Ok(())
}

#[derive(Default)]
struct BatchColumns {
    tenant: Vec<Uuid>,
    id: Vec<Uuid>,
    run: Vec<String>,
    iteration: Vec<i64>,
    plugin: Vec<String>,
    version: Vec<String>,
    digest: Vec<Vec<u8>>,
    settings: Vec<String>,
    expected_size: Vec<Option<i32>>,
    group_size: Vec<Option<i32>>,
    max_extra_delay_ms: Vec<Option<i32>>,
    idempotency_key: Vec<Option<String>>,
    call_hash: Vec<Option<Vec<u8>>>,
    announced_at: Vec<OffsetDateTime>,
    sealed_at: Vec<Option<OffsetDateTime>>,
    share_equal: Vec<bool>,
}

impl BatchColumns {
    fn gather(group: &[&Admitted]) -> Self {
        let mut columns = Self::default();
        for row in group.iter().filter_map(|admitted| admitted.admission.batch.as_ref()) {
            columns.tenant.push(row.tenant.0);
            columns.id.push(row.id.0);
            columns.run.push(row.run.clone());
            columns.iteration.push(row.iteration.cast_signed());
            columns.plugin.push(row.plugin.clone());
            columns.version.push(row.version.clone());
            columns.digest.push(row.digest.0.to_vec());
            columns.settings.push(row.settings.clone());
            columns.expected_size.push(row.expected_size.map(u32::cast_signed));
            columns.group_size.push(row.group_size.map(u32::cast_signed));
            columns.max_extra_delay_ms.push(row.max_extra_delay_ms.map(u32::cast_signed));
            let idempotency = row.idempotency.as_ref();
            columns.idempotency_key.push(idempotency.map(|it| it.key.clone()));
            columns.call_hash.push(idempotency.map(|it| it.call_hash.0.to_vec()));
            columns.announced_at.push(row.announced_at.to_datetime());
            columns.sealed_at.push(row.sealed_at.map(Micros::to_datetime));
            columns.share_equal.push(row.share_equal);
        }
        columns
    }
}

#[derive(Default)]
struct RequestColumns<'a> {
    tenant: Vec<Uuid>,
    batch: Vec<Uuid>,
    seq: Vec<i32>,
    key: Vec<&'a str>,
    group: Vec<Option<&'a str>>,
    body: Vec<&'a [u8]>,
    arrived_at: Vec<OffsetDateTime>,
}

impl<'a> RequestColumns<'a> {
    fn gather(group: &[&'a Admitted]) -> Self {
        let mut columns = Self::default();
        for admitted in group {
            let at = admitted.at.to_datetime();
            for row in &admitted.admission.requests {
                columns.tenant.push(admitted.tenant.0);
                columns.batch.push(admitted.batch.0);
                columns.seq.push(row.seq.cast_signed());
                columns.key.push(&row.key);
                columns.group.push(row.group.as_deref());
                columns.body.push(&row.body);
                columns.arrived_at.push(at);
            }
        }
        columns
    }
}

#[derive(Default)]
struct MarkColumns {
    tenant: Vec<Uuid>,
    batch: Vec<Uuid>,
    first_request_at: Vec<Option<OffsetDateTime>>,
    sealed_at: Vec<Option<OffsetDateTime>>,
}

impl MarkColumns {
    /// One row a batch: a statement changes a row only once.
    fn gather(group: &[&Admitted]) -> Self {
        let mut marks: BTreeMap<(TenantId, BatchId), BatchMark> = BTreeMap::new();
        for admitted in group {
            let mark = admitted.admission.mark;
            if mark.first_request_at.is_none() && mark.sealed_at.is_none() {
                continue;
            }
            let merged = marks.entry((admitted.tenant, admitted.batch)).or_default();
            merged.first_request_at = merged.first_request_at.or(mark.first_request_at);
            merged.sealed_at = merged.sealed_at.or(mark.sealed_at);
        }
        let mut columns = Self::default();
        for ((tenant, batch), mark) in marks {
            columns.tenant.push(tenant.0);
            columns.batch.push(batch.0);
            columns.first_request_at.push(mark.first_request_at.map(Micros::to_datetime));
            columns.sealed_at.push(mark.sealed_at.map(Micros::to_datetime));
        }
        columns
    }
}
