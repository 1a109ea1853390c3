//! The queries of the dashboard: lists and diagrams of runs, batches, requests and plugin versions.
//!
//! Every query has a limit of its own and an index. Sums over requests are read from the summary that was
//! written with the batch's end. Nothing here writes.

pub mod batches;
pub mod logs;
pub mod plugins;
pub mod requests;
pub mod runs;
pub mod sample_pages;
pub mod samples;
pub mod solve_rates;
pub mod timeline;

use assay_core::time::Micros;

/// A span of time, from one moment to another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Span {
    pub from: Option<Micros>,
    pub to: Option<Micros>,
}

/// Later than anything that is stored: the end of the year 9999.
const END_OF_TIME: Micros = Micros(253_402_300_799_000_000);

impl Span {
    fn from(self) -> Micros {
        self.from.map_or(Micros::ZERO, |from| from.min(END_OF_TIME))
    }

    fn to(self) -> Micros {
        self.to.map_or(END_OF_TIME, |to| to.min(END_OF_TIME))
    }
}
