//! What the dashboard reads: lists and pictures of runs, batches, requests and plugin versions.
//!
//! Every query is bounded by a limit of its own and served by an index: what is summed up over
//! requests was written with the batch's end. Nothing here writes.

pub mod batches;
pub mod logs;
pub mod plugins;
pub mod requests;
pub mod runs;
pub mod timeline;

use assay_model::time::Micros;

/// From one moment on, up to another.
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
