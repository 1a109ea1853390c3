//! The scheduler from outside: events in, actions out.

mod deadlines;
mod elastic;
mod groups;
mod property;
mod restart;
mod scenario;
mod script;
mod shares;
mod table;
