//! The plugin from response to reward, natively.

mod adversarial;
mod forms;
mod gsm8k;
mod hostile;
mod pairs;
mod plugin;
mod profiles;
mod properties;
mod sample;
