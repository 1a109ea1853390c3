//! The plugin from response to reward, natively.

mod adversarial;
mod forms;
mod gsm8k;
mod hostile;
mod lists;
mod measures;
mod pairs;
mod plugin;
mod profiles;
mod properties;
mod prose;
mod sample;
