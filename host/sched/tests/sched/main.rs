//! The scheduler from outside: events in, actions out.

mod property;
mod scenario;
mod script;
mod table;
