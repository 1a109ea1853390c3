//! Webhooks and the deliveries to them.

use assay_api::acknowledgement::Acknowledgement;
use assay_api::operations::{Incident, IncidentKind};
use assay_api::webhook::{CreateWebhook, DeliveryState, Webhook, WebhookDelivery, WebhookForm};
use assay_core::id::{BatchId, TenantId, WebhookId};
use assay_core::limits;
use assay_core::time::Micros;
use serde_json::json;
use time::OffsetDateTime;

use super::audit::{Act, Actor, audit};
use super::retention::delete_in_pieces;
use super::{Store, StoreError};

/// A webhook to be made.
pub struct NewWebhook<'a> {
    pub tenant: TenantId,
    pub call: &'a CreateWebhook,
    /// The scheme, host and port of its URL.
    pub to: &'a str,
    pub secret: &'a [u8],
    pub at: Micros,
}

/// A delivery that is due, with all that a try needs.
#[derive(Debug, Clone)]
pub struct DueDelivery {
    pub id: i64,
    /// `None` is a test.
    pub incident: Option<Incident>,
    pub tries: u32,
    pub webhook: String,
    pub tenant: String,
    pub url: String,
    pub form: WebhookForm,
    pub secret: Vec<u8>,
    /// The hosts that are granted to the tenant now.
    pub hosts: Vec<String>,
}

/// The end of one try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TryResult {
    Delivered,
    /// It is tried again at this time.
    Again {
        error: String,
        at: Micros,
    },
    Failed {
        error: String,
    },
}

