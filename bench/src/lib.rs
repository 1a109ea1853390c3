//! The parts that the benchmarks share: servers of their own, load, the machine, numbers and goals.
//!
//! Three programs use it: `assay-bench` (`rewards/`: the whole path beside a plain reward server),
//! `assay-bench-boxes` (`boxes/`: boxed programs beside plain ones and other boxes) and
//! `assay-bench-kernels` (`kernels/`: CUDA compiled and run beside plain scripts). Nothing here decides
//! what is measured.

pub mod assay;
pub mod child;
pub mod goal;
pub mod load;
pub mod machine;
pub mod output;
pub mod processes;
pub mod rows;
pub mod sections;
pub mod stats;
pub mod table;
