//! The plugin from response to reward, natively.

mod adversarial;
mod forms;
mod gsm8k;
mod hostile;
mod pairs;
mod plugin;
mod properties;
mod sample;
