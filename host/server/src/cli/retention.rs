//! How long things are kept, as an operator says it.

use assay_model::limits::RETENTION_DAYS_MAX;

use crate::retention::{Kept, days};

#[derive(clap::Args)]
pub(super) struct RetentionOptions {
    /// How long the times of completed batches are kept, in days, where the tenant has no retention
    /// of its own
    #[arg(long, default_value_t = 30, value_parser = range())]
    history_days: u32,
    /// How long requests, artifacts, results and logs are kept, in days, where the tenant has no
    /// retention of its own [default: for ever]
    #[arg(long, value_parser = range())]
    results_days: Option<u32>,
    /// How long the audit of administrative acts is kept, in days [default: for ever]
    #[arg(long, value_parser = range())]
    audit_days: Option<u32>,
}

fn range() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=i64::from(RETENTION_DAYS_MAX))
}

impl RetentionOptions {
    pub(super) fn kept(&self) -> Kept {
        Kept {
            results: self.results_days.map(days),
            history: days(self.history_days),
            audit: self.audit_days.map(days),
        }
    }
}
