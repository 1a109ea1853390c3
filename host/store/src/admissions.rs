//! Batches and requests on their way in, a statement a table.

use std::collections::BTreeMap;

use assay_api::batch::Consumes;
use assay_core::id::{BatchId, Digest, TenantId};
use assay_core::plugin::VersionName;
use assay_core::time::Micros;
use bytes::Bytes;
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::{PgArgumentBuffer, PgTypeInfo};
use sqlx::{Connection as _, Encode, PgConnection, Postgres, Type};
use time::OffsetDateTime;
use uuid::Uuid;

use super::group_commit::Weigh;
use super::usage::{StoredColumns, insert_counted};

/// A new batch.
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
    /// The unit for which the trainer waits.
    pub consumes: Consumes,
    /// Whether equal requests may share one computation.
    pub share_equal: bool,
    /// The time without calls after which the server seals it, in milliseconds; `None` if its trainer does, and for those of
    /// earlier releases.
    pub idle_ms: Option<u32>,
    pub idempotency: Option<Idempotency>,
    pub announced_at: Micros,
    /// `announced_at` for the batch of a single request; otherwise `None`.
    pub sealed_at: Option<Micros>,
}

impl BatchRow {
    #[must_use]
    pub fn version_name(&self) -> VersionName<'_> {
        VersionName { name: &self.plugin, version: &self.version }
    }
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
    /// The time that it is expected to take, as the trainer says.
    pub expected_ms: Option<u32>,
}

/// One admission; several share a commit.
#[derive(Debug, Default)]
pub struct Admission {
    pub batch: Option<BatchRow>,
    pub requests: Vec<RequestRow>,
    pub mark: BatchMark,
}

/// The changes that an admission makes to its batch's row.
#[derive(Debug, Clone, Copy, Default)]
pub struct BatchMark {
    pub first_request_at: Option<Micros>,
    pub sealed_at: Option<Micros>,
}

/// An admission and the batch that it belongs to.
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

/// Writes everything together; fails on a row that is there already.
///
/// A group without a new batch, as most are, or with new batches alone is one statement, which is a
/// transaction by itself and needs one round trip.
pub async fn write(connection: &mut PgConnection, group: &[&Admitted]) -> Result<(), sqlx::Error> {
    let batches = BatchColumns::gather(group);
    let requests = RequestColumns::gather(group);
    let marks = MarkColumns::gather(group);
    let has_more = !requests.seq.is_empty() || !marks.batch.is_empty();
    if batches.id.is_empty() {
        return if has_more { requests.insert(&marks, connection).await } else { Ok(()) };
    }
    if !has_more {
        return batches.insert(connection).await;
    }
    let mut transaction = connection.begin().await?;
    batches.insert(&mut transaction).await?;
    requests.insert(&marks, &mut transaction).await?;
    transaction.commit().await
}

#[derive(Default)]
struct BatchColumns<'a> {
    tenant: Vec<Uuid>,
    id: Vec<Uuid>,
    run: Vec<&'a str>,
    iteration: Vec<i64>,
    plugin: Vec<&'a str>,
    version: Vec<&'a str>,
    digest: Vec<&'a [u8]>,
    settings: Vec<&'a str>,
    expected_size: Vec<Option<i32>>,
    group_size: Vec<Option<i32>>,
    max_extra_delay_ms: Vec<Option<i32>>,
    idempotency_key: Vec<Option<&'a str>>,
    call_hash: Vec<Option<&'a [u8]>>,
    announced_at: Vec<OffsetDateTime>,
    sealed_at: Vec<Option<OffsetDateTime>>,
    share_equal: Vec<bool>,
    consumes_groups: Vec<bool>,
    idle_ms: Vec<Option<i32>>,
}

