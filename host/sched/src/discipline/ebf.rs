//! The discipline `ebf`: earliest batch first.

use super::batch_queue::ArrivalOrder;
use super::{Discipline, Ranking};

impl Discipline {
    /// Section 5 of the paper: the batch with the earliest estimated end, and its requests in the order in
    /// which they came, unless its trainer says how long they will take: then the longest come first.
    pub const EBF: Self = Self {
        name: "ebf",
        summary: "Earliest batch first",
        ranking: Ranking::EstimatedEnd,
        groups_always: false,
        batch_queue: ArrivalOrder::make,
    };
}
