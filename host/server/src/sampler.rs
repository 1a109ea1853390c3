//! The job that writes samples of pools: when something has changed, every two seconds at most, and
//! at least once a minute. It owns only the last samples and blocks nothing.

use std::collections::HashMap;
use std::time::Duration;

use assay_api::capacity::PoolCapacity;
use assay_api::operations::CapacitySample;
use assay_core::time::Micros;

use assay_dispatch::{Dispatch, now};
use assay_store::Store;
use assay_store::capacity::CapacitySampleRow;

const PERIOD: Duration = Duration::from_secs(2);
/// The time between samples of a pool that does not change.
const UNCHANGED_PERIOD: Micros = Micros::from_secs(60);

/// Writes until the dispatcher ends.
pub async fn run(store: Store, dispatch: Dispatch) {
    let mut last: HashMap<String, CapacitySampleRow> = HashMap::new();
    loop {
        tokio::time::sleep(PERIOD).await;
        let Ok(capacity) = dispatch.capacity().await else { return };
        let at = now();
        for pool in &capacity.pools {
            let row = row(at, pool);
            if last.get(&row.pool).is_some_and(|last| !is_news(last, &row)) {
                continue;
            }
            match store.insert_capacity_sample(&row).await {
                Ok(()) => drop(last.insert(row.pool.clone(), row)),
                Err(error) => tracing::warn!(%error, "a sample of a pool cannot be written"),
            }
        }
    }
}

fn is_news(last: &CapacitySampleRow, row: &CapacitySampleRow) -> bool {
    let same_time = CapacitySampleRow {
        sample: CapacitySample { at: row.sample.at, ..last.sample.clone() },
        ..last.clone()
    };
    // The text of a reason contains times, so only the numbers are compared.
    let same_words = CapacitySampleRow { reason: row.reason.clone(), ..same_time };
    same_words != *row || row.sample.at.since(last.sample.at) >= UNCHANGED_PERIOD
}

fn row(at: Micros, pool: &PoolCapacity) -> CapacitySampleRow {
    let workers = pool.workers;
    let target = pool.target.as_ref();
    let queued = u32::try_from(pool.queued).unwrap_or(u32::MAX);
    let all = workers.starting + workers.idle + workers.busy + workers.draining;
    let sample = CapacitySample {
        at,
        demand: workers.busy.saturating_add(queued),
        zero_queue: target.map(|target| target.zero_queue),
        hold: target.map(|target| target.hold),
        ceiling: target.map(|target| target.ceiling),
        starting: workers.starting,
        idle: workers.idle,
        busy: workers.busy,
        draining: workers.draining,
        queued,
        cost: f64::from(all) * pool.cost,
    };
    CapacitySampleRow {
        pool: pool.pool.clone(),
        sample,
        reason: target.map(|target| target.why.clone()),
    }
}

#[cfg(test)]
mod tests {
    use assay_api::capacity::{PlanReason, PoolTarget, PoolWorkers};

    use super::*;

    fn pool(queued: u64) -> PoolCapacity {
        let target = PoolTarget {
            hold: 2,
            ceiling: 3,
            zero_queue: 9,
            why: format!("{queued} wait"),
            reason: PlanReason::Needed,
        };
        PoolCapacity {
            pool: "gpu".into(),
            min: 0,
            max: 4,
            cost: 2.5,
            workers: PoolWorkers { starting: 1, idle: 0, busy: 2, draining: 1, joined: 0 },
            queued,
            startup_ms: None,
            target: Some(target),
            trouble: None,
            waiting: Vec::new(),
            leaving: Vec::new(),
        }
    }

    #[test]
    fn a_sample_has_what_there_was_to_do_and_what_it_cost() {
        let row = row(Micros(7), &pool(5));
        assert_eq!((row.sample.demand, row.sample.queued, row.sample.cost), (7, 5, 10.0));
        assert_eq!((row.sample.hold, row.sample.ceiling), (Some(2), Some(3)));
        assert_eq!(row.reason.as_deref(), Some("5 wait"));
    }

    #[test]
    fn what_has_not_changed_is_written_once_a_minute() {
        let first = row(Micros::from_secs(100), &pool(5));
        let later = |second, queued| row(Micros::from_secs(second), &pool(queued));
        assert!(!is_news(&first, &later(159, 5)));
        assert!(is_news(&first, &later(102, 6)));
        assert!(is_news(&first, &later(160, 5)));
        let mut other_words = later(102, 5);
        other_words.reason = Some("for another reason".into());
        assert!(!is_news(&first, &other_words));
    }
}
