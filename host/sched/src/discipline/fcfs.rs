//! The discipline `fcfs`: first come, first served.

use super::batch_queue::ArrivalOrder;
use super::{Discipline, Ranking};

impl Discipline {
    /// The request that became ready first, whichever batch it is of.
    pub const FCFS: Self = Self {
        name: "fcfs",
        summary: "First come, first served",
        ranking: Ranking::Arrival,
        groups_always: false,
        batch_queue: ArrivalOrder::make,
    };
}
