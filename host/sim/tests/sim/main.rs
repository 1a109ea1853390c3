//! The simulator from outside: a trace in, a run or a report out.

mod fair;
mod faults;
mod made;
mod reference;
mod runs;
mod scripted;
mod shares;
mod traces;