impl<'a> BatchColumns<'a> {
    fn gather(group: &[&'a Admitted]) -> Self {
        let mut columns = Self::default();
        for row in group.iter().filter_map(|admitted| admitted.admission.batch.as_ref()) {
            columns.tenant.push(row.tenant.0);
            columns.id.push(row.id.0);
            columns.run.push(&row.run);
            columns.iteration.push(row.iteration.cast_signed());
            columns.plugin.push(&row.plugin);
            columns.version.push(&row.version);
            columns.digest.push(&row.digest.0);
            columns.settings.push(&row.settings);
            columns.expected_size.push(row.expected_size.map(u32::cast_signed));
            columns.group_size.push(row.group_size.map(u32::cast_signed));
            columns.max_extra_delay_ms.push(row.max_extra_delay_ms.map(u32::cast_signed));
            let idempotency = row.idempotency.as_ref();
            columns.idempotency_key.push(idempotency.map(|it| it.key.as_str()));
            columns.call_hash.push(idempotency.map(|it| it.call_hash.0.as_slice()));
            columns.announced_at.push(row.announced_at.to_datetime());
            columns.sealed_at.push(row.sealed_at.map(Micros::to_datetime));
            columns.share_equal.push(row.share_equal);
            columns.consumes_groups.push(row.consumes == Consumes::Groups);
            columns.idle_ms.push(row.idle_ms.map(u32::cast_signed));
        }
        columns
    }

    async fn insert(&self, connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        sqlx::query!(
            r#"
            insert into batches (
                tenant_id, id, run, iteration, plugin, version, digest, settings, expected_size,
                group_size, max_extra_delay_ms, idempotency_key, call_hash, state, announced_at,
                first_request_at, sealed_at, share_equal, consumes_groups, idle_ms
            )
            select tenant_id, id, run, iteration, plugin, version, digest, settings, expected_size,
                group_size, max_extra_delay_ms, idempotency_key, call_hash,
                case when sealed_at is null then 'announced' else 'sealed' end,
                announced_at, sealed_at, sealed_at, share_equal, consumes_groups, idle_ms
            from unnest(
                $1::uuid[], $2::uuid[], $3::text[], $4::bigint[], $5::text[], $6::text[],
                $7::bytea[], $8::text[], $9::integer[], $10::integer[], $11::integer[],
                $12::text[], $13::bytea[], $14::timestamptz[], $15::timestamptz[], $16::boolean[],
                $17::boolean[], $18::integer[]
            ) as t (
                tenant_id, id, run, iteration, plugin, version, digest, settings, expected_size,
                group_size, max_extra_delay_ms, idempotency_key, call_hash, announced_at, sealed_at,
                share_equal, consumes_groups, idle_ms
            )
            "#,
            &self.tenant,
            &self.id,
            &self.run as _,
            &self.iteration,
            &self.plugin as _,
            &self.version as _,
            &self.digest as _,
            &self.settings as _,
            &self.expected_size as _,
            &self.group_size as _,
            &self.max_extra_delay_ms as _,
            &self.idempotency_key as _,
            &self.call_hash as _,
            &self.announced_at,
            &self.sealed_at as _,
            &self.share_equal,
            &self.consumes_groups,
            &self.idle_ms as _,
        )
        .execute(connection)
        .await?;
        Ok(())
    }
}

#[derive(Default)]
struct RequestColumns<'a> {
    tenant: Vec<Uuid>,
    batch: Vec<Uuid>,
    seq: Vec<i32>,
    key: Vec<&'a str>,
    group: Vec<Option<&'a str>>,
    body: Bodies<'a>,
    expected_ms: Vec<Option<i32>>,
    arrived_at: Vec<OffsetDateTime>,
    stored: StoredColumns,
}

impl<'a> RequestColumns<'a> {
    fn gather(group: &[&'a Admitted]) -> Self {
        let stored = StoredColumns::sum(group.iter().map(|it| (it.tenant, it.bytes())));
        let mut columns = Self { stored, ..Self::default() };
        for admitted in group {
            let at = admitted.at.to_datetime();
            for row in &admitted.admission.requests {
                columns.tenant.push(admitted.tenant.0);
                columns.batch.push(admitted.batch.0);
                columns.seq.push(row.seq.cast_signed());
                columns.key.push(&row.key);
                columns.group.push(row.group.as_deref());
                columns.body.0.push(&row.body);
                columns.expected_ms.push(row.expected_ms.map(u32::cast_signed));
                columns.arrived_at.push(at);
            }
        }
        columns
    }

    /// Inserts the requests, and marks batches that are there already in the same statement: the first
    /// requests of a batch come with a mark.
    async fn insert(
        &self,
        marks: &MarkColumns,
        connection: &mut PgConnection,
    ) -> Result<(), sqlx::Error> {
        insert_counted!(
            "admissions",
            [r#"
            added as (
                select * from unnest($2::uuid[], $3::bigint[]) as t (tenant_id, bytes)
            ), new_requests as (
                -- In the list of columns `unnest` keeps no copy of its rows, as it does after `from`.
                insert into requests
                    (tenant_id, batch_id, seq, key, group_name, body, arrived_at, expected_ms)
                select unnest($4::uuid[]), unnest($5::uuid[]), unnest($6::integer[]),
                    unnest($7::text[]), unnest($8::text[]), unnest($9::bytea[]),
                    unnest($10::timestamptz[]), unnest($11::integer[])
            ), marked as (
                update batches set
                    first_request_at = coalesce(batches.first_request_at, marks.first_request_at),
                    sealed_at = coalesce(batches.sealed_at, marks.sealed_at),
                    state = case
                        when batches.ended_at is not null then batches.state
                        when coalesce(batches.sealed_at, marks.sealed_at) is not null then 'sealed'
                        when coalesce(batches.first_request_at, marks.first_request_at) is not null
                            then 'open'
                        else batches.state
                    end
                from unnest($12::uuid[], $13::uuid[], $14::timestamptz[], $15::timestamptz[])
                    as marks (tenant_id, id, first_request_at, sealed_at)
                where batches.tenant_id = marks.tenant_id and batches.id = marks.id
            )
            "#],
            &self.stored.tenant,
            &self.stored.bytes,
            &self.tenant,
            &self.batch,
            &self.seq,
            &self.key as _,
            &self.group as _,
            &self.body as _,
            &self.arrived_at,
            &self.expected_ms as _,
            &marks.tenant,
            &marks.batch,
            &marks.first_request_at as _,
            &marks.sealed_at as _,
        )
        .execute(connection)
        .await?;
        Ok(())
    }
}

/// Bodies as a parameter `bytea[]` that tells its size: sqlx takes arrays for small, and makes the buffer of its parameters
/// larger again and again, each time with another copy.
#[derive(Default)]
struct Bodies<'a>(Vec<&'a [u8]>);

impl Type<Postgres> for Bodies<'_> {
    fn type_info() -> PgTypeInfo {
        <Vec<&[u8]> as Type<Postgres>>::type_info()
    }
}

impl Encode<'_, Postgres> for Bodies<'_> {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        Encode::<Postgres>::encode_by_ref(&self.0, buffer)
    }

    fn size_hint(&self) -> usize {
        // Each with its length.
        self.0.iter().map(|body| size_of::<i32>() + body.len()).sum()
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
