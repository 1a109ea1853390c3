//! The scheduler from outside.

mod sched;
