//! The scheduler from outside: events in, actions out.

mod deadlines;
mod elastic;
mod entitlements;
mod groups;
mod one_pool;
mod property;
mod restart;
mod scenario;
mod script;
mod table;
