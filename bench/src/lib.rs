//! What the benchmarks share: servers of their own, load, the machine, numbers and goals.
//!
//! Two programs use it: `assay-bench` (`rewards/`: the whole path beside a plain reward server) and
//! `assay-bench-boxes` (`boxes/`: boxed programs beside plain ones and other boxes). Nothing here
//! decides what is measured.

pub mod assay;
pub mod child;
pub mod goal;
pub mod load;
pub mod machine;
pub mod output;
pub mod rows;
pub mod stats;
pub mod table;
