//! Workers of other machines: the authority of their certificates, tokens to join, and who has joined. Only the
//! hashes of tokens are kept.

use assay_core::id::{Digest, TicketId};
use assay_core::limits;
use assay_core::time::Micros;
use serde_json::json;
use sqlx::{Postgres, Transaction};

use super::audit::{Act, Actor, audit};
use super::{Store, StoreError};

/// The stored authority; the key is a secret.
pub struct AuthorityRow {
    pub certificate: Vec<u8>,
    pub private_key: Vec<u8>,
}

pub struct NewWorkerToken<'a> {
    pub hash: Digest,
    pub pool: &'a str,
    pub created_at: Micros,
    pub expires_at: Micros,
}

/// A worker that may connect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteWorkerRow {
    pub id: TicketId,
    pub pool: String,
    pub machine: String,
    pub joined_at: Micros,
    /// The end of its newest certificate.
    pub expires_at: Micros,
}

impl Store {
    /// The authority; the given one is kept if there is none yet.
    pub async fn worker_authority(
        &self,
        new: &AuthorityRow,
        now: Micros,
    ) -> Result<AuthorityRow, StoreError> {
        sqlx::query!(
            "insert into worker_authority (certificate, private_key, created_at)
            values ($1, $2, $3) on conflict do nothing",
            &new.certificate,
            &new.private_key,
            now.to_datetime(),
        )
        .execute(&self.pool)
        .await?;
        let row = sqlx::query!("select certificate, private_key from worker_authority")
            .fetch_one(&self.pool)
            .await?;
        Ok(AuthorityRow { certificate: row.certificate, private_key: row.private_key })
    }

    /// Keeps a token until it is used or expires.
    pub async fn create_worker_token(
        &self,
        token: NewWorkerToken<'_>,
        actor: &Actor,
    ) -> Result<(), StoreError> {
        let mut transaction = self.pool.begin().await?;
        let now = token.created_at.to_datetime();
        sqlx::query!("delete from worker_tokens where expires_at <= $1", now)
            .execute(&mut *transaction)
            .await?;
        let kept = sqlx::query_scalar!(r#"select count(*) as "count!" from worker_tokens"#)
            .fetch_one(&mut *transaction)
            .await?;
        if kept >= limits::WORKER_TOKENS_MAX {
            let max = limits::WORKER_TOKENS_MAX;
            return Err(StoreError::Conflict(format!("{max} tokens wait to be used already")));
        }
        sqlx::query!(
            "insert into worker_tokens (token_hash, pool, created_at, expires_at)
            values ($1, $2, $3, $4)",
            &token.hash.0[..],
            token.pool,
            now,
            token.expires_at.to_datetime(),
        )
        .execute(&mut *transaction)
        .await?;
        let act = Act {
            tenant: None,
            actor,
            action: "worker.token",
            subject: token.pool.to_owned(),
            before: None,
            after: Some(json!({ "expires_at": token.expires_at })),
        };
        audit(&mut transaction, token.created_at, &act).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Uses up a token of the worker's pool and lets the worker in; returns whether there was such a token.
    pub async fn join_worker(
        &self,
        token: Digest,
        worker: &RemoteWorkerRow,
    ) -> Result<bool, StoreError> {
        let mut transaction = self.pool.begin().await?;
        let now = worker.joined_at.to_datetime();
        let used = sqlx::query!(
            "delete from worker_tokens where token_hash = $1 and pool = $2 and expires_at > $3",
            &token.0[..],
            worker.pool,
            now,
        )
        .execute(&mut *transaction)
        .await?;
        if used.rows_affected() == 0 {
            return Ok(false);
        }
        let_in(&mut transaction, worker).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Lets a worker in that the server started and that proved it otherwise.
    pub async fn let_worker_in(&self, worker: &RemoteWorkerRow) -> Result<(), StoreError> {
        let mut transaction = self.pool.begin().await?;
        let_in(&mut transaction, worker).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// The worker gets a new certificate; returns false if it may not connect.
    pub async fn renew_worker(
        &self,
        id: TicketId,
        now: Micros,
        expires_at: Micros,
    ) -> Result<bool, StoreError> {
        let renewed = sqlx::query!(
            "update remote_workers set expires_at = $3 where id = $1 and expires_at > $2",
            id.0,
            now.to_datetime(),
            expires_at.to_datetime(),
        )
        .execute(&self.pool)
        .await?;
        Ok(renewed.rows_affected() > 0)
    }

    /// The workers that may connect, sorted by the time of their join.
    pub async fn remote_workers(&self, now: Micros) -> Result<Vec<RemoteWorkerRow>, StoreError> {
        let rows = sqlx::query!(
            "select id, pool, machine, joined_at, expires_at from remote_workers
            where expires_at > $1 order by joined_at, id",
            now.to_datetime(),
        )
        .fetch_all(&self.pool)
        .await?;
        let rows = rows.into_iter().map(|row| RemoteWorkerRow {
            id: TicketId(row.id),
            pool: row.pool,
            machine: row.machine,
            joined_at: Micros::from_datetime(row.joined_at),
            expires_at: Micros::from_datetime(row.expires_at),
        });
        Ok(rows.collect())
    }

    /// From now on the worker may not connect.
    pub async fn remove_remote_worker(
        &self,
        id: TicketId,
        actor: &Actor,
        now: Micros,
    ) -> Result<(), StoreError> {
        let mut transaction = self.pool.begin().await?;
        let removed =
            sqlx::query!("delete from remote_workers where id = $1 returning pool, machine", id.0)
                .fetch_optional(&mut *transaction)
                .await?
                .ok_or(StoreError::NotFound("remote worker"))?;
        let act = Act {
            tenant: None,
            actor,
            action: "worker.remove",
            subject: id.to_string(),
            before: Some(json!({ "pool": removed.pool, "machine": removed.machine })),
            after: None,
        };
        audit(&mut transaction, now, &act).await?;
        transaction.commit().await?;
        Ok(())
    }
}

/// Keeps the worker among those that may connect.
async fn let_in(
    transaction: &mut Transaction<'_, Postgres>,
    worker: &RemoteWorkerRow,
) -> Result<(), StoreError> {
    let now = worker.joined_at.to_datetime();
    sqlx::query!("delete from remote_workers where expires_at <= $1", now)
        .execute(&mut **transaction)
        .await?;
    let joined = sqlx::query_scalar!(r#"select count(*) as "count!" from remote_workers"#)
        .fetch_one(&mut **transaction)
        .await?;
    if joined >= limits::REMOTE_WORKERS_MAX {
        let max = limits::REMOTE_WORKERS_MAX;
        return Err(StoreError::Conflict(format!("{max} workers have joined already")));
    }
    sqlx::query!(
        "insert into remote_workers (id, pool, machine, joined_at, expires_at)
            values ($1, $2, $3, $4, $5)",
        worker.id.0,
        worker.pool,
        worker.machine,
        now,
        worker.expires_at.to_datetime(),
    )
    .execute(&mut **transaction)
    .await?;
    let act = Act {
        tenant: None,
        actor: &Actor::Platform,
        action: "worker.join",
        subject: worker.id.to_string(),
        before: None,
        after: Some(json!({ "pool": worker.pool, "machine": worker.machine })),
    };
    audit(transaction, worker.joined_at, &act).await?;
    Ok(())
}
