//! Sessions over the simulated device, by real executors: what honest kernels give, which cheats are
//! seen, what each fault becomes, and that nothing is left of it.
#![expect(clippy::unwrap_used, reason = "tests")]

mod bench;

mod cheats;
mod deaths;
mod faults;
mod honest;
mod measured;
mod requests;
