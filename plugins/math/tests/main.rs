//! The plugin from response to reward, natively.

mod gsm8k;
mod hostile;
mod pairs;
mod plugin;
mod sample;
