//! The plugin from response to reward, natively, in a made-up world: every verdict, every error of both
//! interfaces at every place where it can come. The golden cases in `cases/` do the same with a compiler
//! and a simulated device.

mod world;

mod errors;
mod forms;
mod rewards;
mod tasks;
