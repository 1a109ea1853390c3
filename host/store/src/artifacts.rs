//! Artifacts and logs of requests: inserted once, and skipped by a repeat.

use std::sync::Arc;

use assay_core::id::{BatchId, TenantId};
use assay_core::outcome::Artifact;
use assay_core::time::Micros;
use sqlx::PgConnection;
use time::OffsetDateTime;
use uuid::Uuid;

use super::usage::insert_counted;

#[derive(Debug)]
pub struct ArtifactRow {
    pub seq: u32,
    /// The stage that returned it, from 0.
    pub stage: usize,
    /// Shared with the request, whose next stage may start before the row is durable.
    pub artifact: Arc<Artifact>,
    /// `StageTime`s up to this stage, as JSON.
    pub times: String,
    pub at: Micros,
}

#[derive(Debug)]
pub struct LogRow {
    pub seq: u32,
    /// Place in the request's log, over all its stages and tries.
    pub line: u32,
    pub stage: String,
    pub level: String,
    pub message: String,
}

#[derive(Default)]
pub(super) struct ArtifactColumns<'a> {
    tenant: Vec<Uuid>,
    batch: Vec<Uuid>,
    pub seq: Vec<i32>,
    stage: Vec<i16>,
    content_type: Vec<&'a str>,
    bytes: Vec<&'a [u8]>,
    times: Vec<&'a str>,
    created_at: Vec<OffsetDateTime>,
}

impl<'a> ArtifactColumns<'a> {
    pub(super) fn push(&mut self, (tenant, batch): (TenantId, BatchId), row: &'a ArtifactRow) {
        self.tenant.push(tenant.0);
        self.batch.push(batch.0);
        self.seq.push(row.seq.cast_signed());
        self.stage.push(i16::try_from(row.stage).expect("stages are few"));
        self.content_type.push(&row.artifact.content_type);
        self.bytes.push(&row.artifact.bytes);
        self.times.push(&row.times);
        self.created_at.push(row.at.to_datetime());
    }

    pub(super) async fn insert(&self, connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        insert_counted!(
            "others",
            [r#"
            added as (
                insert into artifacts (
                    tenant_id, batch_id, seq, stage, content_type, bytes, times, created_at
                )
                select tenant_id, batch_id, seq, stage, content_type, bytes, times::json, created_at
                from unnest(
                    $2::uuid[], $3::uuid[], $4::integer[], $5::smallint[], $6::text[], $7::bytea[],
                    $8::text[], $9::timestamptz[]
                ) as t (tenant_id, batch_id, seq, stage, content_type, bytes, times, created_at)
                on conflict do nothing
                returning tenant_id, octet_length(bytes) as bytes
            )
            "#],
            &self.tenant,
            &self.batch,
            &self.seq,
            &self.stage,
            &self.content_type as _,
            &self.bytes as _,
            &self.times as _,
            &self.created_at,
        )
        .execute(connection)
        .await?;
        Ok(())
    }
}

#[derive(Default)]
pub(super) struct LogColumns<'a> {
    tenant: Vec<Uuid>,
    batch: Vec<Uuid>,
    pub seq: Vec<i32>,
    line: Vec<i32>,
    stage: Vec<&'a str>,
    level: Vec<&'a str>,
    message: Vec<&'a str>,
}

impl<'a> LogColumns<'a> {
    pub(super) fn push(&mut self, (tenant, batch): (TenantId, BatchId), row: &'a LogRow) {
        self.tenant.push(tenant.0);
        self.batch.push(batch.0);
        self.seq.push(row.seq.cast_signed());
        self.line.push(row.line.cast_signed());
        self.stage.push(&row.stage);
        self.level.push(&row.level);
        self.message.push(&row.message);
    }

    pub(super) async fn insert(&self, connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        insert_counted!(
            "others",
            [r#"
            added as (
                insert into logs (tenant_id, batch_id, seq, line, stage, level, message)
                select * from unnest(
                    $2::uuid[], $3::uuid[], $4::integer[], $5::integer[], $6::text[], $7::text[],
                    $8::text[]
                )
                on conflict do nothing
                returning tenant_id, octet_length(message) as bytes
            )
            "#],
            &self.tenant,
            &self.batch,
            &self.seq,
            &self.line,
            &self.stage as _,
            &self.level as _,
            &self.message as _,
        )
        .execute(connection)
        .await?;
        Ok(())
    }
}
