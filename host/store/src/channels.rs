//! Channels: names that point to versions, and the versions that they pointed to before.

use assay_api::plugin::PluginChannel;
use assay_api::view::Promotion;
use assay_core::id::TenantId;
use assay_core::limits;
use assay_core::time::Micros;
use serde_json::json;
use sqlx::PgConnection;

use super::audit::{Act, Actor, audit};
use super::plugins::{self, PluginVersion};
use super::{Store, StoreError};

/// Which channel of which plugin.
#[derive(Debug, Clone, Copy)]
pub struct Channel<'a> {
    pub tenant: TenantId,
    pub plugin: &'a str,
    pub channel: &'a str,
}

/// The version to which a channel points, and the earlier ones, the latest last.
struct Pointed {
    version: String,
    earlier: Vec<String>,
}

impl Store {
    /// The version a channel points to.
    pub async fn channel(
        &self,
        tenant: TenantId,
        name: &str,
        channel: &str,
    ) -> Result<String, StoreError> {
        sqlx::query_scalar!(
            "select version from channels where tenant_id = $1 and plugin = $2 and channel = $3",
            tenant.0,
            name,
            channel,
        )
        .fetch_optional(&self.pool)
        .await?
        .ok_or(StoreError::NotFound("plugin channel"))
    }

    /// The channels of a plugin, each with the version that a rollback would choose.
    pub async fn channels(
        &self,
        tenant: TenantId,
        plugin: &str,
    ) -> Result<Vec<PluginChannel>, StoreError> {
        let rows = sqlx::query!(
            r#"
            select c.channel, c.version, c.promoted_at, (
                select e.version from unnest(c.earlier) with ordinality as e (version, place)
                    join plugins p on p.tenant_id = c.tenant_id and p.name = c.plugin
                        and p.version = e.version and p.yanked_at is null
                where e.version <> c.version order by e.place desc limit 1
            ) as "rolls_back_to?"
            from channels c where c.tenant_id = $1 and c.plugin = $2
            order by c.channel limit 1000
            "#,
            tenant.0,
            plugin,
        )
        .fetch_all(&self.pool)
        .await?;
        let channels = rows.into_iter().map(|row| PluginChannel {
            channel: row.channel,
            version: row.version,
            promoted_at: Micros::from_datetime(row.promoted_at),
            rolls_back_to: row.rolls_back_to,
        });
        Ok(channels.collect())
    }

    /// The promotions and rollbacks of a plugin since a time, the last 100, the oldest first.
    pub async fn promotions(
        &self,
        tenant: TenantId,
        plugin: &str,
        since: Micros,
    ) -> Result<Vec<Promotion>, StoreError> {
        let rows = sqlx::query!(
            r#"
            select at, split_part(subject, '@', 2) as "channel!", before ->> 'version' as before,
                after ->> 'version' as "version?", action = 'plugin.rollback' as "rollback!"
            from audit
            where tenant_id = $1 and split_part(subject, '@', 1) = $2 and at >= $3
                and action in ('plugin.promote', 'plugin.rollback')
            order by at desc limit $4
            "#,
            tenant.0,
            plugin,
            since.to_datetime(),
            i64::from(limits::PROMOTIONS_SHOWN_MAX),
        )
        .fetch_all(&self.pool)
        .await?;
        let promotions = rows.into_iter().rev().filter_map(|row| {
            Some(Promotion {
                at: Micros::from_datetime(row.at),
                channel: row.channel,
                version: row.version?,
                before: row.before,
                rollback: row.rollback,
            })
        });
        Ok(promotions.collect())
    }