impl Store {
    pub async fn create_webhook(
        &self,
        new: NewWebhook<'_>,
        actor: &Actor,
    ) -> Result<Webhook, StoreError> {
        let NewWebhook { tenant, call, to, secret, at } = new;
        let id = WebhookId::generate();
        let kinds: Vec<_> = call.kinds.iter().map(|kind| kind.as_str().to_owned()).collect();
        let mut transaction = self.pool.begin().await?;
        let made = sqlx::query!(
            "insert into webhooks (
                id, tenant_id, name, url, form, kinds, platform, secret, created_at, created_by
            )
            select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10
            where (select count(*) from webhooks where tenant_id = $2) < $11
            on conflict on constraint webhooks_name_unique do nothing",
            id.0,
            tenant.0,
            call.name,
            call.url,
            call.form.as_str(),
            &kinds,
            call.platform,
            secret,
            at.to_datetime(),
            actor.name(),
            limits::WEBHOOKS_PER_TENANT_MAX,
        )
        .execute(&mut *transaction)
        .await?;
        if made.rows_affected() == 0 {
            let max = limits::WEBHOOKS_PER_TENANT_MAX;
            let why = format!(
                "there is a webhook called `{}` already, or there are {max} of them",
                call.name
            );
            return Err(StoreError::Conflict(why));
        }
        let act = Act {
            tenant: Some(tenant),
            actor,
            action: "webhook.create",
            subject: call.name.clone(),
            before: None,
            after: Some(json!({
                "to": to, "form": call.form, "kinds": call.kinds, "platform": call.platform,
            })),
        };
        audit(&mut transaction, at, &act).await?;
        transaction.commit().await?;
        Ok(Webhook {
            id,
            name: call.name.clone(),
            to: to.to_owned(),
            form: call.form,
            kinds: call.kinds.clone(),
            platform: call.platform,
            created_at: at,
            created_by: actor.name().to_owned(),
            secret: None,
            latest: None,
        })
    }

    /// A tenant's webhooks by name, each with its latest delivery. `to` is the whole URL.
    pub async fn webhooks(&self, tenant: TenantId) -> Result<Vec<Webhook>, StoreError> {
        let rows = sqlx::query!(
            r#"
            select w.id, w.name, w.url, w.form, w.kinds, w.platform, w.created_at, w.created_by,
                d.id as "delivery?", d.incident::text as incident, d.made_at as "made_at?",
                d.state as "state?", d.tries as "tries?", d.due_at as "due_at?", d.error
            from webhooks w left join lateral (
                select * from webhook_deliveries
                where webhook_id = w.id order by id desc limit 1
            ) d on true
            where w.tenant_id = $1 order by w.name
            "#,
            tenant.0,
        )
        .fetch_all(&self.pool)
        .await?;
        let webhooks = rows.into_iter().map(|row| {
            let latest = row.delivery.map(|id| DeliveryRow {
                id,
                incident: row.incident,
                made_at: row.made_at.unwrap_or(row.created_at),
                state: row.state.unwrap_or_default(),
                tries: row.tries.unwrap_or_default(),
                due_at: row.due_at.unwrap_or(row.created_at),
                error: row.error,
            });
            Ok(Webhook {
                id: WebhookId(row.id),
                name: row.name,
                to: row.url,
                form: form(&row.form).map_err(StoreError::undecodable)?,
                kinds: row.kinds.iter().filter_map(|kind| IncidentKind::parse(kind)).collect(),
                platform: row.platform,
                created_at: Micros::from_datetime(row.created_at),
                created_by: row.created_by,
                secret: None,
                latest: latest.and_then(DeliveryRow::into_readable),
            })
        });
        webhooks.collect()
    }

    pub async fn remove_webhook(
        &self,
        tenant: TenantId,
        id: WebhookId,
        actor: &Actor,
        at: Micros,
    ) -> Result<(), StoreError> {
        let mut transaction = self.pool.begin().await?;
        let name = sqlx::query_scalar!(
            "delete from webhooks where id = $1 and tenant_id = $2 returning name",
            id.0,
            tenant.0,
        )
        .fetch_optional(&mut *transaction)
        .await?
        .ok_or(StoreError::NotFound("webhook"))?;
        let act = Act {
            tenant: Some(tenant),
            actor,
            action: "webhook.remove",
            subject: name,
            before: None,
            after: None,
        };
        audit(&mut transaction, at, &act).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Makes a delivery that tells of no incident.
    pub async fn test_webhook(
        &self,
        tenant: TenantId,
        id: WebhookId,
        at: Micros,
    ) -> Result<WebhookDelivery, StoreError> {
        let row = sqlx::query_as!(
            DeliveryRow,
            r#"
            insert into webhook_deliveries (webhook_id, topic, made_at, state, tries, due_at)
            select id, 'test', $3, 'waiting', 0, $3 from webhooks w
            where id = $1 and tenant_id = $2 and (
                select count(*) from webhook_deliveries d
                where d.webhook_id = w.id and d.state = 'waiting'
            ) < $4
            returning id, incident::text as incident, made_at, state, tries, due_at, error
            "#,
            id.0,
            tenant.0,
            at.to_datetime(),
            limits::WEBHOOK_DELIVERIES_WAITING_MAX,
        )
        .fetch_optional(&self.pool)
        .await?;
        let Some(row) = row else {
            // One that is there has too many that wait.
            self.webhook_deliveries(tenant, id).await?;
            let max = limits::WEBHOOK_DELIVERIES_WAITING_MAX;
            return Err(StoreError::Conflict(format!("{max} deliveries wait already")));
        };
        row.into_delivery().map_err(StoreError::undecodable)
    }

    /// The latest first.
    pub async fn webhook_deliveries(
        &self,
        tenant: TenantId,
        id: WebhookId,
    ) -> Result<Vec<WebhookDelivery>, StoreError> {
        sqlx::query_scalar!(
            "select 1 from webhooks where id = $1 and tenant_id = $2",
            id.0,
            tenant.0
        )
        .fetch_optional(&self.pool)
        .await?
        .ok_or(StoreError::NotFound("webhook"))?;
        let rows = sqlx::query_as!(
            DeliveryRow,
            "select id, incident::text as incident, made_at, state, tries, due_at, error
            from webhook_deliveries where webhook_id = $1 order by id desc limit $2",
            id.0,
            limits::WEBHOOK_DELIVERIES_LISTED_MAX,
        )
        .fetch_all(&self.pool)
        .await?;
        Ok(rows.into_iter().filter_map(DeliveryRow::into_readable).collect())
    }

    /// Makes deliveries of the open incidents since `since`: one for each webhook and those that are alike, of
    /// which it has not been told since. Returns how many.
    pub async fn make_deliveries(&self, since: Micros, at: Micros) -> Result<usize, StoreError> {
        // Incidents lead, as there are few of an hour, and most of them have no webhook.
        let rows = sqlx::query!(
            r#"
            select distinct on (w.id, i.topic) w.id as webhook, i.topic as "topic!", i.id as "id!",
                i.at as "at!", t.name as "tenant?", i.kind as "kind!", i.pool, i.batch_id, i.run,
                i.code, i.count as "count!", i.detail as "detail!"
            from (
                select *, json_build_array(tenant_id, kind, pool, run, code)::text as topic
                from incidents where at >= $1
            ) i
            join webhooks w on i.at >= w.created_at
                and (i.tenant_id = w.tenant_id or (w.platform and i.tenant_id is null))
                and (w.kinds = '{}' or i.kind = any (w.kinds))
            left join tenants t on t.id = i.tenant_id
            where not exists (
                select 1 from acknowledged_incidents a
                where a.tenant_id = coalesce(i.tenant_id, '00000000-0000-0000-0000-000000000000')
                    and a.kind = i.kind and a.pool = coalesce(i.pool, '')
                    and a.run = coalesce(i.run, '') and a.code = coalesce(i.code, '')
                    and a.until >= i.at
            ) and not exists (
                select 1 from webhook_deliveries d
                where d.webhook_id = w.id and d.topic = i.topic and d.made_at > $1
            ) and (
                select count(*) from webhook_deliveries d
                where d.webhook_id = w.id and d.state = 'waiting'
            ) < $2
            order by w.id, i.topic, i.id desc limit $3
            "#,
            since.to_datetime(),
            limits::WEBHOOK_DELIVERIES_WAITING_MAX,
            limits::WEBHOOK_DELIVERIES_MADE_MAX,
        )
        .fetch_all(&self.pool)
        .await?;
        let mut webhooks = Vec::with_capacity(rows.len());
        let mut topics = Vec::with_capacity(rows.len());
        let mut incidents = Vec::with_capacity(rows.len());
        for row in rows {
            let Some(kind) = IncidentKind::parse(&row.kind) else { continue };
            webhooks.push(row.webhook);
            topics.push(row.topic);
            let incident = Incident {
                id: row.id,
                at: Micros::from_datetime(row.at),
                tenant: row.tenant,
                kind,
                pool: row.pool,
                batch: row.batch_id.map(BatchId),
                run: row.run,
                code: row.code,
                count: row.count.cast_unsigned(),
                detail: row.detail,
                acknowledged: None::<Acknowledgement>,
            };
            incidents.push(json!(incident).to_string());
        }
        if webhooks.is_empty() {
            return Ok(0);
        }
        // A webhook that was removed in between is told nothing.
        sqlx::query!(
            "insert into webhook_deliveries (
                webhook_id, incident, topic, made_at, state, tries, due_at
            )
            select made.webhook_id, made.incident::json, made.topic, $4, 'waiting', 0, $4
            from unnest($1::uuid[], $2::text[], $3::text[]) as made (webhook_id, incident, topic)
            join webhooks w on w.id = made.webhook_id for share of w",
            &webhooks,
            &incidents,
            &topics,
            at.to_datetime(),
        )
        .execute(&self.pool)
        .await?;
        Ok(webhooks.len())
    }

    /// The deliveries that are due, a few of each tenant. One that cannot be read, as a newer release may leave it, fails.
    pub async fn due_deliveries(&self, at: Micros) -> Result<Vec<DueDelivery>, StoreError> {
        let rows = sqlx::query!(
            r#"
            select d.id as "id!", d.incident::text as incident, d.tries as "tries!", w.name as webhook,
                w.url, w.form, w.secret, t.name as tenant, t.hosts
            from (
                select d.*, row_number() over (partition by w.tenant_id order by d.due_at) as rank
                from webhook_deliveries d join webhooks w on w.id = d.webhook_id
                where d.state = 'waiting' and d.due_at <= $1
            ) d
            join webhooks w on w.id = d.webhook_id join tenants t on t.id = w.tenant_id
            where d.rank <= $2 order by d.due_at limit $3
            "#,
            at.to_datetime(),
            limits::WEBHOOK_DELIVERIES_PER_TENANT_MAX,
            limits::WEBHOOK_DELIVERIES_TRIED_MAX,
        )
        .fetch_all(&self.pool)
        .await?;
        let mut due = Vec::with_capacity(rows.len());
        for row in rows {
            let incident = row.incident.map(|text| incident(&text)).transpose();
            let (incident, form) = match (incident, form(&row.form)) {
                (Ok(incident), Ok(form)) => (incident, form),
                (Err(error), _) | (_, Err(error)) => {
                    // Each try would end so, and the others must not wait for it.
                    tracing::error!(%error, delivery = row.id, "a delivery cannot be read");
                    self.record_try(row.id, &TryResult::Failed { error }, at).await?;
                    continue;
                }
            };
            due.push(DueDelivery {
                id: row.id,
                incident,
                tries: row.tries.cast_unsigned(),
                webhook: row.webhook,
                tenant: row.tenant,
                url: row.url,
                form,
                secret: row.secret,
                hosts: row.hosts,
            });
        }
        Ok(due)
    }

    /// Counts a try of a delivery. A delivery whose webhook was removed meanwhile is gone.
    pub async fn record_try(
        &self,
        delivery: i64,
        result: &TryResult,
        at: Micros,
    ) -> Result<(), StoreError> {
        let (state, error, due) = match result {
            TryResult::Delivered => (DeliveryState::Delivered, None, None),
            TryResult::Again { error, at } => (DeliveryState::Waiting, Some(error), Some(*at)),
            TryResult::Failed { error } => (DeliveryState::Failed, Some(error), None),
        };
        sqlx::query!(
            "update webhook_deliveries set state = $2, tries = tries + 1, error = $3,
                due_at = coalesce($4::timestamptz, due_at), ended_at = case when $2 = 'waiting' then null else $5::timestamptz end
            where id = $1",
            delivery,
            state.as_str(),
            error,
            due.map(Micros::to_datetime),
            at.to_datetime(),
        )
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// Deletes deliveries that ended before `before`, a piece at a time.
    pub async fn forget_deliveries(&self, before: Micros) -> Result<u64, StoreError> {
        delete_in_pieces(|limit| async move {
            sqlx::query!(
                "delete from webhook_deliveries where id in (
                    select id from webhook_deliveries
                    where ended_at < $1 order by ended_at limit $2
                )",
                before.to_datetime(),
                limit,
            )
            .execute(&self.upkeep)
            .await
        })
        .await
    }
}

