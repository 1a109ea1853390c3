//! Options for retention.

use assay_core::limits::RETENTION_DAYS_MAX;

use assay_core::time::Micros;
use assay_server::RetentionDefaults;

#[derive(clap::Args)]
pub(super) struct RetentionOptions {
    /// Days for which the times of completed batches are kept, for tenants without a retention of
    /// their own
    #[arg(long, default_value_t = 30, value_parser = range())]
    history_days: u32,
    /// Days for which requests, artifacts, results and logs are kept, for tenants without a
    /// retention of their own [default: for ever]
    #[arg(long, value_parser = range())]
    results_days: Option<u32>,
    /// Days for which the log of administrative actions is kept [default: for ever]
    #[arg(long, value_parser = range())]
    audit_days: Option<u32>,
}

fn range() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=i64::from(RETENTION_DAYS_MAX))
}

impl RetentionOptions {
    pub(super) fn kept(&self) -> RetentionDefaults {
        RetentionDefaults {
            results: self.results_days.map(Micros::from_days),
            history: Micros::from_days(self.history_days),
            audit: self.audit_days.map(Micros::from_days),
        }
    }
}
