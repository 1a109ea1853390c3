//! Metrics that every request changes. Each is looked up once: a look by its name and labels takes longer than counting.

use assay_core::outcome::Outcome;
use assay_core::time::Micros;
use metrics::{Counter, Histogram};

pub(crate) struct RequestMetrics {
    scored: Counter,
    timed_out: Counter,
    error: Counter,
    shared: Counter,
    stage_seconds: Histogram,
}

impl Default for RequestMetrics {
    fn default() -> Self {
        let ended = |outcome| metrics::counter!("assay_requests_total", "outcome" => outcome);
        Self {
            scored: ended("scored"),
            timed_out: ended("timed_out"),
            error: ended("error"),
            shared: metrics::counter!("assay_requests_shared_total"),
            stage_seconds: metrics::histogram!("assay_request_stage_seconds"),
        }
    }
}

impl RequestMetrics {
    /// Counts the end of a request. `shared` says whether the computation was an equal request's.
    pub(crate) fn count(&self, outcome: &Outcome, shared: bool) {
        let ended = match outcome {
            Outcome::Scored(_) => &self.scored,
            Outcome::TimedOut { .. } => &self.timed_out,
            Outcome::Error { .. } => &self.error,
        };
        ended.increment(1);
        self.shared.increment(shared.into());
    }

    /// Records the time for which a stage ran.
    pub(crate) fn record_stage(&self, ran: Micros) {
        self.stage_seconds.record(ran.as_secs_f64());
    }
}
