//! Samples as rows of their own, by which readers sort, filter and search: written after the end of a batch
//! from what is stored, a piece at a time, and deleted with the batch.
//!
//! ```text
//!   ended ──(pieces, in the order of requests)──> sampled ──(retention)──> deleted
//! ```
//!
//! A piece that is written again changes nothing, so that a writer which was stopped goes on after the last row.

use std::fmt::Write as _;

use assay_api::sample::GroupRewards;
use assay_core::id::{BatchId, TenantId};
use assay_core::limits;
use assay_core::time::Micros;
use sqlx::{Postgres, Transaction};

use super::{Store, StoreError};

/// An ended batch without samples.
#[derive(Debug, Clone)]
pub struct UnsampledBatch {
    pub tenant: TenantId,
    pub id: BatchId,
    pub run: String,
    pub iteration: u64,
    /// The number of requests in a complete group.
    pub group_size: Option<u32>,
}

/// One sample to be written.
#[derive(Debug, Clone)]
pub struct NewSample {
    pub seq: u32,
    pub key: String,
    pub group: Option<String>,
    pub arrived_at: Micros,
    pub took: Micros,
    pub kind: &'static str,
    pub verdict: String,
    pub reward: Option<f64>,
    pub advantage: Option<f64>,
    pub group_rewards: Option<GroupRewards>,
    /// JSON text.
    pub components: String,
    pub prompt_chars: u32,
    pub response_chars: u32,
    /// Beginnings of the texts.
    pub prompt: String,
    pub response: String,
    pub label: String,
    /// The text whose words are indexed; absent while words are not indexed.
    pub searched: Option<String>,
}

/// The sums over a batch that are written with its samples.
#[derive(Debug, Clone)]
pub struct SampledSummary {
    pub all_right_groups: u32,
    /// pass@k by k, as JSON.
    pub pass_at: String,
    /// Groups by solve rate, in bins of equal width from 0 to 1.
    pub solve_rates: Vec<u32>,
    /// Means of the components of rewards by name, as JSON.
    pub components: String,
}

/// The mark of a run among the words of a sample. No text has a word with such a character.
pub(crate) fn run_mark(tenant: TenantId, run: &str) -> String {
    format!("\u{1}r{}{run}", tenant.0.simple())
}

/// The mark of a batch among the words of a sample.
pub(crate) fn batch_mark(batch: BatchId) -> String {
    format!("\u{1}b{}", batch.0.simple())
}

/// The columns of a piece, an element a row.
#[derive(Default)]
struct SampleColumns {
    seq: Vec<i32>,
    key: Vec<String>,
    group: Vec<Option<String>>,
    arrived_at: Vec<time::OffsetDateTime>,
    took_ms: Vec<f64>,
    kind: Vec<String>,
    verdict: Vec<String>,
    reward: Vec<Option<f64>>,
    advantage: Vec<Option<f64>>,
    group_rewards: Vec<Option<String>>,
    components: Vec<String>,
    prompt_chars: Vec<i32>,
    response_chars: Vec<i32>,
    prompt: Vec<String>,
    response: Vec<String>,
    label: Vec<String>,
    searched: Vec<Option<String>>,
}

impl SampleColumns {
    fn push(&mut self, sample: NewSample) {
        self.seq.push(sample.seq.cast_signed());
        self.key.push(sample.key);
        self.group.push(sample.group);
        self.arrived_at.push(sample.arrived_at.to_datetime());
        self.took_ms.push(sample.took.as_ms_f64());
        self.kind.push(sample.kind.into());
        self.verdict.push(sample.verdict);
        self.reward.push(sample.reward);
        self.advantage.push(sample.advantage);
        self.group_rewards.push(sample.group_rewards.map(|rewards| rewards.as_str().into()));
        self.components.push(sample.components);
        self.prompt_chars.push(sample.prompt_chars.cast_signed());
        self.response_chars.push(sample.response_chars.cast_signed());
        self.prompt.push(sample.prompt);
        self.response.push(sample.response);
        self.label.push(sample.label);
        self.searched.push(sample.searched);
    }
}

impl Store {
    /// The newest ended batch without samples of each tenant that has one.
    ///
    /// Platform query: it serves the task that writes samples.
    pub async fn unsampled_batches(&self) -> Result<Vec<UnsampledBatch>, StoreError> {
        let rows = sqlx::query!(
            r#"
            select b.tenant_id as "tenant_id!", b.id as "id!", b.run as "run!",
                b.iteration as "iteration!", b.group_size
            from tenants t cross join lateral (
                select tenant_id, id, run, iteration, group_size from batches
                where tenant_id = t.id and ended_at is not null and sampled_at is null
                    and expired_at is null and sealed_at is distinct from announced_at
                order by id desc limit 1
            ) b
            "#,
        )
        .fetch_all(&self.upkeep)
        .await?;
        let batches = rows.into_iter().map(|row| UnsampledBatch {
            tenant: TenantId(row.tenant_id),
            id: BatchId(row.id),
            run: row.run,
            iteration: row.iteration.cast_unsigned(),
            group_size: row.group_size.map(i32::cast_unsigned),
        });
        Ok(batches.collect())
    }

