//! When live batches are expected to end: with what is still to come, and with what waits for workers.

use assay_core::id::BatchId;
use assay_core::time::Micros;

/// Forecasts kept of one batch; beyond, every second one goes.
const KEPT_MAX: usize = 64;

/// The ends that a plan expects of a live batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forecast {
    /// The batch.
    pub batch: BatchId,
    /// The paper's T, with the requests that are still to come.
    pub earliest_end: Micros,
    /// The end on the planned workers, with the waits for them.
    pub end: Micros,
}

/// The forecasts of one batch over time: the last, and a bounded number of earlier ones.
#[derive(Debug, Clone, Default)]
pub struct Forecasts {
    last: Option<(Micros, Forecast)>,
    kept: Vec<(Micros, Forecast)>,
    /// One is kept after this many that are not.
    skips: usize,
    skipped: usize,
}

impl Forecasts {
    /// A plan of now expects this.
    pub fn add(&mut self, now: Micros, forecast: Forecast) {
        self.last = Some((now, forecast));
        if self.skipped < self.skips {
            self.skipped += 1;
            return;
        }
        self.skipped = 0;
        if self.kept.len() >= KEPT_MAX {
            let mut is_kept = false;
            self.kept.retain(|_| {
                is_kept = !is_kept;
                is_kept
            });
            self.skips = 2 * self.skips + 1;
        }
        self.kept.push((now, forecast));
    }

    /// The last one.
    #[must_use]
    pub fn last(&self) -> Option<Forecast> {
        self.last.map(|(_, forecast)| forecast)
    }

    /// The last one that was made by this time, as far as it was kept.
    #[must_use]
    pub fn by(&self, at: Micros) -> Option<Forecast> {
        let kept = self.kept.partition_point(|(made, _)| *made <= at);
        let last = self.last.filter(|(made, _)| *made <= at);
        last.or(self.kept[..kept].last().copied()).map(|(_, forecast)| forecast)
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn forecasts_stay_bounded_and_the_last_by_a_time_is_found() {
        let mut forecasts = Forecasts::default();
        assert_eq!(forecasts.by(Micros(9)), None);
        let at = |at| Forecast {
            batch: BatchId(Uuid::nil()),
            earliest_end: Micros(at),
            end: Micros(at),
        };
        for second in 1..=1_000 {
            forecasts.add(Micros(second * 10), at(second));
            assert!(forecasts.kept.len() <= KEPT_MAX);
        }
        assert_eq!(forecasts.last(), Some(at(1_000)));
        assert_eq!(forecasts.by(Micros(20_000)), Some(at(1_000)));
        assert_eq!(forecasts.by(Micros(0)), None);
        let half = forecasts.by(Micros(5_000)).expect("one was made by then").end;
        assert!((450..=500).contains(&half.0), "{half:?}");
    }
}
