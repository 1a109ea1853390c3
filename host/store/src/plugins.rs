//! Plugins: immutable versions, channels that point to them, and what they compiled to.

use std::fmt;

use assay_api::batch::Batch;
use assay_api::plugin::{CaseCounts, GoldenCase, Plugin};
use assay_core::id::{Digest, TenantId};
use assay_core::plugin::{Description, VersionName};
use assay_core::time::Micros;
use serde_json::json;
use serde_json::value::RawValue;
use sqlx::PgExecutor;

use super::audit::{Act, Actor, audit};
use super::golden_cases::{count, counts, insert_cases};
use super::listed::ListedRows;
use super::summaries::from_json;
use super::usage::add_component;
use super::{Store, StoreError};

/// A published version.
#[derive(Debug, Clone)]
pub struct PluginRow {
    pub digest: Digest,
    pub description: Description,
    pub imports: Vec<String>,
    pub yanked: bool,
}

/// A version to be published.
#[derive(Debug, Clone, Copy)]
pub struct NewPlugin<'a> {
    pub tenant: TenantId,
    pub digest: Digest,
    /// The bytes of the component, which count as stored.
    pub bytes: u64,
    pub description: &'a Description,
    /// The interfaces that the plugin imports.
    pub imports: &'a [String],
    pub cases: &'a [GoldenCase],
}

/// Which version of which plugin.
#[derive(Debug, Clone, Copy)]
pub struct PluginVersion<'a> {
    pub tenant: TenantId,
    pub name: &'a str,
    pub version: &'a str,
}

impl fmt::Display for PluginVersion<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, version, .. } = *self;
        fmt::Display::fmt(&VersionName { name, version }, f)
    }
}

/// Whether a publication changed anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Published {
    New,
    /// The same bytes were there under the same name and version.
    Already,
}

impl Store {
    /// The number of versions of all plugins of a tenant.
    pub async fn count_versions(&self, tenant: TenantId) -> Result<i64, StoreError> {
        let versions = sqlx::query_scalar!(
            r#"select count(*) as "versions!" from plugins where tenant_id = $1"#,
            tenant.0,
        )
        .fetch_one(&self.pool)
        .await?;
        Ok(versions)
    }