    /// Points a channel to a version that is not yanked.
    pub async fn promote_plugin(
        &self,
        plugin: PluginVersion<'_>,
        channel: &str,
        actor: &Actor,
        now: Micros,
    ) -> Result<(), StoreError> {
        let PluginVersion { tenant, name, version } = plugin;
        if self.plugin(tenant, name, version).await?.yanked {
            return Err(StoreError::Conflict(format!(
                "{plugin} is yanked; promote a version that is not"
            )));
        }
        let channel = Channel { tenant, plugin: name, channel };
        let mut transaction = self.pool.begin().await?;
        let before = pointed(&mut transaction, channel).await?;
        let mut earlier = before.as_ref().map_or(Vec::new(), |before| before.earlier.clone());
        // The same version again is no step that a rollback could undo.
        if let Some(before) = before.as_ref().filter(|before| before.version != version) {
            earlier.push(before.version.clone());
        }
        earlier.drain(..earlier.len().saturating_sub(limits::CHANNEL_VERSIONS_KEPT_MAX));
        let after = Pointed { version: version.to_owned(), earlier };
        point(&mut transaction, channel, &after, now).await?;
        let act = Act {
            tenant: Some(tenant),
            actor,
            action: "plugin.promote",
            subject: format!("{name}@{}", channel.channel),
            before: before.map(|before| json!({ "version": before.version })),
            after: Some(json!({ "version": version })),
        };
        audit(&mut transaction, now, &act).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Points a channel to the version that it had before, the last that is not yanked; returns it. Refused if it does
    /// not point to `from`: a repeated call would go back twice.
    pub async fn roll_back_channel(
        &self,
        channel: Channel<'_>,
        from: Option<&str>,
        actor: &Actor,
        now: Micros,
    ) -> Result<String, StoreError> {
        let Channel { tenant, plugin, channel: name } = channel;
        let mut transaction = self.pool.begin().await?;
        let before = pointed(&mut transaction, channel).await?;
        let before = before.ok_or(StoreError::NotFound("plugin channel"))?;
        if let Some(from) = from.filter(|&from| from != before.version) {
            return Err(StoreError::Conflict(format!(
                "{plugin}@{name} points to {}, and no longer to {from}",
                before.version
            )));
        }
        let mut earlier = before.earlier;
        let version = loop {
            let Some(version) = earlier.pop() else {
                return Err(StoreError::Conflict(format!(
                    "{plugin}@{name} points to {}, and it has no earlier version that is not yanked",
                    before.version
                )));
            };
            let is_other = version != before.version;
            if is_other
                && !plugins::plugin(&mut *transaction, tenant, plugin, &version).await?.yanked
            {
                break version;
            }
        };
        let after = Pointed { version, earlier };
        point(&mut transaction, channel, &after, now).await?;
        let act = Act {
            tenant: Some(tenant),
            actor,
            action: "plugin.rollback",
            subject: format!("{plugin}@{name}"),
            before: Some(json!({ "version": before.version })),
            after: Some(json!({ "version": after.version })),
        };
        audit(&mut transaction, now, &act).await?;
        transaction.commit().await?;
        Ok(after.version)
    }
}

/// The versions of a channel. The row is locked: no other transaction moves the channel before this one
/// ends.
async fn pointed(
    connection: &mut PgConnection,
    channel: Channel<'_>,
) -> Result<Option<Pointed>, StoreError> {
    let row = sqlx::query_as!(
        Pointed,
        "select version, earlier from channels
        where tenant_id = $1 and plugin = $2 and channel = $3 for update",
        channel.tenant.0,
        channel.plugin,
        channel.channel,
    )
    .fetch_optional(connection)
    .await?;
    Ok(row)
}

async fn point(
    connection: &mut PgConnection,
    channel: Channel<'_>,
    to: &Pointed,
    now: Micros,
) -> Result<(), StoreError> {
    sqlx::query!(
        "insert into channels (tenant_id, plugin, channel, version, promoted_at, earlier)
        values ($1, $2, $3, $4, $5, $6)
        on conflict (tenant_id, plugin, channel) do update set version = excluded.version,
            promoted_at = excluded.promoted_at, earlier = excluded.earlier",
        channel.tenant.0,
        channel.plugin,
        channel.channel,
        to.version,
        now.to_datetime(),
        &to.earlier,
    )
    .execute(connection)
    .await?;
    Ok(())
}