struct DeliveryRow {
    id: i64,
    incident: Option<String>,
    made_at: OffsetDateTime,
    state: String,
    tries: i32,
    due_at: OffsetDateTime,
    error: Option<String>,
}

impl DeliveryRow {
    /// `None` for a delivery that cannot be read, as a newer release may leave it.
    fn into_readable(self) -> Option<WebhookDelivery> {
        let id = self.id;
        let read = self.into_delivery();
        read.inspect_err(|error| tracing::warn!(%error, delivery = id, "a delivery cannot be read"))
            .ok()
    }

    fn into_delivery(self) -> Result<WebhookDelivery, String> {
        let state = DeliveryState::parse(&self.state)
            .ok_or_else(|| format!("a delivery has the state `{}`", self.state))?;
        let incident = self.incident.map(|text| incident(&text)).transpose()?;
        let next_try_at =
            (state == DeliveryState::Waiting).then(|| Micros::from_datetime(self.due_at));
        Ok(WebhookDelivery {
            id: self.id,
            kind: incident.map(|incident| incident.kind),
            made_at: Micros::from_datetime(self.made_at),
            state,
            tries: self.tries.cast_unsigned(),
            error: self.error,
            next_try_at,
        })
    }
}

fn incident(text: &str) -> Result<Incident, String> {
    serde_json::from_str(text).map_err(|error| format!("the incident of a delivery: {error}"))
}

fn form(text: &str) -> Result<WebhookForm, String> {
    WebhookForm::parse(text).ok_or_else(|| format!("a webhook has the form `{text}`"))
}
