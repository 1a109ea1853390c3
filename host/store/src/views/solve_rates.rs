//! How often a prompt of a run was solved, batch by batch.

use assay_api::sample::SolveRates;
use assay_core::id::{BatchId, TenantId};
use assay_core::limits;

use crate::{Store, StoreError};

impl Store {
    /// The samples of a group of a run that have a reward, and those that passed, by batch, the oldest first. It reads
    /// a limited number of samples, the latest ones.
    pub async fn solve_rates(
        &self,
        tenant: TenantId,
        run: &str,
        group: String,
    ) -> Result<SolveRates, StoreError> {
        let read = i64::from(limits::PROMPT_SAMPLES_MAX);
        let rows = sqlx::query!(
            r#"
            select s.batch_id, s.iteration, count(*) as "samples!",
                count(*) filter (where s.reward >= $4) as "passed!", avg(s.reward) as "mean!"
            from (
                select batch_id, iteration, reward from samples
                where tenant_id = $1 and run = $2 and coalesce(group_name, '' collate "C") = $3
                    and reward is not null
                order by batch_id desc, seq desc limit $5
            ) s
            group by s.batch_id, s.iteration order by s.batch_id
            "#,
            tenant.0,
            run,
            group,
            limits::PASS_REWARD,
            read,
        )
        .fetch_all(&self.pool)
        .await?;
        let earlier = rows.iter().map(|row| row.samples).sum::<i64>() == read;
        let mut rates = SolveRates::empty(group, limits::PASS_REWARD, earlier);
        // A part of the oldest batch may not have been read.
        for row in rows.into_iter().skip(usize::from(earlier)) {
            rates.batch.push(BatchId(row.batch_id));
            rates.iteration.push(row.iteration.cast_unsigned());
            rates.samples.push(u32::try_from(row.samples).unwrap_or(u32::MAX));
            rates.passed.push(u32::try_from(row.passed).unwrap_or(u32::MAX));
            rates.mean.push(row.mean);
        }
        Ok(rates)
    }
}
