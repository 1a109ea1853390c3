//! The results of one plugin version, added up over the summaries of its last batches.

use std::collections::BTreeMap;

use assay_api::result::Counts;
use assay_api::view::{
    PluginStats, RunOnVersion, STAGE_BINS, StageHistogram, StageStats, stage_edge_ms,
};
use assay_core::id::TenantId;
use assay_core::limits;
use assay_core::plugin::VersionName;
use assay_core::time::Micros;
use time::OffsetDateTime;

use super::Span;
use crate::summaries::from_json;
use crate::{Store, StoreError};

struct Row {
    run: String,
    ended_at: OffsetDateTime,
    scored: i32,
    timed_out: i32,
    error: i32,
    reward_mean: Option<f64>,
    verdicts: String,
    errors: String,
    stages: String,
}

impl Store {
    /// Over the version's last batches that ended in the span.
    pub async fn plugin_stats(
        &self,
        tenant: TenantId,
        name: &str,
        version: &str,
        ended: Span,
    ) -> Result<PluginStats, StoreError> {
        let rows = sqlx::query_as!(
            Row,
            r#"
            select run, ended_at, scored, timed_out, error, reward_mean,
                verdicts::text as "verdicts!", errors::text as "errors!",
                stages::text as "stages!"
            from batch_rollups
            where tenant_id = $1 and plugin = $2 and version = $3 and ended_at >= $4
                and ended_at < $5
            order by ended_at desc limit $6
            "#,
            tenant.0,
            name,
            version,
            ended.from().to_datetime(),
            ended.to().to_datetime(),
            i64::from(limits::VERSION_BATCHES_MAX),
        )
        .fetch_all(&self.pool)
        .await?;
        sum(VersionName { name, version }.to_string(), rows)
    }
}

/// `rows` have the latest first.
fn sum(plugin: String, rows: Vec<Row>) -> Result<PluginStats, StoreError> {
    let at = |row: Option<&Row>| row.map(|row| Micros::from_datetime(row.ended_at));
    let mut stats = PluginStats {
        plugin,
        batches: u32::try_from(rows.len()).expect("within the query's limit"),
        from: at(rows.last()),
        to: at(rows.first()),
        counts: Counts::default(),
        mean_reward: None,
        verdicts: BTreeMap::new(),
        errors: BTreeMap::new(),
        stages: Vec::new(),
        runs: Vec::new(),
    };
    let (mut rewarded, mut reward_sum) = (0.0, 0.0);
    for row in rows {
        let (scored, timed_out, error) =
            (row.scored.cast_unsigned(), row.timed_out.cast_unsigned(), row.error.cast_unsigned());
        stats.counts.submitted += scored + timed_out + error;
        stats.counts.scored += scored;
        stats.counts.timed_out += timed_out;
        stats.counts.error += error;
        if let Some(mean) = row.reward_mean {
            let count = f64::from(scored + timed_out);
            rewarded += count;
            reward_sum += count * mean;
        }
        add(&mut stats.verdicts, from_json(&row.verdicts)?);
        add(&mut stats.errors, from_json(&row.errors)?);
        for stage in from_json::<Vec<StageStats>>(&row.stages)? {
            add_stage(&mut stats.stages, &stage);
        }
        match stats.runs.iter_mut().find(|known| known.run == row.run) {
            Some(known) => known.batches += 1,
            None => stats.runs.push(RunOnVersion {
                run: row.run,
                batches: 1,
                last_batch_at: Micros::from_datetime(row.ended_at),
                last_mean_reward: row.reward_mean,
            }),
        }
    }
    stats.mean_reward = (rewarded > 0.0).then(|| reward_sum / rewarded);
    Ok(stats)
}

fn add(sums: &mut BTreeMap<String, u32>, counts: BTreeMap<String, u32>) {
    for (word, count) in counts {
        *sums.entry(word).or_default() += count;
    }
}

fn add_stage(sums: &mut Vec<StageHistogram>, stage: &StageStats) {
    let place = sums.iter().position(|known| known.stage == stage.stage);
    let place = place.unwrap_or_else(|| {
        sums.push(StageHistogram {
            stage: stage.stage.clone(),
            pool: stage.pool.clone(),
            timeout_ms: stage.timeout_ms,
            requests: 0,
            retries: 0,
            edges_ms: (0..STAGE_BINS).map(stage_edge_ms).collect(),
            counts: vec![0; STAGE_BINS],
        });
        sums.len() - 1
    });
    let sum = &mut sums[place];
    sum.requests += stage.requests;
    sum.retries += stage.retries;
    for (all, count) in sum.counts.iter_mut().zip(&stage.ran_counts) {
        *all += count;
    }
}