    /// The last sample of a batch that is written.
    pub async fn last_sample(
        &self,
        tenant: TenantId,
        batch: BatchId,
    ) -> Result<Option<u32>, StoreError> {
        let last = sqlx::query_scalar!(
            "select seq from samples where tenant_id = $1 and batch_id = $2 order by seq desc limit 1",
            tenant.0,
            batch.0,
        )
        .fetch_optional(&self.upkeep)
        .await?;
        Ok(last.map(i32::cast_unsigned))
    }

    /// Writes samples of a batch, unless the batch has expired: returns whether it is still kept.
    pub async fn write_samples(
        &self,
        batch: &UnsampledBatch,
        samples: Vec<NewSample>,
    ) -> Result<bool, StoreError> {
        let mut columns = SampleColumns::default();
        samples.into_iter().for_each(|sample| columns.push(sample));
        let mut transaction = self.upkeep.begin().await?;
        if !keep(&mut transaction, batch.tenant, batch.id).await? {
            return Ok(false);
        }
        sqlx::query!(
            r#"
            insert into samples (
                tenant_id, batch_id, run, iteration, seq, key, group_name, arrived_at, took_ms, kind,
                verdict, reward, advantage, group_rewards, components, prompt_chars, response_chars,
                prompt, response, label
            )
            select $1, $2, $3, $4, seq, key, group_name, arrived_at, took_ms, kind, verdict, reward,
                advantage, group_rewards, components::jsonb, prompt_chars, response_chars,
                left(prompt, $21), left(response, $21), left(label, $21)
            from unnest(
                $5::integer[], $6::text[], $7::text[], $8::timestamptz[], $9::double precision[],
                $10::text[], $11::text[], $12::double precision[], $13::double precision[],
                $14::text[], $15::text[], $16::integer[], $17::integer[], $18::text[], $19::text[],
                $20::text[]
            ) as r (
                seq, key, group_name, arrived_at, took_ms, kind, verdict, reward, advantage,
                group_rewards, components, prompt_chars, response_chars, prompt, response, label
            )
            on conflict do nothing
            "#,
            batch.tenant.0,
            batch.id.0,
            batch.run,
            batch.iteration.cast_signed(),
            &columns.seq,
            &columns.key,
            &columns.group as &[Option<String>],
            &columns.arrived_at,
            &columns.took_ms,
            &columns.kind,
            &columns.verdict,
            &columns.reward as &[Option<f64>],
            &columns.advantage as &[Option<f64>],
            &columns.group_rewards as &[Option<String>],
            &columns.components,
            &columns.prompt_chars,
            &columns.response_chars,
            &columns.prompt,
            &columns.response,
            &columns.label,
            i32::try_from(limits::SAMPLE_SORTED_CHARS_MAX).unwrap_or(i32::MAX),
        )
        .execute(&mut *transaction)
        .await?;
        sqlx::query!(
            r#"
            insert into sample_texts (tenant_id, batch_id, seq, prompt, response, label, words)
            select $1, $2, seq, prompt, response, label,
                to_tsvector('simple', searched) || array_to_tsvector($3)
            from unnest($4::integer[], $5::text[], $6::text[], $7::text[], $8::text[])
                as r (seq, prompt, response, label, searched)
            on conflict do nothing
            "#,
            batch.tenant.0,
            batch.id.0,
            &[run_mark(batch.tenant, &batch.run), batch_mark(batch.id)][..],
            &columns.seq,
            &columns.prompt,
            &columns.response,
            &columns.label,
            &columns.searched as &[Option<String>],
        )
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// All samples of the batch are written. Does nothing if the batch has expired: the sums may be of a part of it.
    pub async fn mark_sampled(
        &self,
        tenant: TenantId,
        batch: BatchId,
        summary: &SampledSummary,
        now: Micros,
    ) -> Result<(), StoreError> {
        let solve_rates: Vec<i32> =
            summary.solve_rates.iter().map(|groups| groups.cast_signed()).collect();
        let mut transaction = self.upkeep.begin().await?;
        if !keep(&mut transaction, tenant, batch).await? {
            return Ok(());
        }
        sqlx::query!(
            r#"
            with summary as (
                update batch_rollups set all_right_groups = $4, pass_at = $5::text::json,
                    solve_rates = $6, components = $7::text::json
                where tenant_id = $1 and batch_id = $2
            )
            update batches set sampled_at = $3 where tenant_id = $1 and id = $2
            "#,
            tenant.0,
            batch.0,
            now.to_datetime(),
            summary.all_right_groups.cast_signed(),
            summary.pass_at,
            &solve_rates,
            summary.components,
        )
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Whether the samples of a batch are written.
    pub async fn is_sampled(&self, tenant: TenantId, batch: BatchId) -> Result<bool, StoreError> {
        let sampled = sqlx::query_scalar!(
            r#"select sampled_at is not null as "sampled!" from batches where tenant_id = $1 and id = $2"#,
            tenant.0,
            batch.0,
        )
        .fetch_optional(&self.pool)
        .await?;
        Ok(sampled.unwrap_or(false))
    }

    /// The ended batches of some runs whose samples are not written yet, up to a limit.
    pub async fn unsampled_of(&self, tenant: TenantId, runs: &[String]) -> Result<u32, StoreError> {
        let batches = sqlx::query_scalar!(
            r#"
            select count(*) as "batches!" from (
                select from batches
                where tenant_id = $1 and ended_at is not null and sampled_at is null
                    and expired_at is null and sealed_at is distinct from announced_at
                    and run = any ($2)
                limit $3
            ) as unsampled
            "#,
            tenant.0,
            runs,
            i64::from(limits::UNSAMPLED_BATCHES_COUNTED_MAX),
        )
        .fetch_one(&self.pool)
        .await?;
        Ok(u32::try_from(batches).unwrap_or(u32::MAX))
    }

    /// The runs of a plugin version that began last.
    pub async fn runs_of_version(
        &self,
        tenant: TenantId,
        plugin: &str,
        version: &str,
    ) -> Result<Vec<String>, StoreError> {
        let runs = sqlx::query_scalar!(
            "select name from runs where tenant_id = $1 and plugin = $2 and version = $3
            order by created_at desc limit $4",
            tenant.0,
            plugin,
            version,
            i64::from(limits::SAMPLE_RUNS_MAX),
        )
        .fetch_all(&self.pool)
        .await?;
        Ok(runs)
    }

    /// A search as PostgreSQL's `tsquery`, within runs or a batch; `None` if the text has no word.
    pub async fn sample_search(
        &self,
        text: &str,
        within: &SearchWithin<'_>,
    ) -> Result<Option<String>, StoreError> {
        let row = sqlx::query!(
            r#"
            select numnode(words) as "words!", (words && $2::text::tsquery)::text as "query!"
            from (select websearch_to_tsquery('simple', $1) as words) as search
            "#,
            text,
            within.query(),
        )
        .fetch_one(&self.pool)
        .await?;
        Ok(Some(row.query).filter(|_| row.words > 0))
    }
}

/// Keeps retention from the batch until the end of the transaction; returns whether it is still kept. Retention expires a
/// batch before it deletes its rows, so that it waits for what is written here and finds it.
async fn keep(
    transaction: &mut Transaction<'_, Postgres>,
    tenant: TenantId,
    batch: BatchId,
) -> Result<bool, StoreError> {
    let kept = sqlx::query_scalar!(
        "select id from batches where tenant_id = $1 and id = $2 and expired_at is null for no key update",
        tenant.0,
        batch.0,
    )
    .fetch_optional(&mut **transaction)
    .await?;
    Ok(kept.is_some())
}

/// Where a search looks.
pub enum SearchWithin<'a> {
    Runs(TenantId, &'a [String]),
    Batch(BatchId),
}

impl SearchWithin<'_> {
    fn query(&self) -> String {
        let mut query = String::new();
        let mut add = |mark: &str| {
            let or = if query.is_empty() { "" } else { " | " };
            let quoted = mark.replace('\\', "\\\\").replace('\'', "''");
            write!(query, "{or}'{quoted}'").expect("a string takes everything");
        };
        match self {
            Self::Runs(tenant, runs) => runs.iter().for_each(|run| add(&run_mark(*tenant, run))),
            Self::Batch(batch) => add(&batch_mark(*batch)),
        }
        query
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_is_within_runs_by_their_marks() {
        let tenant = TenantId(uuid::Uuid::nil());
        let runs = ["a'b".to_owned(), "c\\d".to_owned()];
        let zeros = "0".repeat(32);
        let expected = format!("'\u{1}r{zeros}a''b' | '\u{1}r{zeros}c\\\\d'");
        assert_eq!(SearchWithin::Runs(tenant, &runs).query(), expected);
    }
}
