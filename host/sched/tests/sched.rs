//! The scheduler from outside: events in, actions out.

mod deadlines;
mod elastic;
mod entitlements;
mod groups;
mod hedge;
mod hold;
mod one_pool;
mod preempt;
mod property;
mod restart;
mod runs;
mod scenario;
mod script;
mod table;
mod told;