    pub async fn publish_plugin(
        &self,
        plugin: NewPlugin<'_>,
        actor: &Actor,
        now: Micros,
    ) -> Result<Published, StoreError> {
        let NewPlugin { tenant, digest, bytes, description, imports, cases } = plugin;
        let json = serde_json::to_string(description).expect("a description is plain data");
        let mut transaction = self.pool.begin().await?;
        let inserted = sqlx::query!(
            "insert into plugins (tenant_id, name, version, digest, description, imports,
                published_at, published_by)
            values ($1, $2, $3, $4, $5::text::json, $6, $7, $8) on conflict do nothing",
            tenant.0,
            description.name,
            description.version,
            &digest.0[..],
            json,
            imports,
            now.to_datetime(),
            Some(actor.name()).filter(|name| !name.is_empty()),
        )
        .execute(&mut *transaction)
        .await?;
        if inserted.rows_affected() == 1 {
            insert_cases(&mut transaction, &plugin).await?;
            let act = Act {
                tenant: Some(tenant),
                actor,
                action: "plugin.publish",
                subject: description.version_name().to_string(),
                before: None,
                after: Some(json!({
                    "digest": digest,
                    "imports": imports,
                    "golden_cases": counts(cases),
                })),
            };
            audit(&mut transaction, now, &act).await?;
            add_component(&mut transaction, tenant, bytes).await?;
            transaction.commit().await?;
            return Ok(Published::New);
        }
        transaction.rollback().await?;
        match self.is_published(tenant, description, digest).await? {
            true => Ok(Published::Already),
            false => Err(StoreError::NotFound("plugin version")),
        }
    }

    /// Whether the version is there with these bytes; with others it is a conflict.
    pub async fn is_published(
        &self,
        tenant: TenantId,
        description: &Description,
        digest: Digest,
    ) -> Result<bool, StoreError> {
        let Description { name, version, .. } = description;
        match self.plugin(tenant, name, version).await {
            Ok(there) if there.digest == digest => Ok(true),
            Ok(there) => Err(StoreError::Conflict(format!(
                "{} was published with other bytes (digest {}), and versions never change",
                description.version_name(),
                there.digest
            ))),
            Err(StoreError::NotFound(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    pub async fn plugin(
        &self,
        tenant: TenantId,
        name: &str,
        version: &str,
    ) -> Result<PluginRow, StoreError> {
        plugin(&self.pool, tenant, name, version).await
    }

    /// The version that a batch has.
    pub async fn plugin_of_batch(
        &self,
        tenant: TenantId,
        batch: &Batch,
    ) -> Result<PluginRow, StoreError> {
        let named = VersionName::parse(&batch.plugin);
        let VersionName { name, version } = named.ok_or(StoreError::NotFound("plugin version"))?;
        self.plugin(tenant, name, version).await
    }

    /// All versions of one plugin, the newest first.
    pub async fn versions(&self, tenant: TenantId, name: &str) -> Result<Vec<Plugin>, StoreError> {
        self.versions_of(tenant, &[name.to_owned()]).await
    }

    /// A page of plugins by name, each with all its versions, the newest first; and the cursor of the
    /// next page.
    pub async fn plugins(
        &self,
        tenant: TenantId,
        page: &ListedRows<String>,
    ) -> Result<(Vec<Plugin>, Option<String>), StoreError> {
        let names = sqlx::query_scalar!(
            "select distinct name from plugins
            where tenant_id = $1 and name > $2
                and ($3::text is null or position(lower($3) in lower(name)) > 0)
            order by name limit $4",
            tenant.0,
            page.after.as_deref().unwrap_or_default(),
            page.text.as_deref(),
            i64::from(page.limit),
        )
        .fetch_all(&self.pool)
        .await?;
        let next = names.last().filter(|_| names.len() == page.limit as usize).cloned();
        Ok((self.versions_of(tenant, &names).await?, next))
    }

    async fn versions_of(
        &self,
        tenant: TenantId,
        names: &[String],
    ) -> Result<Vec<Plugin>, StoreError> {
        let rows = sqlx::query!(
            r#"
            select p.digest, p.description::text as "description!", p.published_at, p.published_by,
                p.yank_reason,
                array(
                    select c.channel from channels c
                    where c.tenant_id = p.tenant_id and c.plugin = p.name and c.version = p.version
                    order by c.channel
                ) as "channels!",
                g.passed as "passed!", g.not_run as "not_run!", g.skipped as "skipped!"
            from plugins p cross join lateral (
                select count(*) filter (where c.state = 'passed') as passed,
                    count(*) filter (where c.state = 'not_run') as not_run,
                    count(*) filter (where c.state = 'skipped') as skipped
                from golden_cases c
                where c.tenant_id = p.tenant_id and c.plugin = p.name and c.version = p.version
            ) g
            where p.tenant_id = $1 and p.name = any ($2)
            order by p.name, p.published_at desc
            limit 10000
            "#,
            tenant.0,
            names,
        )
        .fetch_all(&self.pool)
        .await?;
        rows.into_iter()
            .map(|row| {
                let description: Description = from_json(&row.description)?;
                Ok(Plugin {
                    digest: stored_digest(&row.digest)?,
                    channels: row.channels,
                    published_at: Micros::from_datetime(row.published_at),
                    published_by: row.published_by,
                    yanked: row.yank_reason,
                    golden_cases: CaseCounts {
                        passed: count(row.passed),
                        not_run: count(row.not_run),
                        skipped: count(row.skipped),
                    },
                    settings_schema: schema(description.settings_schema),
                    label_schema: schema(description.label_schema),
                    name: description.name,
                    version: description.version,
                    summary: description.summary,
                    stages: description.stages,
                    deterministic: description.deterministic,
                    timeout_reward: description.timeout_reward,
                })
            })
            .collect()
    }

    /// Keeps new runs off a version; runs that have it keep it.
    pub async fn yank_plugin(
        &self,
        plugin: PluginVersion<'_>,
        reason: &str,
        actor: &Actor,
        now: Micros,
    ) -> Result<(), StoreError> {
        let PluginVersion { tenant, name, version } = plugin;
        let mut transaction = self.pool.begin().await?;
        let before = sqlx::query!(
            "select yank_reason from plugins
            where tenant_id = $1 and name = $2 and version = $3 for update",
            tenant.0,
            name,
            version,
        )
        .fetch_optional(&mut *transaction)
        .await?
        .ok_or(StoreError::NotFound("plugin version"))?;
        sqlx::query!(
            "update plugins set yanked_at = coalesce(yanked_at, $5), yank_reason = $4
            where tenant_id = $1 and name = $2 and version = $3",
            tenant.0,
            name,
            version,
            reason,
            now.to_datetime(),
        )
        .execute(&mut *transaction)
        .await?;
        let act = Act {
            tenant: Some(tenant),
            actor,
            action: "plugin.yank",
            subject: plugin.to_string(),
            before: before.yank_reason.map(|reason| json!({ "reason": reason })),
            after: Some(json!({ "reason": reason })),
        };
        audit(&mut transaction, now, &act).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// The compiled form of a plugin for an engine, if there is one. It is stored by content and belongs to
    /// no tenant.
    pub async fn compilation(
        &self,
        digest: Digest,
        engine: &str,
    ) -> Result<Option<Digest>, StoreError> {
        let compiled = sqlx::query_scalar!(
            "select compiled_digest from compilations where digest = $1 and engine = $2",
            &digest.0[..],
            engine,
        )
        .fetch_optional(&self.pool)
        .await?;
        compiled.map(|compiled| stored_digest(&compiled)).transpose()
    }

    pub async fn record_compilation(
        &self,
        digest: Digest,
        engine: &str,
        compiled: Digest,
        now: Micros,
    ) -> Result<(), StoreError> {
        sqlx::query!(
            "insert into compilations (digest, engine, compiled_digest, compiled_at)
            values ($1, $2, $3, $4)
            on conflict (digest, engine) do update
            set compiled_digest = excluded.compiled_digest, compiled_at = excluded.compiled_at",
            &digest.0[..],
            engine,
            &compiled.0[..],
            now.to_datetime(),
        )
        .execute(&self.pool)
        .await?;
        Ok(())
    }
}

fn schema(text: String) -> Option<Box<RawValue>> {
    RawValue::from_string(text).ok()
}

/// The digest that a column holds.
pub(super) fn stored_digest(bytes: &[u8]) -> Result<Digest, StoreError> {
    Digest::try_from(bytes).map_err(StoreError::undecodable)
}

pub(crate) async fn plugin(
    executor: impl PgExecutor<'_>,
    tenant: TenantId,
    name: &str,
    version: &str,
) -> Result<PluginRow, StoreError> {
    let row = sqlx::query!(
        r#"select digest, description::text as "description!", imports, yanked_at from plugins
            where tenant_id = $1 and name = $2 and version = $3"#,
        tenant.0,
        name,
        version,
    )
    .fetch_optional(executor)
    .await?
    .ok_or(StoreError::NotFound("plugin version"))?;
    Ok(PluginRow {
        digest: stored_digest(&row.digest)?,
        description: from_json(&row.description)?,
        imports: row.imports,
        yanked: row.yanked_at.is_some(),
    })
}
