//! The summary that a batch leaves: its stats, its use of workers, and the ends that plans expected of it.

use assay_api::view::{ExpectedEnds, Rollup};
use assay_clock::now;
use assay_core::limits;
use assay_core::time::Micros;
use assay_planner::Forecast;
use assay_sched::{BatchDone, BatchEnding};
use assay_store::summaries::BatchSummaryRow;
use assay_store::usage::UsageRow;

use super::LiveBatch;

impl LiveBatch {
    /// The summary that the batch leaves with its end; `None` for a single request, whose batch is in no
    /// list.
    pub(crate) fn summary(
        &mut self,
        usage: &[UsageRow],
        expected: Option<Forecast>,
    ) -> Option<BatchSummaryRow> {
        if self.committed.is_single {
            return None;
        }
        let row = &self.committed.row;
        let stages = &self.committed.plugin.description.stages;
        let summary = std::mem::take(&mut self.stats).summary(stages, row.group_size, usage);
        let expected = expected.map(|forecast| ExpectedEnds {
            earliest_end_at: forecast.earliest_end,
            done_at: forecast.end,
        });
        Some(BatchSummaryRow {
            run: row.run.clone(),
            plugin: row.plugin.clone(),
            version: row.version.clone(),
            summary: Rollup { expected, ..summary },
        })
    }

    /// The ends that were expected half-way between its first request and its end.
    pub(crate) fn expected_at_half(&self, ended: Micros) -> Option<Forecast> {
        let first = self.committed.look(|progress| progress.first_request_at)?;
        self.forecasts.by(first + Micros(ended.since(first).0 / 2))
    }

    /// A plan of now expects this.
    pub(crate) fn expect(&mut self, now: Micros, forecast: Forecast) {
        self.forecasts.add(now, forecast);
        self.committed.change(|progress| {
            progress.expected_earliest_end_at = Some(forecast.earliest_end);
            progress.estimated_done_at = Some(forecast.end);
        });
    }

    /// The use of each pool; `cost` is the price of a worker's second there.
    pub(crate) fn usage(&self, cost: impl Fn(&str) -> f64) -> Vec<UsageRow> {
        let mut rows: Vec<UsageRow> = Vec::new();
        for (shape, used) in self.committed.plugin.shapes.iter().zip(&self.used) {
            let seconds = used.ran.as_secs_f64();
            // A request that reached a later stage on this pool was counted at the first one.
            if let Some(row) = rows.iter_mut().find(|row| *row.pool == *shape.pool) {
                row.worker_seconds += seconds;
            } else if used.requests > 0 {
                let pool = shape.pool.to_string();
                let requests = used.requests;
                rows.push(UsageRow { pool, requests, worker_seconds: seconds, cost: 0.0 });
            }
        }
        for row in &mut rows {
            row.cost = row.worker_seconds * cost(&row.pool);
        }
        rows
    }
}

/// The end that the batch's row has. That of one that is done is the end of its last request, unless that lies so far back
/// that the deletion of old batches may have passed it already.
pub(crate) fn recorded_end(done: &BatchDone) -> Micros {
    let now = now();
    match done.ending {
        BatchEnding::Done => {
            done.ended.max(now.since(Micros::from_secs(limits::END_AGE_SECONDS_MAX)))
        }
        BatchEnding::Cancelled | BatchEnding::Expired => now,
    }
}
