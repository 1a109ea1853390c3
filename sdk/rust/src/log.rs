//! Lines shown with the request. The platform keeps the first 64 of a stage, each cut at 1 KiB.
//!
//! ```
//! assay_plugin::log::info("compared 12 cases");
//! assay_plugin::log::warn(&format!("case {} took {} ms", 3, 870));
//! ```

use crate::bindings::assay::reward::log::Level;

pub fn debug(message: &str) {
    write(Level::Debug, message);
}

pub fn info(message: &str) {
    write(Level::Info, message);
}

pub fn warn(message: &str) {
    write(Level::Warn, message);
}

pub fn error(message: &str) {
    write(Level::Error, message);
}

#[cfg(target_arch = "wasm32")]
fn write(level: Level, message: &str) {
    crate::bindings::assay::reward::log::write(level, message);
}

/// A native test has no host to call.
#[cfg(not(target_arch = "wasm32"))]
fn write(level: Level, message: &str) {
    eprintln!("{level:?}: {message}");
}
